#include "models/control_plane/flow_control/flow_schemas.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "models/control_plane/flow_control/shuffle_sharding.hpp"
#include "sim/core/check.hpp"
#include "sim/core/scatter.hpp"

namespace orrery {
namespace {

template <class T>
bool matches(const std::vector<T>& named, T value) {
  return named.empty() || std::ranges::find(named, value) != named.end();
}

uint8_t level_of(const FlowControlParams& params, const std::string& name) {
  for (size_t i = 0; i < params.levels.size(); ++i) {
    if (params.levels[i].name == name) return static_cast<uint8_t>(i);
  }
  ORRERY_CHECK(false, "each flow schema names an existing level");
}

int32_t whole_seats(double seats) { return static_cast<int32_t>(std::lround(seats)); }

LevelSetup setup_of(const PriorityLevelParams& level, double seats) {
  const auto nominal = static_cast<int32_t>(std::ceil(seats));
  LevelSetup setup{.kind = level.kind,
                   .seats = nominal,
                   .seats_min = nominal - whole_seats(nominal * level.lendable / 100),
                   .queues = level.queues,
                   .hand = level.hand_size,
                   .queue_length = level.queue_length};
  if (level.borrowing_limit) {
    setup.seats_max = nominal + whole_seats(nominal * *level.borrowing_limit / 100);
  }
  return setup;
}

FlowControlSetup plain_limits(const FlowControlParams& params) {
  FlowControlSetup setup{.levels = {}, .adjust_every = {}};
  setup.levels.push_back({.kind = LevelKind::Reject, .seats = params.max_requests_inflight});
  setup.levels.push_back(
      {.kind = LevelKind::Reject, .seats = params.max_mutating_requests_inflight});
  setup.levels.push_back({.kind = LevelKind::Exempt});
  return setup;
}

}  // namespace

FlowClass classify(const FlowControlParams& params, ApiClientKind client, ApiResource resource) {
  const FlowSchemaParams* best = nullptr;
  for (const FlowSchemaParams& schema : params.schemas) {
    if (!matches(schema.clients, client) || !matches(schema.resources, resource)) continue;
    if (best == nullptr || std::pair{schema.precedence, std::string_view{schema.name}} <
                               std::pair{best->precedence, std::string_view{best->name}}) {
      best = &schema;
    }
  }
  if (best == nullptr) {
    return {.level = static_cast<uint8_t>(params.levels.size() - 1),
            .schema = name_hash("catch-all")};
  }
  return {level_of(params, best->level), best->distinguisher, name_hash(best->name)};
}

std::array<FlowClass, kApiResources> classify_all(const FlowControlParams& params,
                                                  ApiClientKind client) {
  std::array<FlowClass, kApiResources> classes;
  for (size_t r = 0; r < kApiResources; ++r) {
    classes[r] = classify(params, client, static_cast<ApiResource>(r));
  }
  return classes;
}

uint64_t flow_of(const FlowClass& flow_class, ApiUser user, uint32_t name_space) {
  switch (flow_class.distinguisher) {
    case FlowDistinguisher::User:
      return draw_of(flow_class.schema,
                     uint64_t{static_cast<uint8_t>(user.kind)} << 32 | user.number);
    case FlowDistinguisher::Namespace:
      return draw_of(flow_class.schema, name_space);
    case FlowDistinguisher::None:
      break;
  }
  return flow_class.schema;
}

FlowControlSetup setup_of(const FlowControlParams& params) {
  if (params.mode == FlowControlMode::MaxInflight) return plain_limits(params);
  const int32_t seats = params.max_requests_inflight + params.max_mutating_requests_inflight;
  double shares = 0;
  for (const PriorityLevelParams& level : params.levels) shares += level.shares;
  FlowControlSetup setup{.levels = {},
                         .seats = seats,
                         .adjust_every = params.adjust_every,
                         .smoothing = params.smoothing,
                         .wait_limit = params.wait_limit,
                         .service_guess = params.service_guess};
  for (const PriorityLevelParams& level : params.levels) {
    setup.levels.push_back(setup_of(level, shares > 0 ? seats * level.shares / shares : 0));
  }
  return setup;
}

uint32_t gate_of(const FlowControlParams& params, const ApiRequest& request) {
  if (params.mode == FlowControlMode::PriorityAndFairness) return request.level;
  if (params.levels[request.level].kind == LevelKind::Exempt) return 2;
  return is_mutating(request.verb) ? 1 : 0;
}

}  // namespace orrery

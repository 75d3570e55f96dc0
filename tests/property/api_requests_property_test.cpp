// With random servers, limits, clients and server failures, no request is lost or answered twice.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "models/control_plane/clients/reflectors.hpp"
#include "tests/support/api_world.hpp"
#include "tests/support/sanitized.hpp"

namespace orrery {
namespace {

Duration up_to(Rng& rng, Duration most) {
  return {static_cast<int64_t>(rng.below(static_cast<uint64_t>(most.ns)))};
}
int32_t between(Rng& rng, int32_t low, int32_t high) {
  return low + static_cast<int32_t>(rng.below(static_cast<uint64_t>(high - low + 1)));
}

PriorityLevelParams draw_level(Rng& rng, size_t index) {
  PriorityLevelParams level{.name = "level-" + std::to_string(index),
                            .kind = static_cast<LevelKind>(rng.below(3)),
                            .shares = between(rng, 1, 20),
                            .lendable = 100 * rng.uniform()};
  if (rng.chance(0.3)) level.borrowing_limit = 100 * rng.uniform();
  level.queues = between(rng, 1, 12);
  level.hand_size = between(rng, 1, std::min(level.queues, 4));
  level.queue_length = between(rng, 1, 6);
  return level;
}

ApiServersParams draw_params(Rng& rng) {
  ApiServersParams params;
  params.servers = between(rng, 1, 4);
  params.balance = static_cast<ApiBalance>(rng.below(2));
  params.server.cores = 0.2 + 3 * rng.uniform();
  params.server.egress = {rng.chance(0.3) ? 0 : between(rng, 1'000'000, 100'000'000)};
  params.server.restart_time = up_to(rng, 2_s);
  params.server.cost.read = up_to(rng, 20_ms);
  params.server.cost.write = up_to(rng, 20_ms);
  if (rng.chance(0.5))
    params.server.heap = {.base = {0}, .per_node = {}, .limit = Bytes{3'000'000}};
  FlowControlParams& flow = params.flow_control;
  flow.mode = static_cast<FlowControlMode>(rng.below(2));
  flow.max_requests_inflight = between(rng, 1, 12);
  flow.max_mutating_requests_inflight = between(rng, 1, 6);
  flow.levels.clear();
  for (size_t i = 0; i < 2 + rng.below(4); ++i) flow.levels.push_back(draw_level(rng, i));
  flow.schemas.clear();
  for (size_t i = 0; i < 6; ++i) {
    flow.schemas.push_back({.name = "schema",
                            .precedence = between(rng, 1, 100),
                            .clients = {static_cast<ApiClientKind>(rng.below(kApiClientKinds))},
                            .level = flow.levels[rng.below(flow.levels.size())].name,
                            .distinguisher = static_cast<FlowDistinguisher>(rng.below(3))});
  }
  flow.adjust_every = rng.chance(0.2) ? Duration{} : 100_ms + up_to(rng, 3_s);
  flow.wait_limit = 1_ms + up_to(rng, 2_s);
  params.server.request_timeout = flow.wait_limit;
  if (rng.chance(0.8)) params.server.request_timeout += up_to(rng, 3_s);
  flow.service_guess = 1_ms + up_to(rng, 60_s);
  flow.list_objects_per_seat = between(rng, 1, 100);
  flow.watchers_per_seat = between(rng, 1, 4);
  flow.retry_after = static_cast<RetryAfterKind>(rng.below(2));
  return params;
}

ApiRequest draw_request(Rng& rng) {
  return {.verb = static_cast<Verb>(rng.below(kVerbs)),
          .resource = static_cast<ApiResource>(rng.below(4)),
          .is_consistent = rng.chance(0.3),
          .name_space = static_cast<uint32_t>(rng.below(5)),
          .objects = between(rng, 1, 600),
          .bytes = {between(rng, 0, 200'000)},
          .answer = {rng.chance(0.3) ? 0 : between(rng, 0, 200'000)},
          .cpu = rng.chance(0.5) ? Duration{} : up_to(rng, 50_ms)};
}

// One random run. Requests arrive for ten seconds, some of them in a burst at 3 s. In the
// meantime, servers fail and recover.
class Rush {
 public:
  explicit Rush(uint64_t seed) : rng_{seed}, world_{draw_params(rng_), seed} {
    world_.store.write_time = up_to(rng_, 50_ms);
    world_.store.read_time = rng_.chance(0.3) ? Duration{} : up_to(rng_, 50_ms);
    add_clients();
    add_reflectors();
    const size_t requests = 100 + rng_.below(400);
    answers_.resize(requests);
    for (uint32_t r = 0; r < requests; ++r) add_request(r);
    for (size_t i = rng_.below(6); i > 0; --i) add_loss();
    if (rng_.chance(0.5)) add_steady();
    world_.engine.after(up_to(rng_, 10_s), Label{"test.store_refuses"},
                        [this] { world_.store.refuses = !world_.store.refuses; });
    world_.engine.add_audit([this] { world_.servers.audit(); });
    world_.store.gives_up = rng_.chance(0.5);
  }
  void go() {
    while (world_.engine.step()) {
      if (world_.engine.events_run() % 16 == 0) world_.servers.audit();
    }
  }
  void expect_all_answered_once() {
    for (const int32_t answers : answers_) EXPECT_EQ(answers, 1);
    uint64_t sent = 0, answered = 0, tried = 0;
    for (const auto& client : clients_) {
      sent += client->counters().sent;
      answered += client->counters().answered;
      tried += client->counters().tried;
      EXPECT_EQ(client->present(), 0U);
    }
    EXPECT_EQ(sent, answered);
    EXPECT_EQ(world_.servers.statistics().of_all().total(), tried) << "every try is counted once";
  }
  const ApiStatistics& statistics() { return world_.servers.statistics(); }
  void expect_nothing_left() {
    for (uint32_t s = 0; s < world_.servers.size(); ++s) {
      const ApiServer& server = world_.servers.server(s);
      EXPECT_EQ(server.present(), 0U);
      EXPECT_EQ(server.flow_control().present(), 0U);
      for (uint32_t l = 0; l < server.flow_control().levels(); ++l) {
        EXPECT_EQ(server.flow_control().state(l).in_use, 0);
      }
    }
  }

 private:
  void add_clients() {
    for (size_t i = 1 + rng_.below(12); i > 0; --i) {
      params_.push_back({.qps = 1 + 100 * rng_.uniform(),
                         .burst = between(rng_, 1, 50),
                         .tries_max = between(rng_, 1, 5),
                         .backoff = up_to(rng_, 1_s)});
    }
    for (const ApiClientParams& params : params_) {
      const ApiClient::Setup setup{.kind = static_cast<ApiClientKind>(rng_.below(kApiClientKinds)),
                                   .user = static_cast<uint32_t>(rng_.below(4))};
      clients_.push_back(
          std::make_unique<ApiClient>(world_.engine, world_.servers, params, setup, jitter_));
    }
  }
  ApiClient& any_client() { return *clients_[rng_.below(clients_.size())]; }
  void add_reflectors() {
    for (size_t i = rng_.below(20); i > 0; --i) {
      ApiRequest list = draw_request(rng_);
      list.answer = {1000};
      const uint32_t id =
          reflectors_.add({.client = any_client(), .list = list, .is_narrow = rng_.chance(0.5)});
      world_.engine.after(up_to(rng_, 5_s), Label{"test.start"},
                          [this, id] { reflectors_.start(id); });
      // Without the stop the run might never end: a reflector retries for ever.
      world_.engine.after(5_s + up_to(rng_, 20_s), Label{"test.stop"},
                          [this, id] { reflectors_.stop(id); });
    }
  }
  void add_request(uint32_t r) {
    const Duration at = rng_.chance(0.3) ? Duration{3_s} : up_to(rng_, 10_s);
    ApiClient& client = any_client();
    requests_.push_back(draw_request(rng_));
    world_.engine.after(at, Label{"test.send"}, [this, r, &client] {
      client.send(requests_[r], [this, r](const ApiAnswer&) { ++answers_[r]; });
    });
  }
  void add_loss() {
    const auto s = static_cast<uint32_t>(rng_.below(world_.servers.size()));
    world_.engine.after(up_to(rng_, 10_s), Label{"test.lose"}, [this, s] {
      if (world_.server(s).is_up()) world_.server(s).lose();
    });
    world_.engine.after(up_to(rng_, 20_s), Label{"test.recover"}, [this, s] {
      if (!world_.server(s).is_up()) world_.server(s).recover();
    });
  }
  void add_steady() {
    const auto level = static_cast<uint32_t>(rng_.below(2));
    steady_ = {.requests_per_s = 20 * rng_.uniform(), .cpu = 5_ms, .held = 100_ms, .sent = {1000}};
    world_.engine.after(up_to(rng_, 5_s), Label{"test.steady"},
                        [this, level] { world_.servers.set_steady(level, steady_); });
    // A full watch cache (102,400 changes) covers 3.4 s.
    world_.servers.watch_caches().set_rate(ApiResource::Pods, 30'000);
  }

  Rng rng_;
  test::ApiWorld world_;
  Rng jitter_{7};
  std::vector<ApiClientParams> params_;
  std::vector<std::unique_ptr<ApiClient>> clients_;
  Reflectors reflectors_{world_.engine, world_.servers, {}, Rng{9}};
  std::vector<ApiRequest> requests_;
  std::vector<int32_t> answers_;
  SteadyLoad steady_;
};

TEST(ApiRequestsProperty, NoRequestIsLostOrAnsweredTwice) {
  ApiStatistics::Cell all;
  for (uint64_t seed = 1; seed <= (test::kIsSanitized ? 200 : 1000); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rush rush{seed};
    rush.go();
    rush.expect_all_answered_once();
    rush.expect_nothing_left();
    if (HasFailure()) return;
    all.add(rush.statistics().of_all());
  }
  for (size_t o = 0; o < kApiOutcomes; ++o) {  // every outcome must have occurred
    EXPECT_GT(all.count[o], 1000U) << name_of(static_cast<ApiOutcome>(o));
  }
  EXPECT_GT(mark_count("control.api_out_of_memory"), 0U);
}

}  // namespace
}  // namespace orrery

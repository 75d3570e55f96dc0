#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "models/control_plane/base/token_bucket.hpp"
#include "models/control_plane/etcd/etcd_store.hpp"
#include "models/control_plane/flow_control/flow_schemas.hpp"
#include "models/control_plane/flow_control/shuffle_sharding.hpp"
#include "tests/support/api_world.hpp"
#include "tests/support/node_join.hpp"
#include "tests/support/starving_probability.hpp"
#include "tests/support/validation_cases.hpp"

namespace orrery {
namespace {

using nlohmann::json;

json nominal_seats(const json& input) {
  const FlowControlParams params;
  const std::vector<std::string> names = params.level_names();
  const auto at = std::ranges::find(names, input.at("level").get<std::string>()) - names.begin();
  return setup_of(params).levels.at(static_cast<size_t>(at)).seats;
}

// Numbers of requests by outcome. One server without priority and fairness executes at most 200
// writes at once. Requests arrive at random. Clients do not wait for responses, and do not retry.
ApiStatistics::Cell offered_load(const json& input, double seconds) {
  ApiServersParams params;
  params.servers = 1;
  params.flow_control.mode = FlowControlMode::MaxInflight;
  test::ApiWorld world{params};
  const auto held = nearest_ns(input.at("held_s").get<double>());
  world.store.write_time = held - params.server.cost.write;
  const Duration gap = nearest_ns(1 / input.at("offered_per_s").get<double>());
  Rng rng = world.streams.stream("test.load");
  const Time warm = Time{} + 1_s, end = warm + nearest_ns(seconds);
  std::function<void()> next = [&] {
    const ApiRequest request{.verb = rng.chance(0.65) ? Verb::Patch : Verb::Update, .level = 2};
    world.server().submit(request, [](const ApiAnswer&) {});
    world.engine.after(rng.exponential(gap), Label{"test.arrives"}, [&] { next(); });
  };
  next();
  world.engine.run(warm);
  world.servers.statistics().clear();
  world.engine.run(end);
  return world.servers.statistics().of_all();
}

json per_s(const json& input, ApiOutcome outcome) {
  constexpr double kSeconds = 20;
  return static_cast<double>(offered_load(input, kSeconds).of(outcome)) / kSeconds;
}

double heap_gb(const json& input) {
  return static_cast<double>(heap_of({}, input.at("nodes").get<int64_t>(), {}, 0).count) * 1e-9;
}

json joins_are_turned_away(const json& input) {
  ApiServersParams params;
  params.flow_control.mode = FlowControlMode::MaxInflight;
  test::ApiWorld world{params, 1, 7'500};
  world.store.write_time = 5_ms;
  const auto spread = nearest_ns(input.at("spread_s").get<double>());
  const test::NodeJoin join{world, input.at("nodes").get<uint32_t>(), spread};
  world.engine.run(Time{} + spread + 2_min);
  const ApiStatistics::Cell all = world.servers.statistics().of_all();
  return all.of(ApiOutcome::TooManyRequests) > 0 ? "yes" : "no";
}

Bytes megabytes(const json& input, const char* name) {
  return {input.at(name).get<int64_t>() * 1'000'000};
}

// Whether informers run the server out of memory. If `verb` is List, each informer lists all
// objects. If `verb` is Watch, each watch begins with an event for each of these objects.
json kills_the_server(const json& input, Verb verb) {
  ApiServersParams params;
  params.servers = 1;
  params.server.heap.limit = Bytes{input.at("limit_gb").get<int64_t>() * 1'000'000'000};
  test::ApiWorld world{params};
  for (int32_t i = 0; i < input.at("informers").get<int32_t>(); ++i) {
    const Bytes all = megabytes(input, "list_mb");
    world.server().submit({.verb = verb, .level = 5, .flow = 1, .objects = 100, .answer = all},
                          [](const ApiAnswer&) {});
  }
  world.engine.run();
  return world.server().memory_kills() > 0 ? "yes" : "no";
}

// LISTs served per second to one client, whose rate and number of open requests are limited. The
// client lists the newest data without paging.
double lists_served_per_s(const json& input) {
  ApiServersParams params;
  params.servers = 1;
  params.server.cores = input.at("cores").get<double>();
  Engine engine;
  EtcdSplit etcd{engine, {.members = 1}};
  EtcdStore store{etcd};
  ApiServers servers{{.engine = engine, .store = store}, params, Rng{1}};
  const ApiRequest list{
      .verb = Verb::List,
      .is_consistent = true,
      .level = 5,
      .flow = 1,
      .objects = input.at("objects"),
      .bytes = Bytes{input.at("object_bytes").get<int64_t>()} * input.at("objects").get<int64_t>()};
  TokenBucket tokens{input.at("offered_per_s").get<double>(), 1};
  const std::function<void()> next = [&] {
    engine.at(tokens.reserve(engine.now()), Label{"test.lists"},
              [&] { servers.server(0).submit(list, [&](const ApiAnswer&) { next(); }); });
  };
  for (int32_t i = 0; i < input.at("in_flight").get<int32_t>(); ++i) next();
  const Time warm = Time{} + 2_min, end = warm + 10_min;
  engine.run(warm);
  servers.statistics().clear();
  engine.run(end);
  const auto done = servers.statistics().of_all().of(ApiOutcome::Done);
  return static_cast<double>(done) / (end - warm).seconds();
}

// The share of served requests that belong to the first of two flows of one level. Both flows send
// at random and do not wait for responses.
double served_of_first_flow(const json& input) {
  ApiServersParams params = test::free_servers();
  params.server.cores = 100'000;
  params.server.request_timeout = 10_min;
  params.flow_control = test::one_level(20);
  params.flow_control.levels[0].queues = 64;
  params.flow_control.levels[0].hand_size = 6;
  params.flow_control.levels[0].queue_length = 50;
  test::ApiWorld world{params};
  Rng rng = world.streams.stream("test.load");
  std::array<uint64_t, 2> done = {};
  std::array<std::function<void()>, 2> next;
  const Time warm = Time{} + 20_s, end = warm + 100_s;
  for (uint64_t flow = 0; flow < 2; ++flow) {
    const json& sent = input.at("flows")[flow];
    const Duration cpu = nearest_ns(sent.at("held_s").get<double>());
    const Duration gap = nearest_ns(1 / sent.at("per_s").get<double>());
    next[flow] = [&, flow, cpu, gap] {
      const ApiRequest request{.verb = Verb::Patch, .flow = flow + 1, .cpu = cpu};
      world.server().submit(request, [&, flow](const ApiAnswer& answer) {
        const bool counts = world.engine.now() > warm && answer.outcome == ApiOutcome::Done;
        done[flow] += counts ? 1 : 0;
      });
      world.engine.after(rng.exponential(gap), Label{"test.arrives"}, [&, flow] { next[flow](); });
    };
    next[flow]();
  }
  world.engine.run(end);
  return static_cast<double>(done[0]) / static_cast<double>(done[0] + done[1]);
}

json ours_in_api_servers(const json& input) {
  const auto quantity = input.at("quantity").get<std::string>();
  if (quantity == "nominal_seats") return nominal_seats(input);
  if (quantity == "starving_probability") {
    return test::starving_probability(input.at("queues"), input.at("hand"), input.at("heavy"));
  }
  if (quantity == "served_of_first_flow") return served_of_first_flow(input);
  if (quantity == "served_per_s") return per_s(input, ApiOutcome::Done);
  if (quantity == "rejected_per_s") return per_s(input, ApiOutcome::TooManyRequests);
  if (quantity == "lists_served_per_s") return lists_served_per_s(input);
  if (quantity == "heap_gb") return heap_gb(input);
  if (quantity == "joins_are_turned_away") return joins_are_turned_away(input);
  if (quantity == "list_memory_tb") {
    const Bytes listing = megabytes(input, "page_mb") * input.at("pages").get<int64_t>() *
                          input.at("informers").get<int64_t>();
    return static_cast<double>(heap_of({}, 0, listing, 0).count) * 1e-12;
  }
  if (quantity == "stream_memory_gb") {
    const ApiHeapParams heap{.per_watcher = megabytes(input, "per_watcher_mb")};
    return static_cast<double>(heap_of(heap, 0, {}, input.at("informers").get<int64_t>()).count) *
           1e-9;
  }
  if (quantity == "lists_kill_the_server") return kills_the_server(input, Verb::List);
  if (quantity == "streams_kill_the_server") return kills_the_server(input, Verb::Watch);
  return "unknown quantity";
}

TEST(ApiServersValidation, EveryCaseOfTheTableHolds) {
  test::check_cases("api_servers.json", 51, ours_in_api_servers);
}

}  // namespace
}  // namespace orrery

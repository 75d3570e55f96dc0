#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "models/control_plane/api_server/api_server_params.hpp"
#include "models/control_plane/clients/list_reader_params.hpp"
#include "models/control_plane/etcd/etcd.hpp"
#include "models/control_plane/etcd/etcd_memory.hpp"
#include "tests/support/api_world.hpp"
#include "tests/support/validation_cases.hpp"

namespace orrery {
namespace {

using nlohmann::json;

template <class Enum>
Enum named(std::string_view name) {
  const auto names = enum_names(Enum{});
  const auto found = std::ranges::find(names, name);
  EXPECT_NE(found, names.end()) << name;
  return static_cast<Enum>(found - names.begin());
}

EtcdParams params_of(const json& input) {
  EtcdParams params;
  if (input.contains("commit_ms")) {
    params.commit_latency = nearest_ns(input.at("commit_ms").get<double>() * 1e-3);
  }
  if (input.contains("disk")) params.disk = named<EtcdDisk>(input.at("disk").get<std::string>());
  return params;
}

// Clients in a closed loop: each sends its next write when its previous write is committed. Returns
// the rate of writes, their mean latency, or the commits per second as a share of 5,000 IOPS.
double closed_loop(const json& input, const std::string& quantity) {
  Engine engine;
  Etcd etcd{engine, params_of(input)};
  const auto clients = input.at("clients").get<int64_t>();
  const Duration span = 10_s;
  struct Client {
    void write() {
      const auto done = [this](bool is_committed) {
        EXPECT_TRUE(is_committed);
        etcd.store({.bytes = {264}});
        write();
      };
      EXPECT_EQ(etcd.propose({.bytes = {264}}, done), EtcdAnswer::Accepted);
    }
    Etcd& etcd;
  } client{etcd};
  for (int64_t i = 0; i < clients; ++i) client.write();
  engine.run(Time{} + span);
  const Etcd::Counters& counters = etcd.counters();
  const double rate = static_cast<double>(counters.writes) / span.seconds();
  if (quantity == "write_rate") return rate;
  // Little's law: latency = clients / rate.
  if (quantity == "write_latency_ms") return 1e3 * static_cast<double>(clients) / rate;
  return static_cast<double>(counters.commits) / span.seconds() / 5'000;
}

// Latency or core-seconds of a LIST with the default parameters. `baseline_ms` is the measured time
// of an empty LIST.
double of_list(const json& input, const std::string& quantity) {
  const auto objects = input.at("objects").get<int32_t>();
  const Bytes bytes = Bytes{input.at("object_bytes").get<int64_t>()} * objects;
  const bool is_from_etcd = named<ListFrom>(input.at("from").get<std::string>()) == ListFrom::Etcd;
  const Duration cpu = ApiCostParams{}.of(
      {.verb = Verb::List, .is_consistent = is_from_etcd, .objects = objects, .bytes = bytes});
  const Duration of_etcd = is_from_etcd ? EtcdParams{}.list_cpu(objects, bytes) : Duration{};
  if (quantity == "list_core_s") return cpu.seconds();
  if (quantity == "list_etcd_core_s") return of_etcd.seconds();
  return input.at("baseline_ms").get<double>() + 1e3 * (cpu + of_etcd).seconds();
}

std::string order_of_lists(json input) {
  const auto latency = [&](const char* from) {
    input["from"] = from;
    return of_list(input, "list_latency_ms");
  };
  return latency("etcd") >= input.at("times").get<double>() * latency("cache") ? "yes" : "no";
}

// Minutes until each informer has received all objects as the first events of its watch. The
// priority level has enough seats for all watches.
double stream_minutes(const json& input) {
  ApiServersParams params;
  params.servers = 1;
  params.server.cores = input.at("cores").get<double>();
  params.server.egress = {std::llround(input.at("egress_gbps").get<double>() * 1e9)};
  params.server.request_timeout = 24_h;
  params.flow_control = test::one_level(2 * input.at("informers").get<int32_t>());
  test::ApiWorld world{params};
  const Bytes list = Bytes{1'000'000} * input.at("list_mb").get<int64_t>();
  int64_t done = 0;
  for (int64_t i = 0; i < input.at("informers").get<int64_t>(); ++i) {
    world.server().submit({.verb = Verb::Watch, .answer = list}, [&](const ApiAnswer& answer) {
      done += answer.outcome == ApiOutcome::Done ? 1 : 0;
    });
  }
  world.engine.run();
  EXPECT_EQ(done, input.at("informers").get<int64_t>());
  return world.engine.now().seconds() / 60;
}

json ours_in_store(const json& input) {
  const auto quantity = input.at("quantity").get<std::string>();
  if (quantity == "list_order") return order_of_lists(input);
  if (quantity.starts_with("list_")) return of_list(input, quantity);
  if (quantity.starts_with("watcher_memory")) {
    const double mb =
        1e-6 * static_cast<double>(memory_of(EtcdWatchers{.connections = input.at("connections"),
                                                          .streams = input.at("streams"),
                                                          .watches = input.at("watches")})
                                       .count);
    if (quantity == "watcher_memory_mb") return mb;
    return mb > input.at("limit").get<double>() ? "out of memory" : "fits";
  }
  if (quantity == "index_memory_mb") {
    return 1e-6 *
           static_cast<double>(memory_of(EtcdKeys{.keys = input.at("keys"),
                                                  .versions = input.at("keys").get<int64_t>() *
                                                              input.at("versions").get<int64_t>(),
                                                  .key = {input.at("key_bytes")}})
                                   .count);
  }
  if (quantity == "stream_minutes") return stream_minutes(input);
  return closed_loop(input, quantity);
}

TEST(ControlPlaneValidation, EtcdAndListsAreAsPublished) {
  test::check_cases("control_plane_store.json", 40, ours_in_store);
}

}  // namespace
}  // namespace orrery

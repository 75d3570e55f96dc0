#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "models/control_plane/api_server_params.hpp"
#include "models/control_plane/etcd.hpp"
#include "models/control_plane/etcd_memory.hpp"
#include "models/control_plane/list_reader_params.hpp"
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

// Each client writes again as soon as it is answered.
double closed_loop(const json& input, const std::string& quantity) {
  Engine engine;
  Etcd etcd{engine, params_of(input)};
  const auto clients = input.at("clients").get<int64_t>();
  const Duration span = 10_s;
  struct Client {
    void write() {
      EXPECT_EQ(etcd.write({.bytes = {264}}, [this] { write(); }), EtcdAnswer::Accepted);
    }
    Etcd& etcd;
  } client{etcd};
  for (int64_t i = 0; i < clients; ++i) client.write();
  engine.run(Time{} + span);
  const Etcd::Counters& counters = etcd.counters();
  const double rate =
      static_cast<double>(counters.writes - static_cast<uint64_t>(clients)) / span.seconds();
  if (quantity == "write_rate") return rate;
  if (quantity == "write_latency_ms") return 1e3 * static_cast<double>(clients) / rate;  // Little
  return static_cast<double>(counters.commits) / span.seconds() / 5'000;
}

// By the parameters that runs have. `baseline_ms` is what a LIST of nothing takes where it was
// measured.
double of_list(const json& input, const std::string& quantity) {
  const auto objects = input.at("objects").get<int32_t>();
  const Duration cpu = ApiCostParams{}.of(
      {.verb = Verb::List,
       .is_consistent = named<ListFrom>(input.at("from").get<std::string>()) == ListFrom::Etcd,
       .objects = objects,
       .bytes = Bytes{input.at("object_bytes").get<int64_t>()} * objects});
  if (quantity == "list_core_s") return cpu.seconds();
  return input.at("baseline_ms").get<double>() + 1e3 * cpu.seconds();
}

json ours(const json& input) {
  const auto quantity = input.at("quantity").get<std::string>();
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
    return 1e-6 * static_cast<double>(memory_of(EtcdKeys{.keys = input.at("keys"),
                                                         .versions = input.at("versions"),
                                                         .key = {input.at("key_bytes")}})
                                          .count);
  }
  if (quantity == "stream_minutes") {
    const Bytes list = Bytes{1'000'000} * input.at("list_mb").get<int64_t>();
    const Bandwidth egress{std::llround(input.at("egress_gbps").get<double>() * 1e9)};
    return (list * input.at("informers").get<int64_t>() / egress).seconds() / 60;
  }
  return closed_loop(input, quantity);
}

TEST(ControlPlaneValidation, EtcdAndListsAreAsPublished) {
  test::check_cases("control_plane_store.json", 36, ours);
}

}  // namespace
}  // namespace orrery

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <variant>
#include <vector>

#include "models/control_plane/etcd/etcd.hpp"
#include "models/control_plane/load/namespaces.hpp"
#include "models/control_plane/load/thresholds.hpp"
#include "models/control_plane/services/endpoints.hpp"
#include "models/control_plane/services/watch_fan_out.hpp"
#include "sim/core/enum_names.hpp"
#include "tests/support/shipped_run.hpp"
#include "tests/support/validation_cases.hpp"

namespace orrery {
namespace {

using nlohmann::json;

// The limit of pods per node that SIG Scalability publishes beside its thresholds. Orrery rejects
// no pods because of it.
int64_t pods_per_node_max(int64_t cores) { return std::min<int64_t>(110, 10 * cores); }

EndpointsParams endpoints_params_of(const json& input) {
  EndpointsParams params;
  if (input.value("kind", "") == "endpoints") params.kind = EndpointsKind::Endpoints;
  params.slice_size = input.value("slice_size", params.slice_size);
  params.address_bytes = {input.at("address_bytes").get<int64_t>()};
  params.object_bytes = {};
  params.object_min = {input.value("object_min", int64_t{0})};
  params.addresses_max = 0;
  return params;
}

std::vector<uint32_t> ids(uint32_t count) {
  std::vector<uint32_t> all(count);
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

struct Sum {
  int64_t writes = 0;
  Bytes largest = {};
  FanOutCost cost;
};

void add(Sum& sum, std::span<const ObjectWrite> writes, int64_t watchers) {
  for (const ObjectWrite& write : writes) {
    ++sum.writes;
    sum.largest = std::max(sum.largest, write.bytes);
    sum.cost += fan_out(write, watchers, {});
  }
}

// Cost of creating a service, of replacing one of its pods, or of replacing all its pods one by
// one.
Sum life_of_service(const json& input) {
  ServiceEndpoints service{endpoints_params_of(input)};
  const auto pods = input.at("pods").get<uint32_t>();
  const auto watchers = input.at("watchers").get<int64_t>();
  const auto event = input.at("event").get<std::string>();
  Sum sum;
  const auto created = service.sync({}, ids(pods));
  if (event == "create") add(sum, created, watchers);
  const uint32_t replaced = event == "create" ? 0 : event == "change" ? 1 : pods;
  for (uint32_t i = 0; i < replaced; ++i) {
    const std::array<uint32_t, 1> gone{i}, come{pods + i};
    add(sum, service.sync(gone, come), watchers);
  }
  return sum;
}

// Cost of one second in which pods join a service one by one.
FanOutCost arrivals(const json& input) {
  ServiceEndpoints service{{.kind = EndpointsKind::Endpoints, .addresses_max = 0}};
  Sum sum;
  for (uint32_t i = 0; i < input.at("pods_per_s").get<uint32_t>(); ++i) {
    const std::array<uint32_t, 1> come{i};
    add(sum, service.sync({}, come), input.at("watchers"));
  }
  return sum.cost;
}

// Bytes that the servers send per second. Every node is a member of each service and watches all
// services. In each service one member changes every `period_s` seconds.
double churn_bytes_per_s(const json& input, bool is_headless) {
  const auto nodes = input.at("nodes").get<uint32_t>();
  const auto services = input.at("services").get<int64_t>();
  const int64_t watchers = Subscribers{.kube_proxies = nodes}.at_servers(is_headless, {});
  Sum sum;
  ServiceEndpoints service{endpoints_params_of(input)};
  service.sync({}, ids(nodes));
  const std::array<uint32_t, 1> node{nodes / 2};
  add(sum, service.sync(node, node), watchers);
  return static_cast<double>(sum.cost.egress.count * services) / input.at("period_s").get<double>();
}

json of_churn(const json& input, const std::string& quantity) {
  if (quantity == "churn_bytes_per_s") return churn_bytes_per_s(input, false);
  json whole = input;
  whole["kind"] = "endpoints";
  const double less = churn_bytes_per_s(input, input.value("headless", false));
  if (quantity == "churn_times_less") return churn_bytes_per_s(whole, false) / less;
  return churn_bytes_per_s(whole, false) >= 75 * less ? "at least 75 times less" : "not enough";
}

// Core-seconds to encode and send an object if each watcher gets its own encoding.
double encoding_s(const json& input) {
  const auto addresses = input.at("addresses").get<int32_t>();
  const Bytes bytes = ServiceEndpoints{endpoints_params_of(input)}.bytes_of(addresses);
  return fan_out({.addresses = addresses, .bytes = bytes}, input.at("watchers"),
                 {.encodes_for_each_watcher = true})
      .cpu.seconds();
}

json write_of(const json& input) {
  Engine engine;
  Etcd etcd{engine, {}};
  const Bytes bytes = ServiceEndpoints{endpoints_params_of(input)}.bytes_of(input.at("addresses"));
  return etcd.propose({.bytes = bytes}, [](bool) {}) == EtcdAnswer::TooLarge ? "too large"
                                                                             : "accepted";
}

double summary(const SimulationResult& result, std::string_view name) {
  const auto found = std::ranges::find(result.summary, name, &SummaryValue::name);
  if (found == result.summary.end()) return std::numeric_limits<double>::quiet_NaN();
  return std::visit([](auto value) { return static_cast<double>(value); }, found->value);
}

// Results of whole runs of shipped scenarios.
json of_run(const json& input, const std::string& quantity) {
  const ShippedRun run{input.at("scenario")};
  if (quantity == "run_bytes_per_write") {
    return summary(run.result, "watch_bytes") / summary(run.result, "watch_writes");
  }
  if (quantity == "run_peak_is_1_GB_per_s") {
    const bool is_reached = summary(run.result, "watch_bytes_peak") >= 1e9;
    return is_reached ? "at least 1 GB/s" : "less";
  }
  const ShippedRun less{input.at("other"),
                        input.value("set", json::array()).get<std::vector<std::string>>()};
  const double times = summary(run.result, "watch_bytes") / summary(less.result, "watch_bytes");
  if (quantity == "run_times_less") return times;
  return times >= 75 ? "at least 75 times less" : "not enough";
}

std::string beyond(const json& input) {
  ClusterSize size;
  const auto names = enum_names(Quantity{});
  for (const auto& [name, count] : input.at("counts").items()) {
    const auto found = std::ranges::find(names, name);
    EXPECT_NE(found, names.end()) << name;
    size[static_cast<Quantity>(found - names.begin())] = count;
  }
  std::string text;
  for (const Excess& excess : beyond_thresholds(size)) {
    text += (text.empty() ? "" : ", ") + std::string{names[static_cast<size_t>(excess.quantity)]} +
            ' ' + std::to_string(excess.count) + " > " + std::to_string(excess.threshold);
  }
  return text;
}

std::string thresholds() {
  std::string text;
  for (size_t i = 0; i < kQuantities; ++i) {
    text += (i > 0 ? " " : "") + std::to_string(threshold(static_cast<Quantity>(i)));
  }
  return text;
}

json ours_in_watch(const json& input) {
  const auto quantity = input.at("quantity").get<std::string>();
  if (input.contains("event")) {
    const Sum sum = life_of_service(input);
    if (quantity == "writes") return sum.writes;
    if (quantity == "events") return sum.cost.events;
    return quantity == "bytes" ? sum.cost.egress.count : sum.largest.count;
  }
  if (quantity == "watch_rate") return arrivals(input).events;
  if (quantity == "address_rate") return arrivals(input).addresses;
  if (quantity.starts_with("run_")) return of_run(input, quantity);
  if (quantity.starts_with("churn_")) return of_churn(input, quantity);
  if (quantity == "cores") return encoding_s(input) * input.at("writes_per_s").get<double>();
  if (quantity == "stall_s") return encoding_s(input) / input.at("idle_cores").get<double>();
  if (quantity == "write_of") return write_of(input);
  if (quantity == "beyond") return beyond(input);
  if (quantity == "thresholds") return thresholds();
  if (quantity == "pods_per_node") return pods_per_node_max(input.at("cores"));
  return time_to_ask_each(input.at("namespaces"), {}).seconds();
}

TEST(ControlPlaneValidation, WatchesAndNamespacesAreAsPublished) {
  test::check_cases("control_plane_watch.json", 60, ours_in_watch);
}

}  // namespace
}  // namespace orrery

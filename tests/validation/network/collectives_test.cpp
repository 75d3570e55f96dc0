#include "models/network/collectives/collectives.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "models/hardware/machine_catalogue.hpp"
#include "models/hardware/machine_params.hpp"
#include "models/network/collectives/nccl_tuner.hpp"
#include "sim/core/enum_names.hpp"
#include "tests/support/validation_cases.hpp"

namespace orrery {
namespace {

using nlohmann::json;

template <NamedEnum E>
E named(const std::string& name) {
  for (size_t i = 0; i < enum_names(E{}).size(); ++i) {
    if (enum_names(E{})[i] == name) return static_cast<E>(i);
  }
  ADD_FAILURE() << "no such name: " << name;
  return {};
}

Bytes bytes_of(const json& input) { return {input.value("bytes", int64_t{1} << 34)}; }

Collective collective_of(const json& input) {
  return named<Collective>(input.value("collective", std::string{"all_reduce"}));
}

// The ranks of a case. A case may change the machine as a scenario does: fewer NICs, or another
// model of GPU.
CommGroup group_of(const json& input) {
  MachineParams params{.base = input.at("machine").get<std::string>()};
  if (input.contains("nics")) params.nics = input.at("nics").get<int32_t>();
  if (input.contains("gpu_model")) params.gpu_model = input.at("gpu_model").get<std::string>();
  const Machine machine = resolve(params);
  GpuMask gpus = machine.all_gpus();
  if (input.contains("gpus")) {
    gpus = 0;
    for (int gpu : input.at("gpus")) gpus = static_cast<GpuMask>(gpus | 1U << gpu);
  }
  CommGroup group = comm_group(machine, gpus, input.value("nodes", 1));
  // A case may give more ranks on one NVLink fabric than a node has GPUs.
  group.ranks = input.value("ranks", group.ranks);
  group.has_net_sums = input.value("has_net_sums", false);
  return group;
}

// Time of a collective. A case may name the algorithm, or the algorithm and the protocol. The tuner
// chooses what is missing, for the shortest time.
Duration time_of(const json& input, const CommGroup& group, Bytes bytes) {
  const Collective collective = collective_of(input);
  if (!input.contains("algorithm")) return tuned_time(collective, group, bytes).time;
  const auto algorithm = named<Algorithm>(input.at("algorithm").get<std::string>());
  if (!input.contains("protocol")) return tuned_time(algorithm, collective, group, bytes)->time;
  const auto protocol = named<Protocol>(input.at("protocol").get<std::string>());
  return candidate_time({algorithm, protocol}, collective, group, bytes).value();
}

Duration hierarchical(const json& input) {
  return hierarchical_time(collective_of(input), group_of(input), bytes_of(input),
                           named<Stages>(input.at("stages").get<std::string>()));
}

double bus(const json& input, int32_t ranks, Duration time) {
  return static_cast<double>(
             bus_bandwidth(collective_of(input), ranks, bytes_of(input), time).bits_per_s) /
         8e9;
}

int64_t bits(double gigabytes_per_s) { return static_cast<int64_t>(gigabytes_per_s * 8e9); }

double alpha_beta_bus(const json& input) {
  const AlphaBeta network{.latency = nearest_ns(input.at("alpha_us").get<double>() * 1e-6),
                          .bandwidth = {bits(input.at("beta"))}};
  const int32_t ranks = input.at("ranks");
  return bus(input, ranks, alpha_beta_time(network, collective_of(input), ranks, bytes_of(input)));
}

double measured_bus(const json& input) {
  std::vector<BusPoint> sweep;
  for (const json& point : input.at("sweep")) {
    sweep.push_back({{point.at(0).get<int64_t>()}, {bits(point.at(1))}});
  }
  const int32_t ranks = input.at("ranks");
  return bus(input, ranks, measured_time(sweep, collective_of(input), ranks, bytes_of(input)));
}

double push_pull_seconds(const json& input) {
  return push_pull_time({.workers = input.at("workers"),
                         .servers = input.at("servers"),
                         .rate = {input.at("gigabits_per_s").get<int64_t>() * 1'000'000'000},
                         .is_colocated = input.value("is_colocated", false),
                         .is_overlapped = input.value("is_overlapped", false)},
                        bytes_of(input))
      .seconds();
}

json ours_in_collectives(const json& input) {
  const auto quantity = input.at("quantity").get<std::string>();
  if (quantity == "bus_factor") {
    return bus_factor(collective_of(input), input.at("ranks").get<int32_t>());
  }
  if (quantity == "alpha_beta_bus_gigabytes_per_s") return alpha_beta_bus(input);
  if (quantity == "measured_bus_gigabytes_per_s") return measured_bus(input);
  if (quantity == "push_pull_seconds") return push_pull_seconds(input);
  // Half of the time of push and pull, because compute hides either the pushes or the pulls.
  if (quantity == "one_way_seconds") return push_pull_seconds(input) / 2;
  if (quantity == "hierarchical_ms") return hierarchical(input).seconds() * 1e3;
  const CommGroup group = group_of(input);
  if (quantity == "latency_us") return time_of(input, group, {}).seconds() * 1e6;
  const Duration time = time_of(input, group, bytes_of(input));
  if (quantity == "ms") return time.seconds() * 1e3;
  if (quantity == "bus_gigabytes_per_s") return bus(input, group.ranks, time);
  if (quantity == "reaches_gigabytes_per_s") {
    const bool is_reached = bus(input, group.ranks, time) >= input.at("health_limit").get<double>();
    return is_reached ? "yes" : "no";
  }
  if (quantity == "fastest") {
    const Candidate best = tuned_time(collective_of(input), group, bytes_of(input)).candidate;
    return std::string{name_of(best.algorithm)} + "/" + std::string{name_of(best.protocol)};
  }
  return "unknown quantity";
}

TEST(CollectivesValidation, EveryCaseOfTheTableHolds) {
  test::check_cases("collectives.json", 60, ours_in_collectives);
}

}  // namespace
}  // namespace orrery

// models/scenario/scenario_checks.hpp -- checks that involve several sections of a scenario, and
// the facts that decide which parameters have an effect.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "models/facts/fact.hpp"
#include "models/hardware/cluster_state.hpp"
#include "models/hardware/machine.hpp"
#include "models/network/fabric/fabric.hpp"
#include "models/scenario/scenario.hpp"
#include "models/scenario/scenario_training.hpp"
#include "sim/config/fields.hpp"

namespace orrery {

// Defined in facts.cpp. Facts are indexed by Fact; the value of an unknown fact is empty.
using Facts = std::array<std::optional<bool>, kWhyNot.size()>;
// The facts that the scenario alone decides.
Facts facts_of(const Scenario& scenario);
// The facts that only the built cluster decides.
Facts facts_of(const Scenario& scenario, std::span<const Machine> machines, const Fabric& fabric);

// Defined in scenario_training.cpp.
void check_training(const Scenario& scenario, Checker& checker);
// `machines` are those of the built cluster.
void check_machines(const Scenario& scenario, std::span<const Machine> machines, Checker& checker);
bool has_nvls(std::span<const Machine> machines);

// Defined in scenario_peaks.cpp.
void check_peaks(const Scenario& scenario, const ClusterState& state,
                 std::span<const Machine> machines, Checker& checker);

// Defined in scenario_retries.cpp.
void check_retries(const Scenario& scenario, const ClusterState& state, Checker& checker);

// Defined in scenario_network.cpp.
void check_network(const Scenario& scenario, Checker& checker);
// Defined in scenario_sources.cpp.
void check_end(const Scenario& scenario, Checker& checker);  // for runs without run.until
void check_counts(const Scenario& scenario, Checker& checker);
// Reports generators that may make pods with more GPUs than any node has.
void check_pod_sizes(const Scenario& scenario, const ClusterState& state, Checker& checker);

// Defined in scenario_pods.cpp.
void check_pods(const Scenario& scenario, Checker& checker);
void check_services(const Scenario& scenario, Checker& checker);
bool has_images(const WorkloadParams& workload);

}  // namespace orrery

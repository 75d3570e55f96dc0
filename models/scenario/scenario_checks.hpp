// models/scenario/scenario_checks.hpp -- checks between sections of a scenario, a file each, and
// the facts that parameters need.
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

// facts.cpp. Indexed by Fact; empty values are not known yet.
using Facts = std::array<std::optional<bool>, kWhyNot.size()>;
// All facts but those that depend on nodes and switches.
Facts facts_of(const Scenario& scenario);
Facts facts_of(const Scenario& scenario, std::span<const Machine> machines, const Fabric& fabric);

// scenario_training.cpp
void check_training(const Scenario& scenario, Checker& checker);
// `machines`: of the built cluster
void check_machines(const Scenario& scenario, std::span<const Machine> machines, Checker& checker);
bool has_nvls(std::span<const Machine> machines);

// scenario_peaks.cpp
void check_peaks(const Scenario& scenario, const ClusterState& state,
                 std::span<const Machine> machines, Checker& checker);

// scenario_retries.cpp
void check_retries(const Scenario& scenario, const ClusterState& state, Checker& checker);

// scenario_network.cpp
void check_network(const Scenario& scenario, Checker& checker);
// scenario_sources.cpp
void check_end(const Scenario& scenario, Checker& checker);  // of a run without run.until
void check_counts(const Scenario& scenario, Checker& checker);
// Reports pods that fit no node of the built cluster.
void check_pod_sizes(const Scenario& scenario, const ClusterState& state, Checker& checker);

// scenario_pods.cpp
void check_pods(const Scenario& scenario, Checker& checker);
void check_services(const Scenario& scenario, Checker& checker);
bool has_images(const WorkloadParams& workload);

}  // namespace orrery

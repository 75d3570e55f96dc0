// models/scenario/scenario_checks.hpp -- what sections of a scenario say about one another, a file
// each.
#pragma once

#include <span>
#include <vector>

#include "models/hardware/cluster_state.hpp"
#include "models/hardware/machine.hpp"
#include "models/network/fabric/fabric.hpp"
#include "models/scenario/scenario.hpp"
#include "models/scenario/scenario_training.hpp"
#include "sim/config/fields.hpp"

namespace orrery {

// scenario_training.cpp
void check_training(const Scenario& scenario, Checker& checker);
// `machines`: of the built cluster
void check_machines(const Scenario& scenario, std::span<const Machine> machines, Checker& checker);

// scenario_unused.cpp
void check_unused(const Training& training, const Scenario& scenario, Checker& checker);

// scenario_exchanges.cpp
void check_exchanges(const Scenario& scenario, const std::vector<Training>& all, Checker& checker);
void check_exchanges_of(const Training& training, Checker& checker);
void check_exchanges_in_nodes(const Scenario& scenario, std::span<const Machine> machines,
                              Checker& checker);

// scenario_peaks.cpp
void check_peaks(const Scenario& scenario, const ClusterState& state,
                 std::span<const Machine> machines, Checker& checker);

// scenario_retries.cpp
void check_retries(const Scenario& scenario, const ClusterState& state, Checker& checker);

// scenario_storage.cpp
void check_stores(const Scenario& scenario, const std::vector<Training>& all, Checker& checker);

// scenario_restarts.cpp
void check_restarts(const Scenario& scenario, std::span<const Machine> machines, Checker& checker);

// scenario_network.cpp
void check_network(const Scenario& scenario, Checker& checker);
void check_fabric(const Scenario& scenario, const Fabric& fabric, Checker& checker);

// scenario_requests.cpp
void check_requests(const Scenario& scenario, Checker& checker);

// scenario_sources.cpp
void check_end(const Scenario& scenario, Checker& checker);  // of a run without run.until
void check_counts(const Scenario& scenario, Checker& checker);

// scenario_pods.cpp
void check_pods(const Scenario& scenario, Checker& checker);
void check_services(const Scenario& scenario, Checker& checker);
bool may_preempt(const Scenario& scenario);

}  // namespace orrery

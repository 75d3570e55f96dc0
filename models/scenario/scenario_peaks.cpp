// models/scenario/scenario_peaks.cpp -- checks that jobs with step.model can run only on GPUs whose
// peak FLOP/s are known.
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "models/scenario/scenario_checks.hpp"
#include "models/workload/training/training_step.hpp"

namespace orrery {
namespace {

NodeSet nodes_for(const PodSpec& spec, const ClusterState& state) {
  if (spec.required_terms.empty()) return NodeSet::all(state.nodes());
  NodeSet nodes{state.nodes()};
  for (const SelectorTerm& term : spec.required_terms) {
    if (!term.all_of.empty()) nodes |= state.matching(term);
  }
  return nodes;
}

std::vector<PodSpec> specs_of(const ExplicitJobParams& job) {
  if (job.gangs.empty()) return {job.pod.spec(job.priority)};
  std::vector<PodSpec> specs;
  for (const ExplicitGangParams& gang : job.gangs) {
    for (const ExplicitRoleParams& role : gang.roles) specs.push_back(role.pod.spec(job.priority));
  }
  return specs;
}

}  // namespace

// Checks only listed jobs: a job of any other source cannot have `step.model`.
void check_peaks(const Scenario& scenario, const ClusterState& state,
                 std::span<const Machine> machines, Checker& c) {
  if (scenario.network.level == NetworkLevel::None) return;
  std::set<std::pair<std::string, std::string>> reported;  // reported section and GPU model
  for (size_t i = 0; i < scenario.workload.sources.size(); ++i) {
    const auto* const listed = std::get_if<ExplicitJobsParams>(&scenario.workload.sources[i]);
    for (size_t j = 0; listed != nullptr && j < listed->jobs.size(); ++j) {
      const ExplicitJobParams& job = listed->jobs[j];
      const auto& step = (job.training ? *job.training : scenario.workload.training).step;
      if (!step || !step->model || job.kind != JobKind::MpiGang) continue;
      const std::string own =
          "workload.sources[" + std::to_string(i) + "].jobs[" + std::to_string(j) + "].training";
      const std::string at = (job.training ? own : "workload.training") + ".step.model";
      for (const PodSpec& spec : specs_of(job)) {
        nodes_for(spec, state).for_each([&](NodeId node) {
          const Machine& machine = machines[state.machine(node)];
          const bool may_run = spec.gpus > 0 && machine.gpus() >= spec.gpus;
          if (!may_run || flops_rate(*step->model, machine.gpu) > 0) return;
          if (!reported.insert({at, machine.gpu.name}).second) return;
          c.error(at, "gangs may run on " + std::string{state.name(node)} + ", and the peak of " +
                          machine.gpu.name + " in " + std::string{name_of(step->model->precision)} +
                          " is not known: give step.compute in place of the model, or "
                          "model.peak_tflops, or keep the gangs off such nodes with node_selector");
        });
      }
    }
  }
}

}  // namespace orrery

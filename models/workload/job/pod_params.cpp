#include "models/workload/job/pod_params.hpp"

#include <cmath>

namespace orrery {
namespace {

std::vector<NodeLabel> labels_of(const std::map<std::string, std::string>& given) {
  std::vector<NodeLabel> labels;
  for (const auto& [key, value] : given) labels.push_back({key, value});
  return labels;
}

std::vector<PodAffinityTerm> terms_of(const std::vector<PodAffinityParams>& given) {
  std::vector<PodAffinityTerm> terms;
  for (const PodAffinityParams& term : given) {
    terms.push_back({term.topology_key, labels_of(term.match_labels)});
  }
  return terms;
}

}  // namespace

void PodConstraintParams::apply(PodSpec& spec) const {
  spec.labels = labels_of(labels);
  spec.affinity = terms_of(affinity);
  spec.anti_affinity = terms_of(anti_affinity);
  for (const TopologySpreadParams& one : topology_spread) {
    spec.topology_spread.push_back(
        {.max_skew = one.max_skew,
         .topology_key = one.topology_key,
         .is_hard = one.when_unsatisfiable == Unsatisfiable::DoNotSchedule,
         .match_labels = labels_of(one.match_labels)});
  }
  if (image) spec.images = {{image->name, image->size.count}};
  if (!node_selector.empty()) {
    if (spec.required_terms.empty()) spec.required_terms.emplace_back();
    for (SelectorTerm& term : spec.required_terms) {
      for (const auto& [key, value] : node_selector) {
        term.all_of.push_back({.key = key, .op = SelectorOperator::In, .values = {value}});
      }
    }
  }
  for (const TolerationParams& t : tolerations) {
    Toleration toleration;
    toleration.key = t.key;
    toleration.op = t.resolved_operator();
    toleration.value = t.value.value_or("");
    toleration.any_effect = !t.effect.has_value();
    toleration.effect = t.effect.value_or(TaintEffect::NoSchedule);
    spec.tolerations.push_back(std::move(toleration));
  }
}

PodSpec PodParams::spec(int32_t priority) const {
  PodSpec spec;
  spec.cpu_milli = std::llround(cpus * 1000);
  spec.memory_bytes = memory.count;
  spec.gpus = gpus;
  spec.gpu_milli = gpu_milli;
  spec.nics = nics;
  spec.priority = priority;
  spec.may_preempt = preemption_policy != PreemptionPolicy::Never;
  apply(spec);
  return spec;
}

}  // namespace orrery

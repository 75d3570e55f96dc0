// models/scenario/scenario_unused.cpp -- parameters of `training` sections that none of their jobs
// heeds.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "models/scenario/scenario_checks.hpp"
#include "models/scheduling/contract/policy_registry.hpp"

namespace orrery {
namespace {

// ---- what a rule asks

bool has_pods(const Training& /*training*/, const Scenario& scenario) {
  return scenario.policy.driver != Driver::Counting;
}

bool has_gpus(const Training& training, const Scenario& /*scenario*/) {
  return training.is_of_others || training.gpus_max > 0;
}

bool has_ranks_to_meet(const Training& training, const Scenario& /*scenario*/) {
  return training.is_of_others || training.gpus_max > 1;
}

// Without gangs that is told elsewhere.
bool has_parts(const Training& training, const Scenario& /*scenario*/) {
  return training.leaves_nodes || !training.has_gangs;
}

// Of a pod whose only rank dies the output tells why it is gone.
bool has_survivors(const Training& training, const Scenario& scenario) {
  return training.leaves_nodes || (training.has_gangs && !scenario.faults.ranks.empty());
}

// Work is what GPUs compute: a step without anything else lasts as long as its work, and shows
// only in that checkpoints are made between two.
bool lengthens(const Training& training, const Scenario& /*scenario*/) {
  const TrainingParams& params = *training.params;
  if (!params.step) return true;  // null takes it back
  const StepParams& step = *params.step;
  return step.model || !step.exchanges.empty() || step.optimizer > Duration{} ||
         step.data > Duration{} || step.stragglers.fraction > 0 || step.parallel.pipeline > 1 ||
         params.dataset || params.checkpoint_interval > Duration{};
}

// That it must be true there is told elsewhere.
bool chooses_shards(const Training& training, const Scenario& /*scenario*/) {
  const auto& checkpoint = training.params->checkpoint;
  return !checkpoint || checkpoint->store != kLocalStore || !checkpoint->sharded;
}

bool gathers(const Training& training, const Scenario& /*scenario*/) { return training.gathers; }

// A loaded plugin may, if it lets pods wait at all.
bool heeds_timeouts(const PolicyParams& policy) {
  return has_trait(policy, Trait::WaitsInPermit) || has_loaded_for(policy, Permit::kPoint);
}

bool ever_heeds_timeouts(const Training& /*training*/, const Scenario& scenario) {
  return heeds_timeouts(scenario.policy) ||
         std::ranges::any_of(scenario.run.changes, [](const ChangeParams& change) {
           return heeds_timeouts(change.policy);
         });
}

// ---- the rules

struct Rule {
  std::string_view field;
  bool (*is_heeded)(const Training&, const Scenario&);
  std::string_view otherwise;
  bool is_warning = false;  // sizes of jobs and policies may vary from run to run of a study
};

constexpr std::string_view kCounting =
    "has no effect with policy.driver: counting, which knows no pods";

// Of several that a field breaks the first is told.
constexpr Rule kRules[] = {
    {"init_per_gpu", has_gpus, "has no effect on jobs without GPUs"},
    {"communicator", has_ranks_to_meet,
     "has no effect on jobs of one GPU, or none: there is no other to meet"},
    {"restart_scope", has_pods, kCounting},
    {"restart_scope", has_survivors, "has no effect on jobs without a gang of several pods", true},
    {"restarts_max", has_pods, kCounting},
    {"schedule_timeout", has_pods, kCounting},
    {"schedule_timeout", gathers,
     "has no effect on jobs without a gang in which pods wait for one another", true},
    {"schedule_timeout", ever_heeds_timeouts,
     "has no effect with this policy: coscheduling, koordinator and native_gang heed it", true},
    {"step", lengthens,
     "has no effect: it is compute alone, which work counts; nothing lengthens it (exchanges, "
     "optimizer, data, stragglers, dataset)"},
    {"checkpoint.sharded", chooses_shards,
     "has no effect on local disks: nodes write and read their own part"},
    {"checkpoint.sharded", has_parts,
     "has no effect on gangs of one pod, whose node holds the whole checkpoint", true},
};

void check_fields(const Training& training, const Scenario& scenario, Checker& c) {
  std::string_view told;
  for (const Rule& rule : kRules) {
    const std::string field = training.path + "." + std::string{rule.field};
    if (rule.field == told || !c.is_given(field)) continue;
    if (rule.is_heeded(training, scenario)) continue;
    told = rule.field;
    if (rule.is_warning) {
      c.warning(field, std::string{rule.otherwise});
    } else {
      c.idle(field, std::string{rule.otherwise});
    }
  }
}

// ---- steps

// What no gang of the section has use for; as the first of them tells it.
std::vector<StepMistake> unused_by_all(const Training& training) {
  const StepParams& step = *training.params->step;
  if (training.has_other_gangs || !step.mistakes().empty()) return {};
  std::vector<StepMistake> unused;
  for (const Training::ListedGang& gang : training.listed) {
    if (!step.mistakes_for(gang.gpus).empty()) return {};  // which check_groups() tells
    const std::vector<StepMistake> here = step.unused_by(gang.gpus);
    if (&gang == &training.listed.front()) unused = here;
    std::erase_if(unused, [&](const StepMistake& one) {
      return std::ranges::find(here, one.field, &StepMistake::field) == here.end();
    });
  }
  return unused;
}

void check_exchange(const Training& training, size_t index, const Scenario& scenario, Checker& c) {
  const ExchangeParams& exchange = training.params->step->exchanges[index];
  const std::string at = training.path + ".step.exchanges[" + std::to_string(index) + "].";
  const auto refuse = [&](const std::string& field, std::string_view text) {
    if (c.is_given(at + field)) c.idle(at + field, std::string{text});
  };
  constexpr std::string_view kKnown = "has no effect, since network.exchanges tells the time";
  const bool is_known = scenario.network.tells_time_of(exchange.collective, ExchangeSpan::Nodes) &&
                        scenario.network.tells_time_of(exchange.collective, ExchangeSpan::Node);
  // With a fabric the algorithm is also what loads links.
  if (is_known && scenario.network.level == NetworkLevel::AlphaBeta &&
      exchange.algorithm != AlgorithmChoice::Auto) {
    refuse("algorithm",
           "has no effect with level: alpha_beta, since network.exchanges tells the time");
  }
  if (is_known) refuse("stages", kKnown);
  if (!training.has_gangs || may_leave_nodes(training, index)) return;
  const std::string why = training.leaves_nodes
                              ? "no effect: the ranks that exchange with one another share a pod"
                              : "no effect on gangs of one pod, which stay on their node";
  const auto tell = [&](const std::string& field, const std::string& text) {
    if (training.leaves_nodes || !c.is_given(at + field)) return refuse(field, text);
    c.warning(at + field, text);  // sizes may vary from run to run
  };
  tell("servers", "have " + why);
  if (!is_known) tell("stages", "has " + why);
}

}  // namespace

void check_unused(const Training& training, const Scenario& scenario, Checker& c) {
  check_fields(training, scenario, c);
  if (!training.params->step) return;
  const std::string at = training.path + ".step.";
  for (const StepMistake& unused : unused_by_all(training)) {
    if (c.is_given(at + unused.field)) c.idle(at + unused.field, unused.message);
  }
  for (size_t i = 0; i < training.params->step->exchanges.size(); ++i) {
    check_exchange(training, i, scenario, c);
  }
}

}  // namespace orrery

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "models/scenario/scenario_checks.hpp"
#include "models/workload/training/training_step.hpp"

namespace orrery {
namespace {

bool crosses(const ExchangeMade& made) { return made.may_cross; }

// Ranks are numbered pod by pod, so that a group stays in a pod if the groups beside it fit whole.
ExchangeMade made_by(const Training::ListedGang& gang, const StepTraffic& traffic) {
  const bool is_row = traffic.among == ExchangeGroup::Pipeline;  // of all stages
  const int32_t block = is_row ? gang.gpus : traffic.ranks * traffic.stride;
  const auto splits = [&](int32_t gpus) { return gpus % block != 0; };
  return {.collective = traffic.collective,
          .algorithm = traffic.method.algorithm,
          .spread = (traffic.ranks - 1) * traffic.stride + 1,
          .may_cross = std::ranges::any_of(gang.of_pods, splits)};
}

// An exchange that the step lists, once for each gang that makes it.
std::vector<ExchangeMade> made_by_all(const Training& training, size_t exchange) {
  const StepParams& step = *training.params->step;
  const auto from = step.exchanges.begin() + static_cast<int64_t>(exchange);
  const ExchangeMade anywhere{.collective = from->collective, .algorithm = from->algorithm};
  if (training.has_other_gangs || !step.is_sound()) return {anywhere};
  std::vector<ExchangeMade> made;
  for (const Training::ListedGang& gang : training.listed) {
    const auto is_alone = [&](const ExchangeParams& one) {
      return group_ranks(one.among, step.parallel, gang.gpus) < 2;
    };
    if (!step.mistakes_for(gang.gpus).empty()) {
      made.push_back(anywhere);  // the mistakes are told
    } else if (!is_alone(*from)) {
      // Those listed come last, without the ones of a single rank.
      const auto skipped = std::count_if(from, step.exchanges.end(), is_alone);
      const std::vector<StepTraffic> traffic = plan_step(step, gang.gpus, 1).traffic;
      const auto after = static_cast<size_t>(step.exchanges.end() - from - skipped);
      made.push_back(made_by(gang, traffic[traffic.size() - after]));
    }
  }
  return made;
}

// Where its time is known wherever it may be made, nothing else is asked how it goes. That the
// times of both spans are known is told elsewhere.
void check_ways(const Training& training, const NetworkParams& network, int32_t gpus_max,
                Checker& c) {
  for (size_t i = 0; i < training.params->step->exchanges.size(); ++i) {
    const ExchangeParams& exchange = training.params->step->exchanges[i];
    const bool in_node = network.tells_time_of(exchange.collective, ExchangeSpan::Node);
    const bool across = network.tells_time_of(exchange.collective, ExchangeSpan::Nodes);
    const auto is_known = [&](const ExchangeMade& made) {
      return (in_node || made.spread > gpus_max) && (across || !made.may_cross);
    };
    const std::vector<ExchangeMade> made = made_by_all(training, i);
    if (in_node == across || made.empty() || !std::ranges::all_of(made, is_known)) continue;
    const std::string at = training.path + ".step.exchanges[" + std::to_string(i) + "].";
    const auto refuse = [&](const std::string& field) {
      if (!c.is_given(at + field)) return;
      c.idle(at + field, across ? "has no effect, since network.exchanges tells the time between "
                                  "nodes, and it is never made in one"
                                : "has no effect, since network.exchanges tells the time in nodes, "
                                  "and it is never made between them");
    };
    if (network.level == NetworkLevel::AlphaBeta && exchange.algorithm != AlgorithmChoice::Auto) {
      refuse("algorithm");
    }
    if (across && exchange.algorithm == AlgorithmChoice::Hierarchical) refuse("stages");
  }
}

// What is known of exchanges is of some that a step makes.
void check_known_times(const Scenario& scenario, const std::vector<ExchangeMade>& all, Checker& c) {
  const std::vector<ExchangeTimeParams>& known = scenario.network.exchanges;
  for (size_t i = 0; i < known.size(); ++i) {
    const auto is_used = [&](const ExchangeMade& made) {
      return made.collective == known[i].collective &&
             (known[i].span == ExchangeSpan::Node || made.may_cross);
    };
    if (std::ranges::any_of(all, is_used)) continue;
    c.idle("network.exchanges[" + std::to_string(i) + "]",
           "has no effect: no step of a gang makes such an exchange");
  }
}

// Switches that add up serve NVLS, which NCCL's tuner may choose, too.
void check_sharp(const Scenario& scenario, const std::vector<ExchangeMade>& all, Checker& c) {
  if (!scenario.network.sharp) return;
  const auto sums = [](const ExchangeMade& made) {
    return made.may_cross && made.collective == Collective::AllReduce;
  };
  const auto may_use = [&](const ExchangeMade& made) {
    return sums(made) &&
           (made.algorithm == AlgorithmChoice::Auto || made.algorithm == AlgorithmChoice::Nvls);
  };
  if (std::ranges::none_of(all, sums)) {
    c.idle("network.sharp", "has no effect: no step of a gang makes an all_reduce across nodes");
  } else if (std::ranges::none_of(all, may_use)) {
    c.idle("network.sharp",
           "has no effect: every all_reduce across nodes names an algorithm for "
           "which switches add up nothing");
  } else if (scenario.network.level == NetworkLevel::AlphaBeta &&
             scenario.network.tells_time_of(Collective::AllReduce, ExchangeSpan::Nodes)) {
    c.idle("network.sharp",
           "has no effect with level: alpha_beta, since network.exchanges tells the time");
  }
}

// Whether the exchanges of a gang may put something on cables.
bool are_cables_used(const std::vector<Training>& all) {
  for (const Training& training : all) {
    if (!training.params->step) continue;
    Training alone = training;
    alone.listed.clear();
    const StepParams& step = *training.params->step;
    if (training.has_other_gangs && (step.model || !step.exchanges.empty())) return true;
    for (const Training::ListedGang& gang : training.listed) {
      alone.listed.assign(1, gang);
      if (std::ranges::any_of(exchanges_made(alone), crosses)) return true;
    }
  }
  return false;
}

// What stays in nodes puts nothing on cables.
void check_cables(const std::vector<Training>& all, Checker& c) {
  if (are_cables_used(all)) return;
  for (const char* section :
       {"network.fabric", "network.routing", "network.links", "faults.links"}) {
    if (!c.is_given(section)) continue;
    c.idle(section,
           "has no effect: no gang has more than one pod and a step with exchanges between them");
  }
}

}  // namespace

int32_t gpus_of(const ExplicitJobParams& job) {
  if (job.gangs.empty()) return job.pods * job.pod.gpus;
  int32_t gpus = 0;
  for (const ExplicitGangParams& gang : job.gangs) {
    for (const ExplicitRoleParams& role : gang.roles) gpus += role.pods * role.pod.gpus;
  }
  return gpus;
}

void Training::used_by(const ExplicitJobParams& job) {
  has_jobs = true;
  gpus_max = std::max(gpus_max, gpus_of(job));
  if (job.kind != JobKind::MpiGang) return;
  has_gangs = true;
  ListedGang gang{.gpus = gpus_of(job), .count = job.count};
  int64_t pods = job.gangs.empty() ? job.pods : 0;
  if (job.gangs.empty()) gang.of_pods.push_back(job.pod.gpus);
  for (const ExplicitGangParams& one : job.gangs) {
    for (const ExplicitRoleParams& role : one.roles) {
      gang.of_pods.push_back(role.pod.gpus);
      pods += role.pods;
    }
  }
  if (pods == 1) gang.of_pods.clear();
  leaves_nodes = leaves_nodes || pods > 1;
  gathers = gathers || (pods > 1 && (!job.gangs.empty() || job.min_available != 1));
  listed.push_back(std::move(gang));
}

void Training::used_by_others(bool gangs) {
  has_jobs = is_of_others = true;
  has_other_gangs = has_other_gangs || gangs;
  has_gangs = has_gangs || gangs;
  leaves_nodes = leaves_nodes || gangs;
  gathers = gathers || gangs;
}

std::vector<Training> trainings(const WorkloadParams& params) {
  std::vector<Training> all{{.path = "workload.training", .params = &params.training}};
  const auto of = [&](const std::string& at,
                      const std::optional<TrainingParams>& own) -> Training& {
    if (own) all.push_back({.path = at + ".training", .params = &*own});
    return own ? all.back() : all.front();
  };
  for (size_t i = 0; i < params.sources.size(); ++i) {
    const std::string path = "workload.sources[" + std::to_string(i) + "]";
    if (const auto* const listed = std::get_if<ExplicitJobsParams>(&params.sources[i])) {
      for (size_t j = 0; j < listed->jobs.size(); ++j) {
        const std::string at = path + ".jobs[" + std::to_string(j) + "]";
        of(at, listed->jobs[j].training).used_by(listed->jobs[j]);
      }
    } else if (const auto* const generator = std::get_if<GeneratorParams>(&params.sources[i])) {
      of(path, generator->training).used_by_others(generator->job_kind != KindOfJob::Pods);
    } else if (const auto* const trace = std::get_if<TraceSourceParams>(&params.sources[i])) {
      of(path, trace->training).used_by_others(trace->job_kind != KindOfJob::Pods);
    }
  }
  return all;
}

std::vector<ExchangeMade> exchanges_made(const Training& training) {
  std::vector<ExchangeMade> made;
  if (!training.has_gangs || !training.params->step) return made;
  const StepParams& step = *training.params->step;
  if (training.has_other_gangs) {
    for (const ExchangeParams& one : step.exchanges) {
      made.push_back({.collective = one.collective, .algorithm = one.algorithm});
    }
  }
  if (!step.is_sound()) return made;
  for (const Training::ListedGang& gang : training.listed) {
    if (gang.gpus == 0 || !step.mistakes_for(gang.gpus).empty()) continue;
    for (const StepTraffic& traffic : plan_step(step, gang.gpus, 1).traffic) {
      made.push_back(made_by(gang, traffic));
    }
  }
  return made;
}

std::vector<ExchangeMade> exchanges_made(const std::vector<Training>& all) {
  std::vector<ExchangeMade> made;
  for (const Training& training : all) {
    for (const ExchangeMade& one : exchanges_made(training)) made.push_back(one);
  }
  return made;
}

bool may_leave_nodes(const Training& training, size_t exchange) {
  return std::ranges::any_of(made_by_all(training, exchange), crosses);
}

void check_exchanges(const Scenario& scenario, const std::vector<Training>& all, Checker& c) {
  const std::vector<ExchangeMade> made = exchanges_made(all);
  check_known_times(scenario, made, c);
  check_sharp(scenario, made, c);
  check_cables(all, c);
}

void check_exchanges_of(const Training& training, Checker& c) {
  const std::vector<ExchangeMade> made = exchanges_made(training);
  const StepParams& step = *training.params->step;
  const std::string at = training.path + ".step";
  if (c.is_given(at + ".polling") && std::ranges::none_of(made, crosses)) {
    c.idle(at + ".polling", "has no effect: no exchange leaves its node");
  }
  if (step.overlap > 0 && made.empty() && (step.model || !step.exchanges.empty())) {
    c.idle(at + ".overlap", "has no effect: no rank has others to exchange with");
  }
}

// Groups that no machine has GPUs enough for are spread over several.
void check_exchanges_in_nodes(const Scenario& scenario, std::span<const Machine> machines,
                              Checker& c) {
  int32_t most = 0;
  for (const Machine& machine : machines) most = std::max(most, machine.gpus());
  const std::vector<Training> all_trainings = trainings(scenario.workload);
  for (const Training& training : all_trainings) {
    if (training.params->step && training.has_gangs) {
      check_ways(training, scenario.network, most, c);
    }
  }
  const std::vector<ExchangeMade> all = exchanges_made(all_trainings);
  const std::vector<ExchangeTimeParams>& known = scenario.network.exchanges;
  for (size_t i = 0; i < known.size(); ++i) {
    if (known[i].span != ExchangeSpan::Node) continue;
    const auto is_such = [&](const ExchangeMade& made) {
      return made.collective == known[i].collective;
    };
    const auto fits = [&](const ExchangeMade& made) {
      return is_such(made) && made.spread <= most;
    };
    if (std::ranges::none_of(all, is_such) || std::ranges::any_of(all, fits)) continue;
    c.idle("network.exchanges[" + std::to_string(i) + "].span",
           "has no effect: groups that make it have more ranks than a node has GPUs");
  }
}

}  // namespace orrery

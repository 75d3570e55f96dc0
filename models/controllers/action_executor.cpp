#include "models/controllers/action_executor.hpp"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

constexpr std::string_view kNoGroups = "there is no control_plane.autoscaler with pools to scale";

}  // namespace

ActionExecutor::ActionExecutor(Sim sim, const Parts& parts)
    : sim_{sim},
      parts_{parts},
      evictions_{sim.engine, parts.jobs, parts.controller, parts.budgets},
      rows_{sim.recorder, "/events/actions", "Actions of controllers and their outcomes."} {
  evictions_.tried.connect([this](uint64_t action) {
    if (const auto open = open_.find(action); open != open_.end()) ++open->second.row.tries;
  });
}

void ActionExecutor::use(ControllerApi& api) {
  api_ = &api;
  evictions_.use(api);
}

void ActionExecutor::connect(PodNews& pods, JobNews& jobs) {
  pods.pod_removed.connect(*this, &ActionExecutor::pod_removed);
  jobs.job_over.connect(*this, &ActionExecutor::job_over);
}

std::string_view ActionExecutor::what_is_missing(const ControlAction& action) const {
  const auto is_node = [&](NodeId node) { return node.index < parts_.cluster.nodes(); };
  const auto look = [&]<class A>(const A& a) -> std::string_view {
    if constexpr (requires { a.node; }) {
      if (!is_node(a.node)) return "there is no such node";
    }
    if constexpr (requires { a.nodes; }) {
      if (!std::ranges::all_of(a.nodes, is_node)) return "there is no such node";
    }
    if constexpr (requires { a.job; }) {
      const bool is_job = a.job.index < parts_.jobs.jobs_bound() && parts_.jobs.is_live(a.job);
      if (!is_job) return "there is no such job";
    }
    if constexpr (requires { a.pod; }) {
      if (a.pod.index >= parts_.jobs.pods_bound()) return "there is no such pod";
    }
    return {};
  };
  return std::visit(look, action);
}

ActionRow ActionExecutor::row_of(const Giver& by, const Actions::Ordered& ordered) const {
  ActionRow row;
  row.at = sim_.engine.now();
  row.controller = by.name;
  row.action = static_cast<ActionKind>(ordered.action.index());
  row.why = std::string_view{ordered.why};
  const auto look = [&](const auto& action) {
    if constexpr (requires { action.node; }) row.node = action.node;
    if constexpr (requires { action.replicas; }) row.amount = action.replicas;
    if constexpr (requires { action.nodes; }) {
      row.amount = static_cast<int32_t>(action.nodes.size());
      const bool is_pool = parts_.groups != nullptr && action.pool < parts_.groups->pools().size();
      if (is_pool) row.pool = parts_.groups->pools()[action.pool].name;
    }
    if constexpr (requires { action.job; }) {
      row.job = static_cast<int64_t>(parts_.jobs.job(action.job).serial);
    }
    if constexpr (requires { action.pod; }) {
      const Pod& pod = parts_.jobs.pod(action.pod);
      row.job = static_cast<int64_t>(parts_.jobs.job(pod.job).serial);
      row.rank = pod.rank;
      row.node = pod.node;
    }
  };
  if (what_is_missing(ordered.action).empty()) std::visit(look, ordered.action);
  return row;
}

void ActionExecutor::carry_out(const Giver& by, const Actions& actions) {
  for (const Actions::Ordered& ordered : actions.ordered()) {
    ++counters_.given;
    const uint64_t number = ++last_;
    open_[number] = {.row = row_of(by, ordered), .by = by};
    const std::string_view missing = what_is_missing(ordered.action);
    if (!missing.empty()) {
      end(number, ActionOutcome::Refused, missing);
    } else {
      std::visit([&](const auto& action) { begin(number, action); }, ordered.action);
    }
  }
}

void ActionExecutor::end(uint64_t number, ActionOutcome outcome, std::string_view reason) {
  const auto at = open_.find(number);
  if (at == open_.end()) return;
  ActionRow& row = at->second.row;
  row.ended = sim_.engine.now();
  row.outcome = outcome;
  row.reason = reason;
  ++(outcome == ActionOutcome::Done      ? counters_.done
     : outcome == ActionOutcome::Refused ? counters_.refused
                                         : counters_.failed);
  sim_.engine.cancel(at->second.deadline);
  rows_.emit(row);
  open_.erase(at);
}

void ActionExecutor::finish() {
  for (auto& [number, open] : open_) {
    open.row.outcome = ActionOutcome::UnderWay;
    rows_.emit(open.row);
  }
  open_.clear();
}

void ActionExecutor::patch(uint64_t number, ApiResource resource,
                           std::function<std::string()> apply) {
  const auto stored = [this, number, apply = std::move(apply)] {
    const std::string why_not = apply();
    end(number, why_not.empty() ? ActionOutcome::Done : ActionOutcome::Refused, why_not);
  };
  if (api_ == nullptr) return stored();
  api_->patch(open_.at(number).by.number, resource,
              [this, number, stored](ControllerApi::Answer answer) {
                if (answer == ControllerApi::Answer::Stored) return stored();
                end(number, ActionOutcome::Failed, "the API servers did not store the change");
              });
}

// ---- nodes

void ActionExecutor::set_cordoned(NodeId node, bool is_cordoned) {
  if (is_cordoned) {
    cordoned_.insert(node);
  } else {
    cordoned_.erase(node);
  }
  if (parts_.cluster.cordoned().contains(node) == is_cordoned) return;
  parts_.cluster.set_cordoned(node, is_cordoned);
  parts_.nodes.node_updated.emit(node);
}

void ActionExecutor::begin(uint64_t number, const CordonNode& action) {
  patch(number, ApiResource::Nodes, [this, node = action.node] {
    set_cordoned(node, true);
    return std::string{};
  });
}

void ActionExecutor::begin(uint64_t number, const UncordonNode& action) {
  if (draining_.contains(action.node)) {
    return end(number, ActionOutcome::Refused, "the node is being drained");
  }
  patch(number, ApiResource::Nodes, [this, node = action.node] {
    set_cordoned(node, false);
    return std::string{};
  });
}

void ActionExecutor::begin(uint64_t number, const TaintNode& action) {
  patch(number, ApiResource::Nodes, [this, number, action] {
    parts_.cluster.set_taint(action.node, action.taint, action.is_there);
    parts_.nodes.node_updated.emit(action.node);
    if (action.is_there && action.taint.effect == TaintEffect::NoExecute) {
      delete_intolerant(number, action);
    }
    return std::string{};
  });
}

bool ActionExecutor::is_on(NodeId node, PodId id) const {
  const Pod& pod = parts_.jobs.pod(id);
  return pod.node == node && (pod.state == PodState::Bound || pod.state == PodState::Running);
}

void ActionExecutor::delete_intolerant(uint64_t number, const TaintNode& action) {
  std::vector<PodId> pods = parts_.scheduler.placements().on_node(action.node);
  std::ranges::sort(pods);
  const uint32_t controller = open_.at(number).by.number;
  for (const PodId pod : pods) {
    const auto tolerates = [&](const Toleration& t) { return t.tolerates(action.taint); };
    if (std::ranges::any_of(parts_.jobs.spec(pod).tolerations, tolerates)) continue;
    if (is_on(action.node, pod)) evictions_.delete_now(controller, pod, [](auto, const auto&) {});
  }
}

// ---- pods

void ActionExecutor::begin(uint64_t number, const EvictPod& action) {
  const PodState state = parts_.jobs.pod(action.pod).state;
  if (state == PodState::Absent || state == PodState::Done) {
    return end(number, ActionOutcome::Refused, "there is no such pod");
  }
  const Time now = sim_.engine.now();
  const Duration span = std::min(action.retry_for, Time::max() - now);
  evictions_.begin({.controller = open_.at(number).by.number,
                    .action = number,
                    .pod = action.pod,
                    .retry_until = now + span},
                   [this, number](EvictionsByApi::Result result, const std::string& reason) {
                     using Result = EvictionsByApi::Result;
                     end(number,
                         result == Result::Forbidden   ? ActionOutcome::Refused
                         : result == Result::ApiFailed ? ActionOutcome::Failed
                                                       : ActionOutcome::Done,
                         result == Result::GoneAlready ? "the pod was gone already" : reason);
                   });
}

// Like `kubectl drain`: cordons the node, evicts its pods and waits until they are gone.
void ActionExecutor::begin(uint64_t number, const DrainNode& action) {
  if (!draining_.try_emplace(action.node, number).second) {
    return end(number, ActionOutcome::Refused, "the node is being drained already");
  }
  if (action.deadline < Time::max() - sim_.engine.now()) {
    open_.at(number).deadline = sim_.engine.after(
        action.deadline, Label{"controllers.drain_deadline"},
        [this, number] { drain_failed(number, {}); }, Phase::Control);
  }
  const auto cordoned = [this, number, action] {
    if (!open_.contains(number)) return;
    set_cordoned(action.node, true);
    drain_pods(number, action);
  };
  if (api_ == nullptr) return cordoned();
  api_->patch(open_.at(number).by.number, ApiResource::Nodes,
              [this, number, cordoned, node = action.node](ControllerApi::Answer answer) {
                if (answer == ControllerApi::Answer::Stored) return cordoned();
                draining_.erase(node);
                end(number, ActionOutcome::Failed, "the API servers did not store the cordon");
              });
}

void ActionExecutor::drain_pods(uint64_t number, const DrainNode& action) {
  std::vector<PodId> pods = parts_.scheduler.placements().on_node(action.node);
  std::erase_if(pods, [&](PodId pod) { return !is_on(action.node, pod); });
  std::ranges::sort(pods);
  Open& open = open_.at(number);
  open.row.amount = static_cast<int32_t>(pods.size());
  for (const PodId pod : pods) open.evictions[pod] = 0;
  const Time given = open.row.at;
  const Duration evict_for = std::min(action.deadline, action.evict_for);
  const bool gives_up = action.evict_for < action.deadline;
  const auto at = [&](Duration after) {
    return after < Time::max() - given ? given + after : Time::max();
  };
  const uint32_t controller = open.by.number;
  for (const PodId pod : pods) {
    const auto done = [this, number, gives_up](EvictionsByApi::Result result,
                                               const std::string& reason) {
      const bool stays = result == EvictionsByApi::Result::Forbidden ||
                         result == EvictionsByApi::Result::ApiFailed;
      if (stays && gives_up && open_.contains(number)) drain_failed(number, reason);
    };
    const uint64_t eviction = evictions_.begin({.controller = controller,
                                                .action = number,
                                                .pod = pod,
                                                .retry_until = at(evict_for),
                                                .force_at = at(action.force_after)},
                                               done);
    // Without a control plane, begin() evicts the pod at once, so the drain may have ended.
    const auto drain = open_.find(number);
    if (drain == open_.end()) return;
    const auto left = drain->second.evictions.find(pod);
    if (left != drain->second.evictions.end()) left->second = eviction;
  }
  if (!pods.empty()) return;
  draining_.erase(action.node);
  end(number, ActionOutcome::Done);
}

// `reason` says why a pod was not evicted. It is empty if the drain's deadline has passed.
void ActionExecutor::drain_failed(uint64_t number, const std::string& reason) {
  Open& open = open_.at(number);
  for (const auto& [pod, eviction] : open.evictions) evictions_.cancel(eviction);
  draining_.erase(open.row.node);
  const std::string left = std::to_string(open.evictions.size());
  end(number, ActionOutcome::Failed,
      reason.empty() ? left + " pods are left at the deadline" : reason);
}

void ActionExecutor::pod_removed(PodId id) {
  if (draining_.empty()) return;
  const NodeId node = parts_.jobs.pod(id).node;
  const auto drain = node.is_valid() ? draining_.find(node) : draining_.end();
  if (drain == draining_.end()) return;
  const uint64_t number = drain->second;
  Open& open = open_.at(number);
  if (open.evictions.erase(id) == 0 || !open.evictions.empty()) return;
  draining_.erase(drain);
  end(number, ActionOutcome::Done);
}

// ---- jobs

std::string ActionExecutor::suspend(JobId id) {
  const JobSpec& spec = parts_.jobs.job(id).spec;
  const bool saves = saves_when_suspended(spec);
  if (!saves) parts_.controller.discard_unsaved(id);
  if (!parts_.controller.suspend(id, saves ? spec.checkpoint_write : Duration{}, {})) {
    return "the gang does not run";
  }
  if (!parts_.has_job_queue) suspended_.insert(id);
  return {};
}

void ActionExecutor::begin(uint64_t number, const SuspendJob& action) {
  const Job& job = parts_.jobs.job(action.job);
  if (job.gangs == 0 || job.is_counted() || job.phase != JobPhase::Running) {
    return end(number, ActionOutcome::Refused, "only a running gang can be suspended");
  }
  patch(number, ApiResource::Jobs, [this, id = action.job, serial = job.serial] {
    const bool is_there = parts_.jobs.is_live(id) && parts_.jobs.job(id).serial == serial &&
                          parts_.jobs.job(id).phase == JobPhase::Running;
    return is_there ? suspend(id) : std::string{"the gang does not run any more"};
  });
}

void ActionExecutor::begin(uint64_t number, const ResumeJob& action) {
  if (!suspended_.contains(action.job)) {
    return end(number, ActionOutcome::Refused,
               parts_.has_job_queue ? "the job queue decides when jobs start"
                                    : "the job is not suspended");
  }
  const uint64_t serial = parts_.jobs.job(action.job).serial;
  patch(number, ApiResource::Jobs, [this, id = action.job, serial] {
    const bool is_there = suspended_.contains(id) && parts_.jobs.job(id).serial == serial;
    if (!is_there) return std::string{"the job is not suspended any more"};
    if (parts_.controller.is_paused(id)) {
      return std::string{"its checkpoint is still being written"};
    }
    suspended_.erase(id);
    parts_.controller.resume(id);
    return std::string{};
  });
}

void ActionExecutor::begin(uint64_t number, const ResizeService& action) {
  const Job& job = parts_.jobs.job(action.job);
  if (!job.spec.service) return end(number, ActionOutcome::Refused, "only services have replicas");
  if (action.replicas < 1 || action.replicas > job.pods) {
    return end(number, ActionOutcome::Refused,
               "replicas must be from 1 to " + std::to_string(job.pods));
  }
  patch(number, ApiResource::ReplicaSets, [this, action, serial = job.serial] {
    const bool is_there =
        parts_.jobs.is_live(action.job) && parts_.jobs.job(action.job).serial == serial;
    if (!is_there) return std::string{"the service is over"};
    parts_.controller.scale(action.job, action.replicas);
    return std::string{};
  });
}

// ---- pools

void ActionExecutor::begin(uint64_t number, const AddNodes& action) {
  if (parts_.groups == nullptr) return end(number, ActionOutcome::Refused, kNoGroups);
  const std::string why_not = parts_.groups->add(action, [this, number](uint32_t given_up) {
    if (given_up == 0) return end(number, ActionOutcome::Done);
    end(number, ActionOutcome::Failed, std::to_string(given_up) + " nodes did not come in time");
  });
  if (!why_not.empty()) end(number, ActionOutcome::Refused, why_not);
}

// Deleting a Node object also removes the node's cordon.
void ActionExecutor::begin(uint64_t number, const RemoveNodes& action) {
  if (parts_.groups == nullptr) return end(number, ActionOutcome::Refused, kNoGroups);
  const NodeGroups::Removed removed = parts_.groups->remove(action);
  for (const NodeId node : removed.nodes) {
    if (cordoned_.contains(node)) set_cordoned(node, false);
  }
  open_.at(number).row.amount = static_cast<int32_t>(removed.nodes.size());
  end(number, removed.nodes.empty() ? ActionOutcome::Refused : ActionOutcome::Done,
      removed.why_not_all);
}

void ActionExecutor::add_summary(Recorder& recorder) const {
  const auto count = [&](std::string_view name, uint64_t n, std::string_view doc) {
    recorder.add_summary(name, static_cast<int64_t>(n), "", doc);
  };
  count("actions", counters_.given, "actions that controllers requested");
  count("actions_done", counters_.done, "actions that were carried out");
  count("actions_refused", counters_.refused, "actions that were refused");
  count("actions_failed", counters_.failed, "actions that failed");
  count("eviction_tries", evictions_.tries(), "requests to the Eviction API, and forced deletions");
  count("evictions_forbidden", evictions_.forbidden(),
        "evictions that disruption budgets forbade (status 429, or 500 if several budgets "
        "select the pod)");
}

}  // namespace orrery

#include "models/controllers/controllers.hpp"

#include <algorithm>
#include <utility>

#include "models/scheduling/contract/policy_registry.hpp"
#include "sim/core/check.hpp"

namespace orrery {

Controllers::Controllers(Sim sim, const Parts& parts,
                         const std::vector<ControllerParams>& controllers,
                         const std::vector<DisruptionBudgetParams>& budgets)
    : sim_{sim},
      controller_{parts.controller},
      budgets_{parts.jobs, budgets,
               [&controller = parts.controller](JobId job) { return controller.replicas(job); }},
      news_{sim.engine, parts.jobs},
      executor_{sim,
                {.cluster = parts.cluster,
                 .jobs = parts.jobs,
                 .controller = parts.controller,
                 .scheduler = parts.scheduler,
                 .nodes = parts.presence,
                 .budgets = budgets_,
                 .groups = parts.groups,
                 .has_job_queue = parts.has_job_queue}},
      board_{sim,
             {.cluster = parts.cluster,
              .jobs = parts.jobs,
              .controller = parts.controller,
              .scheduler = parts.scheduler,
              .presence = parts.presence,
              .lifecycle = parts.lifecycle,
              .groups = parts.groups,
              .ports_down = parts.ports_down},
             news_,
             executor_,
             budgets_} {
  if (parts.api != nullptr) executor_.use(*parts.api);
  for (const ControllerParams& params : controllers) add(params);
}

void Controllers::add(const ControllerParams& params) {
  const PolicyRegistry::Entry* const entry = PolicyRegistry::instance().find(params.name);
  ORRERY_CHECK(entry != nullptr && entry->make_controller,
               "controllers are checked before the run");
  Entry& added = entries_.emplace_back();
  added.name = entry->label(params.name, params.args);
  added.period = params.period;
  ask(added.name, [&] { added.policy = entry->make_controller(board_, params.args); });
  auto* const point = dynamic_cast<Controller*>(added.policy.get());
  ORRERY_CHECK(point != nullptr, "controllers are checked before the run");
  added.point = {point, &added.name};
}

void Controllers::connect(JobNews& jobs, PodNews& pods, NodeNews& nodes) {
  news_.connect(jobs, pods, nodes);
  executor_.connect(pods, jobs);
  news_.changed.connect(*this, &Controllers::end_idling);
}

void Controllers::start() {
  started_ = sim_.engine.now();
  for (Entry& entry : entries_) entry.due = entry.next = started_ + entry.period;
  plan();
}

// Plans the next tick. If the pending tick already has the right time, it stays, and so keeps its
// place among the events of its instant.
void Controllers::plan() {
  Time next = Time::max();
  for (const Entry& entry : entries_) next = std::min(next, entry.due);
  if (sim_.engine.is_pending(next_tick_) && planned_ == next) return;
  sim_.engine.cancel(next_tick_);
  if (next == Time::max()) return;
  planned_ = next;
  next_tick_ = sim_.engine.at(
      next, Label{"controllers.tick"}, [this] { tick_due(); }, Phase::Control);
}

Time Controllers::first_of_period(Duration period, Time from) const {
  const Duration passed = from - started_;
  const int64_t periods = passed / period + (passed % period > Duration{} ? 1 : 0);
  return started_ + period * periods;
}

void Controllers::set_due(Entry& entry) {
  const Time tick = entry.idles_until <= entry.next
                        ? entry.next
                        : first_of_period(entry.period, entry.idles_until);
  entry.due = std::min(tick, entry.wakes_at);
}

// A controller that has had its turn in this instant must not tick again in the same instant. So
// its idling ends 1 ns later, and its next periodic tick comes at a later instant.
void Controllers::end_idling() {
  const Time now = sim_.engine.now();
  bool was_idle = false;
  for (uint32_t i = 0; i < entries_.size(); ++i) {
    Entry& entry = entries_[i];
    const Time from = last_tick_ == now && i <= turn_ ? now + 1_ns : now;
    if (entry.idles_until <= from) continue;
    entry.idles_until = from;
    set_due(entry);
    was_idle = true;
  }
  if (was_idle) plan();
}

void Controllers::tick_due() {
  const Time now = sim_.engine.now();
  last_tick_ = now;
  for (turn_ = 0; turn_ < entries_.size(); ++turn_) {
    if (entries_[turn_].due <= now) tick(turn_);
  }
  drop_read_news();
  plan();
}

void Controllers::drop_read_news() {
  if (!news_.has_logged()) return;
  uint64_t node_changes = news_.node_changes().end(), gang_failures = news_.gang_failures().end();
  for (const Entry& entry : entries_) {
    node_changes = std::min(node_changes, entry.node_changes);
    gang_failures = std::min(gang_failures, entry.gang_failures);
  }
  news_.drop_before(node_changes, gang_failures);
}

void Controllers::tick(uint32_t number) {
  Entry& entry = entries_[number];
  ++ticks_;
  board_.show_since(entry.node_changes, entry.gang_failures);
  Actions actions;
  entry.point.call(&Controller::tick, board_, actions);
  entry.node_changes = news_.node_changes().end();
  entry.gang_failures = news_.gang_failures().end();
  const Time now = sim_.engine.now();
  if (entry.next <= now) entry.next = first_of_period(entry.period, now + 1_ns);
  entry.idles_until = actions.idles_until();
  entry.wakes_at = std::max(actions.wakes_at(), now + 1_ns);
  set_due(entry);
  if (!actions.ordered().empty()) {
    executor_.carry_out({.number = number, .name = entry.name}, actions);
  }
}

void Controllers::add_summary(Recorder& recorder) const {
  recorder.add_summary("controller_ticks", static_cast<int64_t>(ticks_), "",
                       "times that a controller checked the cluster");
  const JobCounters& c = controller_.counters();
  recorder.add_summary("pods_evicted", static_cast<int64_t>(c.pods_evicted), "pods",
                       "pods that controllers deleted");
  recorder.add_summary("lost_evicted_gpu_s", GpuTime::seconds(c.gpu_lost_evicted), "GPU s",
                       "compute lost to evictions by controllers, a part of gpu_s_lost");
  executor_.add_summary(recorder);
  std::vector<ControllerFigure> figures;
  for (const Entry& entry : entries_) {
    for (const ControllerFigure& figure : entry.point.call(&Controller::figures)) {
      const auto at = std::ranges::find(figures, figure.name, &ControllerFigure::name);
      at == figures.end() ? figures.push_back(figure) : void(at->value += figure.value);
    }
  }
  for (const ControllerFigure& figure : figures) {
    recorder.add_summary(figure.name, figure.value, figure.unit, figure.doc);
  }
}

std::vector<std::string> Controllers::notes() const {
  std::vector<std::string> notes;
  for (const Entry& entry : entries_) {
    const auto named = ask(entry.name, [&] { return entry.policy->named_in_vain(); });
    for (const std::string& what : named) {
      notes.push_back("policy.controllers: " + entry.name + ": " + what);
    }
  }
  return notes;
}

}  // namespace orrery

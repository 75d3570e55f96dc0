#include "models/scheduling/job_queue/job_queue.hpp"

#include <algorithm>

#include "models/scheduling/contract/policy_registry.hpp"
#include "models/workload/training/training_progress.hpp"
#include "sim/core/check.hpp"

namespace orrery {
namespace {

Resource resource_of(Counted counted) { return static_cast<Resource>(counted); }

}  // namespace

JobQueue::JobQueue(Sim sim, const ClusterState& cluster, const JobTable& jobs,
                   JobController& controller, const JobQueueParams& params,
                   std::span<const Machine> machines, bool is_counting, Overruns overruns,
                   bool record_decisions)
    : sim_{sim},
      cluster_{cluster},
      jobs_{jobs},
      controller_{controller},
      is_counting_{is_counting},
      overruns_{overruns},
      react_{params.react},
      stopping_{params.stops},
      costs_{params.costs},
      counted_{resource_of(params.counts.front())},
      estimates_{params.estimates, sim.rng},
      wake_{sim.engine, Label{"job_queue.wakes"},
            [this] {
              has_changed_ = true;
              now() < plans_from_ ? react_soon() : react();
            },
            Phase::Control},
      log_{sim.recorder, record_decisions} {
  for (const Counted counted : params.counts) counts_.push_back(resource_of(counted));
  for (const Machine& machine : machines) {
    const auto known = std::ranges::find(parts_, machine.gpu.name, &PoolPart::model);
    part_of_.push_back(static_cast<size_t>(known - parts_.begin()));
    if (known == parts_.end()) parts_.push_back({.model = machine.gpu.name});
  }
  for (uint32_t n = 0; n < cluster_.nodes(); ++n) add_node({n}, 1);
  total_ = capacity_;
  NodeSet down = NodeSet::all(cluster_.nodes());
  down -= cluster_.up();
  down.for_each([&](NodeId n) { add_node(n, -1); });
  for (const JobPolicyParams& policy : resolve_job_policies(params)) add_policy(policy);
  ORRERY_CHECK(order_.plugin != nullptr && plan_.plugin != nullptr,
               "job queues are checked before the run");
  controller_.job_arrived.connect([this](JobId job) { job_arrived(job); });
  controller_.job_over.connect([this](JobId job) { job_over(job); });
  controller_.job_suspended.connect([this](JobId job) { job_suspended(job); });
}

int64_t JobQueue::unit() const {
  return counted_ == Resource::Cpu || counted_ == Resource::Gpu ? kMilli : 1;
}

void JobQueue::add_policy(const JobPolicyParams& params) {
  const PolicyRegistry::Entry* const entry = PolicyRegistry::instance().find(params.name);
  ORRERY_CHECK(entry != nullptr && entry->make_for_jobs, "job queues are checked before the run");
  const std::string& name = policy_names_.emplace_back(params.name);
  ask(name, [&] { policies_.push_back(entry->make_for_jobs(*this, params.args)); });
  Policy* const policy = policies_.back().get();
  if (auto* order = dynamic_cast<QueueOrder*>(policy)) order_ = {order, &name};
  if (auto* plan = dynamic_cast<Plan*>(policy)) plan_ = {plan, &name};
  if (auto* admit = dynamic_cast<Admit*>(policy)) admits_.push_back({admit, &name});
  if (auto* watcher = dynamic_cast<JobWatcher*>(policy)) watchers_.push_back({watcher, &name});
}

void JobQueue::add_node(NodeId node, int sign) {
  for (size_t i = 0; i < kResources; ++i) {
    capacity_.amount[i] += sign * cluster_.allocatable(node, static_cast<Resource>(i));
  }
  parts_[part_of_[cluster_.machine(node)]].count += sign * cluster_.allocatable(node, counted_);
}

void JobQueue::node_changed(NodeId node, bool is_up) {
  add_node(node, is_up ? 1 : -1);
  has_changed_ = true;
  react_soon();
}

uint32_t JobQueue::Names::number(const std::string& name) {
  const auto [found, is_new] = numbers.try_emplace(name, static_cast<uint32_t>(names.size()));
  if (is_new) names.push_back(name);
  return found->second;
}

// ---- news

void JobQueue::job_arrived(JobId id) {
  const Job& job = jobs_.job(id);
  JobSlot slot = static_cast<JobSlot>(records_.size());
  if (free_slots_.empty()) {
    records_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  if (id.index >= slot_of_.size()) slot_of_.resize(jobs_.jobs_bound(), kNoJob);
  slot_of_[id.index] = slot;
  QueuedJob& r = records_[slot];
  r = {.slot = slot,
       .id = id,
       .serial = job.serial,
       .user = users_.number(job.spec.user),
       .team = teams_.number(job.spec.team),
       .application = applications_.number(job.spec.application),
       .priority = job.priority,
       .count = job.demand[counted_],
       .units = (job.demand[counted_] + unit() - 1) / unit(),
       .request = job.demand,
       .submitted = job.spec.submitted,
       .requested = job.spec.requested,
       .queued = now()};
  const CheckpointPlan checkpoints{job.spec.checkpoint_interval, job.spec.checkpoint_write};
  const Duration run =
      std::min(run_time(job.spec.work, checkpoints), time_limit(job.spec, overruns_));
  // Ends of this very instant are not learnt from yet.
  r.estimate = r.first_estimate = estimates_.estimate(r, run);
  arrived_.push_back(slot);
  react_soon();
}

void JobQueue::job_over(JobId id) {
  QueuedJob& r = records_[slot_of_[id.index]];
  ORRERY_CHECK(r.state == QueuedState::Running || r.state == QueuedState::Stopping,
               "only a job that was started can end");
  r.is_over = true;
  const Job& job = jobs_.job(id);
  r.run = job.phase == JobPhase::Completed ? job.spec.work : r.executed_by(now());
  statistics_.job_ends(r, now());
  if (!is_counting_ || costs_.release_delay == Duration{}) return job_released(r.slot);
  running_.erase(r.slot);
  r.expected_end = now() + costs_.release_delay;
  track(r.slot);
  sim_.engine.after(costs_.release_delay, Label{"job_queue.released"},
                    [this, slot = r.slot] { job_released(slot); });
}

void JobQueue::job_released(JobSlot slot) {
  ended_.push_back(slot);
  react_soon();
}

void JobQueue::job_suspended(JobId id) {
  const JobSlot slot = slot_of_[id.index];
  if (is_planning_) {  // it stopped without delay: its place is free for whom the plan starts next
    take_back_stopped(slot);
    return;
  }
  suspended_.push_back(slot);
  react_soon();
}

void JobQueue::react_soon() {
  if (is_reacting_soon_) return;
  is_reacting_soon_ = true;
  sim_.engine.at(
      std::max(now(), plans_from_), Label{"job_queue.reacts"}, [this] { react(); }, Phase::Control);
}

// ---- taking news in

void JobQueue::react() {
  is_reacting_soon_ = false;
  bool has_room = std::exchange(has_changed_, false) || !suspended_.empty();
  for (const JobSlot slot : suspended_) take_back_stopped(slot);
  suspended_.clear();
  if (react_ == React::EachEvent) {
    react_to_each({.has_room = has_room, .has_longer = correct_overdue()});
  } else {
    has_room |= !ended_.empty();
    for (const JobSlot slot : ended_) take_back_ended(slot);
    ended_.clear();
    const bool has_longer = correct_overdue();
    new_.clear();
    for (const JobSlot slot : arrived_) {
      if (take_in(slot)) new_.push_back(slot);
    }
    arrived_.clear();
    std::ranges::sort(new_, {}, [this](JobSlot slot) { return waiting_.key(slot); });
    plan({new_, has_room, has_longer});
  }
}

// As a scheduler that is called for every arrival and every end by itself: in the order of its
// calls, ends it expected right now are no news.
void JobQueue::react_to_each(PlanNews news) {
  const auto is_unexpected = [this](JobSlot slot) { return records_[slot].expected_end != now(); };
  const auto first = std::ranges::stable_partition(ended_, is_unexpected).begin();
  for (auto slot = first; slot != ended_.end(); ++slot) take_back_ended(*slot);
  news.has_room |= first != ended_.end();
  ended_.erase(first, ended_.end());
  for (const JobSlot slot : arrived_) {
    if (!take_in(slot)) continue;
    news.arrived = {&slot, 1};
    plan(std::exchange(news, {}));
  }
  arrived_.clear();
  for (const JobSlot slot : ended_) {
    take_back_ended(slot);
    plan({.arrived = {}, .has_room = true});
    news = {};
  }
  ended_.clear();
  if (news.has_room) plan(news);
}

// Jobs that ran up to their expected end and go on get a later one. True if there were any.
bool JobQueue::correct_overdue() {
  bool has_corrected = false;
  for (JobSlot slot = running_.first(); slot != kNoJob;) {
    QueuedJob& r = records_[slot];
    const JobSlot next = running_.next(slot);
    if (r.expected_end > now()) break;
    const bool is_due = r.is_over && r.expected_end == now();
    if (!is_due) {
      running_.erase(slot);
      while (r.expected_end < now() || (r.expected_end == now() && !r.is_over)) {
        if (r.state == QueuedState::Stopping) {
          r.expected_end = now() + 1_s;
          continue;
        }
        r.estimate = estimates_.corrected(r);
        ++r.corrections;
        r.expected_end = r.end_by_estimate();
      }
      track(slot);
      has_corrected = true;
    }
    slot = next;
  }
  return has_corrected;
}

// False: it asks for more than there is, and will never be in anyone's way.
bool JobQueue::take_in(JobSlot slot) {
  QueuedJob& r = records_[slot];
  const bool is_feasible = std::ranges::all_of(
      counts_, [&](Resource resource) { return r.request[resource] <= total_[resource]; });
  if (!is_feasible) {
    ORRERY_MARK("job_queue.infeasible");
    r.state = QueuedState::Infeasible;
    ++infeasible_;
    log_.decided(*this, r, QueueDecision::Infeasible, {});
    return false;
  }
  enqueue(slot);
  return true;
}

void JobQueue::enqueue(JobSlot slot) {
  QueuedJob& r = records_[slot];
  r.state = QueuedState::Waiting;
  for (const auto& watcher : watchers_) watcher.call(&JobWatcher::job_waits, r);
  const int64_t rank = order_.call(&QueueOrder::rank, r);
  waiting_.insert(slot, {rank, r.submitted, r.serial}, r.count, r.left(now()));
}

void JobQueue::give_back(JobSlot slot) {
  QueuedJob& r = records_[slot];
  running_.erase(slot);
  if (r.partner != kNoJob) part(r);
  used_ -= r.held;
  r.held = {};
  statistics_.pool_changes(now(), used_[counted_]);
}

void JobQueue::take_back_ended(JobSlot slot) {
  give_back(slot);
  const QueuedJob& r = records_[slot];
  estimates_.learn(r.user, r.run);
  for (const auto& watcher : watchers_) watcher.call(&JobWatcher::job_ends, r);
  free_slots_.push_back(slot);
}

void JobQueue::take_back_stopped(JobSlot slot) {
  give_back(slot);
  records_[slot].queued = now();
  for (const auto& watcher : watchers_) watcher.call(&JobWatcher::job_stops, records_[slot]);
  statistics_.job_stops();
  enqueue(slot);
  log_.decided(*this, records_[slot], QueueDecision::Stopped, *plan_.name);
}

// ---- planning

void JobQueue::plan(const PlanNews& news) {
  if (news.has_room && !held_.empty()) {
    retry_.swap(held_);
    held_.clear();
    for (const JobSlot slot : retry_) enqueue(slot);
  }
  if (waiting_.is_empty()) return;
  const Duration valid_for = order_.call(&QueueOrder::valid_for);
  if (valid_for != Duration::max() && now() >= ranked_at_ + valid_for) rerank();
  wake_.disarm();
  is_planning_ = true;
  plan_.call(&Plan::plan, news);
  is_planning_ = false;
  log_.planned(*this, plan_);
}

void JobQueue::rerank() {
  ranked_at_ = now();
  retry_.clear();
  waiting_.for_each([this](JobSlot slot) { retry_.push_back(slot); });
  for (const JobSlot slot : retry_) {
    QueuedJob& r = records_[slot];
    const int64_t rank = order_.call(&QueueOrder::rank, r);
    if (rank == waiting_.key(slot).rank) continue;
    waiting_.erase(slot);
    waiting_.insert(slot, {rank, r.submitted, r.serial}, r.count, r.left(now()));
  }
}

bool JobQueue::fits(const QueuedJob& job) const {
  return std::ranges::all_of(counts_, [&](Resource resource) {
    return job.request[resource] <= capacity_[resource] - used_[resource];
  });
}

JobSlot JobQueue::head() {
  for (;;) {
    const JobSlot slot = waiting_.first();
    const Bound<Admit>* const by = slot == kNoJob ? nullptr : who_refuses(records_[slot]);
    if (by == nullptr) return slot;
    hold(slot, *by);
  }
}

const QueuedJob& JobQueue::job(JobSlot slot) const {
  ORRERY_CHECK(slot < records_.size(), "there is such a job");
  return records_[slot];
}

QueuedJob& JobQueue::record(JobSlot slot) {
  ORRERY_CHECK(slot < records_.size(), "there is such a job");
  return records_[slot];
}

bool JobQueue::start(JobSlot slot) {
  QueuedJob& r = record(slot);
  ORRERY_CHECK(r.state == QueuedState::Waiting, "only a waiting job starts");
  ORRERY_CHECK(fits(r), "a plan starts what fits");
  if (const Bound<Admit>* const by = who_refuses(r); by != nullptr) {
    hold(slot, *by);
    return false;
  }
  r.held = r.request;
  r.pace = {};
  begin(r);
  is_counting_ ? run_counted(r) : controller_.release(r.id);
  return true;
}

void JobQueue::wake_at(Time when) {
  if (when == Time::max() || (wake_.is_armed() && wakes_at_ <= when)) return;
  wakes_at_ = when;
  wake_.arm_at(when);
}

// ---- figures

std::vector<std::string> JobQueue::notes() const {
  std::vector<std::string> notes;
  for (size_t i = 0; i < policies_.size(); ++i) {
    const auto named = ask(policy_names_[i], [&] { return policies_[i]->named_in_vain(); });
    for (const std::string& what : named) {
      notes.push_back("policy.job_queue: " + policy_names_[i] + ": " + what);
    }
  }
  return notes;
}

void JobQueue::add_summary(Recorder& recorder, Time end) const {
  statistics_.add_summary(recorder, end, total_[counted_], infeasible_);
}

void JobQueue::audit() const {
  Resources held;
  running_.for_each([&](JobSlot slot) { held += records_[slot].held; });
  ORRERY_CHECK(held == used_, "the pool lacks what the started jobs hold");
}

}  // namespace orrery

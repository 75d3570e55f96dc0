#include "models/workload/lifecycle/job_controller.hpp"

#include <algorithm>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

constexpr uint32_t bit(JobPhase phase) { return uint32_t{1} << static_cast<unsigned>(phase); }

// Where a job may go from each phase. Independent pods start, end and die one by one, so their job
// also moves back from Running, as a gang does that goes on with more members.
constexpr std::array<uint32_t, 7> kMoves = {
    /* pending    */ bit(JobPhase::Starting) | bit(JobPhase::Running) | bit(JobPhase::Failed),
    /* starting   */ bit(JobPhase::Running) | bit(JobPhase::Hung) | bit(JobPhase::Pending) |
        bit(JobPhase::Failed),
    /* running    */ bit(JobPhase::Hung) | bit(JobPhase::Starting) | bit(JobPhase::Pending) |
        bit(JobPhase::Completed) | bit(JobPhase::Failed),
    /* hung       */ bit(JobPhase::Restarting) | bit(JobPhase::Failed),
    /* restarting */ bit(JobPhase::Pending),
    /* completed  */ 0,
    /* failed     */ 0};

}  // namespace

JobController::JobController(Sim sim, ClusterState& cluster, JobTable& jobs,
                             const JobControllerParams& params, Arrivals arrivals, Storage* storage)
    : sim_{sim},
      cluster_{cluster},
      jobs_{jobs},
      params_{params},
      arrivals_{arrivals},
      on_nodes_{cluster.nodes()},
      creation_(kPodControllers, {params.concurrent_syncs, params.pods_per_sync_max}),
      recoveries_{sim, recovered},
      job_rows_{sim.recorder, "/jobs", "Jobs: identity, times of every stage, outcome, waste."},
      gang_starts_{sim.recorder, "/events/gang_starts",
                   "Starts of gangs that may run without some of their members."} {
  if (storage != nullptr) {
    checkpoints_.emplace(*storage, jobs);
    disks_lost_.resize(cluster.nodes());
  }
  if (params.record_pods) {
    pod_rows_.emplace(sim.recorder, "/pods", "Lives of pods: one row each time a pod leaves.");
  }
}

void JobController::use(PaceModel& model) {
  pace_model_ = &model;
  model.pace_changed.connect([this](JobId job, Pace pace) { set_pace(job, pace); });
  model.step_done.connect([this](JobId job) { step_done(job); });
}

void JobController::start() { schedule_arrival(); }

// ---- arrival

void JobController::schedule_arrival() {
  JobSource* const source = sources_.next();
  if (sources_.error()) sim_.engine.stop();
  if (source == nullptr || sources_.error()) return;
  const Time when = source->peek()->submitted;
  ORRERY_CHECK(when >= sim_.engine.now(), "sources deliver jobs in order of submission");
  sim_.engine.at(when, Label{"jobs.arrived"}, [this] { admit_arrivals(); });
}

void JobController::admit_arrivals() {
  for (JobSource* source = sources_.next(); source != nullptr; source = sources_.next()) {
    if (source->peek()->submitted > sim_.engine.now()) break;
    admit(*source->peek());
    source->pop();
  }
  schedule_arrival();
}

void JobController::admit(const JobRequest& request) {
  const JobId id = arrivals_ == Arrivals::Count ? jobs_.add_counted(request) : jobs_.add(request);
  if (id.index >= states_.size()) states_.resize(jobs_.jobs_bound());
  if (jobs_.pods_bound() > runs_.size()) {
    runs_.resize(jobs_.pods_bound());
    on_nodes_.grow(jobs_.pods_bound());
  }
  const Job& job = jobs_.job(id);
  states_[id] = {};
  states_[id].work = job.work;
  states_[id].checkpoint_interval = job.checkpoint_interval;
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) { runs_[pod] = {}; });
  for (uint32_t g = 0; g < static_cast<uint32_t>(job.gangs); ++g) {
    jobs_.gang({job.first_gang.index + g}).created_at = sim_.engine.now();
  }
  if (job.service) begin_service(id);
  ++counters_.submitted;
  job_arrived.emit(id);
  if (arrivals_ == Arrivals::CreatePods) want_pods(id);
}

void JobController::release(JobId id) {
  ORRERY_CHECK(arrivals_ == Arrivals::Hold, "only held jobs are released");
  want_pods(id);
}

// ---- creation of pods

void JobController::want_pods(JobId id) {
  const Job& job = jobs_.job(id);
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) { want_pod(pod); });
  queue_creation(id);
}

void JobController::want_pod(PodId id) {
  const Pod& pod = jobs_.pod(id);
  const PodRun& run = runs_[id];
  if (pod.state != PodState::Absent || run.is_wanted || run.is_on_its_way || run.is_retired) return;
  JobState& state = states_[pod.job];
  runs_[id].is_wanted = true;
  if (state.wanted++ == 0) state.create_from = pod.rank;
  state.create_from = std::min(state.create_from, pod.rank);
}

// How many of the wanted pods may be created now. The next of an ordered StatefulSet waits until
// all before it are ready: created, bound, and with containers that run.
int32_t JobController::creatable(JobId id) {
  const Job& job = jobs_.job(id);
  JobState& state = states_[id];
  if (job.controller != WorkloadKind::OrderedStatefulSet || state.wanted == 0) return state.wanted;
  while (!runs_[{job.first_pod.index + static_cast<uint32_t>(state.create_from)}].is_wanted) {
    ++state.create_from;
  }
  for (; state.ready_below < state.create_from; ++state.ready_below) {
    const Pod& pod = jobs_.pod({job.first_pod.index + static_cast<uint32_t>(state.ready_below)});
    const bool has_node = pod.state == PodState::Bound || pod.state == PodState::Running;
    const bool runs = has_node && pod.started <= sim_.engine.now();
    if (!runs && pod.state != PodState::Done) return 0;
  }
  return 1;
}

void JobController::queue_creation(JobId id) {
  JobState& state = states_[id];
  if (state.is_queued || creatable(id) == 0) return;
  state.is_queued = true;
  const Job& job = jobs_.job(id);
  creation_[controller_of(job.controller)].add(
      {id, job.serial, job.controller == WorkloadKind::ParallelStatefulSet});
  if (!is_creating_) plan_round();
}

void JobController::plan_round() {
  is_creating_ = true;
  sim_.engine.after(
      {}, Label{"jobs.create_pods"}, [this] { create_round(); }, Phase::Control);
}

void JobController::create_round() {
  const auto wanted = [this](const PodCreationQueue::Ticket& ticket) {
    const bool is_alive =
        jobs_.is_live(ticket.job) && jobs_.job(ticket.job).serial == ticket.serial;
    if (!is_alive) return 0;
    const int32_t count = creatable(ticket.job);
    if (count == 0) states_[ticket.job].is_queued = false;
    return count;
  };
  // API servers set their own pace: the next batch waits for the answers to the last one.
  const Duration interval = api_ == nullptr ? params_.pod_creation_interval : Duration{};
  bool has_more = false;
  do {
    has_more = false;
    for (uint16_t c = 0; c < creation_.size(); ++c) {
      creation_[c].round(wanted, [this, c](const PodCreationQueue::Ticket& ticket, int32_t count,
                                           uint32_t worker) {
        return create_batch(ticket.job, count, {c, static_cast<uint16_t>(worker)});
      });
      has_more = has_more || creation_[c].has_work();
    }
  } while (has_more && interval == Duration{});
  is_creating_ = has_more;
  if (!is_creating_) return;
  sim_.engine.after(
      interval, Label{"jobs.create_pods"}, [this] { create_round(); }, Phase::Control);
}

// Returns how many answers are to come.
int32_t JobController::create_batch(JobId id, int32_t count, Creator creator) {
  const Job& job = jobs_.job(id);
  JobState& state = states_[id];
  batch_.clear();
  for (; count > 0; ++state.create_from) {
    const PodId pod_id{job.first_pod.index + static_cast<uint32_t>(state.create_from)};
    PodRun& run = runs_[pod_id];
    if (!run.is_wanted) continue;
    run.is_wanted = false;
    batch_.push_back(pod_id);
    --count;
  }
  state.wanted -= static_cast<int32_t>(batch_.size());
  const bool is_ordered = job.controller == WorkloadKind::OrderedStatefulSet;
  if (state.wanted == 0 || is_ordered) state.is_queued = false;
  if (api_ == nullptr) {
    for (const PodId pod : batch_) appear(pod);
    pods_created.emit(batch_);
    return 0;
  }
  // What is done at once may change the batch.
  const std::vector<PodId> pods{batch_};
  for (const PodId pod : pods) create(pod, creator);
  return static_cast<int32_t>(pods.size());
}

void JobController::create(PodId id, Creator creator) {
  runs_[id].is_on_its_way = true;
  const uint64_t generation = jobs_.pod(id).generation;
  api_->create(id, [this, id, generation, creator](PodApi::Creation news) {
    creation_told(id, generation, creator, news);
  });
}

// The worker goes on once all of its batch are answered. The pod appears unless its job is over, or
// it is not missing any more.
void JobController::creation_told(PodId id, uint64_t generation, Creator creator,
                                  PodApi::Creation news) {
  if (news == PodApi::Creation::Answered) {
    if (!creation_[creator.controller].answered(creator.worker) || is_creating_) return;
    is_creating_ = true;
    // Before schedulers react: answers in no time make all batches in one instant.
    sim_.engine.after({}, Label{"jobs.create_pods"}, [this] { create_round(); });
    return;
  }
  if (jobs_.pod(id).generation != generation) return;
  runs_[id].is_on_its_way = false;
  if (news == PodApi::Creation::Refused) {  // the controller comes back to it
    ORRERY_MARK("jobs.pod_not_created");
    want_pod(id);
    return queue_creation(jobs_.pod(id).job);
  }
  appear(id);
  pods_created.emit({&id, 1});
}

// The pod is Pending; nobody was told yet.
void JobController::appear(PodId id) {
  Pod& pod = jobs_.pod(id);
  JobState& state = states_[pod.job];
  const Time now = sim_.engine.now();
  pod.state = PodState::Pending;
  pod.created = now;
  pod.bound = pod.started = kNever;
  pod.attempts = 0;
  ++pod.generation;
  if (pod.gang.is_valid()) ++jobs_.gang(pod.gang).created;
  if (RecoveryRow* const row = recoveries_.find(runs_[id].run.recovery)) row->recreated = now;
  if (state.wanted == 0 && jobs_.job(pod.job).phase == JobPhase::Pending) {
    if (RecoveryRow* const row = recoveries_.find(state.run.recovery)) row->recreated = now;
  }
  if (state.first_created == kNever) state.first_created = now;
  ++counters_.pods_created;
}

// It is not to be created any more, and nothing that waits for a later life of it may find it.
void JobController::forget_creation(PodId id) {
  PodRun& run = runs_[id];
  Pod& pod = jobs_.pod(id);
  if (api_ != nullptr && (run.is_wanted || run.is_on_its_way)) api_->removed(id, {});
  if (run.is_wanted) --states_[pod.job].wanted;
  run.is_wanted = run.is_on_its_way = false;
  ++pod.generation;
}

// ---- phases and end

void JobController::set_phase(JobId id, JobPhase phase) {
  Job& job = jobs_.job(id);
  const JobPhase before = job.phase;
  if (before == phase) return;
  ORRERY_CHECK((kMoves[static_cast<size_t>(before)] & bit(phase)) != 0,
               "a job moves along the arrows of its life");
  job.phase = phase;
  if (phase == JobPhase::Running && states_[id].first_running == kNever) {
    states_[id].first_running = sim_.engine.now();
  }
  if (before == JobPhase::Running && pace_model_ != nullptr) pace_model_->ends(id);
  phase_changed.emit(id, before, phase);
}

void JobController::end_job(JobId id, JobPhase phase) {
  const Job& job = jobs_.job(id);
  JobState& state = states_[id];
  const Time now = sim_.engine.now();
  remove_pods(id, phase == JobPhase::Completed ? PodEnd::Completed : PodEnd::JobFailed);
  sim_.engine.cancel(state.event);
  drop_checkpoint(id);
  settle_local(id);
  ORRERY_CHECK(state.run.unsaved == 0, "what a job computed is kept or lost before it ends");
  recoveries_.close(state.run.recovery, now);
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) {
    ORRERY_CHECK(runs_[pod].run.unsaved == 0,
                 "what a pod computed is kept or lost before its job ends");
    recoveries_.close(runs_[pod].run.recovery, now);
    forget_creation(pod);
  });
  set_phase(id, phase);
  const bool is_completed = phase == JobPhase::Completed;
  ++(is_completed ? counters_.completed : counters_.failed);
  write_job_row(id, is_completed ? JobOutcome::Completed : JobOutcome::Failed, now);
  if (job.is_counted()) hold_counted(id, 0);
  job_over.emit(id);
  jobs_.remove(id);
}

}  // namespace orrery

#include "models/telemetry/gpu_usage.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "models/workload/lifecycle/job_controller.hpp"
#include "sim/core/check.hpp"

namespace orrery {
namespace {

constexpr int64_t kNanoPerMilli = 1'000'000;  // nano-GPUs in a milli-GPU

}  // namespace

GpuUsage::GpuUsage(Sim sim, const ClusterState& cluster, const JobTable& jobs, GpuPowers powers)
    : sim_{sim},
      cluster_{cluster},
      jobs_{jobs},
      powers_{std::move(powers)},
      integrated_to_{sim.engine.now()} {
  NodeSet::all(cluster.nodes()).for_each([this](NodeId node) {
    if (cluster_.up().contains(node)) node_up(node);
  });
}

void GpuUsage::connect(JobController& jobs, NodeNews& nodes) {
  jobs.phase_changed.connect(
      [this, &jobs](JobId job, JobPhase, JobPhase) { job_changed(job, jobs.computing(job)); });
  jobs.pace_changed.connect([this, &jobs](JobId job) { job_changed(job, jobs.computing(job)); });
  jobs.rank_dead.connect(*this, &GpuUsage::rank_dead);
  jobs.counted_holds.connect(*this, &GpuUsage::counted_holds);
  jobs.pod_runs.connect(
      [this, &jobs](PodId pod) { pod_runs(pod, jobs.computing(jobs_.pod(pod).job)); });
  jobs.pod_assigned.connect(*this, &GpuUsage::pod_assigned);
  jobs.pod_unassigned.connect([this](PodId pod, NodeId) { pod_unassigned(pod); });
  nodes.node_down.connect([this](NodeId node, NodeReason) { node_down(node); });
  nodes.node_up.connect(*this, &GpuUsage::node_up);
}

void GpuUsage::advance() {
  integrals_ = integrals(sim_.engine.now());
  integrated_to_ = sim_.engine.now();
}

GpuIntegrals GpuUsage::integrals(Time now) const {
  GpuIntegrals sums = integrals_;
  const int64_t span = (now - integrated_to_).ns;
  if (span == 0) return sums;
  for (size_t i = 0; i < kGpuRates; ++i) sums[i] += static_cast<int128_t>(rates_[i]) * span;
  return sums;
}

// All amounts are integers, so adding a use and then removing it leaves the rates exactly as they
// were.
void GpuUsage::add(const Use& use, int sign) {
  const int64_t milli = use.milli * sign;
  rate(GpuRate::Allocated) += milli;
  if (use.mode == Mode::Idle) return;
  if (use.mode == Mode::Serves) return serve(use, sign);
  const int64_t alive = milli - use.dead * sign;
  rate(GpuRate::Reported) += alive * kNanoPerMilli;
  const int64_t computing = use.mode == Mode::Computes ? use.computing : 0;
  rate(GpuRate::Computing) += alive * computing;
  const GpuPower& power = use.power;
  const int64_t above_idle = (power.busy - power.idle) * computing +
                             (power.spin - power.idle) * (kNanoPerMilli - computing);
  rate(GpuRate::Power) += alive * above_idle / 1000;
  rate(GpuRate::Loaded) += loaded(use, alive * above_idle);
}

// Divides `above_idle` by the nominal busy power minus the nominal idle power of a GPU of the node.
// A counted job (Job::is_counted) has no node, so the means over the cluster's GPUs are used.
int64_t GpuUsage::loaded(const Use& use, int64_t above_idle) const {
  const GpuPower& nominal = use.node.is_valid() ? powers_.nominal(use.node) : powers_.mean();
  return nominal.busy > nominal.idle ? above_idle / (nominal.busy - nominal.idle) : 0;
}

void GpuUsage::add(const Service& service, int sign) {
  rate(GpuRate::Reported) += sign * service.milli * service.computing;
  rate(GpuRate::Computing) += sign * service.milli * service.computing;
  rate(GpuRate::Power) += sign * (service.above_idle * service.computing / 1000);
  const int128_t loaded = int128_t{service.loaded} * service.computing / kNanoPerMilli;
  rate(GpuRate::Loaded) += sign * static_cast<int64_t>(loaded);
}

void GpuUsage::serve(const Use& use, int sign) {
  Service& service = services_[use.service];
  const int64_t above_idle = use.milli * (use.power.busy - use.power.idle);
  add(service, -1);
  service.milli += sign * use.milli;
  service.above_idle += sign * above_idle;
  service.loaded += sign * loaded(use, above_idle * kNanoPerMilli);
  add(service, 1);
}

void GpuUsage::pod_assigned(PodId id, NodeId node) {
  const int64_t milli = jobs_.request(id).resources[Resource::Gpu];
  if (milli == 0) return;
  if (id.index >= pods_.size()) pods_.resize(jobs_.pods_bound());
  advance();
  Use& use = pods_[id.index];
  ORRERY_CHECK(!use.node.is_valid(), "a pod is assigned to one node at a time");
  const uint64_t serial = jobs_.job(jobs_.pod(id).job).serial;
  use = {.node = node, .milli = milli, .power = powers_.of(node, serial)};
  add(use, 1);
  node_allocation_changed.emit(node, milli);
}

void GpuUsage::pod_unassigned(PodId id) {
  Use* const found = find(id);
  if (found == nullptr) return;
  advance();
  const Use use = std::exchange(*found, {});
  add(use, -1);
  node_allocation_changed.emit(use.node, -use.milli);
}

void GpuUsage::counted_holds(JobId id, int64_t milli) {
  if (id.index >= counted_.size()) counted_.resize(jobs_.jobs_bound());
  advance();
  Use& use = counted_[id.index];
  add(use, -1);
  use.milli = milli;
  use.power = powers_.of({}, jobs_.job(id).serial);
  if (milli == 0) use = {};
  add(use, 1);
}

GpuUsage::Mode GpuUsage::mode_of(const Pod& pod, JobPhase phase) const {
  if (phase == JobPhase::Hung) return Mode::Spins;
  if (phase != JobPhase::Running || pod.state != PodState::Running) return Mode::Idle;
  return pod.serves ? Mode::Spins : Mode::Computes;
}

// The use of the pod, or null.
GpuUsage::Use* GpuUsage::find(PodId id) {
  if (id.index >= pods_.size() || !pods_[id.index].node.is_valid()) return nullptr;
  return &pods_[id.index];
}

void GpuUsage::set_mode(Use& use, Mode mode, int32_t computing) {
  if (use.mode == mode && use.computing == computing) return;
  advance();
  add(use, -1);
  if (mode == Mode::Computes) use.dead = 0;  // its processes were restarted
  use.mode = mode;
  use.computing = computing;
  add(use, 1);
}

void GpuUsage::pod_runs(PodId id, int32_t computing) {
  Use* const use = find(id);
  if (use == nullptr) return;
  const JobId job = jobs_.pod(id).job;
  if (!jobs_.job(job).spec.service) return set_mode(*use, Mode::Computes, computing);
  use->service = job;
  set_mode(*use, Mode::Serves, 0);
}

void GpuUsage::rank_dead(PodId id, int64_t milli) {
  Use* const use = find(id);
  if (use == nullptr) return;
  advance();
  add(*use, -1);
  use->dead = std::min(use->dead + milli, use->milli);
  add(*use, 1);
}

// Counted jobs, services and gangs change as a whole. Independent pods start and leave one by one,
// so this function skips them.
void GpuUsage::job_changed(JobId id, int32_t computing) {
  const Job& job = jobs_.job(id);
  if (job.is_counted()) {
    if (id.index >= counted_.size() || counted_[id.index].milli == 0) return;
    return set_mode(counted_[id.index],
                    job.phase == JobPhase::Running ? Mode::Computes : Mode::Idle, computing);
  }
  if (job.spec.service) return load_changed(id, computing);
  if (job.spec.kind == JobKind::Pods) return;
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) {
    if (Use* const use = find(pod)) set_mode(*use, mode_of(jobs_.pod(pod), job.phase), computing);
  });
}

void GpuUsage::load_changed(JobId id, int32_t computing) {
  Service& service = services_[id];
  advance();
  add(service, -1);
  service.computing = computing;
  add(service, 1);
}

void GpuUsage::node_up(NodeId node) {
  advance();
  rate(GpuRate::Up) += cluster_.gpus(node) * kMilli;
  rate(GpuRate::Power) += int64_t{cluster_.gpus(node)} * powers_.idle(node) * 1'000'000;
}

void GpuUsage::node_down(NodeId node) {
  advance();
  rate(GpuRate::Up) -= cluster_.gpus(node) * kMilli;
  rate(GpuRate::Power) -= int64_t{cluster_.gpus(node)} * powers_.idle(node) * 1'000'000;
}

void GpuUsage::add_summary(Recorder& recorder, Time end, const GpuTime& accounts) const {
  const GpuIntegrals sums = integrals(end);
  const auto total = [&](GpuRate r) {
    return static_cast<double>(sums[static_cast<size_t>(r)]) * unit_of(r) * 1e-9;
  };
  const double lost = GpuTime::seconds(accounts.lost);
  const double useful = GpuTime::seconds(accounts.useful);
  const double all = static_cast<double>(cluster_.gpus_total()) * end.seconds();
  const auto gpu_time = [&](const std::string& name, double gpu_s, const std::string& doc) {
    recorder.add_summary("gpu_s_" + name, gpu_s, "GPU s", doc);
    recorder.add_summary("gpu_share_" + name, all > 0 ? gpu_s / all : 0.0, "",
                         doc + ", as a share of the time of all GPUs");
  };
  gpu_time("up", total(GpuRate::Up), "GPU time on nodes that were up");
  gpu_time("allocated", total(GpuRate::Allocated),
           "GPU time reserved for pods, or held by jobs without pods");
  gpu_time("reported", total(GpuRate::Reported), "GPU time in use, as nvidia-smi reports it");
  gpu_time("power", total(GpuRate::Loaded),
           "GPU energy above idle, divided by the power that one computing GPU draws above idle");
  gpu_time("computing", useful + lost, "GPU time of computing");
  gpu_time("useful", useful,
           "GPU time of computing that was not lost to a failure, preemption or eviction");
  gpu_time("lost", lost, "GPU time of computing lost to failures, preemptions and evictions");
  gpu_time("exchange", GpuTime::seconds(accounts.exchange),
           "GPU time that steps spend waiting for exchanges, slower ranks and data");
  recorder.add_summary("gpu_energy_kwh", total(GpuRate::Power) / 3.6e6, "kWh",
                       "energy of the GPUs on nodes that were up, idle power included");
}

}  // namespace orrery

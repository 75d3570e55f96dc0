#include "models/telemetry/cardiogram.hpp"

#include <algorithm>
#include <utility>

#include "sim/core/check.hpp"

namespace orrery {

Cardiogram::Cardiogram(Sim sim, const JobTable& jobs, const JobController& controller,
                       const GangSteps* steps, const GpuPowers& powers, CardiogramParams params)
    : sim_{sim},
      jobs_{jobs},
      controller_{controller},
      steps_{steps},
      powers_{powers},
      params_{std::move(params)},
      found_(params_.jobs.size()),
      podded_(params_.jobs.size()),
      rows_{sim.recorder, "/timeline/cardiogram",
            "GPUs of chosen jobs over time; only with record.cardiogram."} {}

void Cardiogram::connect(JobNews& jobs, PodNews& pods) {
  jobs.job_arrived.connect(*this, &Cardiogram::job_arrived);
  jobs.phase_changed.connect(
      [this](JobId job, JobPhase, JobPhase after) { phase_changed(job, after); });
  jobs.pace_changed.connect(*this, &Cardiogram::pace_changed);
  jobs.rank_dead.connect(*this, &Cardiogram::rank_dead);
  jobs.job_over.connect(*this, &Cardiogram::job_over);
  pods.pod_assigned.connect(*this, &Cardiogram::pod_assigned);
  pods.pod_unassigned.connect([this](PodId pod, NodeId) { pod_unassigned(pod); });
}

void Cardiogram::start() {
  sim_.engine.at(
      Time{} + params_.window.from, Label{"telemetry.cardiogram_begins"}, [this] { open(); },
      Phase::Record);
}

void Cardiogram::open() {
  is_open_ = true;
  written_to_ = sim_.engine.now();
  for (auto& [serial, watched] : watched_) {
    watched.since = watched.settled = sim_.engine.now();
    look(watched);
  }
  schedule_next();
}

void Cardiogram::schedule_next() {
  const Time end = Time{} + params_.window.to;
  if (written_to_ >= end) {
    is_open_ = false;
    return;
  }
  sim_.engine.at(
      std::min(written_to_ + params_.resolution, end), Label{"telemetry.cardiogram"},
      [this] { close_interval(); }, Phase::Record);
}

void Cardiogram::close_interval() {
  write_rows(sim_.engine.now());
  schedule_next();
}

void Cardiogram::finish(Time end) {
  if (is_open_ && end > written_to_) write_rows(end);
}

void Cardiogram::write_rows(Time now) {
  const auto span = static_cast<double>((now - written_to_).ns);
  written_to_ = now;
  for (auto& [serial, watched] : watched_) {
    settle(watched, now);
    for (uint32_t i = 0; i < watched.ranks.size(); ++i) {
      Rank& rank = watched.ranks[i];
      const RunParts parts = std::exchange(rank.parts, {});
      const auto longest = std::ranges::max_element(parts.spans) - parts.spans.begin();
      const auto share = [&](auto... phases) {
        return static_cast<double>((parts[phases] + ...)) / span;
      };
      using enum RankPhase;
      rows_.emit({.time = now,
                  .job = serial,
                  .rank = i,
                  .node = rank.node,
                  .phase = static_cast<RankPhase>(longest),
                  .reported = 100 * share(Compute, Exchange, Wait, Checkpoint, Hung),
                  .power_watts = static_cast<double>(std::exchange(rank.energy, 0)) / kMilli / span,
                  .network_bps = 8e9 * parts.sent / span,
                  .computing = share(Compute),
                  .exchange = share(Exchange, Wait),
                  .checkpoint = share(Checkpoint)});
    }
  }
  std::erase_if(watched_, [](const auto& entry) { return entry.second.is_over; });
}

std::vector<std::string> Cardiogram::notes() const {
  std::vector<std::string> notes;
  for (size_t i = 0; i < params_.jobs.size(); ++i) {
    if (found_[i]) continue;
    notes.push_back(
        "record.cardiogram.jobs[" + std::to_string(i) +
        "]: " + (podded_[i] ? "the jobs called '" : "no job that arrived was called '") +
        params_.jobs[i] + (podded_[i] ? "' are of independent pods, which have no ranks" : "'"));
  }
  return notes;
}

// ---- the activity of ranks until now

// Adds to watched.run the activity of running ranks since the last call. The pace is constant
// between two calls.
void Cardiogram::advance(Watched& watched, Time now) {
  if (watched.runs) {
    const RunParts all = watched.expansion.parts_until(now - watched.since);
    watched.run += all - watched.shown;
    watched.shown = all;
  }
  if (steps_ == nullptr) return;
  const Bytes sent = steps_->sent(watched.job);
  watched.run.sent += static_cast<double>((sent - watched.sent).count);
  watched.sent = sent;
}

void Cardiogram::settle(Watched& watched, Time now) {
  if (!watched.is_over) advance(watched, now);
  RunParts idle, held, hung, dead;
  const int64_t passed = (now - watched.settled).ns;
  idle[RankPhase::Idle] = hung[RankPhase::Hung] = dead[RankPhase::Dead] = passed;
  const Time split = std::clamp(watched.restore_from, watched.settled, now);
  held[RankPhase::Init] = (split - watched.settled).ns;
  held[RankPhase::Restore] = (now - split).ns;
  for (Rank& rank : watched.ranks) {
    switch (rank.mode) {
      case Mode::Idle:
        rank.parts += idle;
        break;
      case Mode::Held:
        spend(rank, held);
        break;
      case Mode::Runs:
        spend(rank, watched.run);
        break;
      case Mode::Hung:
        spend(rank, hung);
        break;
      case Mode::Dead:
        spend(rank, dead);
        break;
    }
  }
  watched.settled = now;
  watched.run = {};
}

void Cardiogram::spend(Rank& rank, const RunParts& parts) {
  using enum RankPhase;
  RunParts own = parts;
  own.sent *= rank.nic_part;
  if (rank.serves) own[Wait] += std::exchange(own[Compute], 0);
  rank.parts += own;
  const GpuPower& power = rank.power;
  const int64_t idle = own[Init] + own[Restore] + own[Dead];
  const int64_t spins = own[Exchange] + own[Wait] + own[Checkpoint] + own[Hung];
  rank.energy += static_cast<int128_t>(rank.milli) *
                 (power.idle * idle + power.spin * spins + power.busy * own[Compute]);
}

// ---- the present activity of ranks

void Cardiogram::look(Watched& watched) {
  const Job& job = jobs_.job(watched.job);
  std::vector<double> parts;
  if (steps_ != nullptr) parts = steps_->nic_parts(watched.job);
  size_t running = 0;
  for (Rank& rank : watched.ranks) {
    rank.mode = Mode::Idle;
    rank.nic_part = 0;
    if (!rank.node.is_valid()) continue;
    const Pod& record = jobs_.pod({job.first_pod.index + static_cast<uint32_t>(rank.pod)});
    const PodState pod = record.state;
    const bool is_bound = pod == PodState::Bound || pod == PodState::Running;
    rank.serves = record.serves;
    if (job.phase == JobPhase::Hung && is_bound) {
      rank.mode = rank.is_dead ? Mode::Dead : Mode::Hung;
    } else if (job.phase == JobPhase::Running && pod == PodState::Running) {
      rank.mode = Mode::Runs;
      rank.is_dead = false;
      if (running < parts.size()) rank.nic_part = parts[running];
      ++running;
    } else {
      rank.mode = Mode::Held;
    }
  }
  look_at_run(watched);
}

void Cardiogram::look_at_run(Watched& watched) {
  const JobId id = watched.job;
  watched.expansion = {};
  watched.shown = {};
  watched.since = sim_.engine.now();
  RunExpansion& expansion = watched.expansion;
  expansion.run = controller_.run_now(id);
  watched.restore_from = expansion.run.restore_from;
  watched.runs = jobs_.job(id).phase == JobPhase::Running;
  if (steps_ != nullptr) watched.sent = steps_->sent(id);
  if (!watched.runs || steps_ == nullptr) return;
  const GangSteps::View view = steps_->view(id);
  const Pace& pace = expansion.run.terms.pace;
  if (view.is_updating) expansion.stands_for = RankPhase::Wait;
  if (view.cycle == nullptr || pace.is_still()) return;
  expansion.step = shape_of(*view.cycle, pace, view.across, view.is_traced ? Bytes{} : view.bytes);
  const Duration done = expansion.run.progress.done() - watched.step_from;
  expansion.into_step = pace.span_of(std::max(done, Duration{}) % view.cycle->compute);
}

// ---- events

Cardiogram::Watched* Cardiogram::find(JobId job) {
  if (watched_.empty()) return nullptr;
  const auto found = watched_.find(jobs_.job(job).serial);
  return found == watched_.end() ? nullptr : &found->second;
}

template <class F>
void Cardiogram::for_ranks(Watched& watched, PodId pod, F&& f) {
  const auto number = static_cast<int32_t>(pod.index - jobs_.job(watched.job).first_pod.index);
  for (Rank& rank : watched.ranks) {
    if (rank.pod == number) f(rank);
  }
}

void Cardiogram::job_arrived(JobId id) {
  const Job& job = jobs_.job(id);
  const auto name = std::ranges::find(params_.jobs, job.spec.name);
  if (name == params_.jobs.end()) return;
  const auto which = static_cast<size_t>(name - params_.jobs.begin());
  if (job.spec.kind == JobKind::Pods) {
    podded_[which] = true;
    return;
  }
  found_[which] = true;
  if (sim_.engine.now() >= Time{} + params_.window.to) return;
  Watched& watched = watched_[job.serial];
  watched.job = id;
  for (int32_t p = 0; p < job.pods; ++p) {
    const PodId pod{job.first_pod.index + static_cast<uint32_t>(p)};
    const int32_t gpus = jobs_.spec(pod).gpus;
    for (int32_t g = 0; g < gpus; ++g) {
      watched.ranks.push_back(
          {.node = {}, .pod = p, .milli = jobs_.spec(pod).gpu_milli, .power = {}, .parts = {}});
    }
  }
  watched.since = watched.settled = sim_.engine.now();
  look(watched);
}

void Cardiogram::phase_changed(JobId id, JobPhase after) {
  Watched* const watched = find(id);
  if (watched == nullptr) return;
  if (after == JobPhase::Running) {
    watched->step_from = controller_.run_now(id).progress.done();
  }
  if (!is_open_) return;
  settle(*watched, sim_.engine.now());
  look(*watched);
}

void Cardiogram::pace_changed(JobId id) {
  Watched* const watched = is_open_ ? find(id) : nullptr;
  if (watched == nullptr) return;
  advance(*watched, sim_.engine.now());
  look_at_run(*watched);
}

void Cardiogram::pod_assigned(PodId pod, NodeId node) {
  Watched* const watched = find(jobs_.pod(pod).job);
  if (watched == nullptr) return;
  if (is_open_) settle(*watched, sim_.engine.now());
  const uint64_t serial = jobs_.job(watched->job).serial;
  for_ranks(*watched, pod, [&](Rank& rank) {
    rank.node = node;
    rank.power = powers_.of(node, serial);
  });
  if (is_open_) look(*watched);
}

void Cardiogram::pod_unassigned(PodId pod) { pod_assigned(pod, {}); }

void Cardiogram::rank_dead(PodId pod, int64_t milli) {
  Watched* const watched = find(jobs_.pod(pod).job);
  if (watched == nullptr) return;
  if (is_open_) settle(*watched, sim_.engine.now());
  for_ranks(*watched, pod, [&](Rank& rank) {
    if (milli <= 0 || rank.is_dead) return;
    rank.is_dead = true;
    milli -= rank.milli;
  });
  if (is_open_) look(*watched);
}

void Cardiogram::job_over(JobId id) {
  Watched* const watched = find(id);
  if (watched == nullptr) return;
  if (!is_open_) {
    watched_.erase(jobs_.job(id).serial);
    return;
  }
  settle(*watched, sim_.engine.now());
  for (Rank& rank : watched->ranks) rank.mode = Mode::Idle;
  watched->is_over = true;
  watched->runs = false;
}

}  // namespace orrery

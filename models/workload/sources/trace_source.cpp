#include "models/workload/sources/trace_source.hpp"

#include <utility>

#include "models/workload/traces/formats/detect.hpp"

namespace orrery {
namespace {

// Exit codes are as in shells and Slurm: 1 for an error, 128 + SIGTERM for a terminated process.
std::optional<Ending> ending_of(TraceStatus status, Duration after) {
  switch (status) {
    case TraceStatus::Cancelled:
      return Ending{after, kTerminated, EndCause::Cancelled};
    case TraceStatus::Failed:
      return Ending{after, 1, EndCause::Error};
    case TraceStatus::Timeout:
      return Ending{after, kTerminated, EndCause::TimeLimit};
    case TraceStatus::NodeFail:
      return Ending{after, kNoExitCode, EndCause::NodeFailed};
    case TraceStatus::Completed:
    case TraceStatus::Running:
    case TraceStatus::Pending:
    case TraceStatus::Unknown:
      return {};
  }
  return {};
}

bool tells_ends(TraceFormat format) {
  return format != TraceFormat::Openb && format != TraceFormat::OpenbUntimed;
}

class TraceSource final : public JobSource {
 public:
  TraceSource(std::unique_ptr<TraceReader> reader, const TraceSourceParams& params,
              const TrainingParams& training, bool takes_gpus)
      : reader_{std::move(reader)},
        params_{params},
        training_{params.training.value_or(training)},
        takes_gpus_{takes_gpus} {
    pop();
  }
  const JobSpec* peek() override { return has_job_ ? &job_ : nullptr; }
  void pop() override {
    const TraceJob* const recorded = reader_->next();
    has_job_ = recorded != nullptr;
    if (!has_job_) return;
    if (!takes_gpus_ && recorded->gpus() > 0) return refuse_gpus(*recorded);
    convert(*recorded);
  }
  std::optional<std::string> error() const override {
    if (params_.team == TraceTeam::Group && reader_->format() != TraceFormat::Auto &&
        !traces::find_format({}, reader_->format())->has_groups) {
      return "team: a trace of format " + std::string{name_of(reader_->format())} +
             " names no groups";
    }
    return refused_ ? refused_ : reader_->error();
  }
  std::vector<std::string> notes() const override {
    std::vector<std::string> notes;
    for (const TraceNote& note : reader_->notes()) {
      notes.push_back(params_.file + ": " + std::to_string(note.rows) + " rows " + note.what);
    }
    return notes;
  }

 private:
  void refuse_gpus(const TraceJob& recorded) {
    has_job_ = false;
    refused_ = params_.file + ":" + std::to_string(recorded.row) + ": the job asks for " +
               std::to_string(recorded.gpus()) +
               " GPUs, which policy.job_queue.counts does not name: more jobs would run at a time "
               "than there are GPUs for";
  }

  void convert(const TraceJob& recorded) {
    job_.external_id = recorded.id;
    job_.name = recorded.name.view();
    job_.user = recorded.user;
    job_.team = params_.team == TraceTeam::Group ? recorded.group : recorded.queue;
    job_.application = recorded.application;
    job_.kind = training_.kind_of(params_.job_kind, recorded.pods);
    job_.submitted = recorded.submit;
    job_.work = params_.departures ? recorded.duration : kNeverEnds;
    job_.requested = recorded.requested_time;
    job_.ending = {};
    job_.cancel_after = {};
    if (params_.ends == TraceEnds::Recorded && params_.departures &&
        tells_ends(reader_->format())) {
      if (recorded.cancelled_after >= Duration{}) {
        job_.cancel_after = recorded.cancelled_after;
      } else {
        job_.ending = ending_of(recorded.status, recorded.duration);
      }
    }
    const bool is_uneven = recorded.pods > 1 && recorded.gpus_last_pod != recorded.gpus_per_pod;
    job_.gangs.resize(1);
    auto& roles = job_.gangs[0].roles;
    roles.resize(is_uneven ? 2 : 1);
    roles[0].pods = is_uneven ? recorded.pods - 1 : recorded.pods;
    roles[0].spec =
        spec_of(recorded, recorded.pods > 1 ? recorded.gpus_per_pod : recorded.gpus_last_pod);
    if (is_uneven) {
      roles[1].pods = 1;
      roles[1].spec = spec_of(recorded, recorded.gpus_last_pod);
    }
    training_.apply(job_);
  }

  PodSpec spec_of(const TraceJob& recorded, int32_t gpus) const {
    PodSpec spec;
    spec.gpus = gpus;
    spec.gpu_milli = recorded.gpu_milli;
    if (params_.host_requests) {
      spec.cpu_milli = recorded.cpu_milli_per_pod;
      spec.memory_bytes = recorded.memory_per_pod.count;
    }
    spec.priority = recorded.priority == TracePriority::Low    ? params_.priority_low
                    : recorded.priority == TracePriority::High ? params_.priority_high
                                                               : params_.priority_normal;
    if (params_.gpu_models && !recorded.gpu_models.empty()) {
      Requirement any{
          .key = std::string{kGpuProductLabel}, .op = SelectorOperator::In, .values = {}};
      std::string_view rest = recorded.gpu_models;
      while (!rest.empty()) {
        const size_t end = std::min(rest.find('|'), rest.size());
        any.values.emplace_back(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
      spec.required_terms.push_back({.all_of = {std::move(any)}});
    }
    if (!recorded.node.empty()) {
      if (spec.required_terms.empty()) spec.required_terms.emplace_back();
      spec.required_terms[0].all_of.push_back({.key = std::string{kHostnameLabel},
                                               .op = SelectorOperator::In,
                                               .values = {std::string{recorded.node}}});
    }
    params_.pods.apply(spec);
    return spec;
  }

  std::unique_ptr<TraceReader> reader_;
  TraceSourceParams params_;
  TrainingParams training_;
  bool takes_gpus_;
  JobSpec job_;
  bool has_job_ = false;
  std::optional<std::string> refused_;
};

}  // namespace

std::unique_ptr<JobSource> make_trace_source(const TraceSourceParams& params,
                                             const TrainingParams& training) {
  return make_trace_source(open_trace(params), params, training);
}

std::unique_ptr<JobSource> make_trace_source(std::unique_ptr<TraceReader> reader,
                                             const TraceSourceParams& params,
                                             const TrainingParams& training, bool takes_gpus) {
  return std::make_unique<TraceSource>(std::move(reader), params, training, takes_gpus);
}

}  // namespace orrery

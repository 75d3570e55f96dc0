// models/scheduling/job_queue/job_queue_log.hpp -- why jobs wait in the job queue, as rows.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "models/scheduling/contract/job_policy_api.hpp"
#include "models/scheduling/contract/policy_fault.hpp"
#include "sim/record/channel.hpp"

namespace orrery {

enum class QueueDecision : uint8_t {
  Started,     // the job's pods are created, or it runs without pods
  Held,        // an Admit rejected the job
  LacksRoom,   // the job does not fit into the pool
  PassedOver,  // the job fits into the pool, but the plan does not start it
  Stopped,     // the job was stopped and waits again
  Infeasible,  // the job requests more than the cluster has
  Cancelled,   // the user or a policy cancelled the job before it started
};
constexpr std::array<std::string_view, 7> enum_names(QueueDecision) {
  return {"started", "held", "lacks_room", "passed_over", "stopped", "infeasible", "cancelled"};
}

struct QueueRow {
  Time at;
  uint64_t job = 0;
  QueueDecision decision = QueueDecision::Started;
  FixedText<24> policy;
  int32_t place = -1;
  int64_t asked = 0, free = 0;
  int64_t head = -1;
  Time reserved = Time{-1}, head_reserved = Time{-1};

  static void columns(auto&& c) {
    c("at", &QueueRow::at, "time of the decision, which holds until the next row of the job");
    c("job", &QueueRow::job, "serial of the job");
    c("decision", &QueueRow::decision,
      "held: an Admit policy rejects the job; lacks_room: too few resources are free; passed_over: "
      "the job would fit, but the Plan policy does not start it; stopped: the job ran and waits "
      "again; infeasible: the job requests more than all nodes have; cancelled: the job was "
      "cancelled before it started");
    c("policy", &QueueRow::policy, "policy that decided");
    c("place", &QueueRow::place,
      "number of jobs before this job in the queue; -1 unless decision is lacks_room or "
      "passed_over");
    c("asked", &QueueRow::asked,
      "requested amount of the first resource of policy.job_queue.counts, usually GPUs", "units");
    c("free", &QueueRow::free,
      "free amount of the first resource of policy.job_queue.counts; below 0 if started jobs hold "
      "more than the capacity of all nodes that are up",
      "units");
    c("head", &QueueRow::head,
      "serial of the first job in the queue; -1 unless decision is lacks_room or passed_over");
    c("reserved", &QueueRow::reserved,
      "latest start of the job, according to its reservation; -1: no reservation");
    c("head_reserved", &QueueRow::head_reserved,
      "latest start of the first job in the queue, according to its reservation; -1: no "
      "reservation, or head is -1");
  }
};

// Writes a row whenever the decision about a job changes. Without `is_on` the log has no table and
// costs nothing. With `is_on` it examines all waiting jobs after each plan.
class JobQueueLog {
 public:
  JobQueueLog(Recorder& recorder, bool is_on);

  bool is_on() const { return rows_ && rows_->is_on(); }
  void decided(const JobBoard& board, const QueuedJob& job, QueueDecision decision,
               std::string_view policy);
  void planned(const JobBoard& board, const Bound<Plan>& plan);

 private:
  void write(const JobBoard& board, const QueuedJob& job, QueueRow row);

  std::optional<Channel<QueueRow>> rows_;
  std::vector<QueueDecision> latest_;  // by slot: the decision in the latest row
};

}  // namespace orrery

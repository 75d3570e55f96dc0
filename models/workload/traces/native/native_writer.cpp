#include "models/workload/traces/native/native_writer.hpp"

#include "models/workload/traces/native/native_layout.hpp"
#include "sim/core/check.hpp"

namespace orrery {

using namespace traces::native;

NativeWriter::NativeWriter(std::string path, const std::vector<Fact>& facts)
    : blocks_{std::move(path), kMagic, facts} {}

void NativeWriter::add(const TraceJob& job) {
  ORRERY_CHECK(job.submit >= last_submit_, "jobs must come in the order of submission");
  const bool is_numbered = job.name.view() == std::to_string(job.id);
  uint64_t mask = 0;
  const auto mark = [&](bool is_there, Field field) { mask |= is_there ? uint64_t{field} : 0; };
  mark(job.wait_recorded.ns >= 0, kWait);
  mark(job.requested_time.ns >= 0, kRequested);
  mark(job.deadline.ns >= 0, kDeadline);
  mark(job.after >= 0, kAfter);
  mark(job.think_time.ns >= 0, kThink);
  mark(job.memory_per_pod.count > 0, kMemory);
  mark(job.cpu_milli_per_pod > 0, kCpu);
  mark(job.gpus_per_pod > 0, kGpus);
  mark(job.gpus_last_pod != job.gpus_per_pod, kLastPod);
  mark(job.gpu_milli != 1000, kGpuMilli);
  mark(job.pods != 1, kPods);
  mark(!job.user.empty(), kUser);
  mark(!job.group.empty(), kGroup);
  mark(!job.queue.empty(), kQueue);
  mark(!job.application.empty(), kApplication);
  mark(!job.gpu_models.empty(), kModels);
  mark(job.priority != TracePriority::Normal, kPriority);
  mark(job.status != TraceStatus::Unknown, kStatus);
  mark(!is_numbered, kName);
  mark(job.row != last_row_ + 1, kRow);
  mark(!job.node.empty(), kNode);
  mark(job.cancelled_after.ns >= 0, kCancelled);
  blocks_.put(mask);
  blocks_.put_span((job.submit - last_submit_).ns);
  blocks_.put_span(job.duration.ns);
  blocks_.put(zigzag(
      static_cast<int64_t>(static_cast<uint64_t>(job.id) - static_cast<uint64_t>(last_id_))));
  const auto has = [&](Field field) { return (mask & field) != 0; };
  if (has(kWait)) blocks_.put_span(job.wait_recorded.ns);
  if (has(kRequested)) blocks_.put_span(job.requested_time.ns);
  if (has(kDeadline)) blocks_.put_span(job.deadline.ns);
  if (has(kAfter)) blocks_.put(static_cast<uint64_t>(job.after));
  if (has(kThink)) blocks_.put_span(job.think_time.ns);
  if (has(kMemory)) blocks_.put(static_cast<uint64_t>(job.memory_per_pod.count));
  if (has(kCpu)) blocks_.put(static_cast<uint64_t>(job.cpu_milli_per_pod));
  if (has(kGpus)) blocks_.put(static_cast<uint64_t>(job.gpus_per_pod));
  if (has(kLastPod)) blocks_.put(static_cast<uint64_t>(job.gpus_last_pod));
  if (has(kGpuMilli)) blocks_.put(static_cast<uint64_t>(job.gpu_milli));
  if (has(kPods)) blocks_.put(static_cast<uint64_t>(job.pods));
  if (has(kUser)) blocks_.put_text(job.user);
  if (has(kGroup)) blocks_.put_text(job.group);
  if (has(kQueue)) blocks_.put_text(job.queue);
  if (has(kApplication)) blocks_.put_text(job.application);
  if (has(kModels)) blocks_.put_text(job.gpu_models);
  if (has(kPriority)) blocks_.put(static_cast<uint64_t>(job.priority));
  if (has(kStatus)) blocks_.put(static_cast<uint64_t>(job.status));
  if (has(kName)) blocks_.put_raw(job.name.view());
  if (has(kRow)) blocks_.put(zigzag(job.row - last_row_));
  if (has(kNode)) blocks_.put_text(job.node);
  if (has(kCancelled)) blocks_.put_span(job.cancelled_after.ns);
  last_submit_ = job.submit;
  last_id_ = job.id;
  last_row_ = job.row;
  blocks_.end_item();
}

}  // namespace orrery

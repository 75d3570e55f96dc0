// The Alibaba DLRM list of 2025: one row for each instance of a recommendation service. The role of
// an instance is HN (it runs on a GPU node) or CN (it runs on a CPU node).
#include <algorithm>

#include "models/workload/traces/formats/format.hpp"

namespace orrery::traces::dlrm {
namespace {

constexpr std::string_view kColumns[] = {
    "instance_sn",           "role",          "app_name",       "cpu_request",
    "gpu_request",           "rdma_request",  "memory_request", "disk_request",
    "max_instance_per_node", "creation_time", "scheduled_time", "deletion_time"};
enum Column : size_t {
  kId,
  kRole,
  kApp,
  kCpu,
  kGpu,
  kRdma,
  kMemory,
  kDisk,
  kPerNode,
  kCreation,
  kScheduled,
  kDeletion
};
constexpr Word<int> kRoles[] = {{"CN", 0}, {"HN", 1}};
constexpr Duration kSpan{31LL * 86'400 * 1'000'000'000};  // the period of the list

// If the creation time is empty, the instance existed before the 31 days of the list; it is
// submitted when the list begins. If the deletion time is empty, the instance outlived the list; it
// ends when the list ends.
TraceRow parse_instance(CsvReader& row, StringPool& pool) {
  TraceRow out;
  TraceJob& job = out.job;
  identify(row, kId, job);
  job.queue = interned(row, kApp, pool);
  job.application = interned(row, kRole, pool);
  static_cast<void>(row.word<int>(kRole, kRoles));
  job.cpu_milli_per_pod = static_cast<int64_t>(row.number(kCpu, 0, 100'000) * 1000);
  spread_gpus(row, kGpu, row.whole(kGpu, 0, 16), 1, job);
  job.memory_per_pod = Bytes{row.whole(kMemory, 0, 1'000'000) << 30U};
  Findings& findings = row.findings();
  if (row.number(kRdma, 0, 100) > 0) findings.remark("asks for a share of a NIC: not replayed");
  if (row.number(kDisk, 0, 1e9) > 0) findings.remark("asks for disk: not replayed");
  if (row.whole(kPerNode, -1, 1'000'000) > 0) {
    findings.remark("limits its application's instances on a node: not replayed");
  }
  job.priority = TracePriority::High;  // all instances are latency-sensitive
  const auto instant = [&](size_t column, Duration unknown) {
    if (row.is_nothing(column)) return Time{} + unknown;
    return Time{} + row.seconds(column);
  };
  job.submit = instant(kCreation, Duration{});
  out.start = instant(kScheduled, job.submit - Time{});
  const Time end = instant(kDeletion, std::max(kSpan, out.start - Time{}));
  if (out.start < job.submit) row.wrong(kScheduled, "a time not before creation_time");
  if (end < out.start) row.wrong(kDeletion, "a time not before scheduled_time");
  if (!row.is_nothing(kScheduled)) job.wait_recorded = out.start - job.submit;
  job.duration = end - out.start;
  job.status = row.is_nothing(kDeletion) ? TraceStatus::Running : TraceStatus::Unknown;
  if (row.is_nothing(kCreation)) findings.remark("was there before the recording began");
  if (row.is_nothing(kDeletion)) findings.remark("was there when the recording stopped");
  return out;
}

}  // namespace

const Format kFormat{.id = TraceFormat::Dlrm,
                     .columns = kColumns,
                     .parse = parse_instance,
                     .submit_column = kCreation,
                     .start_column = kScheduled,
                     .has_queues = true,
                     .has_statuses = true,
                     .has_starts = true,
                     .is_unsorted = true};

}  // namespace orrery::traces::dlrm

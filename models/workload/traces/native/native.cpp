// Reads the native format. native_blocks.hpp describes the layout of a file.
#include <algorithm>
#include <charconv>
#include <limits>

#include "models/workload/traces/formats/format.hpp"
#include "models/workload/traces/native/native_blocks.hpp"
#include "models/workload/traces/native/native_layout.hpp"

namespace orrery::traces {
namespace {

using namespace native;

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr uint64_t kFieldsAll = (uint64_t{1} << 22U) - 1;
// With these two limits, the sum of the CPUs of all pods of a job fits in 64 bits.
constexpr int64_t kPodsMax = 10'000'000;
constexpr int64_t kCpuMilliMax = kMax / kPodsMax;

class NativeParser final : public RowParser {
 public:
  explicit NativeParser(ParserInput input)
      : findings_{input.findings},
        blocks_{std::move(input.source), kMagic, "job", input.findings, input.pool} {}

  const TraceRow* next() override {
    if (!blocks_.begin_item()) return nullptr;
    findings_.start_row(last_row_ + 1);
    read_job();
    return blocks_.end_item() ? &row_ : nullptr;
  }
  std::span<const Fact> facts() const override { return blocks_.facts(); }

 private:
  bool read_job();
  bool read_shape(uint64_t mask);
  bool read_texts(uint64_t mask);

  Findings& findings_;
  BlockReader blocks_;
  int64_t last_id_ = 0;
  int64_t last_row_ = 0;
  Time last_submit_;
  TraceRow row_;
};

bool NativeParser::read_job() {
  row_ = {};
  TraceJob& job = row_.job;
  const uint64_t mask = blocks_.varint();
  if (mask > kFieldsAll) blocks_.refuse();
  const auto has = [&](Field field) { return (mask & field) != 0; };
  const Duration since = blocks_.span();
  if (since.ns > kMax - last_submit_.ns) blocks_.refuse();
  job.submit = blocks_.is_bad() ? Time{} : last_submit_ + since;
  job.duration = blocks_.span();
  job.id = static_cast<int64_t>(static_cast<uint64_t>(last_id_) +
                                static_cast<uint64_t>(blocks_.signed_integer()));
  if (has(kWait)) job.wait_recorded = blocks_.span();
  if (has(kRequested)) job.requested_time = blocks_.span();
  if (has(kDeadline)) job.deadline = blocks_.span();
  if (has(kAfter)) job.after = blocks_.integer(0, kMax);
  if (has(kThink)) job.think_time = blocks_.span();
  if (!read_shape(mask) || !read_texts(mask)) return false;
  if (has(kCancelled)) job.cancelled_after = blocks_.span();
  row_.start = job.submit + std::max({job.wait_recorded, job.cancelled_after, Duration{}});
  last_submit_ = job.submit;
  last_id_ = job.id;
  last_row_ = job.row;
  return !blocks_.is_bad();
}

bool NativeParser::read_shape(uint64_t mask) {
  TraceJob& job = row_.job;
  const auto has = [&](Field field) { return (mask & field) != 0; };
  if (has(kMemory)) job.memory_per_pod = Bytes{blocks_.integer(0, kMax)};
  if (has(kCpu)) job.cpu_milli_per_pod = blocks_.integer(0, kCpuMilliMax);
  if (has(kGpus)) job.gpus_per_pod = static_cast<int32_t>(blocks_.integer(0, 1'000'000));
  job.gpus_last_pod = job.gpus_per_pod;
  if (has(kLastPod)) job.gpus_last_pod = static_cast<int32_t>(blocks_.integer(0, job.gpus_per_pod));
  if (has(kGpuMilli)) job.gpu_milli = static_cast<int32_t>(blocks_.integer(1, 1000));
  if (has(kPods)) job.pods = static_cast<int32_t>(blocks_.integer(1, kPodsMax));
  return !blocks_.is_bad();
}

bool NativeParser::read_texts(uint64_t mask) {
  TraceJob& job = row_.job;
  const auto has = [&](Field field) { return (mask & field) != 0; };
  if (has(kUser)) job.user = blocks_.text();
  if (has(kGroup)) job.group = blocks_.text();
  if (has(kQueue)) job.queue = blocks_.text();
  if (has(kApplication)) job.application = blocks_.text();
  if (has(kModels)) job.gpu_models = blocks_.text();
  if (has(kPriority)) job.priority = static_cast<TracePriority>(blocks_.integer(0, 2));
  if (has(kStatus)) {
    constexpr auto kLast = static_cast<int64_t>(enum_names(TraceStatus{}).size()) - 1;
    job.status = static_cast<TraceStatus>(blocks_.integer(0, kLast));
  }
  if (has(kName)) {
    job.name = TraceName{blocks_.raw(TraceName::kMax)};
  } else {
    std::array<char, 24> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), job.id).ptr;
    job.name = TraceName{std::string_view{digits.data(), static_cast<size_t>(end - digits.data())}};
  }
  job.row = has(kRow) ? static_cast<int64_t>(static_cast<uint64_t>(last_row_) +
                                             static_cast<uint64_t>(blocks_.signed_integer()))
                      : last_row_ + 1;
  if (has(kNode)) job.node = blocks_.text();
  if (job.row < 0 || job.row == kMax) blocks_.refuse();
  return !blocks_.is_bad();
}

}  // namespace

const Format kNativeFormat{
    .id = TraceFormat::Native,
    .open = [](ParserInput input) -> std::unique_ptr<RowParser> {
      return std::make_unique<NativeParser>(std::move(input));
    },
    .likeness =
        [](std::string_view beginning) { return beginning.starts_with(kMagic) ? 2.0 : 0.0; },
    .has_queues = true,
    .has_groups = true,
    .has_statuses = true,
    .has_starts = true,
    .has_nodes = true};

}  // namespace orrery::traces

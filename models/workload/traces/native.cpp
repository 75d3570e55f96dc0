// The native format, read. See native_writer.hpp for its layout.
#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>

#include "models/workload/traces/format.hpp"
#include "models/workload/traces/native_layout.hpp"

namespace orrery::traces {
namespace {

using namespace native;

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr uint64_t kFieldsAll = (uint64_t{1} << 21U) - 1;

class NativeParser final : public RowParser {
 public:
  explicit NativeParser(ParserInput input)
      : source_{std::move(input.source)}, findings_{input.findings}, pool_{input.pool} {
    read_facts();
  }

  const TraceRow* next() override {
    if (findings_.is_stopped()) return nullptr;
    if (block_jobs_ == 0 && !next_block()) return nullptr;
    findings_.start_row(last_row_ + 1);
    const bool is_good = read_job();
    --block_jobs_;
    ++jobs_;
    if (!is_good || (block_jobs_ == 0 && at_ != block_.size())) {
      damaged("a job is not as it was written");
      return nullptr;
    }
    return &row_;
  }
  std::span<const Fact> facts() const override { return facts_; }

 private:
  void damaged(const std::string& what) {
    findings_.stop(source_.error().value_or(findings_.file() +
                                            ": the native trace is damaged at job " +
                                            std::to_string(jobs_) + ": " + what));
  }
  bool fill(size_t count);  // block_ becomes the next bytes of the file
  void read_facts();
  bool next_block();
  bool read_job();
  bool read_shape(uint64_t mask);
  bool read_texts(uint64_t mask);

  uint64_t varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at_ == block_.size()) break;
      const auto byte = static_cast<unsigned char>(block_[at_++]);
      value |= static_cast<uint64_t>(byte & 0x7FU) << shift;
      if (byte < 0x80) return value;
    }
    is_bad_ = true;
    return 0;
  }
  int64_t integer(int64_t low, int64_t high) {
    const uint64_t value = varint();
    if (value <= static_cast<uint64_t>(high) && static_cast<int64_t>(value) >= low) {
      return static_cast<int64_t>(value);
    }
    is_bad_ = true;
    return low;
  }
  Duration span() {
    const uint64_t value = varint();
    if (value == 1) return Duration{integer(0, kMax)};
    if ((value & 1U) != 0 || value > static_cast<uint64_t>(kMax / kSecond) * 2) is_bad_ = true;
    return Duration{is_bad_ ? 0 : static_cast<int64_t>(value >> 1U) * kSecond};
  }
  std::string_view raw(size_t length_max) {
    const uint64_t length = varint();
    if (length > length_max || length > block_.size() - at_) {
      is_bad_ = true;
      return {};
    }
    at_ += length;
    return std::string_view{block_}.substr(at_ - length, length);
  }
  std::string_view text() {
    const uint64_t index = varint();
    if (index < texts_.size()) return texts_[index];
    const auto pooled = index == texts_.size() ? pool_.intern(raw(kTextMax)) : std::nullopt;
    if (!pooled) {
      is_bad_ = true;
      return {};
    }
    texts_.push_back(*pooled);
    return *pooled;
  }

  TextSource source_;
  Findings& findings_;
  StringPool& pool_;
  std::string_view stored_;  // read and not yet taken
  std::string block_;
  size_t at_ = 0;
  bool is_bad_ = false;
  uint32_t block_jobs_ = 0;
  int64_t jobs_ = 0;
  int64_t last_id_ = 0;
  int64_t last_row_ = 0;
  Time last_submit_;
  std::vector<std::string_view> texts_;
  std::vector<Fact> facts_;
  TraceRow row_;
};

bool NativeParser::fill(size_t count) {
  block_.clear();
  at_ = 0;
  while (block_.size() < count) {
    if (stored_.empty()) stored_ = source_.next_block();
    if (stored_.empty()) return false;
    const size_t some = std::min(stored_.size(), count - block_.size());
    block_.append(stored_.substr(0, some));
    stored_.remove_prefix(some);
  }
  return true;
}

void NativeParser::read_facts() {
  uint32_t length = 0;
  if (!fill(kMagic.size() + sizeof length) || !block_.starts_with(kMagic)) {
    findings_.stop(source_.error().value_or(findings_.file() + ": this is no native trace"));
    return;
  }
  std::memcpy(&length, block_.data() + kMagic.size(), sizeof length);
  if (length > kFactsMax || !fill(length)) return damaged("its facts are cut");
  for (std::string_view rest = block_; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const size_t colon = line.find(": ");
    if (colon == std::string_view::npos) return damaged("a fact has no name");
    facts_.emplace_back(line.substr(0, colon), line.substr(colon + 2));
  }
}

bool NativeParser::next_block() {
  struct Header {
    uint32_t bytes = 0;
    uint32_t jobs = 0;
    uint64_t sum = 0;
  } header;
  static_assert(sizeof header == kBlockHeader);
  if (!fill(kBlockHeader)) {
    damaged("it ends too early");
    return false;
  }
  std::memcpy(&header, block_.data(), sizeof header);
  if (header.bytes == 0 && header.jobs == 0) {
    if (header.sum != static_cast<uint64_t>(jobs_)) damaged("jobs are missing");
    if (!stored_.empty() || !source_.next_block().empty()) damaged("it is followed by something");
    return false;
  }
  const bool is_cut = header.bytes > kBlockBytesMax || header.jobs == 0 || !fill(header.bytes);
  if (is_cut || checksum(block_) != header.sum) {
    damaged(is_cut ? "a block is cut" : "a checksum does not fit");
    return false;
  }
  block_jobs_ = header.jobs;
  return true;
}

bool NativeParser::read_job() {
  row_ = {};
  TraceJob& job = row_.job;
  const uint64_t mask = varint();
  if (mask > kFieldsAll) is_bad_ = true;
  const auto has = [&](Field field) { return (mask & field) != 0; };
  const Duration since = span();
  if (since.ns > kMax - last_submit_.ns) is_bad_ = true;
  job.submit = is_bad_ ? Time{} : last_submit_ + since;
  job.duration = span();
  job.id = static_cast<int64_t>(static_cast<uint64_t>(last_id_) +
                                static_cast<uint64_t>(unzigzag(varint())));
  if (has(kWait)) job.wait_recorded = span();
  if (has(kRequested)) job.requested_time = span();
  if (has(kDeadline)) job.deadline = span();
  if (has(kAfter)) job.after = integer(0, kMax);
  if (has(kThink)) job.think_time = span();
  if (!read_shape(mask) || !read_texts(mask)) return false;
  row_.start = job.submit + std::max(job.wait_recorded, Duration{});
  last_submit_ = job.submit;
  last_id_ = job.id;
  last_row_ = job.row;
  return !is_bad_;
}

bool NativeParser::read_shape(uint64_t mask) {
  TraceJob& job = row_.job;
  const auto has = [&](Field field) { return (mask & field) != 0; };
  if (has(kMemory)) job.memory_per_pod = Bytes{integer(0, kMax)};
  if (has(kCpu)) job.cpu_milli_per_pod = integer(0, int64_t{1} << 40U);
  if (has(kGpus)) job.gpus_per_pod = static_cast<int32_t>(integer(0, 1'000'000));
  job.gpus_last_pod = job.gpus_per_pod;
  if (has(kLastPod)) job.gpus_last_pod = static_cast<int32_t>(integer(0, job.gpus_per_pod));
  if (has(kMilli)) job.gpu_milli = static_cast<int32_t>(integer(1, 1000));
  if (has(kPods)) job.pods = static_cast<int32_t>(integer(1, 10'000'000));
  return !is_bad_;
}

bool NativeParser::read_texts(uint64_t mask) {
  TraceJob& job = row_.job;
  const auto has = [&](Field field) { return (mask & field) != 0; };
  if (has(kUser)) job.user = text();
  if (has(kGroup)) job.group = text();
  if (has(kQueue)) job.queue = text();
  if (has(kApplication)) job.application = text();
  if (has(kModels)) job.gpu_models = text();
  if (has(kPriority)) job.priority = static_cast<TracePriority>(integer(0, 2));
  if (has(kStatus)) {
    constexpr auto kLast = static_cast<int64_t>(enum_names(TraceStatus{}).size()) - 1;
    job.status = static_cast<TraceStatus>(integer(0, kLast));
  }
  if (has(kName)) {
    job.name = TraceName{raw(TraceName::kMax)};
  } else {
    std::array<char, 24> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), job.id).ptr;
    job.name = TraceName{std::string_view{digits.data(), static_cast<size_t>(end - digits.data())}};
  }
  job.row = has(kRow) ? static_cast<int64_t>(static_cast<uint64_t>(last_row_) +
                                             static_cast<uint64_t>(unzigzag(varint())))
                      : last_row_ + 1;
  if (has(kNode)) job.node = text();
  if (job.row < 0 || job.row == kMax) is_bad_ = true;
  return !is_bad_;
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

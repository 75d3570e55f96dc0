#include "models/workload/traces/native_writer.hpp"

#include <bit>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "models/workload/traces/native_layout.hpp"
#include "sim/core/check.hpp"

namespace orrery {
namespace {

using namespace traces::native;

static_assert(std::endian::native == std::endian::little, "the layout is little-endian");

template <class T>
std::string bytes_of(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

}  // namespace

NativeWriter::NativeWriter(std::string path, const std::vector<Fact>& facts)
    : path_{std::move(path)}, part_{path_ + ".part"}, out_{part_, std::ios::binary} {
  std::string text;
  for (const auto& [key, value] : facts) text += key + ": " + value + "\n";
  ORRERY_CHECK(text.size() <= kFactsMax, "the reader refuses longer facts");
  out_ << kMagic << bytes_of(static_cast<uint32_t>(text.size())) << text;
  if (!out_) error_ = part_ + ": cannot be written: " + std::generic_category().message(errno);
}

NativeWriter::~NativeWriter() {
  if (is_finished_) return;
  std::error_code ignored;  // it may never have been there
  std::filesystem::remove(part_, ignored);
}

void NativeWriter::put(uint64_t value) {
  while (value >= 0x80) {
    block_ += static_cast<char>(value | 0x80U);
    value >>= 7U;
  }
  block_ += static_cast<char>(value);
}

// Twice the seconds where they are whole, else one and the nanoseconds.
void NativeWriter::put_span(int64_t ns) {
  if (ns % kSecond == 0) return put(static_cast<uint64_t>(ns / kSecond) << 1U);
  put(1);
  put(static_cast<uint64_t>(ns));
}

void NativeWriter::put_raw(std::string_view text) {
  put(text.size());
  block_ += text;
}

void NativeWriter::put_text(std::string_view text) {
  const auto known = texts_.find(text);
  if (known != texts_.end()) return put(known->second);
  ORRERY_CHECK(text.size() <= kTextMax, "the reader refuses longer texts");
  put(texts_.size());
  put_raw(text);
  texts_.emplace(text, texts_.size());
}

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
  mark(job.gpu_milli != 1000, kMilli);
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
  put(mask);
  put_span((job.submit - last_submit_).ns);
  put_span(job.duration.ns);
  put(zigzag(
      static_cast<int64_t>(static_cast<uint64_t>(job.id) - static_cast<uint64_t>(last_id_))));
  const auto has = [&](Field field) { return (mask & field) != 0; };
  if (has(kWait)) put_span(job.wait_recorded.ns);
  if (has(kRequested)) put_span(job.requested_time.ns);
  if (has(kDeadline)) put_span(job.deadline.ns);
  if (has(kAfter)) put(static_cast<uint64_t>(job.after));
  if (has(kThink)) put_span(job.think_time.ns);
  if (has(kMemory)) put(static_cast<uint64_t>(job.memory_per_pod.count));
  if (has(kCpu)) put(static_cast<uint64_t>(job.cpu_milli_per_pod));
  if (has(kGpus)) put(static_cast<uint64_t>(job.gpus_per_pod));
  if (has(kLastPod)) put(static_cast<uint64_t>(job.gpus_last_pod));
  if (has(kMilli)) put(static_cast<uint64_t>(job.gpu_milli));
  if (has(kPods)) put(static_cast<uint64_t>(job.pods));
  if (has(kUser)) put_text(job.user);
  if (has(kGroup)) put_text(job.group);
  if (has(kQueue)) put_text(job.queue);
  if (has(kApplication)) put_text(job.application);
  if (has(kModels)) put_text(job.gpu_models);
  if (has(kPriority)) put(static_cast<uint64_t>(job.priority));
  if (has(kStatus)) put(static_cast<uint64_t>(job.status));
  if (has(kName)) put_raw(job.name.view());
  if (has(kRow)) put(zigzag(job.row - last_row_));
  if (has(kNode)) put_text(job.node);
  last_submit_ = job.submit;
  last_id_ = job.id;
  last_row_ = job.row;
  ++block_jobs_;
  ++jobs_;
  if (block_.size() >= kBlockBytes) flush_block();
}

void NativeWriter::flush_block() {
  if (block_jobs_ == 0) return;
  out_ << bytes_of(static_cast<uint32_t>(block_.size())) << bytes_of(block_jobs_)
       << bytes_of(checksum(block_)) << block_;
  block_.clear();
  block_jobs_ = 0;
}

bool NativeWriter::finish() {
  flush_block();
  out_ << bytes_of(uint32_t{0}) << bytes_of(uint32_t{0}) << bytes_of(static_cast<uint64_t>(jobs_));
  out_.flush();
  if (error_.empty() && !out_) {
    error_ = part_ + ": cannot be written: " + std::generic_category().message(errno);
  }
  out_.close();
  std::error_code error;
  if (error_.empty()) std::filesystem::rename(part_, path_, error);
  if (error) error_ = path_ + ": cannot be written: " + error.message();
  is_finished_ = error_.empty();
  return is_finished_;
}

}  // namespace orrery

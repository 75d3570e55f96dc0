// models/workload/traces/native/native_layout.hpp -- constants and encodings shared by writer and
// reader of the native format.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace orrery::traces::native {

constexpr std::string_view kMagic = "ORRTRC01";         // jobs
constexpr std::string_view kRequestMagic = "ORRREQ01";  // requests
constexpr size_t kBlockHeader = 16;
constexpr size_t kBlockBytes = size_t{256} << 10U;  // approximate: a block ends after a whole item
constexpr size_t kBlockBytesMax = size_t{16} << 20U;
constexpr size_t kFactsMax = size_t{1} << 20U;
constexpr size_t kTextMax = 4096;
constexpr int64_t kSecond = 1'000'000'000;

// A mask of these bits says which optional fields of a job are stored: those that differ from their
// default.
enum Field : uint64_t {
  kWait = 1U << 0U,
  kRequested = 1U << 1U,
  kDeadline = 1U << 2U,
  kAfter = 1U << 3U,
  kThink = 1U << 4U,
  kMemory = 1U << 5U,
  kCpu = 1U << 6U,
  kGpus = 1U << 7U,
  kLastPod = 1U << 8U,
  kGpuMilli = 1U << 9U,
  kPods = 1U << 10U,
  kUser = 1U << 11U,
  kGroup = 1U << 12U,
  kQueue = 1U << 13U,
  kApplication = 1U << 14U,
  kModels = 1U << 15U,
  kPriority = 1U << 16U,
  kStatus = 1U << 17U,
  kName = 1U << 18U,
  kRow = 1U << 19U,
  kNode = 1U << 20U,
  kCancelled = 1U << 21U,
};

constexpr uint64_t zigzag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1U) ^ static_cast<uint64_t>(value >> 63U);
}
constexpr int64_t unzigzag(uint64_t value) {
  return static_cast<int64_t>(value >> 1U) ^ -static_cast<int64_t>(value & 1U);
}

// The checksum of a block. Detects damage, but no forgery.
inline uint64_t checksum(std::string_view bytes) {
  uint64_t sum = 0x9E3779B97F4A7C15U ^ bytes.size();
  while (!bytes.empty()) {
    uint64_t word = 0;
    const size_t count = bytes.size() < 8 ? bytes.size() : 8;
    std::memcpy(&word, bytes.data(), count);
    sum = (sum ^ word) * 0xD6E8FEB86659FD93U;
    sum ^= sum >> 32U;
    bytes.remove_prefix(count);
  }
  return sum;
}

}  // namespace orrery::traces::native

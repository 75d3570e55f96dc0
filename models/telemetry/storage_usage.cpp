#include "models/telemetry/storage_usage.hpp"

#include <utility>

namespace orrery {

StorageUsage::StorageUsage(Sim sim, const Storage& storage)
    : storage_{storage},
      moved_(storage.stores()),
      samples_{sim.recorder, "/timeline/storage", "Stores over time."} {}

void StorageUsage::sample(Time now) {
  const double seconds = (now - sampled_to_).seconds();
  sampled_to_ = now;
  for (uint32_t s = 0; s < moved_.size(); ++s) {
    const auto rate = [&](Direction direction) {
      const double moved = storage_.moved({s}, direction);
      const double before = std::exchange(moved_[s][static_cast<size_t>(direction)], moved);
      return seconds > 0 ? (moved - before) / seconds : 0.0;
    };
    samples_.emit({.time = now,
                   .store = storage_.name({s}),
                   .write_rate = rate(Direction::Write),
                   .read_rate = rate(Direction::Read)});
  }
}

}  // namespace orrery

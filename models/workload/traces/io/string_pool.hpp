// models/workload/traces/io/string_pool.hpp -- stores each name in a trace (of a user, a queue or a
// GPU model) once.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

namespace orrery::traces {

// Views stay valid as long as the pool exists. The pool is never iterated, so its order has no
// effect.
class StringPool {
 public:
  static constexpr size_t kMax = 1'000'000;

  // Returns nullopt if kMax other texts are stored already. The limit catches a column that has ids
  // in place of names.
  std::optional<std::string_view> intern(std::string_view text) {
    if (text.empty()) return std::string_view{};
    if (const auto found = known_.find(text); found != known_.end()) return *found;
    if (texts_.size() >= kMax) return {};
    texts_.emplace_back(text);
    return *known_.insert(texts_.back()).first;
  }

 private:
  std::deque<std::string> texts_;  // a deque never moves them
  std::unordered_set<std::string_view> known_;
};

}  // namespace orrery::traces

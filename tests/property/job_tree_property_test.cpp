// The job tree against a sorted list, under random insertions, removals and searches.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "models/scheduling/contract/job_tree.hpp"
#include "sim/core/rng.hpp"

namespace orrery {
namespace {

struct Entry {
  JobKey key;
  JobSlot slot = 0;
  int64_t count = 0;
  Duration estimate;
};

class Model {
 public:
  void insert(const Entry& entry) {
    entries_.insert(std::ranges::lower_bound(entries_, entry.key, {}, &Entry::key), entry);
  }
  void erase(size_t index) {
    entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(index));
  }
  const std::vector<Entry>& entries() const { return entries_; }
  JobSlot find_after(const JobKey* key, const JobTree::Limits& limits) const {
    for (const Entry& e : entries_) {
      if (key != nullptr && e.key <= *key) continue;
      if (e.count > limits.free) continue;
      if (e.estimate <= limits.window || e.count <= limits.extra) return e.slot;
    }
    return kNoJob;
  }
  JobTree::Reach reach(int64_t needed) const {
    int64_t sum = 0;
    for (const Entry& e : entries_) {
      sum += e.count;
      if (sum >= needed) return {e.slot, sum};
    }
    return {};
  }
  int64_t sum_through(int64_t rank) const {
    int64_t sum = 0;
    for (const Entry& e : entries_) sum += e.key.rank <= rank ? e.count : 0;
    return sum;
  }

 private:
  std::vector<Entry> entries_;
};

void compare(const JobTree& tree, const Model& model, Rng& rng) {
  const auto& entries = model.entries();
  ASSERT_EQ(tree.size(), entries.size());
  const JobTree::Limits limits{.free = static_cast<int64_t>(rng.below(12)),
                               .window = Duration{static_cast<int64_t>(rng.below(120))},
                               .extra = static_cast<int64_t>(rng.below(6))};
  ASSERT_EQ(tree.find(limits), model.find_after(nullptr, limits));
  const auto needed = static_cast<int64_t>(rng.below(300)) + 1;
  ASSERT_EQ(tree.reach(needed).job, model.reach(needed).job);
  ASSERT_EQ(tree.reach(needed).sum, model.reach(needed).sum);
  const auto rank = static_cast<int64_t>(rng.below(25));
  ASSERT_EQ(tree.sum_through(rank), model.sum_through(rank));
  if (entries.empty()) {
    ASSERT_EQ(tree.first(), kNoJob);
    return;
  }
  ASSERT_EQ(tree.first(), entries.front().slot);
  const size_t at = rng.below(entries.size());
  ASSERT_EQ(tree.find_after(entries[at].key, limits), model.find_after(&entries[at].key, limits));
  ASSERT_EQ(tree.next(entries[at].slot), at + 1 == entries.size() ? kNoJob : entries[at + 1].slot);
}

TEST(JobTreeProperty, SearchesAndSumsAreThoseOfASortedList) {
  const RngStreams streams{11};
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng = streams.stream("test.job_tree", seed);
    JobTree tree;
    Model model;
    std::vector<JobSlot> unused;
    for (JobSlot slot = 60; slot-- > 0;) unused.push_back(slot);
    for (uint64_t step = 0; step < 600; ++step) {
      if (!unused.empty() && rng.below(100) < 55) {
        const Entry entry{.key = {static_cast<int64_t>(rng.below(20)),
                                  Time{static_cast<int64_t>(rng.below(5))}, step},
                          .slot = unused.back(),
                          .count = static_cast<int64_t>(rng.below(10)) + 1,
                          .estimate = Duration{static_cast<int64_t>(rng.below(100))}};
        unused.pop_back();
        tree.insert(entry.slot, entry.key, entry.count, entry.estimate);
        model.insert(entry);
      } else if (!model.entries().empty()) {
        const size_t index = rng.below(model.entries().size());
        tree.erase(model.entries()[index].slot);
        unused.push_back(model.entries()[index].slot);
        model.erase(index);
      }
      ASSERT_NO_FATAL_FAILURE(compare(tree, model, rng));
    }
  }
}

}  // namespace
}  // namespace orrery

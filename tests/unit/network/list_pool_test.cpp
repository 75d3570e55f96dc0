#include "models/network/sharing/list_pool.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "sim/core/rng.hpp"

namespace orrery {
namespace {

TEST(ListPool, ListsKeepTheirItemsWhileOthersGrowAndGo) {
  Rng rng{1};
  ListPool<uint64_t> pool;
  std::vector<ListPool<uint64_t>::List> lists(40);
  std::vector<std::vector<uint64_t>> expected(lists.size());
  for (int i = 0; i < 20'000; ++i) {
    const size_t which = rng.below(lists.size());
    const uint64_t kind = rng.below(40);
    if (kind == 0) {
      pool.free(lists[which]);
      expected[which].clear();
    } else if (kind == 1) {
      const auto size = static_cast<uint32_t>(rng.below(50));
      pool.resize(lists[which], size, kind);
      expected[which].resize(size, kind);
    } else {
      expected[which].push_back(rng.next());
      pool.push_back(lists[which], expected[which].back());
    }
  }
  for (size_t l = 0; l < lists.size(); ++l) {
    const auto items = pool.items(lists[l]);
    EXPECT_EQ(std::vector<uint64_t>(items.begin(), items.end()), expected[l]);
  }
}

}  // namespace
}  // namespace orrery

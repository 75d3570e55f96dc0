#include "models/scheduling/contract/job_tree.hpp"

#include <algorithm>

#include "sim/core/check.hpp"
#include "sim/core/scatter.hpp"

namespace orrery {
namespace {

// The priority of the treap: an entry weighs at least as much as its children.
uint64_t weight(const JobKey& key) { return scattered(key.serial + 1); }

}  // namespace

void JobTree::pull(JobSlot index) {
  Node& n = nodes_[index];
  n.count_min = n.sum = n.count;
  n.estimate_min = entries_[index].estimate;
  for (const JobSlot child : {n.left, n.right}) {
    if (child == kNoJob) continue;
    const Node& c = nodes_[child];
    n.count_min = std::min(n.count_min, c.count_min);
    n.estimate_min = std::min(n.estimate_min, c.estimate_min);
    n.sum += c.sum;
  }
}

void JobTree::split(JobSlot root, const JobKey& key, JobSlot& left, JobSlot& right) {
  if (root == kNoJob) {
    left = right = kNoJob;
    return;
  }
  JobSlot inner = kNoJob;
  if (nodes_[root].key < key) {
    split(nodes_[root].right, key, inner, right);
    nodes_[root].right = inner;
    left = root;
  } else {
    split(nodes_[root].left, key, left, inner);
    nodes_[root].left = inner;
    right = root;
  }
  pull(root);
}

JobSlot JobTree::merge(JobSlot left, JobSlot right) {
  if (left == kNoJob) return right;
  if (right == kNoJob) return left;
  if (weight(nodes_[left].key) > weight(nodes_[right].key)) {
    nodes_[left].right = merge(nodes_[left].right, right);
    pull(left);
    return left;
  }
  nodes_[right].left = merge(left, nodes_[right].left);
  pull(right);
  return right;
}

void JobTree::insert(JobSlot job, const JobKey& key, int64_t count, Duration estimate) {
  if (job >= nodes_.size()) {
    nodes_.resize(job + size_t{1});
    entries_.resize(job + size_t{1});
  }
  ORRERY_CHECK(!entries_[job].is_in, "a job stands in line once");
  entries_[job] = {.estimate = estimate.ns, .is_in = true};
  const uint64_t own = weight(key);
  JobSlot* link = &root_;
  while (*link != kNoJob && weight(nodes_[*link].key) >= own) {
    Node& passed = nodes_[*link];
    passed.count_min = std::min(passed.count_min, count);
    passed.estimate_min = std::min(passed.estimate_min, estimate.ns);
    passed.sum += count;
    link = key < passed.key ? &passed.left : &passed.right;
  }
  Node& n = nodes_[job];
  n = {.key = key, .count = count};
  split(*link, key, n.left, n.right);
  *link = job;
  pull(job);
  ++size_;
}

void JobTree::erase(JobSlot job) {
  ORRERY_CHECK(contains(job), "what is erased is in the tree");
  const Node& n = nodes_[job];
  const int64_t estimate = entries_[job].estimate;
  passed_.clear();
  JobSlot* link = &root_;
  while (*link != job) {
    ORRERY_CHECK(*link != kNoJob, "what is erased is in the tree");
    passed_.push_back(*link);
    Node& passed = nodes_[*link];
    passed.sum -= n.count;
    link = n.key < passed.key ? &passed.left : &passed.right;
  }
  *link = merge(n.left, n.right);
  // The minimum of a subtree can change only if the removed entry had that value. Once a subtree's
  // minima are unchanged, those of the larger subtrees around it are unchanged, too.
  while (!passed_.empty()) {
    Node& passed = nodes_[passed_.back()];
    const int64_t count_min = passed.count_min, estimate_min = passed.estimate_min;
    if (count_min < n.count && estimate_min < estimate) break;
    pull(passed_.back());
    if (passed.count_min == count_min && passed.estimate_min == estimate_min) break;
    passed_.pop_back();
  }
  entries_[job].is_in = false;
  --size_;
}

JobSlot JobTree::first() const {
  JobSlot n = root_;
  while (n != kNoJob && nodes_[n].left != kNoJob) n = nodes_[n].left;
  return n;
}

bool JobTree::is_within(JobSlot n, const Limits& limits) const {
  const int64_t count = nodes_[n].count;
  return count <= limits.free &&
         (count <= limits.extra || entries_[n].estimate <= limits.window.ns);
}

bool JobTree::may_hold(const Node& n, const Limits& limits) const {
  return n.count_min <= limits.free &&
         (n.estimate_min <= limits.window.ns || n.count_min <= limits.extra);
}

JobSlot JobTree::any(JobSlot root, const Limits& limits) const {
  if (root == kNoJob || !may_hold(nodes_[root], limits)) return kNoJob;
  const JobSlot before = any(nodes_[root].left, limits);
  if (before != kNoJob) return before;
  if (is_within(root, limits)) return root;
  return any(nodes_[root].right, limits);
}

JobSlot JobTree::after(JobSlot root, const JobKey& key, const Limits* limits) const {
  constexpr Limits kNone;
  const Limits& wanted = limits == nullptr ? kNone : *limits;
  if (root == kNoJob || !may_hold(nodes_[root], wanted)) return kNoJob;
  if (nodes_[root].key <= key) return after(nodes_[root].right, key, limits);
  const JobSlot before = after(nodes_[root].left, key, limits);
  if (before != kNoJob) return before;
  if (is_within(root, wanted)) return root;
  return any(nodes_[root].right, wanted);
}

JobTree::Reach JobTree::reach(int64_t needed) const {
  if (is_empty() || nodes_[root_].sum < needed) return {};
  int64_t before = 0;
  JobSlot n = root_;
  for (;;) {
    const Node& node = nodes_[n];
    const int64_t left = node.left == kNoJob ? 0 : nodes_[node.left].sum;
    if (node.left != kNoJob && before + left >= needed) {
      n = node.left;
    } else if (before + left + node.count >= needed) {
      return {n, before + left + node.count};
    } else {
      before += left + node.count;
      n = node.right;
    }
  }
}

int64_t JobTree::sum_through(int64_t rank) const {
  int64_t sum = 0;
  for (JobSlot n = root_; n != kNoJob;) {
    const Node& node = nodes_[n];
    if (node.key.rank > rank) {
      n = node.left;
      continue;
    }
    sum += node.count + (node.left == kNoJob ? 0 : nodes_[node.left].sum);
    n = node.right;
  }
  return sum;
}

}  // namespace orrery

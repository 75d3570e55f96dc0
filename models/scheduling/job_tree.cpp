#include "models/scheduling/job_tree.hpp"

#include <algorithm>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

uint64_t scattered(uint64_t x) {  // splitmix64's finaliser
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31U);
}

}  // namespace

void JobTree::pull(JobSlot index) {
  Node& n = nodes_[index];
  n.count_min = n.sum = n.count;
  n.estimate_min = n.estimate;
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
  if (nodes_[left].weight > nodes_[right].weight) {
    nodes_[left].right = merge(nodes_[left].right, right);
    pull(left);
    return left;
  }
  nodes_[right].left = merge(left, nodes_[right].left);
  pull(right);
  return right;
}

JobSlot JobTree::insert_at(JobSlot root, JobSlot n) {
  if (root == kNoJob) return n;
  if (nodes_[n].weight > nodes_[root].weight) {
    JobSlot left = kNoJob, right = kNoJob;
    split(root, nodes_[n].key, left, right);
    nodes_[n].left = left;
    nodes_[n].right = right;
    pull(n);
    return n;
  }
  if (nodes_[n].key < nodes_[root].key) {
    nodes_[root].left = insert_at(nodes_[root].left, n);
  } else {
    nodes_[root].right = insert_at(nodes_[root].right, n);
  }
  pull(root);
  return root;
}

JobSlot JobTree::erase_at(JobSlot root, JobSlot n) {
  ORRERY_CHECK(root != kNoJob, "what is erased is in the tree");
  if (root == n) return merge(nodes_[n].left, nodes_[n].right);
  if (nodes_[n].key < nodes_[root].key) {
    nodes_[root].left = erase_at(nodes_[root].left, n);
  } else {
    nodes_[root].right = erase_at(nodes_[root].right, n);
  }
  pull(root);
  return root;
}

void JobTree::insert(JobSlot job, const JobKey& key, int64_t count, Duration estimate) {
  if (job >= nodes_.size()) nodes_.resize(job + size_t{1});
  ORRERY_CHECK(!nodes_[job].is_in, "a job stands in line once");
  nodes_[job] = {.key = key,
                 .count = count,
                 .estimate = estimate.ns,
                 .weight = scattered(key.serial + 1),
                 .is_in = true};
  pull(job);
  root_ = insert_at(root_, job);
  ++size_;
}

void JobTree::erase(JobSlot job) {
  ORRERY_CHECK(contains(job), "what is erased is in the tree");
  root_ = erase_at(root_, job);
  nodes_[job].is_in = false;
  --size_;
}

JobSlot JobTree::first() const {
  JobSlot n = root_;
  while (n != kNoJob && nodes_[n].left != kNoJob) n = nodes_[n].left;
  return n;
}

bool JobTree::is_within(const Node& n, const Limits& limits) const {
  return n.count <= limits.free && (n.estimate <= limits.window.ns || n.count <= limits.extra);
}

bool JobTree::may_hold(const Node& n, const Limits& limits) const {
  return n.count_min <= limits.free &&
         (n.estimate_min <= limits.window.ns || n.count_min <= limits.extra);
}

JobSlot JobTree::any(JobSlot root, const Limits& limits) const {
  if (root == kNoJob || !may_hold(nodes_[root], limits)) return kNoJob;
  const JobSlot before = any(nodes_[root].left, limits);
  if (before != kNoJob) return before;
  if (is_within(nodes_[root], limits)) return root;
  return any(nodes_[root].right, limits);
}

JobSlot JobTree::after(JobSlot root, const JobKey& key, const Limits* limits) const {
  constexpr Limits kNone;
  const Limits& wanted = limits == nullptr ? kNone : *limits;
  if (root == kNoJob || !may_hold(nodes_[root], wanted)) return kNoJob;
  if (nodes_[root].key <= key) return after(nodes_[root].right, key, limits);
  const JobSlot before = after(nodes_[root].left, key, limits);
  if (before != kNoJob) return before;
  if (is_within(nodes_[root], wanted)) return root;
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

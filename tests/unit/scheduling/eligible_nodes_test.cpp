// eligible_nodes() compared with an evaluation of the pod's spec node by node.
#include "models/scheduling/contract/eligible_nodes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <vector>

#include "tests/support/fake_handle.hpp"

namespace orrery {
namespace {

const std::string kCordonKey = "node.kubernetes.io/unschedulable";

// Random nodes with labels, taints and cordons, and random pods that may use only some of these
// nodes.
class LabelledNodes {
 public:
  static constexpr uint32_t kNodes = 70;  // more nodes than bits in a word of a NodeSet

  explicit LabelledNodes(uint64_t seed) : random_{seed}, taints_(kNodes) {
    for (uint32_t n = 0; n < kNodes; ++n) {
      std::map<std::string, std::string> labels;
      if (random_.chance(0.8)) labels["zone"] = some({"a", "b", "c"});
      if (random_.chance(0.5)) labels["memory"] = some({"8", "40", "80"});
      std::vector<NodeLabel> list;
      for (const auto& [key, value] : labels) list.push_back({key, value});
      handle.add_node({}, 0, list);
      labels[std::string{kHostnameLabel}] = handle.state.name({n});
      labels_.push_back(std::move(labels));
    }
    handle.state.seal();
    for (uint32_t n = 0; n < kNodes; ++n) {
      if (random_.chance(0.2)) handle.state.set_cordoned({n}, true);
      for (int i = 0; i < 2; ++i) {
        if (random_.chance(0.7)) continue;
        const Taint taint{some({"busy", "old"}), some({"", "very"}), some_effect()};
        if (std::ranges::find(taints_[n], taint) != taints_[n].end()) continue;
        handle.state.set_taint({n}, taint, true);
        taints_[n].push_back(taint);
      }
    }
  }
  PodSpec some_pod() {
    PodSpec spec;
    if (random_.chance(0.1)) {
      spec.node_name = "n";
      spec.node_name += std::to_string(random_.below(kNodes + 2));  // GCC 12 warns of "n" + text
    }
    while (random_.chance(0.4)) spec.required_terms.push_back(some_term());
    while (random_.chance(0.5)) {
      spec.tolerations.push_back(
          {some({"", "busy", "old", kCordonKey}),
           random_.chance(0.6) ? TolerationOperator::Exists : TolerationOperator::Equal,
           some({"", "very"}), random_.chance(0.6), some_effect()});
    }
    return spec;
  }

  bool is_matched(const PodSpec& spec, NodeId n) const {
    const bool is_named = spec.node_name.empty() || spec.node_name == handle.state.name(n);
    const auto holds = [&](const Requirement& r) { return is_met(r, labels_[n.index]); };
    const auto matches = [&](const SelectorTerm& term) {
      return !term.all_of.empty() && std::ranges::all_of(term.all_of, holds);
    };
    return is_named &&
           (spec.required_terms.empty() || std::ranges::any_of(spec.required_terms, matches));
  }
  bool is_open(const PodSpec& spec, NodeId n) const {
    std::vector<Taint> against = taints_[n.index];
    if (handle.state.cordoned().contains(n)) {
      against.push_back({kCordonKey, "", TaintEffect::NoSchedule});
    }
    return std::ranges::all_of(against, [&](const Taint& taint) {
      return taint.effect == TaintEffect::PreferNoSchedule ||
             std::ranges::any_of(spec.tolerations, [&](const Toleration& t) {
               const bool is_key =
                   t.key.empty() ? t.op == TolerationOperator::Exists : t.key == taint.key;
               const bool is_value = t.op == TolerationOperator::Exists || t.value == taint.value;
               return is_key && is_value && (t.any_effect || t.effect == taint.effect);
             });
    });
  }

  FakeHandle handle;

 private:
  std::string some(const std::vector<std::string>& of) { return of[random_.below(of.size())]; }
  TaintEffect some_effect() { return static_cast<TaintEffect>(random_.below(3)); }
  SelectorTerm some_term() {
    SelectorTerm term;
    while (random_.chance(0.7)) {
      const auto op = static_cast<SelectorOperator>(random_.below(6));
      const bool is_number = op == SelectorOperator::Gt || op == SelectorOperator::Lt;
      Requirement r{
          is_number ? "memory" : some({"zone", "memory", std::string{kHostnameLabel}}), op, {}};
      if (is_number) r.values = {some({"8", "39", "80"})};
      if (op == SelectorOperator::In || op == SelectorOperator::NotIn) {
        r.values = {some({"a", "b", "40"}), some({"c", "8", "n3"})};
      }
      term.all_of.push_back(std::move(r));
    }
    return term;
  }
  static bool is_met(const Requirement& r, const std::map<std::string, std::string>& labels) {
    const auto label = labels.find(r.key);
    const bool has = label != labels.end();
    const auto is_listed = [&] {
      return has && std::ranges::find(r.values, label->second) != r.values.end();
    };
    switch (r.op) {
      case SelectorOperator::In:
        return is_listed();
      case SelectorOperator::NotIn:
        return !is_listed();
      case SelectorOperator::Exists:
        return has;
      case SelectorOperator::DoesNotExist:
        return !has;
      case SelectorOperator::Gt:
        return has && number(label->second) > number(r.values[0]);
      case SelectorOperator::Lt:
        break;
    }
    return has && number(label->second) < number(r.values[0]);
  }

  static int64_t number(const std::string& text) {
    int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }

  Rng random_;
  std::vector<std::map<std::string, std::string>> labels_;
  std::vector<std::vector<Taint>> taints_;  // taints of each node
};

TEST(EligibleNodes, AreThoseThatANodeByNodeReadingLeaves) {
  size_t eligible_pairs = 0, pairs = 0;
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    LabelledNodes nodes{seed};
    const ClusterState& cluster = nodes.handle.state;
    for (int i = 0; i < 40; ++i) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", pod " << i);
      const PodSpec spec = nodes.some_pod();
      NodeSet matched{cluster.nodes()}, eligible{cluster.nodes()};
      for (uint32_t n = 0; n < LabelledNodes::kNodes; ++n) {
        EXPECT_EQ(is_open_to(cluster, spec, {n}), nodes.is_open(spec, {n})) << "node " << n;
        if (!nodes.is_matched(spec, {n})) continue;
        matched.insert({n});
        if (nodes.is_open(spec, {n})) eligible.insert({n});
      }
      EXPECT_EQ(matching_nodes(cluster, spec), matched);
      EXPECT_EQ(eligible_nodes(cluster, spec), eligible);
      eligible_pairs += eligible.count();
      pairs += LabelledNodes::kNodes;
      if (testing::Test::HasFailure()) return;
    }
  }
  EXPECT_GT(eligible_pairs, pairs / 10) << "it must be tried on nodes that pods may go to";
  EXPECT_LT(eligible_pairs, pairs * 9 / 10) << "and on some that they may not";
}

TEST(EligibleNodes, ATermWithoutRequirementsMatchesNothing) {
  LabelledNodes nodes{1};
  PodSpec spec;
  spec.required_terms = {{}};
  EXPECT_TRUE(matching_nodes(nodes.handle.state, spec).empty());
  EXPECT_TRUE(eligible_nodes(nodes.handle.state, spec).empty());
}

}  // namespace
}  // namespace orrery

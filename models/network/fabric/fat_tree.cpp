#include "models/network/fabric/fat_tree.hpp"

#include <algorithm>
#include <cmath>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

constexpr uint64_t kLinksMax = UINT32_MAX;

constexpr uint32_t divide_up(uint64_t a, uint64_t b) {
  return static_cast<uint32_t>((a + b - 1) / b);
}

// Up-ports that a switch with `down` down-ports needs at this oversubscription. Example: 48
// down-ports at 3:1 need 16 up-ports.
uint32_t up_ports(uint32_t down, double oversubscription) {
  return std::max(1U, static_cast<uint32_t>(std::ceil(down / oversubscription)));
}

class Sizer {
 public:
  Sizer(const FabricParams& params, const FabricLayout& layout)
      : params_{params}, layout_{layout} {}

  SizedTree size() {
    tree_.radix = static_cast<uint32_t>(params_.radix);
    tree_.leaves = layout_.leaves();
    tree_.block_begin = {0, tree_.leaves};
    tree_.port_rate = port_rate();
    if (tree_.leaves == 0) {
      complain("", "no node has a compute NIC, so there is nothing to join");
    } else {
      size_leaves();
      if (mistakes_.empty()) choose_levels();
      if (mistakes_.empty() && tree_.levels == 2) size_two_levels();
      if (mistakes_.empty() && tree_.levels == 3) size_three_levels();
      if (mistakes_.empty()) check_size();
    }
    return {std::move(tree_), std::move(mistakes_)};
  }

 private:
  void complain(std::string_view field, std::string message) {
    mistakes_.push_back({field, std::move(message)});
  }

  Bandwidth port_rate() {
    Bandwidth fastest = {};
    bool has_dead_nics = false;
    for (size_t n = 0; n < layout_.node_rates.size(); ++n) {
      if (layout_.nic_begin[n] == layout_.nic_begin[n + 1]) continue;
      fastest = std::max(fastest, layout_.node_rates[n]);
      has_dead_nics = has_dead_nics || layout_.node_rates[n].bits_per_s <= 0;
    }
    if (has_dead_nics) complain("bandwidth", "a node has NICs of no bandwidth");
    if (params_.bandwidth && params_.bandwidth->bits_per_s <= 0) {
      complain("bandwidth", "must be more than 0");
    }
    return params_.bandwidth.value_or(fastest);
  }

  void size_leaves() {
    std::vector<uint32_t> sizes(tree_.leaves, 0);
    for (const uint32_t leaf : layout_.leaf_of) ++sizes[leaf];
    const auto fullest = std::ranges::max_element(sizes);
    tree_.leaf_down = *fullest;
    tree_.leaf_up = tree_.leaves == 1 ? 0 : up_ports(tree_.leaf_down, params_.oversubscription);
    if (tree_.leaf_down + tree_.leaf_up <= tree_.radix) return;
    const auto leaf = static_cast<size_t>(fullest - sizes.begin());
    const std::string name =
        layout_.leaf_names.empty() ? "leaf-" + std::to_string(leaf) : layout_.leaf_names[leaf];
    const auto fits = static_cast<uint32_t>(tree_.radix * params_.oversubscription /
                                            (params_.oversubscription + 1));
    complain("radix", name + " has " + std::to_string(tree_.leaf_down) + " NICs and so needs " +
                          std::to_string(tree_.leaf_up) + " up-ports, but a switch has " +
                          std::to_string(tree_.radix) + " ports: " + std::to_string(fits) +
                          " NICs fit; take fewer nodes_per_leaf, more rails, a larger radix or "
                          "more oversubscription");
  }

  void choose_levels() {
    if (!layout_.block_of_group.empty()) take_blocks();
    const bool has_blocks = tree_.blocks() > 1;
    const auto wanted = static_cast<uint32_t>(params_.levels);
    if (wanted == 2 && has_blocks) {
      complain("levels", "the topology file has blocks, which need 3 levels");
    } else if (wanted == 2 && tree_.leaves > tree_.radix) {
      complain("levels", "two levels join at most " + std::to_string(tree_.radix) +
                             " leaves, as many as a spine has ports, but there are " +
                             std::to_string(tree_.leaves));
    } else if (wanted != 0) {
      tree_.levels = tree_.leaves == 1 ? 1 : wanted;
    } else if (tree_.leaves == 1) {
      tree_.levels = 1;
    } else {
      tree_.levels = has_blocks || tree_.leaves > tree_.radix ? 3 : 2;
    }
  }

  struct Above {
    uint32_t switches, up;
  };
  // The smallest number of upper switches, with `ports` ports each, above `lower` switches that
  // have `down` down-ports and need `up` up-ports each. Each pair of a lower and an upper switch
  // has the same number of cables, so lower switches may get more than `up` up-ports. With one
  // cable for each pair, `up` upper switches always fit. Example: 4 lower switches need 6 up-ports
  // each, and upper switches have 16 ports. The result is 2 upper switches, with 3 cables per pair.
  Above fewest_above(uint32_t lower, uint32_t down, uint32_t up, uint32_t ports) const {
    ORRERY_CHECK(lower <= ports && down + up <= tree_.radix, "there is a port for each cable");
    for (uint32_t switches = divide_up(uint64_t{lower} * up, ports);; ++switches) {
      const uint32_t cables = divide_up(up, switches);  // cables of each pair
      const bool fits = down + cables * switches <= tree_.radix && lower * cables <= ports;
      if (fits) return {.switches = switches, .up = cables * switches};
    }
  }

  void size_two_levels() {
    const Above spines = fewest_above(tree_.leaves, tree_.leaf_down, tree_.leaf_up, tree_.radix);
    tree_.spines_per_block = spines.switches;
    tree_.leaf_up = spines.up;
  }

  // With oversubscription s, a spine has radix * s / (s + 1) ports for the leaves of its block; the
  // other ports are for cores. Example: radix 64 and s = 1 give 32 ports for leaves and 32 for
  // cores.
  void size_three_levels() {
    const double over = params_.spine_oversubscription;
    const auto down = std::max(1U, static_cast<uint32_t>(tree_.radix * over / (over + 1)));
    if (layout_.block_of_group.empty()) make_blocks(down);
    uint32_t fullest = 0;
    for (uint32_t p = 0; p < tree_.blocks(); ++p) {
      fullest = std::max(fullest, tree_.block_begin[p + 1] - tree_.block_begin[p]);
    }
    if (fullest > down) {
      complain("radix", "a block has " + std::to_string(fullest) + " leaves, but a spine of " +
                            std::to_string(tree_.radix) + " ports has room for " +
                            std::to_string(down));
      return;
    }
    if (tree_.blocks() > tree_.radix) {
      complain("radix", "there are " + std::to_string(tree_.blocks()) +
                            " blocks, but a core switch of " + std::to_string(tree_.radix) +
                            " ports joins at most " + std::to_string(tree_.radix) +
                            ": give a larger radix or a higher oversubscription");
      return;
    }
    const Above spines = fewest_above(fullest, tree_.leaf_down, tree_.leaf_up, down);
    tree_.spines_per_block = spines.switches;
    tree_.leaf_up = spines.up;
    const uint32_t used = fullest * (spines.up / spines.switches);
    const uint32_t up = std::min(up_ports(used, over), tree_.radix - used);
    const Above cores = fewest_above(tree_.blocks(), used, up, tree_.radix);
    tree_.cores_per_group = cores.switches;
    tree_.spine_up = cores.up;
  }

  void make_blocks(uint32_t leaves_max) {
    tree_.block_begin = {0};
    for (size_t g = 0; g + 1 < layout_.group_begin.size(); ++g) {
      const bool fits = layout_.group_begin[g + 1] - tree_.block_begin.back() <= leaves_max;
      if (!fits && layout_.group_begin[g] != tree_.block_begin.back()) {
        tree_.block_begin.push_back(layout_.group_begin[g]);
      }
    }
    tree_.block_begin.push_back(tree_.leaves);
  }

  // Takes the blocks from the layout. Blocks without leaves are left out.
  void take_blocks() {
    tree_.block_begin = {0};
    for (size_t g = 1; g < layout_.block_of_group.size(); ++g) {
      const uint32_t begin = layout_.group_begin[g];
      const bool is_next = layout_.block_of_group[g] != layout_.block_of_group[g - 1];
      if (is_next && begin != tree_.block_begin.back() && begin != tree_.leaves) {
        tree_.block_begin.push_back(begin);
      }
    }
    tree_.block_begin.push_back(tree_.leaves);
  }

  void check_size() {
    const uint64_t cables = layout_.leaf_of.size() + uint64_t{tree_.leaves} * tree_.leaf_up +
                            uint64_t{tree_.blocks()} * tree_.spines_per_block * tree_.spine_up;
    if (2 * cables >= kLinksMax) complain("", "the fabric has more links than can be numbered");
  }

  const FabricParams& params_;
  const FabricLayout& layout_;
  FatTree tree_;
  std::vector<FabricMistake> mistakes_;
};

}  // namespace

FabricLayout lay_out(const FabricParams& params, std::span<const FabricNode> nodes) {
  uint32_t groups = 0;
  for (const FabricNode& node : nodes) groups = std::max(groups, node.group + 1);
  std::vector<uint32_t> leaves(groups, 0);  // largest number of NICs of a node, by group
  for (const FabricNode& node : nodes) {
    leaves[node.group] = std::max(leaves[node.group], node.nics);
  }
  FabricLayout layout;
  const auto rails = static_cast<uint32_t>(params.rails);
  for (const uint32_t nics : leaves) {
    layout.group_begin.push_back(layout.group_begin.back() +
                                 (rails == 0 ? nics : std::min(nics, rails)));
  }
  for (const FabricNode& node : nodes) {
    const uint32_t begin = layout.group_begin[node.group];
    const uint32_t count = layout.group_begin[node.group + 1] - begin;
    for (uint32_t k = 0; k < node.nics; ++k) layout.leaf_of.push_back(begin + k % count);
    layout.nic_begin.push_back(static_cast<uint32_t>(layout.leaf_of.size()));
    layout.node_rates.push_back(node.nic_rate);
  }
  return layout;
}

SizedTree size_tree(const FabricParams& params, const FabricLayout& layout) {
  return Sizer{params, layout}.size();
}

}  // namespace orrery

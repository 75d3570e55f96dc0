#include "models/network/fabric/fabric.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

// The number after `prefix`, if the text has nothing but the prefix and a number without leading
// zeros.
std::optional<uint32_t> number_after(std::string_view prefix, std::string_view text) {
  if (!text.starts_with(prefix)) return std::nullopt;
  text.remove_prefix(prefix.size());
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (text.size() > 1 && text.front() == '0') return std::nullopt;
  return number;
}

}  // namespace

Fabric::Fabric(FabricLayout layout, const FatTree& tree)
    : layout_{std::move(layout)},
      tree_{tree},
      leaf_cables_{static_cast<uint32_t>(layout_.leaf_of.size())},
      spine_cables_{leaf_cables_ + tree.leaf_cables()},
      block_of_(tree.leaves, 0) {
  slot_of_.reserve(layout_.leaf_of.size());
  std::vector<uint32_t> leaf_sizes(tree.leaves, 0);
  for (const uint32_t leaf : layout_.leaf_of) slot_of_.push_back(leaf_sizes[leaf]++);
  for (uint32_t p = 0; p < tree_.blocks(); ++p) {
    for (uint32_t l = tree_.block_begin[p]; l < tree_.block_begin[p + 1]; ++l) block_of_[l] = p;
  }
}

NodeId Fabric::node_of(NicId nic) const {
  ORRERY_CHECK(nic.index < nics(), "a NIC of this fabric");
  const auto& begin = layout_.nic_begin;
  const auto above = std::upper_bound(begin.begin(), begin.end(), nic.index);
  return {static_cast<uint32_t>(above - begin.begin() - 1)};
}

Bandwidth Fabric::nic_rate(NicId nic) const {
  return std::min(layout_.node_rates[node_of(nic).index], tree_.port_rate);
}

CableEnds Fabric::ends(CableId cable) const {
  ORRERY_CHECK(cable.index < cables(), "a cable of this fabric");
  if (cable.index < leaf_cables_) {
    const NicId nic{cable.index};
    return {.nic = nic, .upper = leaf_of(nic)};
  }
  if (cable.index < spine_cables_) {
    const uint32_t i = cable.index - leaf_cables_;
    const SwitchId leaf{i / tree_.leaf_up};
    return {.lower = leaf, .upper = spine(block_of_leaf(leaf), spine_behind(i % tree_.leaf_up))};
  }
  const uint32_t i = cable.index - spine_cables_;
  const uint32_t number = i / tree_.spine_up;
  const uint32_t block = number / tree_.spines_per_block, j = number % tree_.spines_per_block;
  return {.lower = spine(block, j), .upper = core(j, core_behind(i % tree_.spine_up))};
}

std::vector<CableId> Fabric::cables_of(SwitchId s) const {
  ORRERY_CHECK(s.index < switches(), "a switch of this fabric");
  std::vector<CableId> found;
  if (tier(s) == SwitchTier::Leaf) {
    for (uint32_t n = 0; n < nics(); ++n) {
      if (layout_.leaf_of[n] == s.index) found.push_back({n});
    }
    for (uint32_t p = 0; p < tree_.leaf_up; ++p) found.push_back(leaf_cable(s, p));
  } else if (tier(s) == SwitchTier::Spine) {
    const uint32_t number = s.index - tree_.leaves;
    const uint32_t block = number / tree_.spines_per_block, j = number % tree_.spines_per_block;
    for (uint32_t l = tree_.block_begin[block]; l < tree_.block_begin[block + 1]; ++l) {
      for (uint32_t p = 0; p < tree_.leaf_up; ++p) {
        if (spine_behind(p) == j) found.push_back(leaf_cable({l}, p));
      }
    }
    for (uint32_t p = 0; p < tree_.spine_up; ++p) found.push_back(spine_cable(block, j, p));
  } else {
    const uint32_t number = s.index - tree_.leaves - tree_.spines();
    const uint32_t group = number / tree_.cores_per_group, i = number % tree_.cores_per_group;
    for (uint32_t block = 0; block < tree_.blocks(); ++block) {
      for (uint32_t p = 0; p < tree_.spine_up; ++p) {
        if (core_behind(p) == i) found.push_back(spine_cable(block, group, p));
      }
    }
  }
  return found;
}

std::string Fabric::name(SwitchId s) const {
  switch (tier(s)) {
    case SwitchTier::Leaf:
      if (!layout_.leaf_names.empty()) return layout_.leaf_names[s.index];
      return "leaf-" + std::to_string(s.index);
    case SwitchTier::Spine:
      return "spine-" + std::to_string(s.index - tree_.leaves);
    case SwitchTier::Core:
      break;
  }
  return "core-" + std::to_string(s.index - tree_.leaves - tree_.spines());
}

std::string Fabric::name(CableId cable) const {
  const CableEnds joined = ends(cable);
  if (joined.nic.is_valid()) {
    const NodeId node = node_of(joined.nic);
    return "host-" + std::to_string(node.index) + ".nic-" +
           std::to_string(joined.nic.index - layout_.nic_begin[node.index]);
  }
  const uint32_t port = cable.index < spine_cables_
                            ? (cable.index - leaf_cables_) % tree_.leaf_up
                            : (cable.index - spine_cables_) % tree_.spine_up;
  return name(joined.lower) + ".up-" + std::to_string(port);
}

std::string Fabric::name(LinkId link) const {
  return name(cable_of(link)) + (leads_up(link) ? "/up" : "/down");
}

SwitchId Fabric::find_switch(std::string_view name) const {
  const auto named = std::ranges::find(layout_.leaf_names, name);
  if (named != layout_.leaf_names.end()) {
    return {static_cast<uint32_t>(named - layout_.leaf_names.begin())};
  }
  if (const auto i = number_after("leaf-", name)) {
    return *i < tree_.leaves && layout_.leaf_names.empty() ? SwitchId{*i} : SwitchId{};
  }
  if (const auto i = number_after("spine-", name)) {
    return *i < tree_.spines() ? SwitchId{tree_.leaves + *i} : SwitchId{};
  }
  const auto i = number_after("core-", name);
  return i && *i < tree_.cores() ? SwitchId{tree_.leaves + tree_.spines() + *i} : SwitchId{};
}

CableId Fabric::find_cable(std::string_view name) const {
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return {};
  const std::string_view owner = name.substr(0, dot), port = name.substr(dot + 1);
  if (const auto index = number_after("nic-", port)) {
    const auto node = number_after("host-", owner);
    if (!node || *node >= nodes() || *index >= nics_of(NodeId{*node})) return {};
    return nic_cable(nic({*node}, *index));
  }
  const auto index = number_after("up-", port);
  const SwitchId s = find_switch(owner);
  if (!index || !s.is_valid()) return {};
  if (tier(s) == SwitchTier::Leaf) {
    return *index < tree_.leaf_up ? leaf_cable(s, *index) : CableId{};
  }
  if (tier(s) == SwitchTier::Core || *index >= tree_.spine_up) return {};
  const uint32_t number = s.index - tree_.leaves;
  return spine_cable(number / tree_.spines_per_block, number % tree_.spines_per_block, *index);
}

size_t Fabric::memory_bytes() const {
  size_t bytes = (layout_.nic_begin.capacity() + layout_.leaf_of.capacity() +
                  layout_.group_begin.capacity() + layout_.block_of_group.capacity() +
                  slot_of_.capacity() + block_of_.capacity() + tree_.block_begin.capacity()) *
                     sizeof(uint32_t) +
                 layout_.node_rates.capacity() * sizeof(Bandwidth);
  for (const std::string& name : layout_.leaf_names) bytes += sizeof(name) + name.capacity();
  return bytes;
}

}  // namespace orrery

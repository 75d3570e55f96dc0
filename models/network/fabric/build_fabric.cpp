#include "models/network/fabric/build_fabric.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace orrery {
namespace {

// Names of leaf switches must be unique and must not look like generated names of spines and cores.
void check_names(std::vector<std::string> leaf_names, std::vector<FabricMistake>& mistakes) {
  std::ranges::sort(leaf_names);
  const auto twice = std::ranges::adjacent_find(leaf_names);
  if (twice != leaf_names.end()) {
    mistakes.push_back({"file", "two leaf switches would be called " + in_quotes(*twice)});
  }
  const auto taken = std::ranges::find_if(leaf_names, [](const std::string& name) {
    return name.starts_with("spine-") || name.starts_with("core-");
  });
  if (taken != leaf_names.end()) {
    mistakes.push_back({"file", "a leaf switch is called " + in_quotes(*taken) +
                                    ", but names that begin with spine- or core- are for spines "
                                    "and cores"});
  }
}

BuiltFabric build(const FabricParams& params, FabricLayout layout) {
  SizedTree sized = size_tree(params, layout);
  BuiltFabric built;
  built.mistakes = std::move(sized.mistakes);
  check_names(layout.leaf_names, built.mistakes);
  if (built.mistakes.empty()) built.fabric = Fabric{std::move(layout), sized.tree};
  return built;
}

// NIC k of a node connects to the leaf that the file gives for NIC k of the node's host. If the
// file has only n NICs for this host, NIC k connects to the leaf of NIC (k modulo n) in the file.
FabricLayout lay_out_nics(const FabricFile& file, std::span<const FabricNode> nodes) {
  FabricLayout layout;
  layout.group_begin = file.group_begin;
  layout.leaf_names = file.leaf_names;
  for (size_t n = 0; n < nodes.size(); ++n) {
    const uint32_t begin = file.nic_begin[n], count = file.nic_begin[n + 1] - begin;
    for (uint32_t k = 0; k < nodes[n].nics; ++k) {
      layout.leaf_of.push_back(file.leaf_of[begin + k % count]);
    }
    layout.nic_begin.push_back(static_cast<uint32_t>(layout.leaf_of.size()));
    layout.node_rates.push_back(nodes[n].nic_rate);
  }
  return layout;
}

FabricLayout lay_out_groups(const FabricParams& params, const FabricFile& file,
                            std::span<const FabricNode> nodes) {
  std::vector<FabricNode> grouped{nodes.begin(), nodes.end()};
  for (size_t n = 0; n < grouped.size(); ++n) grouped[n].group = file.group_of[n];
  FabricLayout layout = lay_out(params, grouped);
  const size_t groups = layout.group_begin.size() - 1;
  for (size_t g = 0; g < groups; ++g) {
    layout.block_of_group.push_back(file.block_of_group[g]);
    const uint32_t leaves = layout.group_begin[g + 1] - layout.group_begin[g];
    for (uint32_t l = 0; l < leaves; ++l) {
      layout.leaf_names.push_back(leaves == 1 ? file.group_names[g]
                                              : file.group_names[g] + "-" + std::to_string(l));
    }
  }
  return layout;
}

}  // namespace

std::vector<FabricNode> fabric_nodes(const ClusterState& cluster,
                                     std::span<const Machine> machines) {
  std::vector<FabricNode> of_machine;
  for (const Machine& machine : machines) {
    FabricNode node{.group = 0, .nics = 0, .nic_rate = {}};
    for (const Nic& nic : machine.nics) {
      if (nic.role != NicRole::Compute) continue;
      node.nic_rate = node.nics == 0 ? nic.bandwidth : std::min(node.nic_rate, nic.bandwidth);
      ++node.nics;
    }
    of_machine.push_back(node);
  }
  std::vector<FabricNode> nodes;
  nodes.reserve(cluster.nodes());
  for (uint32_t n = 0; n < cluster.nodes(); ++n) {
    nodes.push_back(of_machine[cluster.machine({n})]);
    nodes.back().group = cluster.leaf({n});
  }
  return nodes;
}

BuiltFabric build_fabric(const FabricParams& params, std::span<const FabricNode> nodes) {
  if (!params.file.empty()) return build_fabric(params, read_fabric_file(params.file), nodes);
  return build(params, lay_out(params, nodes));
}

BuiltFabric build_fabric(const FabricParams& params, const FabricFile& file,
                         std::span<const FabricNode> nodes) {
  std::vector<FabricMistake> mistakes;
  for (const std::string& error : file.errors) mistakes.push_back({"file", error});
  if (mistakes.empty() && nodes.size() > file.hosts.size()) {
    mistakes.push_back({"file", "the cluster has " + std::to_string(nodes.size()) +
                                    " nodes, but the file has only " +
                                    std::to_string(file.hosts.size()) + " hosts"});
  }
  if (mistakes.empty() && file.tells_nics() && params.rails != 0) {
    mistakes.push_back({"rails", "has no effect: the topology file tells the leaf of each NIC"});
  }
  if (!mistakes.empty()) return {.fabric = {}, .mistakes = std::move(mistakes)};
  return build(params,
               file.tells_nics() ? lay_out_nics(file, nodes) : lay_out_groups(params, file, nodes));
}

void report_mistakes(std::span<const FabricMistake> mistakes, const config::Node& section,
                     std::string_view path, Diagnostics& diagnostics) {
  for (const FabricMistake& mistake : mistakes) {
    const config::Node* const field = mistake.field.empty() ? nullptr : section.find(mistake.field);
    std::string where{path};
    if (!mistake.field.empty()) where.append(".").append(mistake.field);
    diagnostics.error(field != nullptr ? field->position : section.position, where,
                      mistake.message);
  }
}

}  // namespace orrery

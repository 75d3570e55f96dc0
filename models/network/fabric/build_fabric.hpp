// models/network/fabric/build_fabric.hpp -- the fabric of a cluster, or what stands in the way of
// it.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "models/hardware/cluster_state.hpp"
#include "models/hardware/machine.hpp"
#include "models/network/fabric/fabric.hpp"
#include "models/network/fabric/fabric_file.hpp"
#include "models/network/fabric/fabric_params.hpp"
#include "sim/config/diagnostics.hpp"
#include "sim/config/node.hpp"

namespace orrery {

// Each node with its leaf group and its compute NICs, which count as fast as the slowest of them.
std::vector<FabricNode> fabric_nodes(const ClusterState& cluster,
                                     std::span<const Machine> machines);

struct BuiltFabric {
  Fabric fabric;  // to be used only if there are no mistakes
  std::vector<FabricMistake> mistakes;
};

// Reads params.file, if it names one: node i is then its host number i.
BuiltFabric build_fabric(const FabricParams& params, std::span<const FabricNode> nodes);
BuiltFabric build_fabric(const FabricParams& params, const FabricFile& file,
                         std::span<const FabricNode> nodes);

// Tells the mistakes where the user wrote the fields. `section` is the document's network.fabric; a
// null node is fine.
void report_mistakes(std::span<const FabricMistake> mistakes, const config::Node& section,
                     std::string_view path, Diagnostics& diagnostics);

}  // namespace orrery

// models/network/fabric/build_fabric.hpp -- builds the fabric of a cluster, or says why it cannot
// be built.
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

// Each node with its leaf group and its compute NICs. All NICs of a node get the rate of the node's
// slowest NIC.
std::vector<FabricNode> fabric_nodes(const ClusterState& cluster,
                                     std::span<const Machine> machines);

struct BuiltFabric {
  Fabric fabric;  // valid only if `mistakes` is empty
  std::vector<FabricMistake> mistakes;
};

// Reads params.file if it is set: node i is then host i of the file.
BuiltFabric build_fabric(const FabricParams& params, std::span<const FabricNode> nodes);
BuiltFabric build_fabric(const FabricParams& params, const FabricFile& file,
                         std::span<const FabricNode> nodes);

// Reports each mistake at its field in the scenario. `section` is the document's network.fabric,
// and may be a YAML null. `path` is the name of the section in messages.
void report_mistakes(std::span<const FabricMistake> mistakes, const config::Node& section,
                     std::string_view path, Diagnostics& diagnostics);

}  // namespace orrery

// models/control_plane/nodes/boot_script.hpp -- the ordered requests of a booting node.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/control_plane/base/request.hpp"
#include "models/control_plane/nodes/nodes_params.hpp"

namespace orrery {

// Serial requests of one client of the node.
struct BootThread {
  uint32_t client = 0;
  bool is_registration = false;  // the first of its requests stores the Node
  std::vector<ApiRequest> requests = {};
};

// The threads of a stage run in parallel. The first three stages follow one another. Stage Agents
// begins during Registration, once the Node is stored.
enum class BootStage : uint8_t {
  Certificate,   // the kubelet gets its certificate
  Registration,  // the kubelet stores the objects of the node, and lists and watches what it needs
  Report,        // the kubelet reports Ready
  Agents,        // kube-proxy and the daemons list and watch, and Events are stored
};
inline constexpr size_t kBootStages = 4;

using BootScript = std::array<std::vector<BootThread>, kBootStages>;

// A joining node requests a certificate and creates its objects; a returning node has a certificate
// and updates its objects. With `has_services`, kube-proxy's LIST of EndpointSlices is left out:
// ServiceWatchers lists the addresses once the node is up.
BootScript join_script(const BootParams& params);
BootScript reboot_script(const BootParams& params);

}  // namespace orrery

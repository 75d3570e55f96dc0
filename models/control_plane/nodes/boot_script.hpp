// models/control_plane/nodes/boot_script.hpp -- the requests of a node that boots, in their order.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/control_plane/base/request.hpp"
#include "models/control_plane/nodes/nodes_params.hpp"

namespace orrery {

// One after the other, by one client of the node.
struct BootThread {
  uint32_t client = 0;
  bool is_registration = false;  // the first of its requests stores the Node
  std::vector<ApiRequest> requests = {};
};

// Threads of a stage run beside each other. The kubelet gets its certificate; then it registers,
// and lists what it has to know; then it reports that it is ready. Once the node is registered,
// kube-proxy and the daemons list and watch, and Events are recorded, beside what the kubelet does.
enum class BootStage : uint8_t { Certificate, Registration, Report, Agents };
inline constexpr size_t kBootStages = 4;

using BootScript = std::array<std::vector<BootThread>, kBootStages>;

// A node that comes back has its certificate, and its objects are there. With services, those who
// watch their addresses list them as the node is up.
BootScript join_script(const BootParams& params);
BootScript reboot_script(const BootParams& params);

}  // namespace orrery

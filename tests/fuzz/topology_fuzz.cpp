// Reads any bytes as a topology file. The reader must return errors or a fabric, and must not
// crash.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "models/network/fabric/build_fabric.hpp"
#include "models/network/routing/routing.hpp"

namespace {

using namespace orrery;

void use(const Fabric& fabric, uint32_t options) {
  LinkState state{fabric, {}};
  state.set_up(SwitchId{options % fabric.switches()}, false, {});
  const Router router{fabric, state, {static_cast<RoutingEngine>(options % 6)}, options};
  const auto nics = static_cast<uint32_t>(fabric.nics());
  for (uint32_t n = 0; n < std::min(nics, 50U); ++n) {
    for (const LinkId link : router.route({n}, {(n * 7 + options) % nics})) {
      if (state.capacity(link).bits_per_s <= 0) std::abort();
      if (fabric.find_cable(fabric.name(cable_of(link))) != cable_of(link)) std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const std::string_view bytes{reinterpret_cast<const char*>(data) + 2, size - 2};
  const FabricFile file = read_fabric_bytes(bytes, "fuzz");
  FabricParams params;
  params.radix = 2 + 2 * (data[0] % 64);
  params.rails = data[1] % 4;
  params.levels = data[1] / 4 % 2 == 0 ? 0 : 3;
  const std::vector<FabricNode> nodes(
      file.hosts.size(), {.group = 0, .nics = 1U + data[1] / 8 % 4, .nic_rate = {1'000'000'000}});
  const BuiltFabric built = build_fabric(params, file, nodes);
  if (built.mistakes.empty()) use(built.fabric, data[0]);
  return 0;
}

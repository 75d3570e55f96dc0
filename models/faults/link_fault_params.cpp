#include "models/faults/link_fault_params.hpp"

#include <algorithm>

namespace orrery {
namespace {

// Entry `index` of the list, or `section` if the document has no such entry.
const config::Node& entry(const config::Node& section, std::string_view list, size_t index) {
  const config::Node& entries = section[list];
  return index < entries.items.size() ? entries.items[index] : section;
}

const config::Node& part(const config::Node& entry, std::string_view field) {
  const config::Node* const value = entry.find(field);
  return value != nullptr ? *value : entry;
}

std::string link_path_of(std::string_view list, size_t index, std::string_view field) {
  std::string path{"faults.links."};
  path.append(list).append("[").append(std::to_string(index)).append("].").append(field);
  return path;
}

std::vector<std::string> all_names(const Fabric& fabric) {
  std::vector<std::string> names;
  for (uint32_t s = 0; s < fabric.switches(); ++s) names.push_back(fabric.name(SwitchId{s}));
  for (uint32_t c = 0; c < fabric.cables(); ++c) names.push_back(fabric.name(CableId{c}));
  return names;
}

// The error message if the fabric has no such parts, else an empty text.
std::string mistake_of(const Fabric& fabric, FabricPart part) {
  if (count_of(fabric, part) > 0) return {};
  if (fabric.tree().spines() == 0) {
    return "the fabric has no such part: it is a single leaf switch, on which all NICs hang";
  }
  return "the fabric has no such part: it has only two levels of switches, leaves and spines";
}

std::string mistake_of(const LinkFlaw& flaw, bool is_switch) {
  const LinkFlawKind kind = kind_of(flaw);
  if (!is_switch || kind == LinkFlawKind::Dead || kind == LinkFlawKind::Flap) return {};
  return "a switch can only be dead or flap; only cables can be degraded or cursed";
}

}  // namespace

uint32_t count_of(const Fabric& fabric, FabricPart part) {
  const FatTree& tree = fabric.tree();
  switch (part) {
    case FabricPart::NicCables:
      return static_cast<uint32_t>(fabric.nics());
    case FabricPart::LeafCables:
      return tree.leaf_cables();
    case FabricPart::SpineCables:
      return tree.spine_cables();
    case FabricPart::Leaves:
      return tree.leaves;
    case FabricPart::Spines:
      return tree.spines();
    case FabricPart::Cores:
      break;
  }
  return tree.cores();
}

bool LinkFaultParams::has_curse() const {
  const auto is_curse = [](const auto& fault) {
    return kind_of(fault.flaw) == LinkFlawKind::Cursed;
  };
  return std::ranges::any_of(list, is_curse) || std::ranges::any_of(random, is_curse);
}

void LinkFaultParams::check(const Fabric& fabric, const config::Node& section,
                            Diagnostics& diagnostics) const {
  const auto tell = [&](std::string_view where, size_t i, std::string_view field,
                        std::string message) {
    if (message.empty()) return;
    diagnostics.error(part(entry(section, where, i), field).position, link_path_of(where, i, field),
                      std::move(message));
  };
  std::vector<std::string> names;
  for (size_t i = 0; i < list.size(); ++i) {
    const ListedLinkFaultParams& fault = list[i];
    if (fault.among) {
      tell("list", i, "among", mistake_of(fabric, *fault.among));
      tell("list", i, "flaw", mistake_of(fault.flaw, are_switches(*fault.among)));
      continue;
    }
    const bool is_switch = fabric.find_switch(fault.on).is_valid();
    tell("list", i, "flaw", mistake_of(fault.flaw, is_switch));
    if (is_switch || fabric.find_cable(fault.on).is_valid()) continue;
    if (names.empty() && !diagnostics.full()) names = all_names(fabric);
    tell(
        "list", i, "on",
        "the fabric has no cable or switch " + in_quotes(fault.on) + did_you_mean(fault.on, names));
  }
  for (size_t i = 0; i < random.size(); ++i) {
    tell("random", i, "among", mistake_of(fabric, random[i].among));
    tell("random", i, "flaw", mistake_of(random[i].flaw, are_switches(random[i].among)));
  }
}

}  // namespace orrery

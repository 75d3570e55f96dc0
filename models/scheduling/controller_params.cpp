#include "models/scheduling/controller_params.hpp"

#include "models/scheduling/contract/policy_registry.hpp"

namespace orrery {

void check_controllers(const std::vector<ControllerParams>& controllers, const std::string& path,
                       const config::Node& node, Diagnostics& diagnostics) {
  const PolicyRegistry& registry = PolicyRegistry::instance();
  for (size_t i = 0; i < controllers.size(); ++i) {
    const ControllerParams& c = controllers[i];
    const std::string where = path + "[" + std::to_string(i) + "]";
    const Position at = i < node.items.size() ? node.items[i].position : node.position;
    const PolicyRegistry::Entry* const entry = registry.find(c.name);
    if (entry == nullptr) {
      diagnostics.error(at, where + ".name", registry.no_policy_called(c.name));
    } else if (!entry->make_controller) {
      diagnostics.error(at, where + ".name", entry->misplaced(c.name, c.args));
    } else {
      const size_t mistakes = diagnostics.count();
      entry->check(c.args, where + ".args", diagnostics);
      if (diagnostics.count() == mistakes && !entry->serves_controllers(c.args)) {
        diagnostics.error(at, where, entry->misplaced(c.name, c.args));
      }
      if (entry->heeded) {
        diagnostics.unheeded(static_cast<int>(*entry->heeded),
                             {at, where, "has no effect: " + std::string{why_not(*entry->heeded)}});
      }
    }
  }
}

}  // namespace orrery

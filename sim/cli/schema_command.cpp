#include "sim/cli/schema_command.hpp"

#include <algorithm>

#include "models/scenario.hpp"
#include "models/scheduling/policy_registry.hpp"
#include "sim/cli/scenario_input.hpp"
#include "sim/config/describe.hpp"
#include "sim/core/check.hpp"

namespace orrery {
namespace {

FieldTree* find_child(FieldTree& tree, std::string_view name) {
  const auto found = std::find_if(tree.children.begin(), tree.children.end(),
                                  [&](const FieldTree& child) { return child.name == name; });
  return found == tree.children.end() ? nullptr : &*found;
}

void offer(FieldTree& field, const std::vector<std::string>& names) {
  field.shape = FieldShape::Enum;
  field.enum_values = names;
}

// To the reader a plugin's name is any text; an editor can offer those that exist.
void offer_policies(FieldTree& scenario) {
  const auto names = PolicyRegistry::instance().names();
  FieldTree* const policy = find_child(scenario, "policy");
  ORRERY_CHECK(policy != nullptr, "a scenario has a section `policy`");
  FieldTree* const plugins = find_child(*policy, "plugins");
  FieldTree* const disable = find_child(*policy, "disable");
  ORRERY_CHECK(plugins != nullptr && disable != nullptr, "the profile lists plugins");
  FieldTree* const name = find_child(plugins->children.front(), "name");
  ORRERY_CHECK(name != nullptr, "a plugin has a name");
  offer(*name, names);
  offer(disable->children.front(), names);
}

}  // namespace

CommandSpec schema_command_spec() {
  return {.name = "schema",
          .doc = "Prints the JSON Schema of a scenario, for editors that complete and check YAML.",
          .positional = {},
          .options = {plugin_option()}};
}

ExitStatus schema_command(const Arguments& arguments, std::ostream& out, std::ostream& err) {
  if (!load_plugins(arguments, err)) return ExitStatus::UserMistake;
  FieldTree scenario = describe_params<Scenario>();
  offer_policies(scenario);
  out << to_json_schema(scenario, "Orrery scenario") << "\n";
  return ExitStatus::Ok;
}

}  // namespace orrery

#include "sim/cli/schema_command.hpp"

#include <algorithm>

#include "models/scenario/scenario.hpp"
#include "models/scheduling/contract/policy_registry.hpp"
#include "sim/cli/scenario_input.hpp"
#include "sim/config/describe.hpp"
#include "sim/core/check.hpp"

namespace orrery {
namespace {

FieldTree& child(FieldTree& tree, std::string_view name) {
  const auto found =
      std::ranges::find_if(tree.children, [&](const FieldTree& c) { return c.name == name; });
  ORRERY_CHECK(found != tree.children.end(), "the profile of a scheduler has these fields");
  return *found;
}

void offer(FieldTree& field, const std::vector<FieldTree>& policies) {
  field.shape = FieldShape::Enum;
  for (const FieldTree& policy : policies) field.enum_values.push_back(policy.name);
}

// For the reader a policy's name is any text; an editor can offer the known ones with their
// arguments.
void offer_in_list(FieldTree& list, const std::vector<FieldTree>& policies) {
  FieldTree& item = list.children.front();
  offer(child(item, "name"), policies);
  child(item, "args").variants = policies;
}

void offer_policies(FieldTree& scenario) {
  std::vector<FieldTree> of_pods, of_jobs, controllers;
  for (const auto& [name, entry] : PolicyRegistry::instance().entries()) {
    FieldTree policy = entry.describe();
    policy.name = name;
    policy.takes_more = static_cast<bool>(entry.points_of_code);
    if (entry.make) of_pods.push_back(policy);
    if (entry.make_for_jobs) of_jobs.push_back(policy);
    if (entry.make_controller) controllers.push_back(policy);
  }
  FieldTree& profile = child(scenario, "policy");
  offer_in_list(child(profile, "plugins"), of_pods);
  offer(child(profile, "disable").children.front(), of_pods);
  offer_in_list(child(child(profile, "job_queue").children.front(), "policies"), of_jobs);
  offer_in_list(child(profile, "controllers"), controllers);
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
  FieldTree scenario = describe_scenario();
  offer_policies(scenario);
  out << to_json_schema(scenario, "Orrery scenario") << "\n";
  return ExitStatus::Ok;
}

}  // namespace orrery

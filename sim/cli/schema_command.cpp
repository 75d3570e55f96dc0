#include "sim/cli/schema_command.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "models/hardware/machine_catalogue.hpp"
#include "models/run/summary_figures.hpp"
#include "models/scenario/scenario.hpp"
#include "models/scheduling/contract/policy_registry.hpp"
#include "sim/cli/scenario_input.hpp"
#include "sim/cli/study/study_params.hpp"
#include "sim/config/describe.hpp"
#include "sim/core/check.hpp"

namespace orrery {
namespace {

using Json = nlohmann::ordered_json;

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

// Adds the names and arguments of the registered policies to the schema. The loader reads any
// string as `name`; check_policy() looks up the name later.
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

// Offers the machines of the catalogue as values of `base` in cluster.machines.
void offer_machines(FieldTree& scenario) {
  FieldTree& base = child(child(child(scenario, "cluster"), "machines").children.front(), "base");
  base.shape = FieldShape::Enum;
  for (const Machine& machine : machine_catalogue()) base.enum_values.push_back(machine.name);
}

// The rule that the machine of a pool is one of the catalogue. A document with `include` or
// `cluster.machines` is exempt, because no schema can know the machines that such a document adds.
Json machine_rule() {
  Json names = Json::array();
  for (const Machine& machine : machine_catalogue()) names.push_back(machine.name);
  const auto within = [](const char* key, Json schema) {
    return Json{{"properties", {{key, std::move(schema)}}}};
  };
  Json own{{"required", {"cluster"}}};
  own.update(within("cluster", Json{{"required", {"machines"}}}));
  Json pool = within("machine", Json{{"enum", std::move(names)}});
  Json pools = within("pools", Json{{"items", std::move(pool)}});
  return Json{{"if", {{"not", {{"anyOf", {Json{{"required", {"include"}}}, std::move(own)}}}}}},
              {"then", within("cluster", std::move(pools))}};
}

void offer_metrics(FieldTree& study) {
  std::vector<std::string> names;
  for (const KnownFigure& known : known_figures()) names.push_back(known.figure.name);
  FieldTree& metric = child(child(study, "until").children.front(), "metric");
  for (FieldTree* const field : {&metric, &child(study, "metrics").children.front()}) {
    field->shape = FieldShape::Enum;
    field->enum_values = names;
  }
}

}  // namespace

CommandSpec schema_command_spec() {
  return {.name = "schema",
          .doc =
              "Prints the JSON Schema of a scenario, or of a study, for editors that complete and "
              "check YAML.",
          .positional = "[scenario | study]",
          .positional_max = 1,
          .options = {plugin_option()}};
}

ExitStatus schema_command(const Arguments& arguments, std::ostream& out, std::ostream& err) {
  if (!load_plugins(arguments, err)) return ExitStatus::UserMistake;
  const std::string kind = arguments.positional.empty() ? "scenario" : arguments.positional[0];
  if (kind == "study") {
    FieldTree study = describe_params<StudyParams>();
    offer_metrics(study);
    out << to_json_schema(study, "Orrery study") << "\n";
    return ExitStatus::Ok;
  }
  if (kind != "scenario") {
    throw UsageError{"no schema of " + in_quotes(kind) + did_you_mean(kind, {"scenario", "study"})};
  }
  FieldTree scenario = describe_scenario();
  offer_policies(scenario);
  offer_machines(scenario);
  Json schema = Json::parse(to_json_schema(scenario, "Orrery scenario"));
  schema["allOf"] = Json::array({machine_rule()});
  out << schema.dump(2) << "\n";
  return ExitStatus::Ok;
}

}  // namespace orrery

// sim/cli/study/study_checks.cpp -- checks of a study before any run.
#include <algorithm>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "models/cluster/ground.hpp"
#include "models/run/summary_figures.hpp"
#include "sim/cli/study/study_plan.hpp"
#include "sim/cli/study/study_remarks.hpp"
#include "sim/config/describe.hpp"
#include "sim/config/quantity.hpp"
#include "sim/core/shared_files.hpp"

namespace orrery {

std::vector<StudyPlan::NamedMetric> StudyPlan::named_metrics() const {
  std::vector<NamedMetric> named;
  for (size_t i = 0; i < params_.metrics.size(); ++i) {
    std::string path = "metrics[";
    path += std::to_string(i) + "]";
    named.push_back({params_.metrics[i], path, study_.root["metrics"].items[i].position});
  }
  if (params_.until) {
    named.push_back(
        {params_.until->metric, "until.metric", study_.root["until"]["metric"].position});
  }
  return named;
}

void StudyPlan::check_metrics(Diagnostics& diagnostics) const {
  const std::vector<NamedMetric> named = named_metrics();
  if (named.empty()) return;
  std::vector<std::string> names;
  for (const KnownFigure& known : known_figures()) names.push_back(known.figure.name);
  for (const auto& [name, path, position] : named) {
    if (std::ranges::find(names, name) != names.end()) continue;
    diagnostics.error(position, path,
                      "no run has a figure called " + in_quotes(name) + did_you_mean(name, names) +
                          "; `orrery describe metrics` lists them");
  }
}

// Reports metrics that the study names and that no run will have, because the feature that writes
// them is off in every cell.
void StudyPlan::check_metrics_of_cells(Diagnostics& diagnostics) const {
  std::vector<NamedMetric> lacking = named_metrics();
  if (lacking.empty()) return;
  std::set<std::string> by_chance;
  for (const KnownFigure& known : known_figures()) {
    if (!known.is_of_course) by_chance.insert(known.figure.name);
  }
  const FileSharing sharing;
  std::erase_if(lacking, [&](const NamedMetric& one) { return by_chance.contains(one.name); });
  for (size_t cell = 0; cell < cells_ && !lacking.empty(); ++cell) {
    const std::set<std::string> written =
        figures_of_course(run(cell, params_.seeds.first).scenario);
    std::erase_if(lacking, [&](const NamedMetric& one) { return written.contains(one.name); });
  }
  for (const auto& [name, path, position] : lacking) {
    diagnostics.error(position, path,
                      "no run of this study has " + in_quotes(name) +
                          ": the feature that writes it is off in every cell");
  }
}

std::string StudyPlan::effect_of(const Run& run, const Diagnostics& diagnostics) {
  config::Document document = run.document;
  for (const Diagnostics::Entry& one : diagnostics.warning_entries() | std::views::reverse) {
    if (one.message.starts_with("has no effect")) config::erase(document, one.path);
  }
  Diagnostics ignored;
  Scenario scenario = read_scenario(document, ignored);
  if (!ignored.ok()) scenario = run.scenario;
  scenario.description.clear();
  return fingerprint_of(resolved_json(scenario));
}

// Returns the cells of `arm` whose run is the same as with an earlier arm of the axis. Alike::arm
// is that earlier arm for the first of these cells.
StudyPlan::Alike StudyPlan::cells_alike(const std::vector<std::string>& effects, size_t stride,
                                        size_t arms, size_t arm) const {
  Alike alike;
  for (size_t cell = 0; cell < cells_; ++cell) {
    if (cell / stride % arms != arm) continue;
    for (size_t first = 0; first < arm; ++first) {
      if (effects[cell] != effects[cell - (arm - first) * stride]) continue;
      if (alike.cells.empty()) alike.arm = first;
      alike.cells.push_back(cell);
      break;
    }
  }
  return alike;
}

void StudyPlan::check_arms(const std::vector<std::string>& effects,
                           Diagnostics& diagnostics) const {
  size_t stride = cells_;
  for (size_t i = 0; i < axes_.size(); ++i) {
    const size_t arms = axes_[i].arms.size();
    stride /= arms;
    const char* const list = params_.axes[i].arms.empty() ? "values" : "arms";
    for (size_t arm = 1; arm < arms; ++arm) {
      const auto [other, cells] = cells_alike(effects, stride, arms, arm);
      if (cells.empty()) continue;
      std::string path = "axes[";
      path += std::to_string(i) + "]." + list + "[" + std::to_string(arm) + "]";
      std::string where;
      if (cells.size() < cells_ / arms) {
        where = " (in the cell " + label_of(cells.front());
        where += cells.size() == 1 ? ")" : " and " + std::to_string(cells.size() - 1) + " more)";
      }
      diagnostics.error(study_.root["axes"].items[i][list].items[arm].position, path,
                        "cannot differ from " + in_quotes(axes_[i].arms[other]) +
                            ": the runs are the same" + where);
    }
  }
}

void StudyPlan::check_cells(Diagnostics& diagnostics) const {
  StudyRemarks remarks;
  std::vector<std::string> effects(cells_);
  const FileSharing sharing;  // node lists and topologies are read once for all cells
  const auto look = [&](size_t cell, const std::vector<Setting>& settings) {
    Diagnostics own;
    Run run = read(settings, params_.seeds.first, own);
    const auto& [fork_at, until] = std::pair{params_.run.fork_at, run.scenario.run.until};
    if (fork_at && until && *fork_at >= *until) {
      own.error(study_.root["run"]["fork_at"].position, "run.fork_at",
                "must be before run.until, " + format_quantity(*until));
    }
    if (own.ok()) Ground{run.scenario}.check(run.scenario, run.document.root, own);
    if (own.ok()) effects[cell] = effect_of(run, own);
    remarks.add({cell, label_of(cell)}, places_of(settings), own);
    return own.ok() ? std::optional{std::move(run)} : std::nullopt;
  };
  for (size_t cell = 0; cell < cells_ && !remarks.full(); ++cell) {
    const std::optional<Run> run = look(cell, settings_of(cell, Arms::All));
    if (params_.run.fork_at && run) (void)look(cell, forked(cell, *run));
  }
  remarks.tell(diagnostics);
  if (diagnostics.ok()) check_arms(effects, diagnostics);
  if (diagnostics.ok()) check_metrics_of_cells(diagnostics);
}

}  // namespace orrery

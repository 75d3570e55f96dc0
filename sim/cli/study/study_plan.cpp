#include "sim/cli/study/study_plan.hpp"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/cli/study/study_remarks.hpp"
#include "sim/config/describe.hpp"
#include "sim/config/reader.hpp"
#include "sim/core/check.hpp"

namespace orrery {
namespace {

namespace fs = std::filesystem;

constexpr size_t kCellsMax = 100'000, kRunsMax = 1'000'000;

// The position of the value of `key`. If the map lacks the key, the position of the map.
Position position_in(const config::Node& map, const std::string& key) {
  const config::Node* const found = map.find(key);
  return found != nullptr ? found->position : map.position;
}

}  // namespace

StudyPlan::StudyPlan(const std::string& path, Diagnostics& diagnostics)
    : path_{path}, study_{config::load_file(path, diagnostics)} {
  if (!study_.is_usable) return;
  params_ = read_params<StudyParams>(study_.root, "", diagnostics);
  diagnostics.settle({}, {});
  check_metrics(diagnostics);
  if (!diagnostics.ok()) return;
  const std::string base = (fs::path{path}.parent_path() / params_.base).lexically_normal();
  if (!fs::exists(base)) {
    diagnostics.error(study_.root["base"].position, "base",
                      "no file " + in_quotes(base) + ", which is relative to the study");
    return;
  }
  base_ = config::load_file(base, diagnostics);
  if (!diagnostics.ok()) return;
  take_axes(study_.root);
  for (const Axis& axis : axes_) {
    cells_ *= axis.arms.size();
    if (cells_ <= kCellsMax) continue;
    diagnostics.error(study_.root["axes"].position, "axes",
                      "make more than " + std::to_string(kCellsMax) + " cells");
    return;
  }
  const int32_t seeds = params_.until ? params_.until->seeds_max : params_.seeds.count;
  if (cells_ * static_cast<size_t>(seeds) > kRunsMax) {
    diagnostics.error(study_.root["seeds"].position, "seeds",
                      "make more than " + std::to_string(kRunsMax) + " runs of " +
                          std::to_string(cells_) + " cells");
    return;
  }
  check_seeds(diagnostics);
  find_forks(diagnostics);
  if (diagnostics.ok()) check_cells(diagnostics);
}

std::string StudyPlan::text() const {
  return study_.sources.empty() ? std::string{} : study_.sources.front().text;
}

void StudyPlan::take_axes(const config::Node& root) {
  const auto settings_in = [](const StudySettings& set, const config::Node& map) {
    std::vector<Setting> settings;
    for (const auto& [path, value] : set) {
      settings.push_back({path + "=" + value, position_in(map, path)});
    }
    return settings;
  };
  common_ = settings_in(params_.set, root["set"]);
  if (params_.seeds.permute_ties) {
    common_.push_back({"run.permute_ties=true", root["seeds"]["permute_ties"].position});
  }
  for (size_t i = 0; i < params_.axes.size(); ++i) {
    const StudyAxisParams& axis = params_.axes[i];
    const config::Node& node = root["axes"].items[i];
    Axis& taken = axes_.emplace_back(Axis{.name = axis.name, .arms = axis.values});
    std::vector<std::vector<Setting>>& settings = settings_.emplace_back();
    for (size_t k = 0; k < axis.values.size(); ++k) {
      settings.push_back(
          {{axis.parameter + "=" + axis.values[k], node["values"].items[k].position}});
    }
    for (size_t k = 0; k < axis.arms.size(); ++k) {
      taken.arms.push_back(axis.arms[k].name);
      settings.push_back(settings_in(axis.arms[k].set, node["arms"].items[k]["set"]));
    }
  }
}

std::vector<Position> StudyPlan::places_of(const std::vector<Setting>& settings) const {
  std::vector<Position> places;
  for (const Setting& setting : settings) places.push_back(setting.position);
  places.push_back(study_.root["seeds"].position);  // read() sets run.seed last
  return places;
}

std::string StudyPlan::placed(size_t cell, const Diagnostics& diagnostics) const {
  const std::vector<Position> places = places_of(settings_of(cell, Arms::All));
  Diagnostics placed;
  for (const Diagnostics::Entry& entry : diagnostics.mistake_entries()) {
    placed.error(place_in_study(entry.position, places), entry.path, entry.message);
  }
  std::string text = placed.text();
  if (!text.empty()) text.pop_back();  // drops the last line's end
  return text;
}

std::vector<size_t> StudyPlan::arms_of(size_t cell) const {
  std::vector<size_t> arms(axes_.size());
  for (size_t i = axes_.size(); i-- > 0;) {
    arms[i] = cell % axes_[i].arms.size();
    cell /= axes_[i].arms.size();
  }
  return arms;
}

std::string StudyPlan::label_of(size_t cell) const {
  if (axes_.empty()) return "all";
  const std::vector<size_t> arms = arms_of(cell);
  std::string label;
  for (size_t i = 0; i < axes_.size(); ++i) {
    if (i > 0) label += ' ';
    label += axes_[i].name + "=" + axes_[i].arms[arms[i]];
  }
  return label;
}

std::optional<size_t> StudyPlan::baseline_of(size_t cell) const {
  if (!params_.compare) return {};
  const std::vector<size_t> arms = arms_of(cell);
  size_t baseline = 0;
  for (size_t i = 0; i < axes_.size(); ++i) {
    const std::vector<std::string>& names = axes_[i].arms;
    const bool is_compared = axes_[i].name == params_.compare->axis;
    const auto against = std::ranges::find(names, params_.compare->against) - names.begin();
    baseline = baseline * names.size() + (is_compared ? static_cast<size_t>(against) : arms[i]);
  }
  return baseline;
}

std::vector<StudyPlan::Setting> StudyPlan::settings_of(size_t cell, Arms which) const {
  std::vector<Setting> settings = common_;
  const std::vector<size_t> arms = arms_of(cell);
  for (size_t i = 0; i < arms.size(); ++i) {
    if (which == Arms::OfTrunk && is_forked_[i]) continue;
    const std::vector<Setting>& own = settings_[i][arms[i]];
    settings.insert(settings.end(), own.begin(), own.end());
  }
  return settings;
}

size_t StudyPlan::trunk_of(size_t cell) const {
  const std::vector<size_t> arms = arms_of(cell);
  size_t trunk = 0;
  for (size_t i = 0; i < axes_.size(); ++i) {
    trunk = trunk * axes_[i].arms.size() + (is_forked_[i] ? 0 : arms[i]);
  }
  return trunk;
}

void StudyPlan::check_seeds(Diagnostics& diagnostics) const {
  const auto look = [&](const std::vector<Setting>& settings) {
    for (const Setting& setting : settings) {
      if (!setting.assignment.starts_with("run.seed=")) continue;
      diagnostics.error(setting.position, "run.seed", "is what `seeds` sets, for each run");
    }
  };
  look(common_);
  for (const auto& arms : settings_) std::ranges::for_each(arms, look);
}

void StudyPlan::find_forks(Diagnostics& diagnostics) {
  const auto is_of_policy = [](const std::vector<Setting>& settings) {
    return std::ranges::all_of(settings, [](const Setting& setting) {
      return setting.assignment.starts_with("policy.") || setting.assignment.starts_with("policy=");
    });
  };
  for (const auto& arms : settings_) {
    is_forked_.push_back(params_.run.fork_at && std::ranges::all_of(arms, is_of_policy));
  }
  if (!params_.run.fork_at) return;
  const config::Node& at = study_.root["run"]["fork_at"];
  if (std::ranges::find(is_forked_, true) == is_forked_.end()) {
    diagnostics.error(at.position, "run.fork_at",
                      "no axis sets parameters of `policy` alone, and no other parameters can "
                      "change during a run");
  } else if (base_.root["run"].find("changes") != nullptr) {
    diagnostics.error(at.position, "run.fork_at", "the base scenario has run.changes of its own");
  }
}

StudyPlan::Run StudyPlan::read(const std::vector<Setting>& settings, uint64_t seed,
                               Diagnostics& diagnostics) const {
  Run run{.document = base_, .scenario = {}};
  for (const Setting& setting : settings) {
    config::apply_override(run.document, setting.assignment, diagnostics);
  }
  config::apply_override(run.document, "run.seed=" + std::to_string(seed), diagnostics);
  run.scenario = read_scenario(run.document, diagnostics);
  return run;
}

// The settings of a cell's run in a study with run.fork_at. `armed` is the cell's run with all
// settings. If all arms of an axis set only parameters of `policy`, the axis is left out. Instead,
// an entry of run.changes switches to the policy of `armed` at run.fork_at.
std::vector<StudyPlan::Setting> StudyPlan::forked(size_t cell, const Run& armed) const {
  std::vector<Setting> settings = settings_of(cell, Arms::OfTrunk);
  const auto policy = nlohmann::json::parse(resolved_json(armed.scenario)).at("policy").dump();
  settings.push_back({"run.changes=[{at: " + std::to_string(params_.run.fork_at->ns) +
                          "ns, policy: " + policy + "}]",
                      study_.root["run"]["fork_at"].position});
  return settings;
}

StudyPlan::Run StudyPlan::run(size_t cell, uint64_t seed) const {
  Diagnostics diagnostics;
  Run run = read(settings_of(cell, Arms::All), seed, diagnostics);
  if (params_.run.fork_at) run = read(forked(cell, run), seed, diagnostics);
  ORRERY_CHECK(diagnostics.ok(), "each cell was looked at before");
  return run;
}

}  // namespace orrery

// sim/cli/study/study_plan.hpp -- the runs of a study, and the scenario of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/scenario/scenario.hpp"
#include "sim/cli/study/study_params.hpp"
#include "sim/config/node.hpp"

namespace orrery {

// Cells are numbered so that the last axis varies fastest. Each cell runs once with each seed.
// Example: axes policy (fifo, easy) and load (1, 2), two seeds: cell 0 is fifo at load 1, cell 1
// fifo at load 2, cell 2 easy at load 1, cell 3 easy at load 2; 8 runs.
class StudyPlan {
 public:
  // Reads the study and the scenario, and checks the scenario of each cell. Mistakes and warnings
  // about a setting have the setting's position in the study. If there are mistakes, only params()
  // may be used.
  StudyPlan(const std::string& path, Diagnostics& diagnostics);

  const StudyParams& params() const { return params_; }
  const std::string& path() const { return path_; }
  std::string text() const;  // text of the study file

  struct Axis {
    std::string name;
    std::vector<std::string> arms;
  };
  const std::vector<Axis>& axes() const { return axes_; }
  size_t cells() const { return cells_; }
  std::vector<size_t> arms_of(size_t cell) const;  // index of the arm on each axis
  std::string label_of(size_t cell) const;         // "policy=strict load=2"; "all" without axes
  // The mistakes as text. A mistake in a setting is shown at the setting's position in the
  // study file.
  std::string placed(size_t cell, const Diagnostics& diagnostics) const;
  // The cell that `cell` is compared with. It has the arm `compare.against` on the compared axis,
  // and the arms of `cell` on all other axes. If the compared arm of `cell` is
  // `compare.against`, the result is `cell` itself. Empty if the study compares nothing.
  std::optional<size_t> baseline_of(size_t cell) const;

  // The first cell whose run equals the run of `cell` up to `run.fork_at`. Without a fork: `cell`.
  size_t trunk_of(size_t cell) const;

  struct Run {
    config::Document document;
    Scenario scenario;
  };
  // Reads the scenario of this run again, without messages: the constructor has already reported
  // the mistakes and warnings of all cells.
  Run run(size_t cell, uint64_t seed) const;

 private:
  struct Setting {
    std::string assignment;  // "path=value", as in --set
    Position position;       // position in the study
  };
  enum class Arms : uint8_t { All, OfTrunk };
  std::vector<Setting> settings_of(size_t cell, Arms arms) const;
  std::vector<Position> places_of(const std::vector<Setting>& settings) const;
  Run read(const std::vector<Setting>& settings, uint64_t seed, Diagnostics& diagnostics) const;
  void take_axes(const config::Node& root);
  void check_seeds(Diagnostics& diagnostics) const;
  void find_forks(Diagnostics& diagnostics);
  std::vector<Setting> forked(size_t cell, const Run& armed) const;
  void check_cells(Diagnostics& diagnostics) const;
  struct NamedMetric {
    std::string name, path;
    Position position;
  };
  std::vector<NamedMetric> named_metrics() const;
  void check_metrics(Diagnostics& diagnostics) const;
  void check_metrics_of_cells(Diagnostics& diagnostics) const;
  // A fingerprint of a cell's scenario. Parameters that have no effect are left out.
  static std::string effect_of(const Run& run, const Diagnostics& diagnostics);
  struct Alike {
    size_t arm = 0;
    std::vector<size_t> cells = {};
  };
  Alike cells_alike(const std::vector<std::string>& effects, size_t stride, size_t arms,
                    size_t arm) const;
  void check_arms(const std::vector<std::string>& effects, Diagnostics& diagnostics) const;

  std::string path_;
  StudyParams params_;
  config::Document study_, base_;
  std::vector<Axis> axes_;
  std::vector<Setting> common_;
  // Settings of each arm, by axis and arm.
  std::vector<std::vector<std::vector<Setting>>> settings_;
  std::vector<bool> is_forked_;  // whether an axis' arms differ only from run.fork_at on
  size_t cells_ = 1;
};

}  // namespace orrery

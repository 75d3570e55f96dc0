// sim/cli/study/study_axis_params.hpp -- what a study varies.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/config/fields.hpp"

namespace orrery {

// Overrides of the base scenario: paths as in --set, with values as YAML text.
using StudySettings = std::map<std::string, std::string>;

struct StudyArmParams {
  static constexpr std::string_view kDoc = "One way to run the scenario.";

  std::string name;
  StudySettings set = {};

  template <class V>
  void fields(V& v) {
    v("name", name, "Name of the arm in tables and figures.", Required{}, Example{"strict"});
    v("set", set, "Parameters of the scenario, by path, as with --set.",
      Example{"{policy.base: strict_gang}"});
  }
};

struct StudyAxisParams {
  static constexpr std::string_view kDoc =
      "Settings that vary. The grid has a cell for each combination of arms of all axes.";

  std::string name;
  std::string parameter = {};
  std::vector<std::string> values = {};
  std::vector<StudyArmParams> arms = {};

  template <class V>
  void fields(V& v) {
    v("name", name, "Name of the axis in tables and figures.", Required{}, Example{"policy"});
    v("parameter", parameter, "Path of the one parameter that takes the `values`.",
      Example{"cluster.pools[0].count"});
    v("values", values, "One arm for each value, named after it.", Example{"[8, 16, 32]"});
    v("arms", arms, "Arms with settings of any parameters, instead of `parameter` and `values`.");
  }
  void check(Checker& c) const;
};

}  // namespace orrery

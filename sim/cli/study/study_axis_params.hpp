// sim/cli/study/study_axis_params.hpp -- the axes of a study.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/config/fields.hpp"

namespace orrery {

// Settings on top of the base scenario: paths as of --set, values as YAML text.
using StudySettings = std::map<std::string, std::string>;

struct StudyArmParams {
  static constexpr std::string_view kDoc = "A named variant of the scenario.";

  std::string name;
  StudySettings set = {};

  template <class V>
  void fields(V& v) {
    v("name", name, "Name in tables and figures.", Required{}, Example{"strict"});
    v("set", set, "Parameters of the scenario, by path, as with --set.",
      Example{"{policy.base: strict_gang}"});
  }
};

struct StudyAxisParams {
  static constexpr std::string_view kDoc =
      "A set of variants. The grid has a cell for each combination of arms of all axes.";

  std::string name;
  std::string parameter = {};
  std::vector<std::string> values = {};
  std::vector<StudyArmParams> arms = {};

  template <class V>
  void fields(V& v) {
    v("name", name, "Name in tables and figures.", Required{}, Example{"policy"});
    v("parameter", parameter, "The path of the parameter that takes the `values`.",
      Example{"cluster.pools[0].count"});
    v("values", values, "Each value is an arm, which has the value as its name.",
      Example{"[8, 16, 32]"});
    v("arms", arms, "Arms with any settings, instead of `parameter` and `values`.");
  }
  void check(Checker& c) const;
};

}  // namespace orrery

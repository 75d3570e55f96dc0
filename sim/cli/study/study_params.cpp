#include "sim/cli/study/study_params.hpp"

#include <algorithm>

namespace orrery {
namespace {

constexpr size_t kNameMax = 48;  // longest name in study.h5

std::vector<std::string> arm_names(const StudyAxisParams& axis) {
  if (!axis.parameter.empty()) return axis.values;
  std::vector<std::string> names;
  for (const StudyArmParams& arm : axis.arms) names.push_back(arm.name);
  return names;
}

// The index of the first name that repeats an earlier one, or names.size().
size_t first_repeated(const std::vector<std::string>& names) {
  for (size_t i = 0; i < names.size(); ++i) {
    if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) !=
        names.begin() + static_cast<std::ptrdiff_t>(i)) {
      return i;
    }
  }
  return names.size();
}

}  // namespace

void StudyAxisParams::check(Checker& c) const {
  if (!arms.empty() && (!parameter.empty() || !values.empty())) {
    return c.error("arms", "cannot stand beside `parameter` and `values`");
  }
  if (arms.empty() && (parameter.empty() || values.empty())) {
    return c.error("", "needs either `arms` or `parameter` with `values`");
  }
  const std::vector<std::string> names = arm_names(*this);
  const std::string list = arms.empty() ? "values[" : "arms[";
  for (size_t i = 0; i < names.size(); ++i) {
    if (!names[i].empty() && names[i].size() <= kNameMax) continue;
    c.error(list + std::to_string(i) + "]",
            "the arm's name must have 1 to " + std::to_string(kNameMax) +
                " bytes; an arm of `values` is named after its value, one of `arms` has a `name`");
  }
  if (name.empty() || name.size() > kNameMax) {
    c.error("name", "must have 1 to " + std::to_string(kNameMax) + " bytes");
  }
  const size_t repeated = first_repeated(names);
  if (repeated == names.size()) return;
  c.error(list + std::to_string(repeated) + "]", "is there twice: " + in_quotes(names[repeated]));
}

void StudyParams::check(Checker& c) const {
  std::vector<std::string> names;
  for (const StudyAxisParams& axis : axes) names.push_back(axis.name);
  const size_t repeated = first_repeated(names);
  if (repeated < names.size()) {
    c.error("axes[" + std::to_string(repeated) + "].name",
            "is there twice: " + in_quotes(names[repeated]));
  }
  if (until && until->seeds_max < seeds.count) {
    c.error("until.seeds_max", "is less than seeds.count");
  }
  if (!compare) return;
  if (compare->estimator == Estimator::Bca && seeds.count < static_cast<int32_t>(kBcaValuesMin)) {
    c.error("compare.estimator", "bca needs seeds.count of at least " +
                                     std::to_string(kBcaValuesMin) + ", got " +
                                     std::to_string(seeds.count));
  }
  const auto axis = std::ranges::find(axes, compare->axis, &StudyAxisParams::name);
  if (axis == axes.end()) {
    return c.error("compare.axis", "no axis is called " + in_quotes(compare->axis) +
                                       did_you_mean(compare->axis, names));
  }
  const std::vector<std::string> arms = arm_names(*axis);
  if (std::ranges::find(arms, compare->against) == arms.end()) {
    return c.error("compare.against", "no arm of this axis is called " +
                                          in_quotes(compare->against) +
                                          did_you_mean(compare->against, arms));
  }
  if (arms.size() < 2) c.error("compare.axis", "has one arm only");
}

}  // namespace orrery

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "models/workload/job/pod_constraint_params.hpp"
#include "sim/config/reader.hpp"

namespace orrery {
namespace {

using ::testing::HasSubstr;

PodSpec tolerating(const std::string& toleration, Diagnostics& diagnostics) {
  const config::Document document =
      config::load_text("tolerations: [" + toleration + "]", "test.yaml", diagnostics);
  PodSpec spec;
  read_params<PodConstraintParams>(document.root, "", diagnostics).apply(spec);
  return spec;
}

constexpr TaintEffect kNoSchedule = TaintEffect::NoSchedule;

struct TolerationCase {
  const char* toleration;
  Taint taint;
  bool is_tolerated;
};

// Cases with an operator are from Kubernetes: from TestTolerationToleratesTaint
// (k8s.io/api/core/v1) and from the documentation of tolerations.
TEST(Tolerations, MatchTaintsByKeyOperatorValueAndEffectAsInKubernetes) {
  const TolerationCase cases[] = {
      {"{key: foo, operator: Exists, effect: NoSchedule}", {"foo", "bar", kNoSchedule}, true},
      {"{key: foo, operator: Exists}", {"foo", "bar", kNoSchedule}, true},
      {"{key: foo, operator: Exists}", {"foo", "", TaintEffect::NoExecute}, true},
      {"{key: foo, operator: Exists, value: ''}", {"foo", "bar", kNoSchedule}, true},
      {"{operator: Exists, effect: NoSchedule}", {"foo", "bar", kNoSchedule}, true},
      {"{operator: Exists, effect: NoSchedule}", {"foo", "bar", TaintEffect::NoExecute}, false},
      {"{operator: Exists}", {"foo", "bar", TaintEffect::PreferNoSchedule}, true},
      {"{key: foo, operator: Exists}", {"foo2", "bar", kNoSchedule}, false},
      {"{key: foo, operator: Exists, effect: NoSchedule}",
       {"foo", "bar", TaintEffect::NoExecute},
       false},
      {"{key: foo, operator: Equal, value: bar, effect: NoSchedule}",
       {"foo", "bar", kNoSchedule},
       true},
      {"{key: foo, operator: Equal, value: bar}", {"foo", "bar", TaintEffect::NoExecute}, true},
      {"{key: foo, operator: Equal, value: bar}", {"foo", "bar1", kNoSchedule}, false},
      {"{key: foo, operator: Equal}", {"foo", "", kNoSchedule}, true},
      {"{key: foo, operator: Equal}", {"foo", "bar", kNoSchedule}, false},
      // An absent operator means Equal if a value is given, and Exists otherwise.
      {"{key: foo, value: bar}", {"foo", "bar", kNoSchedule}, true},
      {"{key: foo, value: bar}", {"foo", "bar1", kNoSchedule}, false},
      {"{key: foo, value: ''}", {"foo", "bar", kNoSchedule}, false},
      {"{key: foo}", {"foo", "bar", kNoSchedule}, true},
      {"{}", {"foo", "bar", TaintEffect::NoExecute}, true},
  };
  for (const TolerationCase& c : cases) {
    Diagnostics diagnostics;
    const PodSpec spec = tolerating(c.toleration, diagnostics);
    ASSERT_TRUE(diagnostics.ok()) << diagnostics.text();
    EXPECT_EQ(spec.tolerations.at(0).tolerates(c.taint), c.is_tolerated)
        << c.toleration << " and " << c.taint.key << "=" << c.taint.value << ":"
        << name_of(c.taint.effect);
  }
}

TEST(Tolerations, ContradictionsAreErrorsOfTheField) {
  const struct {
    const char *toleration, *field, *expected;
  } cases[] = {
      {"{key: foo, operator: Exists, value: bar}", "tolerations[0].value",
       "must be empty with operator: Exists"},
      {"{operator: Equal}", "tolerations[0].operator", "must be Exists if there is no key"},
      {"{operator: Equal, value: bar}", "tolerations[0].operator",
       "must be Exists if there is no key"},
      {"{value: bar}", "tolerations[0].value", "needs a key"},
      {"{key: foo, operator: exists}", "tolerations[0].operator", "Exists"},
      {"{key: foo, effect: NoScheduling}", "tolerations[0].effect", "NoSchedule"},
  };
  for (const auto& c : cases) {
    Diagnostics diagnostics;
    static_cast<void>(tolerating(c.toleration, diagnostics));
    EXPECT_THAT(diagnostics.text(), HasSubstr(c.field)) << c.toleration;
    EXPECT_THAT(diagnostics.text(), HasSubstr(c.expected)) << c.toleration;
  }
}

}  // namespace
}  // namespace orrery

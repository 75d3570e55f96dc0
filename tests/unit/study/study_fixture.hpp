// tests/unit/study/study_fixture.hpp -- a small study in a temporary folder.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "sim/cli/study/study_plan.hpp"
#include "sim/cli/study/study_results.hpp"
#include "tests/support/temporary_folder.hpp"

namespace orrery {

inline constexpr std::string_view kBase =
    "cluster: {pools: [{name: n, machine: dgx-a100, count: 2}]}\n"
    "workload:\n"
    "  sources:\n"
    "    - {kind: generator, arrival_rate: 10, gpus_per_pod_max: 8, shape: {kind: classes, "
    "classes:\n"
    "        [{gpus: {kind: fixed, value: 8}, duration: {kind: exponential, mean: 10min}}]}}\n"
    "run: {until: 10h}\n";
inline constexpr std::string_view kStudy =
    "base: base.yaml\n"
    "axes:\n"
    "  - {name: policy, arms: [{name: a, set: {policy.base: default}},\n"
    "                          {name: b, set: {policy.base: strict_gang}}]}\n"
    "  - {name: nodes, parameter: 'cluster.pools[0].count', values: [1, 2, 3]}\n"
    "seeds: {first: 5, count: 2}\n"
    "compare: {axis: nodes, against: '2'}\n";

inline constexpr std::string_view kForked =
    "base: base.yaml\n"
    "axes:\n"
    "  - {name: nodes, parameter: 'cluster.pools[0].count', values: [1, 2]}\n"
    "  - {name: policy, arms: [{name: same}, {name: strict, set: {policy.base: strict_gang}},\n"
    "                          {name: block, set: {policy.queue.head_of_line: block}}]}\n"
    "seeds: {count: 2}\n"
    "run: {fork_at: 4h}\n";

struct StudyTest : ::testing::Test {
  test::TemporaryFolder folder;
  Diagnostics diagnostics;

  void write(std::string_view study, std::string_view base = kBase) const {
    folder.write("base.yaml", base);
    folder.write("study.yaml", study);
  }
  StudyPlan plan() { return StudyPlan{folder / "study.yaml", diagnostics}; }
  std::vector<std::string> mistakes(std::string_view study) {
    write(study);
    plan();
    return diagnostics.messages();
  }
  StudyFolder results() const { return StudyFolder{folder / "out"}; }
};

}  // namespace orrery

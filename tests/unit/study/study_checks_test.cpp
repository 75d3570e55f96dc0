// Studies: mistakes found before the first run, progress, and seeds.permute_ties.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "sim/cli/study/study_findings.hpp"
#include "sim/cli/study/study_report.hpp"
#include "sim/cli/study/study_runner.hpp"
#include "tests/unit/study/study_fixture.hpp"

namespace orrery {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST_F(StudyTest, ArmsWhoseRunsAreTheSameAreRefused) {
  const std::string at = (folder / "study.yaml").string();
  EXPECT_THAT(mistakes("base: base.yaml\naxes:\n"
                       "  - {name: end, parameter: run.until, values: [1h, 2h, 60min]}\n"
                       "  - {name: seeds, parameter: run.audits, values: [1]}\n"),
              ElementsAre(HasSubstr("audits")))
      << "other mistakes come first";
  diagnostics = {};
  EXPECT_THAT(mistakes("base: base.yaml\naxes:\n"
                       "  - {name: end, parameter: run.until, values: [1h, 2h, 60min]}\n"
                       "  - {name: policy, arms: [{name: a, set: {policy.base: strict_gang}},\n"
                       "                          {name: b, set: {policy.base: default}}]}\n"),
              ElementsAre(at + ":3:56: axes[0].values[2]: cannot differ from '1h': the runs are "
                               "the same"));
}

TEST_F(StudyTest, CellsWhoseSettingHasNoEffectAreRefused) {
  const std::string base =
      "cluster: {pools: [{name: n, machine: dgx-a100, count: 2}]}\n"
      "network: {level: alpha_beta}\n"
      "workload:\n"
      "  training: {step: {compute: 1s, exchanges: [{bytes: 10GB}]}}\n"
      "  sources: [{kind: jobs, jobs: [{work: 100s, pods: 2, pod: {gpus: 8}}]}]\n";
  write(
      "base: base.yaml\naxes:\n"
      "  - {name: level, parameter: network.level, values: [alpha_beta, flow]}\n"
      "  - {name: engine, parameter: network.routing, "
      "values: ['{engine: ecmp}', '{engine: dmodk}']}\n",
      base);
  plan();
  EXPECT_THAT(diagnostics.messages(),
              ElementsAre(AllOf(HasSubstr("axes[1].values[1]: cannot differ from '{engine: ecmp}'"),
                                HasSubstr("(in the cell level=alpha_beta engine="))));
}

TEST_F(StudyTest, AMetricThatNoRunHasIsAMistake) {
  const std::string at = (folder / "study.yaml").string();
  std::string misspelt{kStudy}, idle{kStudy};
  misspelt += "metrics: [wait_mean, jct_maen]\nuntil: {metric: jct, seeds_max: 3}\n";
  idle += "metrics: [watch_bytes]\n";
  EXPECT_THAT(mistakes(misspelt),
              ElementsAre(AllOf(StartsWith(at + ":8:22: metrics[1]: no run has a figure"),
                                HasSubstr("'jct_maen'; did you mean 'jct_mean'?")),
                          AllOf(StartsWith(at + ":9:17: until.metric"), HasSubstr("'jct'"))));
  diagnostics = {};
  EXPECT_THAT(mistakes(idle),
              ElementsAre(AllOf(StartsWith(at + ":8:11: metrics[0]: no run of this"),
                                HasSubstr("is off in every cell"))));
}

TEST_F(StudyTest, BcaNeedsTwentySeeds) {
  std::string bca{kStudy};
  bca.replace(bca.find("against: '2'"), 12, "against: '2', estimator: bca");
  EXPECT_THAT(mistakes(bca),
              ElementsAre(AllOf(HasSubstr("compare.estimator"), HasSubstr("at least 20, got 2"))));
}

TEST_F(StudyTest, TheTimeLeftGoesByPartsOfRuns) {
  const SimulationProgress half{.now = Time{} + 1_h, .until = Time{} + 2_h};
  StudyProgress progress{.runs = 8, .done = 3, .kept = 2, .elapsed_s = 60};
  progress.running = {{"load=4 seed 1", half}, {"load=8 seed 1", half}};
  // Two of the three completed runs were kept from an earlier start of the study. In 60 s, 1 + 1/2
  // + 1/2 runs were done, and 4 are left.
  EXPECT_DOUBLE_EQ(seconds_left(progress).value(), 60.0 * 4 / 2);
  EXPECT_EQ(progress_text(progress),
            "3 of 8 runs (2 kept), about 2min 00s left, 2 running: load=4 seed 1 50 %; "
            "load=8 seed 1 50 %");
  EXPECT_EQ(progress_text(progress, 79),
            "3 of 8 runs (2 kept), about 2min 00s left, 2 running: 50 %, 50 %");
  EXPECT_EQ(progress_text(progress, 11), "3 of 8 runs");
  progress.running = {{"load=4 seed 1", {.now = Time{} + 90_s, .until = {}}}};
  EXPECT_THAT(progress_text(progress), HasSubstr("load=4 seed 1 00:01:30"));
}

TEST_F(StudyTest, RunsInOtherProcessesShowTheirProgress) {
  std::string study{kForked}, longer{kBase};
  study.replace(study.find("[1, 2]"), 6, "[4]");
  study.replace(study.find("count: 2}"), 9, "count: 1}");
  longer.replace(longer.find("10h"), 3, "5000h");
  write(study, longer);
  double most = 0;
  (void)run_study(plan(), results(), {.jobs = 2, .on_progress = [&](const StudyProgress& p) {
                                        for (const auto& one : p.running) {
                                          most = std::max(most, fraction_done(one.run).value_or(0));
                                        }
                                      }});
  ASSERT_TRUE(diagnostics.ok()) << diagnostics.text();
  EXPECT_GT(most, 0);
}

// Six jobs are submitted at the same time to one node, three of 10 min and three of an hour. The
// order in which they run determines their waits.
TEST_F(StudyTest, PermutedTiesShowABand) {
  const std::string base =
      "cluster: {pools: [{name: n, machine: dgx-a100, count: 1}]}\nworkload:\n  sources:\n"
      "    - {kind: jobs, jobs: [{count: 3, work: 10min, pod: {gpus: 8}},\n"
      "                          {count: 3, work: 1h, pod: {gpus: 8}}]}\n";
  const std::string study = "base: base.yaml\nmetrics: [wait_mean]\nseeds: {count: 8";
  write(study + "}\n", base);
  const auto line = [&] {
    const StudyPlan made = plan();
    EXPECT_TRUE(diagnostics.ok()) << diagnostics.text();
    const auto found = findings(made, run_study(made, results(), {.jobs = 2}));
    const std::string report = report_text(made, found, ReportFormat::Markdown);
    EXPECT_EQ(report.find("| band |") != std::string::npos, made.params().seeds.permute_ties);
    return found.front().lines.front();
  };
  const StudyLine fixed = line();
  EXPECT_EQ(fixed.least, fixed.most);
  write(study + ", permute_ties: true}\n", base);
  const StudyLine permuted = line();
  EXPECT_LT(permuted.least + 600, permuted.most);
}

}  // namespace
}  // namespace orrery

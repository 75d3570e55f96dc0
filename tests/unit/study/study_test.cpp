// Studies: their runs, their files, and their messages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>

#include "models/run/simulation.hpp"
#include "sim/cli/study/study_findings.hpp"
#include "sim/cli/study/study_plan.hpp"
#include "sim/cli/study/study_report.hpp"
#include "sim/cli/study/study_runner.hpp"
#include "tests/unit/study/study_fixture.hpp"

namespace orrery {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::StartsWith;

TEST_F(StudyTest, TheGridHasACellForEachCombinationOfArms) {
  write(kStudy);
  const StudyPlan study = plan();
  ASSERT_TRUE(diagnostics.ok()) << diagnostics.text();
  EXPECT_EQ(study.cells(), 6U);
  EXPECT_EQ(study.label_of(0), "policy=a nodes=1");
  EXPECT_EQ(study.label_of(5), "policy=b nodes=3");
  EXPECT_EQ(study.baseline_of(3), 4U);
  EXPECT_EQ(study.baseline_of(1), 1U);
  const StudyPlan::Run run = study.run(5, 77);
  EXPECT_EQ(run.scenario.run.seed, 77U);
  EXPECT_EQ(run.scenario.cluster.pools.at(0).count, 3);
  EXPECT_EQ(run.scenario.policy.base, ProfileBase::StrictGang);
  EXPECT_THAT(runs_of(study, 0, 1),
              ElementsAre(Pair(0, 5), Pair(1, 5), Pair(2, 5), Pair(3, 5), Pair(4, 5), Pair(5, 5)));
}

TEST_F(StudyTest, MistakesAreReportedWhereTheyStandInTheStudy) {
  const std::string at = (folder / "study.yaml").string();
  EXPECT_THAT(mistakes("base: base.yml\n"), ElementsAre(StartsWith(at + ":1:7: base: no file")));
  diagnostics = {};
  EXPECT_THAT(mistakes("base: base.yaml\naxes: [{name: x, parameter: run.untl, values: [1h]}]\n"),
              ElementsAre(::testing::AllOf(StartsWith(at + ":2:"), HasSubstr("until"),
                                           HasSubstr("in the cell x=1h"))));
  diagnostics = {};
  EXPECT_THAT(
      mistakes("base: base.yaml\naxes: [{name: x, parameter: run.until, values: [1h, 2h]}]\n"
               "compare: {axis: y, against: 1h}\n"),
      ElementsAre(::testing::AllOf(StartsWith(at + ":3:17: compare.axis"), HasSubstr("'y'"))));
  diagnostics = {};
  EXPECT_THAT(
      mistakes("base: base.yaml\naxes: [{name: x, parameter: run.until, values: [1h, 2h]}]\n"
               "compare: {axis: x, against: 1hh}\n"),
      ElementsAre(HasSubstr("did you mean '1h'")));
  diagnostics = {};
  EXPECT_THAT(mistakes("base: base.yaml\nset: {run.seed: 3}\n"),
              ElementsAre(HasSubstr("run.seed")));
}

TEST_F(StudyTest, WhatIsKeptIsNotRunAgainUnlessItIsAnotherNow) {
  write(kStudy);
  const StudyFolder out = results();
  StudyProgress last;
  const StudyOptions options{.jobs = 2, .on_progress = [&](const StudyProgress& p) { last = p; }};
  const std::vector<StudyRunResult> first = run_study(plan(), out, options);
  ASSERT_EQ(first.size(), 12U);
  EXPECT_EQ(last.kept, 0U);
  const std::vector<StudyRunResult> again = run_study(plan(), out, options);
  EXPECT_EQ(last.kept, 12U);
  ASSERT_EQ(again.size(), 12U);
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].summary.size(), again[i].summary.size());
    for (size_t k = 0; k < first[i].summary.size(); ++k) {
      EXPECT_EQ(first[i].summary[k].value, again[i].summary[k].value) << first[i].summary[k].name;
    }
  }
  std::string longer{kBase};
  longer.replace(longer.find("10h"), 3, "11h");
  write(kStudy, longer);
  (void)run_study(plan(), out, options);
  EXPECT_EQ(last.kept, 0U);
}

TEST_F(StudyTest, AFolderIsOfOneStudy) {
  write(kStudy);
  const StudyFolder out = results();
  EXPECT_EQ(out.take(plan()), "");
  EXPECT_EQ(out.take(plan()), "");
  std::string other{kStudy};
  other.replace(other.find("values: [1, 2, 3]"), 17, "values: [2, 3, 4]");
  write(other);
  EXPECT_EQ(out.take(plan()), "") << "other arms of the same axes";
  other.replace(other.find("base.yaml"), 9, "./base.yaml");
  write(other);
  EXPECT_EQ(out.take(plan()), "");
  write("base: base.yaml\nseeds: {count: 2}\n");
  EXPECT_EQ(out.take(plan()), "base base.yaml, axes policy and nodes");
  const StudyFolder empty{folder / "empty"};
  EXPECT_EQ(empty.take(plan()), "");
  write(kStudy);
  EXPECT_EQ(empty.take(plan()), "base base.yaml");
  folder.write("empty/runs/study.yaml", "base: [");  // a text cut short by a full disk
  EXPECT_EQ(empty.take(plan()), "");
}

TEST_F(StudyTest, PartsTogetherAreTheWholeAndGiveTheSame) {
  write(kStudy);
  const StudyPlan study = plan();
  const StudyFolder whole{folder / "whole"}, parts{folder / "parts"};
  const std::vector<StudyRunResult> at_once = run_study(study, whole, {.jobs = 2});
  for (size_t part = 1; part <= 3; ++part) {
    EXPECT_EQ(run_study(study, parts, {.jobs = 1, .part = part, .parts = 3}).size(), 4U);
  }
  const std::vector<StudyRunResult> merged = kept_runs(study, parts);
  ASSERT_EQ(merged.size(), at_once.size());
  for (size_t i = 0; i < merged.size(); ++i) {
    EXPECT_EQ(merged[i].cell, at_once[i].cell);
    EXPECT_EQ(merged[i].summary.front().value, at_once[i].summary.front().value);
  }
  EXPECT_EQ(report_text(study, findings(study, merged), ReportFormat::Csv),
            report_text(study, findings(study, at_once), ReportFormat::Csv));
}

TEST_F(StudyTest, ARunThatFailsIsReportedAndTheRestGoesOn) {
  folder.write("bad.csv", "job_id,nonsense\n1,2\n");
  std::string study =
      "base: base.yaml\naxes:\n  - name: x\n    arms:\n      - {name: good}\n"
      "      - {name: bad, set: {'workload.sources[0]': \"{kind: trace, file: ";
  study += (folder / "bad.csv").string();
  study += "}\"}}\nseeds: {count: 2}\n";
  write(study);
  std::vector<std::string> failures;
  const std::vector<StudyRunResult> found = run_study(
      plan(), results(),
      {.jobs = 2, .on_failure = [&](const std::string& text) { failures.push_back(text); }});
  ASSERT_EQ(found.size(), 4U);
  EXPECT_TRUE(found[0].is_ok && found[1].is_ok);
  EXPECT_FALSE(found[2].is_ok || found[3].is_ok);
  ASSERT_EQ(failures.size(), 2U);
  EXPECT_THAT(failures[0], ::testing::AllOf(StartsWith("x=bad seed "), HasSubstr("bad.csv")));
}

TEST_F(StudyTest, WhatAnAxisLeavesNoUseForIsWarnedOfAndIgnored) {
  write(
      "base: base.yaml\naxes:\n"
      "  - {name: level, parameter: network.level, values: [none, alpha_beta, flow]}\n"
      "seeds: {count: 1}\n",
      "cluster: {pools: [{name: n, machine: dgx-a100, count: 2}]}\n"
      "network: {routing: {engine: ecmp}}\n"
      "workload:\n"
      "  training: {step: {compute: 1s, exchanges: [{bytes: 10GB}]}}\n"
      "  sources: [{kind: jobs, jobs: [{work: 100s, pods: 2, pod: {gpus: 8}}]}]\n");
  const StudyPlan study = plan();
  ASSERT_TRUE(diagnostics.ok()) << diagnostics.text();
  EXPECT_THAT(diagnostics.warnings(),
              ElementsAre(AllOf(HasSubstr("base.yaml:2:20: warning: network.routing: "),
                                HasSubstr("(in 2 of 3 cells, the first is level=none)")),
                          AllOf(HasSubstr("base.yaml:4:20: warning: workload.training.step: "),
                                HasSubstr("(in the cell level=none)"))));
  const std::vector<StudyRunResult> found = run_study(study, results(), {.jobs = 1});
  ASSERT_EQ(found.size(), 3U);
  for (const StudyRunResult& result : found) ASSERT_TRUE(result.is_ok) << result.failure.text;
  const StudyValues jct = values_of(found, "jct_mean");
  EXPECT_NEAR(jct.at({0, 1}), 100, 0.01);
  EXPECT_GT(jct.at({1, 1}), 105);
  EXPECT_GT(jct.at({2, 1}), 105);
}

TEST_F(StudyTest, WhatATraceHoldsNowIsRunAgain) {
  const auto trace = [&](std::string_view end) {
    std::string text =
        "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,"
        "queue\n1,u,v,8,8,1,COMPLETED,2020-04-01 00:00:00,2020-04-01 00:00:00,2020-04-01 ";
    folder.write("jobs.csv", text.append(end).append(",3600,0\n"));
  };
  std::string base = "cluster: {pools: [{name: n, machine: dgx-a100, count: 2}]}\nworkload:\n";
  base += "  sources: [{kind: trace, file: jobs.csv}]\n";
  write("base: base.yaml\nseeds: {count: 3}\n", base);
  trace("01:00:00");
  StudyProgress last;
  const StudyOptions options{.jobs = 2, .on_progress = [&](const StudyProgress& p) { last = p; }};
  const StudyPlan study = plan();
  ASSERT_TRUE(diagnostics.ok()) << diagnostics.text();
  const double before = values_of(run_study(study, results(), options), "jct_mean").begin()->second;
  (void)run_study(study, results(), options);
  EXPECT_EQ(last.kept, 3U);
  trace("02:00:00");
  EXPECT_EQ(kept_runs(study, results()).size(), 0U);
  const double after = values_of(run_study(study, results(), options), "jct_mean").begin()->second;
  EXPECT_EQ(last.kept, 0U);
  EXPECT_NEAR(after - before, 3'600, 1e-6);
}

TEST_F(StudyTest, ArmsThatForkAreAsRunsFromTheStart) {
  write(kForked);
  const StudyPlan study = plan();
  ASSERT_TRUE(diagnostics.ok()) << diagnostics.text();
  EXPECT_EQ(study.trunk_of(2), 0U);
  EXPECT_EQ(study.trunk_of(5), 3U);
  const std::vector<StudyRunResult> found = run_study(study, results(), {.jobs = 2});
  ASSERT_EQ(found.size(), 12U);
  for (const StudyRunResult& arm : found) {
    ASSERT_TRUE(arm.is_ok) << arm.failure.text;
    const StudyPlan::Run run = study.run(arm.cell, arm.seed);
    MemoryRecorder recorder;
    const SimulationResult whole =
        simulate(run.scenario, run.document, recorder, SimulationOptions{}, diagnostics);
    ASSERT_EQ(whole.summary.size(), arm.summary.size());
    for (size_t i = 0; i < whole.summary.size(); ++i) {
      EXPECT_EQ(whole.summary[i].value, arm.summary[i].value) << whole.summary[i].name;
    }
  }
  EXPECT_NE(values_of(found, "jct_mean").at({0, 1}), values_of(found, "jct_mean").at({2, 1}));
}

TEST_F(StudyTest, AForkOfNothingIsRefused) {
  const std::string at = (folder / "study.yaml").string();
  EXPECT_THAT(mistakes("base: base.yaml\nrun: {fork_at: 1h}\n"
                       "axes: [{name: x, parameter: run.until, values: [2h, 3h]}]\n"),
              ElementsAre(StartsWith(at + ":2:16: run.fork_at: no axis sets")));
  diagnostics = {};
  EXPECT_THAT(mistakes("base: base.yaml\nrun: {fork_at: 30h}\n"
                       "axes: [{name: x, parameter: policy.base, values: [default]}]\n"),
              ElementsAre(AllOf(StartsWith(at + ":2:16"), HasSubstr("must be before run.until"))));
}

TEST_F(StudyTest, ARunThatIsOverBeforeItsForkIsReportedAndTheRestGoesOn) {
  std::string brief{kBase};
  brief.replace(brief.find("run:"), std::string::npos, "");
  brief.replace(brief.find("arrival_rate: 10"), 16, "arrival_rate: 10, jobs_max: 1");
  write(kForked, brief);
  std::vector<std::string> failures;
  const std::vector<StudyRunResult> found = run_study(
      plan(), results(),
      {.jobs = 2, .on_failure = [&](const std::string& text) { failures.push_back(text); }});
  ASSERT_TRUE(diagnostics.ok()) << diagnostics.text();
  EXPECT_EQ(found.size(), 12U);
  ASSERT_EQ(failures.size(), 12U);
  EXPECT_THAT(failures[0], HasSubstr("the run was over before run.fork_at"));
}

TEST_F(StudyTest, WhatEveryRunDependsOnIsLookedAtAndSoAreItsFiles) {
  write("base: base.yaml\nseeds: {count: 2}\n");
  folder.write("policy.so", "one");
  StudyProgress last;
  const StudyOptions options{.jobs = 1,
                             .inputs = {(folder / "policy.so").string()},
                             .on_progress = [&](const StudyProgress& p) { last = p; }};
  const StudyFolder out{folder / "out", {.has_files = true}};
  (void)run_study(plan(), out, options);
  (void)run_study(plan(), out, options);
  EXPECT_EQ(last.kept, 2U);
  std::filesystem::remove(out.run_path(0, 2));
  (void)run_study(plan(), out, options);
  EXPECT_EQ(last.kept, 1U);
  std::filesystem::resize_file(out.run_path(0, 1), 4'096);
  (void)run_study(plan(), out, options);
  EXPECT_EQ(last.kept, 1U);
  const std::filesystem::path json =
      std::filesystem::path{out.run_path(0, 1)}.replace_extension(".json");
  std::filesystem::resize_file(json, std::filesystem::file_size(json) - 2);
  (void)run_study(plan(), out, options);
  EXPECT_EQ(last.kept, 1U);
  folder.write("policy.so", "two");
  (void)run_study(plan(), out, options);
  EXPECT_EQ(last.kept, 0U);
}

TEST_F(StudyTest, MeansOfOtherJobsAreDoubted) {
  std::string few{kBase};
  few.replace(few.find("gpus_per_pod_max"), 0, "jobs_max: 9, ");
  write(
      "base: base.yaml\naxes: [{name: 'a|b', arms: [{name: 'all \"long\"'}, "
      "{name: short, set: {run.until: 20min}}]}]\n"
      "seeds: {count: 3}\ncompare: {axis: 'a|b', against: 'all \"long\"'}\n"
      "metrics: [jct_mean, gpu_share_useful]\n",
      few);
  const StudyPlan study = plan();
  ASSERT_TRUE(diagnostics.ok()) << diagnostics.text();
  const auto metrics = findings(study, run_study(study, results(), {.jobs = 2}));
  ASSERT_GT(metrics.size(), 2U);
  EXPECT_EQ(metrics[0].name, "jct_mean");
  EXPECT_TRUE(metrics[1].is_reported);
  EXPECT_FALSE(metrics[2].is_reported);
  const auto is_of_other_jobs = ::testing::Field(&Doubt::text, HasSubstr("covers other jobs"));
  EXPECT_THAT(metrics[0].lines[1].doubts, ::testing::Contains(is_of_other_jobs));
  EXPECT_THAT(metrics[1].lines[1].doubts, ::testing::Not(::testing::Contains(is_of_other_jobs)));
  EXPECT_THAT(report_text(study, metrics, ReportFormat::Csv),
              HasSubstr("\"a|b=all \"\"long\"\"\""));
  EXPECT_THAT(report_text(study, metrics, ReportFormat::Markdown), HasSubstr("| a\\|b=short |"));
}

TEST_F(StudyTest, SeedsAreAddedUntilTheIntervalIsNarrow) {
  constexpr std::string_view kAxis =
      "base: base.yaml\n"
      "axes: [{name: nodes, parameter: 'cluster.pools[0].count', values: [1, 2]}]\n"
      "seeds: {first: 5, count: 2}\n";
  const auto widest_of = [&](const std::string& rest) {
    write(std::string{kAxis} + rest);
    const std::vector<StudyRunResult> found = run_study(plan(), results(), {.jobs = 2});
    EXPECT_TRUE(diagnostics.ok()) << diagnostics.text();
    EXPECT_GT(found.size(), 4U);
    EXPECT_LT(found.size(), 2U * 40);
    return widest_half(plan(), found);
  };
  const std::string compare = "compare: {axis: nodes, against: '2'}\n";
  EXPECT_LE(widest_of(compare + "until: {metric: jct_mean, half_width: 2, seeds_max: 40}\n"), 2);
  EXPECT_LE(widest_of(compare + "until: {metric: gpu_share_useful, half_width_absolute: 0.3, "
                                "seeds_max: 40}\n"),
            0.3);
  EXPECT_LE(widest_of("until: {metric: gpu_share_useful, half_width: 0.5, seeds_max: 40}\n"), 0.5);
}

}  // namespace
}  // namespace orrery

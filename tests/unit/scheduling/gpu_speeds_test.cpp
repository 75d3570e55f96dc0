// Tests the speeds of jobs by GPU model, read from a file.
#include "models/scheduling/toolbox/gpu_speeds.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "models/scenario/scenario.hpp"
#include "sim/config/node.hpp"
#include "tests/support/temporary_folder.hpp"

namespace orrery {
namespace {

namespace fs = std::filesystem;

const std::string kGavelSpeeds = R"json({
  "v100": {"('A3C', 1)": {"null": 2.0}},
  "k80": {"('A3C', 1)": {"null": 0.5}}
})json";

void write(const fs::path& file, const std::string& text) { std::ofstream{file} << text; }

std::string scenario_with(const std::string& throughputs) {
  return R"(
cluster:
  machines: [{name: box, base: hgx-h100, gpus: 4}]
  pools: [{name: n, machine: box, count: 2}]
workload: {sources: [{kind: jobs, jobs: [{work: 1min}]}]}
policy:
  driver: counting
  job_queue: {policies: [{name: Gavel, args: {speeds: {throughputs: )" +
         throughputs + "}}}]}\n";
}

std::string complaints_of(const config::Document& document, Diagnostics& diagnostics) {
  static_cast<void>(read_scenario(document, diagnostics));
  return diagnostics.text();
}

TEST(GpuSpeeds, AreThoseOfTheFileAgainstTheReference) {
  const test::TemporaryFolder folder;
  const fs::path file = fs::path{folder.path()} / "speeds.json";
  write(file, kGavelSpeeds);
  const GpuSpeeds speeds{{.throughputs = file.string(), .names = {{"K80", "k80"}}}};
  EXPECT_EQ(speeds.speed("A3C", 1, "K80"), 0.25);
  EXPECT_EQ(speeds.speed("A3C", 1, "v100"), 1);
  EXPECT_EQ(speeds.speed("A3C", 2, "K80"), 1) << "the file has no such pair";
}

TEST(GpuSpeeds, TheFileIsRelativeToTheScenario) {
  const test::TemporaryFolder folder;
  const fs::path root{folder.path()};
  fs::create_directories(root / "scenarios");
  write(root / "speeds.json", kGavelSpeeds);
  write(root / "scenarios/gavel.yaml", scenario_with("../speeds.json"));
  Diagnostics diagnostics;
  const std::string scenario = (root / "scenarios/gavel.yaml").string();
  config::Document document = config::load_file(scenario, diagnostics);
  EXPECT_EQ(complaints_of(document, diagnostics), "");
  // A path given by --set is relative to the working directory, where the file does not exist.
  config::apply_override(
      document, "policy.job_queue.policies[0].args.speeds.throughputs=../speeds.json", diagnostics);
  EXPECT_NE(complaints_of(document, diagnostics), "");
}

TEST(GpuSpeeds, AFileThatIsMissingIsNamedAsItWasLookedFor) {
  const test::TemporaryFolder folder;
  const fs::path scenario = fs::path{folder.path()} / "gavel.yaml";
  write(scenario, scenario_with("none.json"));
  Diagnostics diagnostics;
  const config::Document document = config::load_file(scenario.string(), diagnostics);
  const std::string wanted = (fs::path{folder.path()} / "none.json").string();
  EXPECT_NE(complaints_of(document, diagnostics).find(wanted), std::string::npos);
}

}  // namespace
}  // namespace orrery

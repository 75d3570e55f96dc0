// Valid names for `record.off`: every table that a run can write, and nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

using ::testing::UnorderedElementsAreArray;

constexpr const char* kEverythingOn = R"(
cluster:
  pools:
    - {name: there, machine: dgx-a100, count: 4, nodes_per_leaf: 4}
    - {name: more, machine: dgx-a100, count: 2}
network: {level: flow}
storage: {stores: [{name: blob, write: 10GBps, read: 10GBps}]}
record: {attempts: true, cardiogram: {jobs: [a], window: {to: 5min}}}
workload:
  typical_pods: {}
  sources:
    - kind: jobs
      jobs:
        - name: a
          work: 5min
          pods: 2
          pod: {gpus: 8}
          training:
            checkpoint_interval: 1min
            checkpoint: {store: blob, bytes: 1GB}
            step: {compute: 1s, exchanges: [{bytes: 1GB}]}
)";
// A scenario with a job queue cannot have an autoscaler or a service. So the job queue has a run of
// its own.
constexpr const char* kWithAutoscaler = R"(
    - {kind: service, name: web, lasts: 10min, pod: {gpus: 1}, load: [{at: 0s, load: 1}]}
control_plane:
  level: full
  namespaces: {existing: 1}
  services: {groups: [{name: kubelet, members: nodes}]}
  autoscaler: {groups: [{pool: more}]}
policy: {controllers: [{name: AvoidBrokenLinks}]}
)";
constexpr const char* kWithJobQueue = "policy: {job_queue: {policies: [{name: FIFO}]}}\n";

std::set<std::string> written_by(const std::string& yaml) {
  Diagnostics diagnostics;
  const config::Document document = config::load_text(yaml, "test.yaml", diagnostics);
  const Scenario scenario = read_scenario(document, diagnostics);
  MemoryRecorder recorder;
  if (diagnostics.ok()) simulate(scenario, document, recorder, {}, diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.text();
  std::set<std::string> paths;
  for (const MemoryRecorder::Table& table : recorder.tables()) paths.insert(table.path);
  return paths;
}

TEST(Tables, AreKnownIfARunWithEverythingOnWritesThem) {
  const std::string base = kEverythingOn;
  std::set<std::string> written = written_by(base + kWithAutoscaler);
  written.merge(written_by(base + kWithJobQueue));
  EXPECT_THAT(table_paths(), UnorderedElementsAreArray(written));
}

// The test above would miss a table that its runs do not write. So this test searches the sources
// for the paths of all channels.
TEST(Tables, AreKnownIfAChannelIsOpenedAtTheirPath) {
  const std::regex opened{R"re(ecorder,\s*"(/[a-z_/]+)")re"};
  std::set<std::string> found;
  for (const auto& file :
       std::filesystem::recursive_directory_iterator{ORRERY_SOURCE_DIR "/models"}) {
    if (file.path().extension() != ".cpp" && file.path().extension() != ".hpp") continue;
    std::ifstream stream{file.path()};
    const std::string text{std::istreambuf_iterator<char>{stream}, {}};
    for (std::sregex_iterator at{text.begin(), text.end(), opened}; at != std::sregex_iterator{};
         ++at) {
      found.insert((*at)[1]);
    }
  }
  EXPECT_THAT(found, UnorderedElementsAreArray(table_paths()));
}

TEST(Tables, AreListedOnce) {
  const std::vector<std::string> paths = table_paths();
  EXPECT_EQ(std::set<std::string>(paths.begin(), paths.end()).size(), paths.size());
}

}  // namespace
}  // namespace orrery

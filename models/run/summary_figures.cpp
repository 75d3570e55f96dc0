#include "models/run/summary_figures.hpp"

#include <set>
#include <utility>

#include "models/cluster/cluster.hpp"
#include "models/run/simulation.hpp"
#include "sim/core/check.hpp"

namespace orrery {
namespace {

// Scenarios that together write every figure. Two scenarios are needed, because a job queue allows
// neither an autoscaler nor a service.
constexpr const char* kCommon = R"(
cluster:
  pools:
    - {name: there, machine: dgx-a100, count: 4, nodes_per_leaf: 4}
    - {name: more, machine: dgx-a100, count: 2}
network: {level: flow}
run: {until: 20min}
workload:
  sources:
    - kind: jobs
      jobs:
        - name: a
          work: 5min
          pods: 2
          pod: {gpus: 8}
          training: {step: {compute: 1s, exchanges: [{bytes: 1GB}]}}
)";
constexpr const char* kWithControlPlane = R"(
        - {name: b, work: 1min, pod: {gpus: 1, image: {name: train, size: 1GB}}}
    - {kind: service, name: web, lasts: 10min, pod: {gpus: 1}, load: [{at: 0s, load: 1}]}
control_plane:
  level: full
  namespaces: {existing: 1, readers: [{clients: 1, every: 1min}]}
  joins: [{pool: there, at: 1min, nodes: 1}]
  services: {groups: [{name: kubelet, members: nodes}]}
  autoscaler: {groups: [{pool: more}]}
  events: {readers: [{every: 1min}]}
  crash_loops: [{nodes: 1}]
policy: {controllers: [{name: AvoidBrokenLinks}]}
)";
constexpr const char* kWithJobQueue = "policy: {job_queue: {policies: [{name: FIFO}]}}\n";

struct Loaded {
  config::Document document;
  Scenario scenario;
};

Loaded loaded(const std::string& text) {
  Diagnostics diagnostics;
  Loaded loaded{.document = config::load_text(text, "figures.yaml", diagnostics), .scenario = {}};
  loaded.scenario = read_scenario(loaded.document, diagnostics);
  ORRERY_CHECK(diagnostics.ok(), "the scenarios of this file have no mistakes");
  return loaded;
}

std::vector<Loaded> with_every_figure() {
  std::vector<Loaded> all;
  all.push_back(loaded(std::string{kCommon} + kWithControlPlane));
  all.push_back(loaded(std::string{kCommon} + kWithJobQueue));
  return all;
}

}  // namespace

// A cluster that finishes at time 0 writes exactly the figures that every run writes.
std::set<std::string> figures_of_course(const Scenario& scenario) {
  Engine engine{Engine::Limits{}};
  const RngStreams rng{scenario.run.seed};
  NullRecorder recorder;
  Ground ground{scenario};
  Cluster cluster{Sim{engine, rng, recorder}, scenario, ground};
  cluster.finish(Time{});
  std::set<std::string> names;
  for (const SummaryValue& figure : recorder.summary()) names.insert(figure.name);
  return names;
}

std::vector<KnownFigure> known_figures() {
  std::vector<KnownFigure> known;
  std::set<std::string> names;
  for (const auto& [document, scenario] : with_every_figure()) {
    const std::set<std::string> of_course = figures_of_course(scenario);
    NullRecorder recorder;
    Diagnostics diagnostics;
    for (SummaryValue& figure : simulate(scenario, document, recorder, {}, diagnostics).summary) {
      if (!names.insert(figure.name).second) continue;
      const bool is_of_course = of_course.contains(figure.name);
      known.push_back({.figure = std::move(figure), .is_of_course = is_of_course});
    }
  }
  return known;
}

}  // namespace orrery

// tests/support/telemetry_world.hpp -- JobWorld with node faults and all telemetry.
#pragma once

#include <bit>
#include <vector>

#include "models/faults/node_faults.hpp"
#include "models/telemetry/gpu_usage.hpp"
#include "models/telemetry/node_usage.hpp"
#include "models/telemetry/timeline.hpp"
#include "tests/support/job_world.hpp"

namespace orrery {

class TelemetryWorld : public JobWorld {
 public:
  TelemetryWorld(Options options, const FaultParams& faulty, const TimelineParams& sampled)
      : JobWorld{without_binding(options)},
        faults{sim(), cluster, presence, controller, jobs, faulty},
        usage{sim(), cluster, jobs,
              GpuPowers{cluster, {{.idle = 50, .spin = 100, .busy = 450}}, {}, rng}},
        nodes{sim(), cluster, {.machines = {"box"}, .pools = {"main"}, .pool_of = {0}}},
        timeline{sim(),
                 cluster,
                 jobs,
                 usage,
                 sampled,
                 {.pods_pending = [this] { return queue.size(); },
                  .gangs_pending = [] { return 0; },
                  .is_over = [this] { return controller.all_done(); }}} {
    connect();
  }
  void run_until(Time end) {
    timeline.start(end);
    faults.start();
    engine.at(
        end, Label{"test.end"}, [this] { engine.stop(); }, Phase::Audit);
    run(end);
    controller.finish(end);
    timeline.finish(end);
    nodes.finish(end);
    faults.finish();
  }
  double gpu_s(GpuRate r) const {
    return static_cast<double>(usage.integrals(engine.now())[static_cast<size_t>(r)]) * unit_of(r) *
           1e-9;
  }
  template <class Row>
  std::vector<Row> rows_of(const char* path) {
    recorder.flush_all();
    return recorder.rows<Row>(path);
  }

  NodeFaults faults;
  GpuUsage usage;
  NodeUsage nodes;
  Timeline timeline;

 private:
  static Options without_binding(Options options) {
    options.binds = false;
    return options;
  }
  Sim sim() { return {engine, rng, recorder}; }
  void connect() {
    usage.connect(controller, presence);
    nodes.connect(usage, presence);
    timeline.connect(controller, controller, presence);
    controller.pods_created.connect([this](std::span<const PodId>) { place_all(); });
    controller.pod_removed.connect([this](PodId pod) {
      if (jobs.pod(pod).state == PodState::Pending) return;
      controller.pod_unassigned.emit(pod, jobs.pod(pod).node);
      engine.after(
          {}, Label{"test.place"}, [this] { place_all(); }, Phase::Control);
    });
    presence.node_up.connect([this](NodeId) { place_all(); });
  }
  void place_all() {
    std::erase_if(queue, [this](PodId pod) {
      for (uint32_t n = 0; n < cluster.nodes(); ++n) {
        if (!cluster.up().contains({n}) ||
            std::popcount(cluster.idle_gpus({n})) < jobs.spec(pod).gpus) {
          continue;
        }
        controller.pod_assigned.emit(pod, {n});
        return bind_to(pod, {n});
      }
      return false;
    });
  }
};

}  // namespace orrery

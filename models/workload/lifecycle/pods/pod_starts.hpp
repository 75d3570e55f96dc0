// models/workload/lifecycle/pods/pod_starts.hpp -- a pod from its binding until its containers run.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>

#include "models/workload/job/job_table.hpp"
#include "models/workload/lifecycle/state/job_controller_params.hpp"
#include "sim/core/rng.hpp"
#include "sim/engine/engine.hpp"
#include "sim/engine/signal.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

// The stages of a kubelet's pod start, in order.
enum class StartStage : uint8_t { Sandbox, Address, Volumes, Images, Devices, Containers };
constexpr std::array<std::string_view, 6> enum_names(StartStage) {
  return {"sandbox", "address", "volumes", "images", "devices", "containers"};
}

class PodStarts {
 public:
  // A hook calls this once, maybe before the hook returns, with the time left until the stage ends.
  // If the node fails first, the hook may omit the call.
  using Ready = std::function<void(Duration left)>;
  // Called as soon as it is known when the stage will start. `until` is the time until that start.
  using Hook = std::function<void(PodId pod, Duration until, Ready ready)>;

  PodStarts(Sim sim, JobTable& jobs, const StartLatencyParams& params);

  // Call before the run. A stage without a hook takes no time. The delay `pod_start` follows the
  // last stage.
  void use(StartStage stage, Hook hook) { hooks_[static_cast<size_t>(stage)] = std::move(hook); }
  void admitted(JobId job);
  void begin(PodId pod);  // call in the instant of binding; Pod::started is max until it is known

  // Pod::started is known. Emitted only while the pod is still Bound.
  Signal<PodId> start_known;

 private:
  void go_on(PodId pod, size_t stage, Duration until);
  uint32_t number_of_start(PodId pod);
  Duration latency(PodId pod);

  Engine& engine_;
  const RngStreams& rng_;
  JobTable& jobs_;
  StartLatencyParams params_;
  std::array<Hook, enum_names(StartStage{}).size()> hooks_;
  IdVector<JobId, uint32_t> of_job_;    // starts so far of independent pods
  IdVector<GangId, uint32_t> of_gang_;  // starts so far of members
};

}  // namespace orrery

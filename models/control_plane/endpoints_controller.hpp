// models/control_plane/endpoints_controller.hpp -- writes what changes among the pods of services.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "models/control_plane/endpoints.hpp"
#include "sim/core/callback.hpp"
#include "sim/core/id.hpp"
#include "sim/engine/engine.hpp"

namespace orrery {

using ServiceId = Id<struct ServiceTag>;

// As many services as there are workers are synchronised at once, each by one worker, which is busy
// until its writes are answered. What changes meanwhile waits for the next pass, which follows the
// batching period after the first change.
class EndpointsController {
 public:
  // Must call `done` once, when the write is answered.
  using Writer = std::function<void(ServiceId, const ObjectWrite&, Callback done)>;
  struct Counters {
    uint64_t changes = 0, passes = 0, writes = 0;
  };

  EndpointsController(Engine& engine, const EndpointsParams& params, Writer writer);

  ServiceId add_service();
  // All of the service's pods from the start, as if their writes were over.
  void preload(ServiceId service, std::span<const uint32_t> pods);
  void pod_ready(ServiceId service, uint32_t pod) { change(service, pod, true); }
  void pod_gone(ServiceId service, uint32_t pod) { change(service, pod, false); }

  const ServiceEndpoints& endpoints(ServiceId service) const {
    return services_[service].endpoints;
  }
  const Counters& counters() const { return counters_; }

 private:
  struct Change {
    uint32_t pod;
    bool is_ready;
  };
  struct Service {
    explicit Service(const EndpointsParams& params) : endpoints{params} {}
    ServiceEndpoints endpoints;
    std::vector<Change> changes;  // since the last pass, in order
    bool is_planned = false;      // a pass waits for its time, or for a worker
    size_t unanswered = 0;        // writes of the pass under way
  };
  void change(ServiceId service, uint32_t pod, bool is_ready);
  void plan(ServiceId service);
  void start_passes();
  void pass(ServiceId service);
  void answered(ServiceId service);

  Engine& engine_;
  EndpointsParams params_;
  Writer writer_;
  IdVector<ServiceId, Service> services_;
  std::deque<ServiceId> ready_;
  int32_t busy_ = 0;  // workers
  bool is_starting_ = false;
  std::vector<uint32_t> removed_, added_;  // scratch
  Counters counters_;
};

}  // namespace orrery

// models/control_plane/services/endpoints_controller.hpp -- writes the addresses of services to
// the API when their pods change.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <vector>

#include "models/control_plane/services/endpoints.hpp"
#include "sim/core/id.hpp"
#include "sim/engine/engine.hpp"

namespace orrery {

using ServiceId = Id<struct ServiceTag>;

// A pass of a worker syncs one service. The worker is busy until the writes of the pass have
// responses. A pass is due one batch_period after the first change. For changes during a pass, the
// period begins at the end of that pass. If a write of the pass is rejected, another pass is due
// after a backoff, which doubles with each failed pass. The next pass, this one or an earlier one
// for a change, repeats the write. After the last retry, rejected writes wait for the next change.
// Example: with a batch_period of 0.5 s and pods that are ready at 10.0 s and 10.3 s, one pass at
// 10.5 s writes both.
class EndpointsController {
 public:
  using Done = std::function<void(bool is_stored)>;
  // Must call `done` once, at the response to the write.
  using Writer = std::function<void(ServiceId, const ObjectWrite&, Done done)>;
  struct Counters {
    uint64_t changes = 0, passes = 0, writes = 0;
    uint64_t refused = 0, given_up = 0;  // rejected writes; times that retries were given up
  };

  EndpointsController(Engine& engine, const EndpointsParams& params, Writer writer);

  ServiceId add_service();
  // Deletes the service's objects. A later service may get the same id.
  void remove_service(ServiceId service);
  // Sets the service's pods before the run. `Writer` is not called: the caller must store the
  // returned writes.
  std::span<const ObjectWrite> preload(ServiceId service, std::span<const uint32_t> pods);
  void pod_ready(ServiceId service, uint32_t pod) { change(service, pod, true); }
  void pod_gone(ServiceId service, uint32_t pod) { change(service, pod, false); }

  const ServiceEndpoints& endpoints(ServiceId service) const {
    return services_[service].endpoints;
  }
  size_t services() const { return services_.size() - free_.size(); }
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
    bool is_removed = false;
    size_t unanswered = 0;             // open writes of the present pass
    std::vector<ObjectWrite> refused;  // rejected writes that the next pass repeats
    int32_t tries = 0;                 // failed passes in a row
    EventId retry;
  };
  void change(ServiceId service, uint32_t pod, bool is_ready);
  void plan(ServiceId service, Duration wait);
  void start_passes();
  void pass(ServiceId service);
  std::span<const ObjectWrite> take_changes(Service& service);
  void answered(ServiceId service, const ObjectWrite& write, bool is_stored);
  void pass_over(ServiceId service);
  void try_again_later(ServiceId service);

  Engine& engine_;
  EndpointsParams params_;
  Writer writer_;
  IdVector<ServiceId, Service> services_;
  std::vector<ServiceId> free_;
  std::deque<ServiceId> ready_;
  int32_t busy_ = 0;  // busy workers
  bool is_starting_ = false;
  std::vector<uint32_t> removed_, added_;  // scratch
  Counters counters_;
};

}  // namespace orrery

// models/control_plane/services/endpoints_controller.hpp -- writes what changes among the pods of
// services.
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

// As many services as there are workers are synchronised at once, each by one worker, which is busy
// until its writes are answered. What changes meanwhile waits for the next pass, which follows the
// batching period after the first change. What is refused is written anew by the next pass, which
// comes after a pause that doubles with each that fails; after the last try, with the next change.
class EndpointsController {
 public:
  using Done = std::function<void(bool is_stored)>;
  // Must call `done` once, when the write is answered.
  using Writer = std::function<void(ServiceId, const ObjectWrite&, Done done)>;
  struct Counters {
    uint64_t changes = 0, passes = 0, writes = 0;
    uint64_t refused = 0, given_up = 0;  // writes; passes without another try
  };

  EndpointsController(Engine& engine, const EndpointsParams& params, Writer writer);

  ServiceId add_service();
  // Its objects are deleted, and then its id is given to another.
  void remove_service(ServiceId service);
  // All of the service's pods from the start, as if these writes were over.
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
    size_t unanswered = 0;             // writes of the pass under way
    std::vector<ObjectWrite> refused;  // and not yet written anew
    int32_t tries = 0;                 // passes in a row in which something was refused
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
  int32_t busy_ = 0;  // workers
  bool is_starting_ = false;
  std::vector<uint32_t> removed_, added_;  // scratch
  Counters counters_;
};

}  // namespace orrery

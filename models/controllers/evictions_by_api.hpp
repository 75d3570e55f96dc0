// models/controllers/evictions_by_api.hpp -- evicts single pods by API requests, with retries.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "models/control_plane/base/controller_api.hpp"
#include "models/controllers/disruption_budgets.hpp"
#include "models/workload/job/job_table.hpp"
#include "models/workload/lifecycle/job_controller.hpp"
#include "sim/engine/signal.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

// Like `kubectl drain`: a request that fails or that a budget forbids is retried every 5 s, without
// backoff. Retries end at `retry_until`. A request sent at `force_at` or later deletes the pod
// without a check of the budget. A `force_at` after `retry_until` has no effect. Example: a budget
// allows one disruption, and two pods are to be evicted at 0 s. The first is evicted. The request
// for the second gets a 429 and is retried at 5 s, 10 s, ..., until a replacement of the first pod
// is ready.
class EvictionsByApi {
 public:
  static constexpr Duration kRetryEvery = 5_s;  // kubectl: "will retry after 5s"
  enum class Result : uint8_t { Deleted, GoneAlready, Forbidden, ApiFailed };
  // Called once, unless the eviction is cancelled. `reason` says why the pod stays; it is empty if
  // the pod is deleted or was gone already.
  using Done = std::function<void(Result result, const std::string& reason)>;
  struct Order {
    uint32_t controller = 0;  // controller whose client sends the requests
    uint64_t action = 0;      // number that `tried` emits; 0: no action
    PodId pod;
    Time retry_until;
    Time force_at = Time::max();
  };

  EvictionsByApi(Engine& engine, const JobTable& jobs, JobController& controller,
                 DisruptionBudgets& budgets)
      : engine_{engine}, jobs_{jobs}, controller_{controller}, budgets_{budgets} {}

  void use(ControllerApi& api) { api_ = &api; }  // without an API, deletions take no time
  uint64_t begin(const Order& order, Done done);
  // Ends the retries of an eviction. Its `done` is not called.
  void cancel(uint64_t eviction);
  void delete_now(uint32_t controller, PodId pod, Done done);  // without regard to budgets
  Signal<uint64_t> tried;  // a request is sent for the action of this number
  uint64_t tries() const { return tries_; }
  // Number of requests that a disruption budget forbade: with status 429, or 500 if several budgets
  // select the pod.
  uint64_t forbidden() const { return forbidden_; }

 private:
  struct Open {
    Order order;
    // Pod::generation when the eviction began. If it has changed, this pod no longer exists.
    uint64_t life = 0;
    Done done;
    std::string forbidden_by = {};
    EventId retry = {};
  };
  void attempt(uint64_t number);
  bool may_evict(uint64_t number, PodId pod, uint64_t life);
  void answered(uint64_t number, PodId pod, uint64_t life, ControllerApi::Answer answer);
  void retry(uint64_t number);
  void finish(uint64_t number, Result result, const std::string& reason);
  bool is_there(PodId pod, uint64_t life) const;

  Engine& engine_;
  const JobTable& jobs_;
  JobController& controller_;
  DisruptionBudgets& budgets_;
  ControllerApi* api_ = nullptr;
  std::map<uint64_t, Open> open_;
  uint64_t last_ = 0, tries_ = 0, forbidden_ = 0;
};

}  // namespace orrery

// models/control_plane/api_server/api_server.hpp -- one API server: seats, cores, an outgoing link,
// and memory.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "models/control_plane/api_server/api_server_params.hpp"
#include "models/control_plane/base/api_statistics.hpp"
#include "models/control_plane/base/processor_sharing.hpp"
#include "models/control_plane/base/request.hpp"
#include "models/control_plane/base/retry_after.hpp"
#include "models/control_plane/flow_control/priority_and_fairness.hpp"
#include "sim/engine/engine.hpp"
#include "sim/engine/signal.hpp"

namespace orrery {

// All servers refer to the same engine, params, store and statistics, which must outlive them.
struct ApiServerContext {
  Engine& engine;
  const ApiServersParams& params;
  ApiStore& store;
  ApiStatistics& statistics;
  int64_t nodes = 0;
  uint32_t index = 0;
};

// A request waits for seats. It holds the seats while it uses CPU time, reads or writes the store,
// and sends its response. Example: a LIST of 20 MB on a link of 1 Gbit/s holds its seats for its
// CPU time plus 0.16 s. A write with many watchers keeps its seats for a while after its response.
class ApiServer {
 public:
  explicit ApiServer(const ApiServerContext& context);
  ApiServer(const ApiServer&) = delete;
  ApiServer& operator=(const ApiServer&) = delete;
  ~ApiServer() { engine_.cancel(wake_); }

  // Calls `done` exactly once. If the server is down or rejects the request on arrival, submit()
  // calls `done` before it returns.
  void submit(const ApiRequest& request, ApiDone done);
  // Work that is no request, such as sending a write's events to all watchers. The threads share
  // the CPU time evenly, and each then sends its share of the bytes.
  struct Charge {
    Duration cpu;
    Bytes sent;
    int32_t threads = 1;
    std::function<void()> done = {};  // called once all is sent; never if the server is lost
  };
  void charge(const Charge& charge);

  bool is_up() const { return is_up_; }
  void lose();     // drops all requests and watches, and cancels a restart
  void recover();  // the server must be down
  // lost: the server went down, by lose() or for lack of memory. recovered: it is up again.
  Signal<> lost, recovered;

  // Adds watchers of all objects of a resource. Every write of the resource is sent to them. With
  // `watchers_per_seat` or more watchers, a write keeps its seats for a while after its response.
  void add_watchers(ApiResource resource, int32_t count) {
    watchers_[static_cast<size_t>(resource)] += count;
    all_watchers_ += count;
  }
  // Adds watchers of few objects each (kubelets). They use memory; writes take no seats for them.
  void add_narrow_watchers(int32_t count) { all_watchers_ += count; }
  int32_t watchers(ApiResource resource) const { return watchers_[static_cast<size_t>(resource)]; }
  int64_t watchers() const { return all_watchers_; }
  void set_steady(uint32_t level, const SteadyLoad& load);  // replaces the former load of the level
  void set_nodes(int64_t nodes) { nodes_ = nodes; }
  void set_cached(Bytes heap) { cached_ = heap; }  // memory of namespaces with their objects

  Bytes heap() const {
    return heap_of(params_.server.heap, nodes_, listing_, all_watchers_) + cached_;
  }
  uint64_t memory_kills() const { return memory_kills_; }
  uint64_t losses() const { return losses_; }
  const PriorityAndFairness& flow_control() const { return flow_control_; }
  uint32_t present() const { return active_; }             // open requests and charges
  double cpu_seconds() const { return cpu_.work_done(); }  // without the steady load
  double egress_seconds() const { return egress_.work_done(); }
  double steady_cores() const { return steady_cores_; }
  double steady_requests() const { return steady_requests_; }  // requests a second
  void audit() const;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  enum class Stage : uint8_t { Free, Waiting, Storing, Computing, Sending, Lingering };
  struct Slot {
    ApiRequest request;
    ApiDone done;
    Time arrived, begun;
    uint32_t generation = 0;
    Stage stage = Stage::Free;
    bool is_charge = false;
    // Neighbours in the order of arrival. In a free slot, `later` is the next free slot.
    uint32_t earlier = kNone, later = kNone;
  };
  struct Width {
    int32_t seats = 1;
    Duration lingers = {};
  };
  uint64_t ticket(uint32_t slot) const { return uint64_t{slots_[slot].generation} << 32 | slot; }
  bool is_stale(uint64_t ticket) const {
    return slots_[static_cast<uint32_t>(ticket)].generation != ticket >> 32;
  }
  Width width_of(const ApiRequest& request) const;
  Bytes listed_by(const ApiRequest& request) const;
  uint32_t take_slot(const ApiRequest& request, ApiDone done);
  void free_slot(uint32_t slot);
  void unlink(uint32_t slot);
  void drain();
  void begin(uint32_t slot);
  void compute(uint32_t slot);
  void computed(uint32_t slot);
  void ask_store(uint32_t slot);
  void stored(uint64_t ticket, bool is_done);
  void send(uint32_t slot);
  void sent(uint32_t slot);
  void answer(uint32_t slot, ApiOutcome outcome);
  void stop_work(uint32_t slot);
  void reject(uint32_t slot);
  void wake();
  void plan_wake();

  Engine& engine_;
  const ApiServersParams& params_;
  ApiStore& store_;
  ApiStatistics& statistics_;
  uint32_t index_;
  int64_t nodes_;
  PriorityAndFairness flow_control_;
  std::vector<RetryAfter> retry_after_;  // by level
  ProcessorSharing cpu_, egress_;
  std::vector<Slot> slots_;
  uint32_t free_ = kNone, oldest_ = kNone, newest_ = kNone;
  uint32_t active_ = 0;
  bool is_up_ = true, is_draining_ = false;
  std::array<int32_t, kApiResources> watchers_ = {};
  int64_t all_watchers_ = 0;
  Bytes listing_ = {}, cached_ = {};
  std::vector<SteadyLoad> steady_;  // by level
  double steady_cores_ = 0, steady_requests_ = 0;
  uint64_t memory_kills_ = 0, losses_ = 0;
  EventId wake_, restart_;
  Time wake_time_ = Time::max();
};

}  // namespace orrery

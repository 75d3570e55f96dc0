// models/control_plane/etcd/etcd.hpp -- the etcd members that store the writes of the API servers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "models/control_plane/base/steady_source.hpp"
#include "models/control_plane/etcd/etcd_news.hpp"
#include "models/control_plane/etcd/etcd_params.hpp"
#include "models/control_plane/etcd/mvcc_store.hpp"
#include "sim/core/callback.hpp"
#include "sim/engine/engine.hpp"
#include "sim/engine/signal.hpp"
#include "sim/engine/timer.hpp"

namespace orrery {

// One commit is under way at a time. It takes the latency of a single write, but at least its
// number of writes divided by the highest rate. With `blocking_reads` it first waits for earlier
// reads. Other writes wait for the next commit. Example: commits take 10 ms. A write that arrives
// 3 ms after the start of a commit waits 7 ms and is done 10 ms later. Steady writes are not
// simulated, but reduce the rate for other writes. If no commit is under way, a write first waits
// for a commit of steady writes: half the latency, times the share of time with such commits.
//
// Without a leader, requests wait for one. etcd's client repeats a read until its caller gives up.
// A write waits at most 5 s plus two election timeouts (etcd 3.5, ServerConfig.ReqTimeout). It then
// fails and is never executed, as raft accepts no proposals without a leader. Writes of an
// interrupted commit are assumed to be replicated: the next commit has them unless they time out.
class Etcd {
 public:
  struct Proposal {
    Bytes bytes;  // bytes of the request
    bool is_deletion = false;
    Time until = Time::max();  // when the caller stops waiting
  };
  struct Write {
    Bytes bytes;  // bytes of the object; for a deletion, the freed bytes
    EtcdChange change = EtcdChange::Update;
    Bytes grown = {};                   // for an update, the growth over the previous version
    std::optional<Time> replaced = {};  // for an Event, when the previous version was stored
  };
  struct Read {
    Bytes bytes;
    int64_t objects = 0;  // objects that a LIST reads
    Time until = Time::max();
  };
  struct SteadyLoad {
    double writes_per_s = 0;
    MvccStore::Rates stored = {};
  };
  using Counters = EtcdCounters;

  Etcd(Engine& engine, const EtcdParams& params);
  Etcd(const Etcd&) = delete;
  Etcd& operator=(const Etcd&) = delete;

  using Done = std::function<void(bool is_committed)>;
  // If the answer is Accepted, `done` is called once, when the write is committed or has timed out.
  // After a commit, the caller must pass the change to store(). For any other answer, the proposal
  // is rejected, and `done` is never called. Proposals complete in the order of their arrival.
  [[nodiscard]] EtcdAnswer propose(const Proposal& proposal, Done done);
  Time store(const Write& write);              // returns the present time
  void preload(Bytes size, int64_t objects) {  // stored before the run
    store_.create(engine_.now(), size, objects);
  }
  // Without a leader, reads wait. A read whose client gives up meanwhile never calls `done`.
  void read(const Read& read, Callback done);
  void set_steady_load(const SteadyLoad& load, SteadySource source = SteadySource::Heartbeats);
  // Deletes an object of this size at once, without a proposal.
  void drop(Bytes object) { store_.remove(engine_.now(), object); }

  // Without a quorum, reads and writes wait.
  void set_member_up(uint32_t member, bool is_up);
  bool has_quorum() const { return up_ > members_.size() / 2; }
  size_t members_lost() const { return members_.size() - up_; }
  bool stores() { return !is_out_of_space() && stores_steady(); }
  Signal<EtcdNews, uint32_t> news;  // an event and its member

  bool is_out_of_space();
  // Steps of a defragmentation. The member given to set_defragmenting() does not respond.
  void compact() { store_.drop_old_versions(engine_.now()); }
  void set_defragmenting(std::optional<uint32_t> member);
  void shrink();  // shrinks the file; disarms the NOSPACE alarm if there is space again
  const std::vector<bool>& members() const { return members_; }  // true: the member is up
  uint32_t leader() const { return leader_; }

  Bytes live() { return store_.live(engine_.now()); }
  Bytes in_use() { return store_.in_use(engine_.now()); }
  Bytes file() { return store_.file(engine_.now()); }
  Bytes events() { return store_.events(engine_.now()); }  // unexpired Events
  MvccStore::Count count() { return store_.count(engine_.now()); }
  double steady_writes_per_s() const { return stores_steady() ? steady_.writes_per_s : 0; }
  size_t waiting() const { return waiting_.size() + batch_.size(); }
  const Counters& counters() const { return counters_; }

 private:
  struct Waiting {
    Done done;
    Time until;
    bool is_over = false;  // it timed out without a leader
  };
  struct WaitingRead {
    Read read;
    Callback done;
  };
  bool is_blocked() const { return defragmenting_ == leader_; }
  bool stores_steady() const { return has_quorum() && !is_out_of_space_ && !is_blocked(); }
  bool can_commit() const { return has_quorum() && !election_.is_armed() && !is_blocked(); }
  void stall();
  void elect();
  void resume();
  void begin_commit(Duration wait);
  void end_commit();
  double free_rate() const;  // writes a second that steady writes leave free
  Duration wait_for_steady_commit() const;
  EtcdAnswer accept(const Proposal& proposal);
  void give_up();
  void plan_to_give_up();
  void check_space();
  void plan_space_check();
  void apply_steady();

  Engine& engine_;
  EtcdParams params_;
  Duration commit_time_;
  MvccStore store_;
  std::vector<bool> members_;  // true: up
  size_t up_;
  uint32_t leader_ = 0;
  std::optional<uint32_t> defragmenting_;  // the member being defragmented
  std::array<SteadyLoad, kSteadySources> sources_;
  SteadyLoad steady_;  // sum of all sources
  std::deque<Waiting> waiting_;
  std::vector<Waiting> batch_;  // writes of the commit under way
  std::vector<Waiting> done_;   // scratch
  EventId commit_;
  std::vector<WaitingRead> waiting_reads_;
  Time reads_free_at_;  // when the members have served all reads
  Time unlocked_at_;    // likewise, CPU time of LISTs included
  bool is_out_of_space_ = false;
  Timer election_, giving_up_, space_check_;
  Counters counters_;
};

}  // namespace orrery

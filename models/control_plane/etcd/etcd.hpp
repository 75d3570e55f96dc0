// models/control_plane/etcd/etcd.hpp -- the members that store what the API servers write.
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

// One commit is under way at a time. It takes the latency of a lone write, or as long as its writes
// take at the highest rate; those that come meanwhile wait for the next. Steady writes cost no
// events: they take their part of the rate, and what comes to an idle etcd waits, on average, for
// half a commit of theirs as often as one is under way.
//
// Without a leader a write waits for one, for 5 s and two election timeouts at most; then it fails,
// and is never carried out (etcd 3.5, ServerConfig.ReqTimeout; raft's node takes no proposals while
// it knows no leader). What a lost leader was committing is taken to be in the others' logs, unless
// its time is over first. etcd's client repeats reads: they wait for as long as the caller.
class Etcd {
 public:
  struct Proposal {
    Bytes bytes;  // of the request
    bool is_deletion = false;
    Time until = Time::max();  // then the caller no longer waits
  };
  struct Write {
    Bytes bytes;  // of the object; of a deletion, what is freed
    EtcdChange change = EtcdChange::Update;
    Bytes grown = {};                   // an update: since the version before
    std::optional<Time> replaced = {};  // an Event: when the version before was stored
  };
  struct Read {
    Bytes bytes;
    int64_t objects = 0;  // that a LIST goes through
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
  // Calls `done` once: what it comes to then is for the caller to find, and to store. A proposal
  // that is refused returns at once, without a call. They are done in the order of their coming.
  [[nodiscard]] EtcdAnswer propose(const Proposal& proposal, Done done);
  Time store(const Write& write);              // when: now
  void preload(Bytes size, int64_t objects) {  // there before the run
    store_.create(engine_.now(), size, objects);
  }
  void read(const Read& read, Callback done);  // never done if the caller no longer waits
  void set_steady_load(const SteadyLoad& load, SteadySource source = SteadySource::Heartbeats);
  void drop(Bytes object) { store_.remove(engine_.now(), object); }  // with a steady load

  // Without a quorum writes and reads wait.
  void set_member_up(uint32_t member, bool is_up);
  bool has_quorum() const { return up_ > members_.size() / 2; }
  size_t members_lost() const { return members_.size() - up_; }
  bool stores() { return !is_out_of_space() && stores_steady(); }
  Signal<EtcdNews, uint32_t> news;  // of a member

  bool is_out_of_space();
  // Parts of a defragmentation. The member answers nothing meanwhile.
  void compact() { store_.drop_old_versions(engine_.now()); }
  void set_defragmenting(std::optional<uint32_t> member);
  void shrink();  // and ends the alarm, if there is space then
  const std::vector<bool>& members() const { return members_; }  // up
  uint32_t leader() const { return leader_; }

  Bytes live() { return store_.live(engine_.now()); }
  Bytes in_use() { return store_.in_use(engine_.now()); }
  Bytes file() { return store_.file(engine_.now()); }
  Bytes events() { return store_.events(engine_.now()); }  // unexpired
  MvccStore::Count count() { return store_.count(engine_.now()); }
  double steady_writes_per_s() const { return stores_steady() ? steady_.writes_per_s : 0; }
  size_t waiting() const { return waiting_.size() + batch_.size(); }
  const Counters& counters() const { return counters_; }

 private:
  struct Waiting {
    Done done;
    Time until;
    bool is_over = false;  // it was then without a leader
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
  double free_rate() const;  // writes a second that steady ones leave
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
  std::vector<bool> members_;  // up
  size_t up_;
  uint32_t leader_ = 0;
  std::optional<uint32_t> defragmenting_;  // member
  std::array<SteadyLoad, kSteadySources> sources_;
  SteadyLoad steady_;  // of all sources
  std::deque<Waiting> waiting_;
  std::vector<Waiting> batch_;  // of the commit under way
  std::vector<Waiting> done_;   // scratch
  EventId commit_;
  std::vector<WaitingRead> waiting_reads_;
  Time reads_free_at_;  // when the members have served all reads
  Time unlocked_at_;    // and when they have gone through what LISTs ask for
  bool is_out_of_space_ = false;
  Timer election_, giving_up_, space_check_;
  Counters counters_;
};

}  // namespace orrery

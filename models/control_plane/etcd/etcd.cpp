#include "models/control_plane/etcd/etcd.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "sim/core/check.hpp"

namespace orrery {

Etcd::Etcd(Engine& engine, const EtcdParams& params)
    : engine_{engine},
      params_{params},
      commit_time_{params.commit_time()},
      store_{params.compaction_interval, params.event_ttl},
      members_(static_cast<size_t>(params.members), true),
      up_{members_.size()},
      election_{engine, Label{"etcd.leader_elected"},
                [this] {
                  ++counters_.elections;
                  resume();
                }},
      giving_up_{engine, Label{"etcd.gave_up"}, [this] { give_up(); }},
      space_check_{engine, Label{"etcd.space_checked"}, [this] {
                     check_space();
                     plan_space_check();
                   }} {
  ORRERY_CHECK(params.members > 0, "etcd has members");
}

EtcdAnswer Etcd::accept(const Proposal& proposal) {
  if (proposal.is_deletion) return EtcdAnswer::Accepted;
  if (proposal.bytes > params_.request_max) {
    ++counters_.too_large;
    return EtcdAnswer::TooLarge;
  }
  if (is_out_of_space()) {
    ++counters_.out_of_space;
    return EtcdAnswer::OutOfSpace;
  }
  return EtcdAnswer::Accepted;
}

EtcdAnswer Etcd::propose(const Proposal& proposal, Done done) {
  const EtcdAnswer answer = accept(proposal);
  if (answer != EtcdAnswer::Accepted) return answer;
  const Time until = std::min(proposal.until, engine_.now() + params_.request_timeout());
  waiting_.push_back({std::move(done), until});
  if (!can_commit()) {
    if (!giving_up_.is_armed()) plan_to_give_up();
  } else if (batch_.empty()) {
    begin_commit(wait_for_steady_commit());
  }
  return answer;
}

Time Etcd::store(const Write& write) {
  const Time now = engine_.now();
  ++counters_.writes;
  switch (write.change) {
    case EtcdChange::Create:
      store_.create(now, write.bytes);
      break;
    case EtcdChange::Update:
      store_.update(now, write.bytes - write.grown, write.bytes);
      break;
    case EtcdChange::Delete:
      store_.remove(now, write.bytes);
      break;
    case EtcdChange::Event:
      store_.add_event(now, write.bytes, write.replaced);
      break;
  }
  return now;
}

double Etcd::free_rate() const {
  return std::max(params_.write_rate_max - steady_writes_per_s(), 0.01 * params_.write_rate_max);
}

// Steady writes are a Poisson process with r writes a second. A commit takes L. If a write arrived
// during the commit, the next commit follows at once. With probability exp(-r L) no write arrived,
// and etcd is then idle for 1 / r on average. So steady commits keep etcd busy for the share
// L / (L + exp(-r L) / r) of the time. A write that arrives during such a commit waits L / 2 on
// average.
Duration Etcd::wait_for_steady_commit() const {
  const double per_s = steady_writes_per_s();
  if (per_s <= 0) return {};
  const double commit = commit_time_.seconds();
  const double idle = std::exp(-per_s * commit) / per_s;
  return nearest_ns(commit / (commit + idle) * commit / 2);
}

void Etcd::begin_commit(Duration wait) {
  const double rate = free_rate();
  const bool is_free = commit_time_ == Duration{};
  Duration locked{};
  if (params_.blocking_reads) locked = std::max(unlocked_at_ - engine_.now(), Duration{});
  const double room = is_free ? 1e9 : std::ceil(rate * (locked + commit_time_).seconds());
  const size_t count = std::min(waiting_.size(), static_cast<size_t>(std::max(1.0, room)));
  const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(count);
  batch_.assign(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(end));
  waiting_.erase(waiting_.begin(), end);
  Duration span = commit_time_;
  if (!is_free) span = std::max(span, nearest_ns(static_cast<double>(count) / rate));
  commit_ =
      engine_.after(wait + locked + span, Label{"etcd.commit_done"}, [this] { end_commit(); });
}

void Etcd::end_commit() {
  done_.swap(batch_);
  counters_.commits += std::ranges::all_of(done_, &Waiting::is_over) ? 0 : 1;
  if (!waiting_.empty()) begin_commit({});
  for (const Waiting& write : done_) {
    counters_.timed_out += write.is_over ? 1 : 0;
    write.done(!write.is_over);
  }
  done_.clear();
}

void Etcd::read(const Read& read, Callback done) {
  if (!can_commit()) {
    // Drops reads whose client stopped waiting.
    if (waiting_reads_.size() == waiting_reads_.capacity()) {
      std::erase_if(waiting_reads_,
                    [now = engine_.now()](const WaitingRead& w) { return w.read.until <= now; });
    }
    waiting_reads_.push_back({read, std::move(done)});
    return;
  }
  ++counters_.reads;
  counters_.read = counters_.read + read.bytes;
  const Duration latency = params_.read_latency;
  if (latency > Duration{}) {
    const auto members = static_cast<double>(std::max<size_t>(up_ - (defragmenting_ ? 1 : 0), 1));
    const Duration moved = read.bytes / params_.read_bandwidth;
    const Duration service =
        nearest_ns(std::max(1 / params_.read_rate_max, moved.seconds()) / members);
    reads_free_at_ = std::max(reads_free_at_, engine_.now()) + service;
    const Duration cpu = read.objects > 0 ? params_.list_cpu(read.objects, read.bytes) : Duration{};
    unlocked_at_ = std::max(unlocked_at_, reads_free_at_ + cpu);
    engine_.at(reads_free_at_ + std::max(latency, moved) - service + cpu, Label{"etcd.read_done"},
               std::move(done));
    return;
  }
  engine_.after({}, Label{"etcd.read_done"}, std::move(done));
}

void Etcd::set_steady_load(const SteadyLoad& load, SteadySource source) {
  sources_[static_cast<size_t>(source)] = load;
  steady_ = {};
  for (const SteadyLoad& part : sources_) {
    steady_.writes_per_s += part.writes_per_s;
    steady_.stored.update_bytes_per_s += part.stored.update_bytes_per_s;
    steady_.stored.event_bytes_per_s += part.stored.event_bytes_per_s;
    steady_.stored.updates_per_s += part.stored.updates_per_s;
    steady_.stored.events_per_s += part.stored.events_per_s;
  }
  apply_steady();
}

void Etcd::apply_steady() {
  store_.set_rates(engine_.now(), stores_steady() ? steady_.stored : MvccStore::Rates{});
  check_space();
  plan_space_check();
}

void Etcd::set_member_up(uint32_t member, bool is_up) {
  ORRERY_CHECK(member < members_.size(), "the member exists");
  if (members_[member] == is_up) return;
  const bool had_quorum = has_quorum();
  members_[member] = is_up;
  up_ = is_up ? up_ + 1 : up_ - 1;
  const bool lost_leader = member == leader_ && !is_up;
  if (!has_quorum() || lost_leader) {
    ORRERY_MARK("etcd.leader_lost");
    election_.disarm();
    stall();
  }
  if (has_quorum() && (lost_leader || !had_quorum)) elect();
  if (had_quorum != has_quorum()) apply_steady();
  news.emit(is_up ? EtcdNews::MemberBack : EtcdNews::MemberLost, member);
}

// Interrupts the commit under way and puts its writes back at the head of the queue.
void Etcd::stall() {
  engine_.cancel(commit_);
  waiting_.insert(waiting_.begin(), std::make_move_iterator(batch_.begin()),
                  std::make_move_iterator(batch_.end()));
  batch_.clear();
  plan_to_give_up();
}

void Etcd::set_defragmenting(std::optional<uint32_t> member) {
  const uint32_t subject = member.value_or(defragmenting_.value_or(leader_));
  const bool could_commit = can_commit();
  defragmenting_ = member;
  if (could_commit && !can_commit()) stall();
  if (!could_commit && can_commit()) resume();
  if (could_commit != can_commit()) apply_steady();
  if (!members_[subject]) return;
  news.emit(member ? EtcdNews::Defragmenting : EtcdNews::Defragmented, subject);
}

void Etcd::elect() {
  leader_ = static_cast<uint32_t>(std::ranges::find(members_, true) - members_.begin());
  election_.arm(params_.election_timeout);
}

void Etcd::resume() {
  if (!can_commit()) return;
  giving_up_.disarm();
  // Writes whose client has given up will fail, but stay in the queue until their turn, so that all
  // writes complete in order.
  for (Waiting& write : waiting_) write.is_over = write.until <= engine_.now();
  if (batch_.empty() && !waiting_.empty()) begin_commit({});
  std::vector<WaitingRead> reads = std::move(waiting_reads_);
  waiting_reads_.clear();
  for (WaitingRead& waiting : reads) {
    if (waiting.read.until > engine_.now()) read(waiting.read, std::move(waiting.done));
  }
}

// Plans the timeout of the first write only. A later write that times out earlier is answered too
// late, but its client has given up and ignores the answer.
void Etcd::plan_to_give_up() {
  if (waiting_.empty()) return giving_up_.disarm();
  giving_up_.arm_at(std::max(waiting_.front().until, engine_.now()));
}

void Etcd::give_up() {
  ORRERY_MARK("etcd.timed_out");
  const Time now = engine_.now();
  const auto end = std::ranges::find_if(waiting_, [&](const Waiting& w) { return w.until > now; });
  const std::vector<Waiting> over(std::make_move_iterator(waiting_.begin()),
                                  std::make_move_iterator(end));
  waiting_.erase(waiting_.begin(), end);
  counters_.timed_out += over.size();
  plan_to_give_up();
  for (const Waiting& write : over) write.done(false);
}

bool Etcd::is_out_of_space() {
  check_space();
  return is_out_of_space_;
}

void Etcd::check_space() {
  if (is_out_of_space_ || store_.file(engine_.now()) < params_.quota) return;
  ORRERY_MARK("etcd.out_of_space");
  is_out_of_space_ = true;
  store_.set_rates(engine_.now(), {});
  news.emit(EtcdNews::OutOfSpace, leader_);
}

void Etcd::plan_space_check() {
  space_check_.disarm();
  if (is_out_of_space_) return;
  const Time when = store_.reaches(engine_.now(), params_.quota);
  // Adds a nanosecond, because rounding could otherwise make the check too early.
  if (when < Time::max()) space_check_.arm_at(when + 1_ns);
}

void Etcd::shrink() {
  store_.defragment(engine_.now());
  const bool was_out = std::exchange(is_out_of_space_, file() >= params_.quota);
  if (is_out_of_space_) return;
  apply_steady();
  if (was_out) news.emit(EtcdNews::SpaceBack, leader_);
}

}  // namespace orrery

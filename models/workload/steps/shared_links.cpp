#include "models/workload/steps/shared_links.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace orrery {
namespace {

// Smaller relative changes of a step's length are ignored if the length is computed from expected
// rates.
constexpr double kStepNoticed = 1e-3;

}  // namespace

SharedLinks::SharedLinks(Engine& engine, FlowNetwork& flows, size_t rehearsed_max)
    : engine_{engine}, flows_{flows}, rehearsed_max_{rehearsed_max} {
  flows.capacity_changed.connect([this](LinkId link) { link_changed(link); });
}

void SharedLinks::set(JobId job, const SharingGang& gang) {
  if (job.index >= gangs_.size()) gangs_.resize(job.index + size_t{1});
  WatchedGang& own = gangs_[job.index];
  double position = 0;
  if (own.is_there) {
    take_away(job);
    move_on(own);
    position = own.own.position;
  }
  own.own = gang;
  own.own.position = position;
  own.as_of = engine_.now();
  own.rate_limit = gang.rate_max;
  own.is_there = true;
  put(job);
  own.step = own.alone;
}

void SharedLinks::remove(JobId job) {
  if (job.index >= gangs_.size() || !gangs_[job.index].is_there) return;
  if (expected_.contains(job)) {
    expected_.leave(job);
    request_settle();
  }
  take_away(job);
  gangs_[job.index].is_there = gangs_[job.index].is_dirty = false;
}

void SharedLinks::put(JobId job) {
  if (links_.size() < flows_.links()) links_.resize(flows_.links());
  for (const LinkUse& use : gangs_[job.index].own.uses) {
    Link& link = links_[use.link.index];
    link.capacity = flows_.capacity(use.link);
    const auto at = std::ranges::lower_bound(link.members, job, {}, &Member::job);
    link.members.insert(at, {job, use.weight, 0});
  }
  set_demand(job);
}

// Sets the gang's demand on its links, from their present capacities.
void SharedLinks::set_demand(JobId job) {
  WatchedGang& gang = gangs_[job.index];
  double rate = gang.rate_limit;
  for (const LinkUse& use : gang.own.uses) {
    rate = std::min(rate, links_[use.link.index].capacity / use.weight);
  }
  gang.own.rate_max = rate;
  gang.alone.across = rate > 0 ? gang.own.alone() : Duration::max();
  gang.alone.length = gang.own.cycle.length(gang.alone.across);
  const double used = gang.shares() ? rate : 0;
  for (const LinkUse& use : gang.own.uses) {
    Link& link = links_[use.link.index];
    Member& member = *std::ranges::lower_bound(link.members, job, {}, &Member::job);
    const bool was_contended = link.is_contended();
    link.demand += use.weight * used - std::exchange(member.demand, use.weight * used);
    contention_changed(use.link, was_contended);
  }
  make_dirty(job);
}

void SharedLinks::take_away(JobId job) {
  for (const LinkUse& use : gangs_[job.index].own.uses) {
    Link& link = links_[use.link.index];
    const auto at = std::ranges::lower_bound(link.members, job, {}, &Member::job);
    const bool was_contended = link.is_contended();
    link.demand -= at->demand;
    link.members.erase(at);
    if (link.members.empty()) link.demand = 0;  // clears rounding errors
    contention_changed(use.link, was_contended);
    // Without `job`, its group may become a smaller group, or several groups. A contended link
    // connects all its members, so one member of each link leads to all these groups.
    if (link.is_contended()) look_at(link.members.front().job);
  }
}

// If the link became or ceased to be contended, marks its gangs for an update. The update of a gang
// that is in `expected_` with n contended links costs O(n). If n > kWatched, the gang is therefore
// marked only after more than n / 2 such changes.
void SharedLinks::contention_changed(LinkId id, bool was_contended) {
  const Link& link = links_[id.index];
  if (link.is_contended() == was_contended) return;
  for (const Member& member : link.members) {
    WatchedGang& gang = gangs_[member.job.index];
    const size_t uses = expected_.contains(member.job) ? expected_.uses(member.job) : 0;
    if (uses > ExpectedRates::kWatched && 2 * ++gang.flips <= uses) continue;
    make_dirty(member.job);
  }
}

ExpectedRates::Use SharedLinks::use_of(LinkId id, double weight) const {
  const Link& link = links_[id.index];
  return {.link = id,
          .weight = weight,
          .capacity = link.capacity,
          .pressure = link.demand / link.capacity};
}

void SharedLinks::link_changed(LinkId id) {
  if (id.index >= links_.size()) return;
  Link& link = links_[id.index];
  const bool was_contended = link.is_contended();
  link.capacity = flows_.capacity(id);
  expected_.set_capacity(id, link.capacity);
  contention_changed(id, was_contended);
  for (const Member& member : link.members) set_demand(member.job);
}

void SharedLinks::make_dirty(JobId job) {
  gangs_[job.index].is_dirty = true;
  look_at(job);
}

void SharedLinks::look_at(JobId job) {
  seeds_.push_back(job);
  request_settle();
}

void SharedLinks::request_settle() {
  if (engine_.is_pending(settle_event_)) return;
  settle_event_ = engine_.at(
      engine_.now(), Label{"steps.shares_settled"}, [this] { settle(); }, Phase::Settle);
}

void SharedLinks::settle() {
  std::ranges::sort(seeds_);
  const uint32_t searches_before = searches_;
  for (const JobId seed : std::exchange(seeds_, {})) {
    const WatchedGang& gang = gangs_[seed.index];
    const bool is_found = gang.found > searches_before && !gang.is_dirty;
    if (!gang.is_there || is_found) continue;
    find_group(seed);
    if (group_.size() == 1) {
      if (expected_.contains(seed)) expected_.leave(seed);
      set_step(seed, gang.alone);
    } else {
      is_small_group() ? rehearse_group() : expect_group();
    }
    for (const JobId job : group_) gangs_[job.index].is_dirty = false;
  }
  for (const JobId job : expected_.settle()) {
    const Duration across = expected_.across(job);
    set_step(job, {across, gangs_[job.index].own.cycle.length(across)}, kStepNoticed);
  }
  std::ranges::sort(changed_);
  for (const JobId job : std::exchange(changed_, {})) {
    if (gangs_[job.index].is_there) changed.emit(job);
  }
}

// Once the group is too large to be rehearsed, its gangs belong in `expected_`. From then on, the
// search leaves out gangs that are in `expected_` and unchanged (not dirty): their entries there
// stay as they are, and settle() takes their new steps from there. A changed gang may connect the
// group with gangs that were rehearsed, so the search follows its links.
void SharedLinks::find_group(JobId first) {
  ++searches_;
  group_ = {first};
  gangs_[first.index].found = searches_;
  const auto leaves_out = [&](JobId job) {
    const bool is_large = group_.size() > rehearsed_max_;
    return is_large && expected_.contains(job) && !gangs_[job.index].is_dirty;
  };
  for (size_t i = 0; i < group_.size(); ++i) {
    const WatchedGang& gang = gangs_[group_[i].index];
    if (!gang.shares()) continue;
    for (const LinkUse& use : gang.own.uses) {
      if (leaves_out(group_[i])) break;
      Link& link = links_[use.link.index];
      if (!link.is_contended() || std::exchange(link.searched, searches_) == searches_) continue;
      for (const Member& member : link.members) {
        WatchedGang& other = gangs_[member.job.index];
        if (!other.shares() || other.found == searches_ || leaves_out(member.job)) continue;
        other.found = searches_;
        group_.push_back(member.job);
      }
    }
  }
  std::ranges::sort(group_);
}

bool SharedLinks::is_small_group() const {
  if (group_.size() > rehearsed_max_) return false;
  std::vector<const SharingGang*> gangs;
  for (const JobId job : group_) gangs.push_back(&gangs_[job.index].own);
  return is_worth_rehearsing(gangs);
}

void SharedLinks::rehearse_group() {
  ++rehearsals_;
  std::vector<double> capacities;
  std::vector<SharingGang> gangs;
  for (const JobId job : group_) {
    if (expected_.contains(job)) expected_.leave(job);
    move_on(gangs_[job.index]);
    gangs.push_back(gangs_[job.index].own);
    std::vector<LinkUse>& uses = gangs.back().uses;
    std::erase_if(uses, [&](const LinkUse& u) { return !links_[u.link.index].is_contended(); });
    for (LinkUse& use : uses) {
      Link& link = links_[use.link.index];
      if (std::exchange(link.rehearsal, rehearsals_) != rehearsals_) {
        link.place = static_cast<uint32_t>(capacities.size());
        capacities.push_back(link.capacity);
      }
      use.link = {link.place};
    }
  }
  const Rehearsal rehearsal = rehearse(gangs, capacities);
  steps_rehearsed_ += rehearsal.played;
  for (size_t i = 0; i < group_.size(); ++i) {
    const SharingGang& gang = gangs[i];
    // Derives the duration of the exchange across nodes from the duration of the rehearsed step.
    // The exchange takes at least as long as without sharing.
    const StepCycle& cycle = gang.cycle;
    const Duration exposed = rehearsal.steps[i] - cycle.working - cycle.update;
    const bool waits_for_data = rehearsal.steps[i] <= cycle.reading;
    const Duration across = waits_for_data ? Duration{} : exposed + cycle.overlap - cycle.inside;
    set_step(group_[i], {std::max(across, gang.alone()), rehearsal.steps[i]});
  }
}

void SharedLinks::expect_group() {
  for (const JobId job : group_) {
    WatchedGang& gang = gangs_[job.index];
    if (expected_.contains(job) && !gang.is_dirty) continue;
    std::vector<ExpectedRates::Use> contended;
    for (const LinkUse& use : gang.own.uses) {
      if (links_[use.link.index].is_contended()) contended.push_back(use_of(use.link, use.weight));
    }
    const bool moved = gang.step.across != Duration::max();
    gang.flips = 0;
    expected_.join(job, gang.own, std::move(contended),
                   moved ? gang.step.across : gang.alone.across);
  }
}

void SharedLinks::set_step(JobId job, Step step, double noticed) {
  Step& known = gangs_[job.index].step;
  const double before = known.length.seconds(), now = step.length.seconds();
  const bool is_noticed = gangs_[job.index].is_dirty || std::abs(now - before) > noticed * before;
  if (!is_noticed) return;
  move_on(gangs_[job.index]);
  known = step;
  changed_.push_back(job);
}

// Advances the gang's position to now; its steps since `as_of` are assumed to be equally long.
void SharedLinks::move_on(WatchedGang& gang) const {
  if (gang.step.length != Duration::max()) {
    const double steps = (engine_.now() - gang.as_of).seconds() / gang.step.length.seconds();
    gang.own.position = std::fmod(gang.own.position + steps, 1.0);
  }
  gang.as_of = engine_.now();
}

}  // namespace orrery

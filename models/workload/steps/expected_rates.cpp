#include "models/workload/steps/expected_rates.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "sim/core/rng.hpp"

namespace orrery {
namespace {

constexpr double kDriftMax = 0.02;
// If the rate of a gang changes by no more than this share, and the gang exchanges in the same
// moments as before, the load on its links is not updated.
constexpr double kRateNoticed = 0.01;
constexpr int32_t kVisitsMax = 8;  // evaluations of a gang in one settle()

}  // namespace

// The seed is the number of earlier draws, so equal runs draw equal orders.
void ExpectedRates::draw_order(RatedGang& gang) {
  Rng rng{joined_++};
  std::iota(gang.order.begin(), gang.order.end(), 0.0);
  for (uint32_t k = kMoments; k > 1; --k) {
    std::swap(gang.order[k - 1], gang.order[rng.below(k)]);
  }
  gang.dither = rng.uniform();
}

void ExpectedRates::join(JobId job, const SharingGang& gang, std::vector<Use> uses,
                         Duration across) {
  if (job.index >= gangs_.size()) gangs_.resize(job.index + size_t{1});
  RatedGang& own = gangs_[job.index];
  own.is_in ? leave(job) : draw_order(own);
  own.is_in = true;
  own.cycle = gang.cycle;
  own.bytes = gang.bytes;
  own.rate_max = gang.rate_max;
  own.load = {};
  for (const Use& use : uses) attach(job, use);
  if (uses.size() > kWatched) {
    const auto end = uses.begin() + kWatched;
    std::nth_element(uses.begin(), end, uses.end(), [](const Use& a, const Use& b) {
      return a.pressure != b.pressure ? a.pressure > b.pressure : a.link < b.link;
    });
    uses.erase(end, uses.end());
    std::ranges::sort(uses, {}, &Use::link);
  }
  for (const Use& use : uses) watch(job, {use.link, use.weight});
  put_load(own, load_of(own, across));
  own.across = across;
  queue(job);
}

void ExpectedRates::attach(JobId job, const Use& use) {
  if (use.link.index >= links_.size()) links_.resize(use.link.index + size_t{1});
  set_capacity(use.link, use.capacity);
  links_[use.link.index].members.push_back({job, use.weight});
  gangs_[job.index].uses.push_back({use.link, use.weight});
}

// The sums of a link are maintained only while the link has watchers. So the sums are computed from
// the loads of all members when the first watcher is added.
void ExpectedRates::watch(JobId job, const LinkUse& use) {
  Link& link = links_[use.link.index];
  gangs_[job.index].watched.push_back(use);
  link.watchers.push_back(job);
  if (link.watchers.size() > 1) return;
  link.mean_load = 0;
  link.weight = link.load = {};
  for (const Member& member : link.members) {
    add_load(link, member.weight, {{}, gangs_[member.job.index].load});
  }
}

void ExpectedRates::leave(JobId job) {
  RatedGang& gang = gangs_[job.index];
  put_load(gang, {});
  for (const LinkUse& use : gang.uses) {
    std::erase_if(links_[use.link.index].members,
                  [job](const Member& member) { return member.job == job; });
  }
  for (const LinkUse& use : gang.watched) std::erase(links_[use.link.index].watchers, job);
  gang.uses.clear();
  gang.watched.clear();
  gang.is_in = false;
}

void ExpectedRates::set_capacity(LinkId link, double bits_per_s) {
  if (link.index >= links_.size()) return;
  Link& changed = links_[link.index];
  if (std::exchange(changed.capacity, bits_per_s) == bits_per_s) return;
  for (const JobId watcher : changed.watchers) queue(watcher);
}

ExpectedRates::Load ExpectedRates::load_of(const RatedGang& gang, Duration across) const {
  Load load;
  load.rate = static_cast<double>(gang.bytes.count) * 8 / std::max(across.seconds(), 1e-9);
  const double duty = across.seconds() / gang.cycle.length(across).seconds();
  const double moments = duty * kMoments + gang.dither - 1;
  for (uint32_t k = 0; k < kMoments; ++k) load.active[k] = gang.order[k] < moments ? 1 : 0;
  load.part = std::accumulate(load.active.begin(), load.active.end(), 0.0) / kMoments;
  return load;
}

ExpectedRates::Change::Change(const Load& before, const Load& after)
    : mean{after.mean() - before.mean()} {
  for (uint32_t k = 0; k < kMoments; ++k) {
    active[k] = after.active[k] - before.active[k];
    load[k] = after.rate * after.active[k] - before.rate * before.active[k];
  }
}

void ExpectedRates::add_load(Link& link, double weight, const Change& change) {
  if (link.watchers.empty()) return;
  for (uint32_t k = 0; k < kMoments; ++k) {
    link.weight[k] += weight * change.active[k];
    link.load[k] += weight * change.load[k];
  }
  const double mean = weight * change.mean;
  if (mean == 0) return;
  link.mean_load += mean;
  const double all = std::max(std::abs(mean), std::min(link.mean_load, link.capacity));
  const double drift = mean / all;
  for (const JobId watcher : link.watchers) {
    RatedGang& other = gangs_[watcher.index];
    other.drift += drift / static_cast<double>(other.watched.size());
    if (std::abs(other.drift) > kDriftMax) queue(watcher);
  }
}

// Replaces the gang's load on all its links by `load`.
void ExpectedRates::put_load(RatedGang& gang, const Load& load) {
  const Change change{gang.load, load};
  for (const LinkUse& use : gang.uses) add_load(links_[use.link.index], use.weight, change);
  gang.load = load;
  gang.drift = 0;  // only the changes of other gangs are drift
}

void ExpectedRates::queue(JobId job) {
  RatedGang& gang = gangs_[job.index];
  if (gang.is_queued || gang.visits >= kVisitsMax) return;
  gang.is_queued = true;
  queue_.push_back(job);
}

std::span<const JobId> ExpectedRates::settle() {
  done_.clear();
  while (!queue_.empty()) {
    const JobId job = queue_.front();
    queue_.pop_front();
    RatedGang& gang = gangs_[job.index];
    gang.is_queued = false;
    if (!gang.is_in) continue;
    if (gang.visits++ == 0) done_.push_back(job);
    work_out(job);
  }
  for (const JobId job : done_) gangs_[job.index].visits = 0;
  return done_;
}

void ExpectedRates::work_out(JobId job) {
  ++worked_out_;
  RatedGang& gang = gangs_[job.index];
  gang.across = across_of(gang.bytes, mean_rate(gang));
  gang.drift = 0;
  const Load load = load_of(gang, gang.across);
  const double change = std::abs(load.rate - gang.load.rate);
  if (change > kRateNoticed * gang.load.rate || load.active != gang.load.active)
    put_load(gang, load);
}

double ExpectedRates::mean_rate(const RatedGang& gang) const {
  Sums rates;
  rates.fill(gang.rate_max);
  const Load& own = gang.load;
  for (const LinkUse& use : gang.watched) {
    const Link& link = links_[use.link.index];
    const double weight = use.weight, each = 1 / weight;
    for (uint32_t k = 0; k < kMoments; ++k) {
      const double others = link.weight[k] - weight * own.active[k];
      const double load = link.load[k] - weight * own.rate * own.active[k];
      const double equal = link.capacity / (weight + others);
      const double left = (link.capacity - load) * each;
      rates[k] = std::min(rates[k], std::max(equal, left));
    }
  }
  return std::accumulate(rates.begin(), rates.end(), 0.0) / kMoments;
}

}  // namespace orrery

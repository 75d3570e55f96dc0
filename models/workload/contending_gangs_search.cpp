// models/workload/contending_gangs_search.cpp -- which gangs meet on links that they could fill.
#include <algorithm>
#include <utility>

#include "models/workload/contending_gangs.hpp"
#include "sim/core/check.hpp"

namespace orrery {

// What it could move if it were alone: links that are not whole count.
double ContendingGangs::alone_rate(FlowId flow) {
  if (flow.index >= alone_.size()) alone_.resize(flow.index + size_t{1});
  Alone& alone = alone_[flow.index];
  if (std::exchange(alone.settled, settled_) == settled_) return alone.rate;
  alone.rate = flows_.rate_max(flow);
  for (const MaxMin::Use& use : flows_.uses(flow)) {
    alone.rate = std::min(alone.rate, flows_.capacity(use.link) / use.weight);
  }
  return alone.rate;
}

// All gangs that it meets on links which they could fill, and those that these meet. False: they
// are too many, or meet some that are.
bool ContendingGangs::find(JobId first) {
  ++search_;
  found_.clear();
  full_.clear();
  if (!visit(first)) return false;
  for (size_t i = 0; i < found_.size(); ++i) {
    for (const MaxMin::Use& use : flows_.uses(found_[i].gang.flow)) {
      if (!look_at(use.link)) return false;
    }
  }
  return true;
}

bool ContendingGangs::visit(JobId job) {
  Entry& gang = entry(job);
  if (std::exchange(gang.seen, search_) == search_) return true;
  if (gang.crowded == settled_) return false;
  gang.settled = settled_;
  if (gang.play != nullptr) dissolve(*gang.play);
  std::optional<Gang> asked = ask_.gang(job);
  const bool moves =
      asked && !asked->is_cut_off && flows_.is_standing(asked->flow) && alone_rate(asked->flow) > 0;
  if (moves) {
    if (asked->has_changed && !gang.known) gang.known = known_by_work(*asked);
    found_.push_back({job, std::move(*asked)});
  } else {
    if (asked) cut_off(gang.known, *asked);
    set_mean(job, {});
  }
  return found_.size() <= static_cast<size_t>(params_.gangs);
}

bool ContendingGangs::could_be_full(LinkId link) {
  if (link.index >= links_.size()) links_.resize(flows_.links());
  LinkSeen& seen = links_[link.index];
  if (std::exchange(seen.settled, settled_) == settled_) return seen.is_full;
  int32_t flows = 0;
  double demand = 0;
  flows_.for_each_on(link, [&](FlowId flow, double weight) {
    ++flows;
    demand += weight * alone_rate(flow);
  });
  seen.is_full = flows > 1 && demand > flows_.capacity(link) * (1 + 1e-9);
  return seen.is_full;
}

bool ContendingGangs::look_at(LinkId link) {
  const bool is_full = could_be_full(link);
  LinkSeen& seen = links_[link.index];
  if (std::exchange(seen.search, search_) == search_) return true;
  seen.local = is_full ? static_cast<uint32_t>(full_.size()) : UINT32_MAX;
  if (!is_full) return true;
  full_.push_back(link);
  bool are_few = true;
  flows_.for_each_on(link, [&](FlowId flow, double) {
    if (are_few && alone_rate(flow) > 0) are_few = visit(ask_.job(flow));
  });
  return are_few;
}

// Those found are too many to be played, and so is whoever meets them: the search, which ended
// early, may not have come to some that are in plays of their own.
void ContendingGangs::leave_crowd() {
  ORRERY_MARK("gangs.too_many_to_play");
  for (const Found& one : found_) {
    Entry& gang = entry(one.job);
    if (!std::exchange(gang.is_counted, true)) ++counters_.too_many;
    gang.crowded = settled_;
    gang.known.reset();
    set_mean(one.job, {});
    for (const MaxMin::Use& use : flows_.uses(one.gang.flow)) {
      if (plays_.empty() || !could_be_full(use.link)) continue;
      flows_.for_each_on(use.link, [&](FlowId flow, double) {
        Play* const play = entry(ask_.job(flow)).play;
        if (play != nullptr) dissolve(*play);
      });
    }
  }
}

// ---- gangs whose exchanges cannot move

// Of one that went on alone.
ContendingGangs::Known ContendingGangs::known_by_work(const Gang& gang) {
  Gang was = gang;
  const double moving = (*gang.counted_by - gang.shape.inside).seconds();
  was.shape.rate_max = moving > 0 ? gang.shape.bits / moving : 0.0;
  const Duration in_step{(gang.done - gang.base).ns % gang.shape.compute.ns};
  return {.position = position_of(was),
          .begun = static_cast<double>((gang.done - in_step).ns),
          .bits = gang.shape.bits};
}

// It goes on until one must, or stands still; where it is by the time that they can is found here.
void ContendingGangs::cut_off(std::optional<Known>& known, const Gang& gang) {
  if (known && known->cut_off) {
    go_on_cut_off(*known, gang);
  } else if (!known && gang.counted_by) {
    known = known_by_work(gang);
  }
  if (!known) return;
  known->cut_off = engine_.now();
  known->count_in(gang.shape.bits);
  follow(*known, gang);
}

void ContendingGangs::go_on_cut_off(Known& known, const Gang& gang) {
  known.count_in(gang.shape.bits);
  if (gang.shape.save_every == 0) known.position.to_save = StepPosition::kNever;
  const int64_t steps = known.position.go_on_cut_off(gang.shape, engine_.now() - *known.cut_off);
  known.begun += static_cast<double>(steps * gang.shape.compute.ns);
}

}  // namespace orrery

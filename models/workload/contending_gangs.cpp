#include "models/workload/contending_gangs.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

constexpr int64_t kFirstSegment = 16;  // steps of the slowest gang
constexpr int64_t kGrowth = 8;         // later ones last that part of the play so far
constexpr int64_t kEventsPerStep = 4;
constexpr Duration kLongest = 8'760_h;  // steps that take longer are not told apart

}  // namespace

struct ContendingGangs::Play {
  struct Member {
    JobId job;
    double work = 0, work_begun = 0;  // at the begin of the segment; of the play
    Duration paused{};                // in segments that are over
  };
  StepPlay steps;
  std::vector<Member> members;
  Time begun{}, since{};             // of the play; of the present segment
  std::vector<StepPosition> from{};  // at the begin of that
  EventId event{};                   // its end
  bool is_frozen = false;
};

ContendingGangs::ContendingGangs(Engine& engine, const FlowNetwork& flows,
                                 const PlayAheadParams& params, Ask ask)
    : engine_{engine}, flows_{flows}, params_{params}, ask_{std::move(ask)} {}

ContendingGangs::~ContendingGangs() {
  engine_.cancel(settle_event_);
  for (const auto& play : plays_) engine_.cancel(play->event);
}

ContendingGangs::Entry& ContendingGangs::entry(JobId job) {
  if (job.index >= entries_.size()) entries_.resize(job.index + size_t{1});
  return entries_[job.index];
}

std::optional<Duration> ContendingGangs::step(JobId job) const {
  return job.index < entries_.size() ? entries_[job.index].step : std::nullopt;
}

std::optional<ContendingGangs::Place> ContendingGangs::place(JobId job) const {
  if (job.index >= entries_.size()) return {};
  const Play* const play = entries_[job.index].play;
  if (play == nullptr || play->is_frozen) return {};
  StepPlay steps = play->steps;
  steps.start(play->from);
  steps.run(engine_.now() - play->since);
  const auto member = std::ranges::find(play->members, job, &Play::Member::job);
  const auto i = static_cast<size_t>(member - play->members.begin());
  const StepParts& shape = steps.shapes()[i];
  return Place{.position = steps.positions()[i],
               .done = {std::llround(member->work + steps.work(i))},
               .exchange = shape.inside + nearest_ns(shape.bits / shape.rate_max)};
}

void ContendingGangs::gang_changed(JobId job) {
  if (params_.gangs == 0) return;
  if (std::exchange(entry(job).is_dirty, true)) return;
  dirty_.push_back(job);
  if (engine_.is_pending(settle_event_)) return;
  settle_event_ = engine_.after(
      {}, Label{"gangs.meet_others"}, [this] { settle(); }, Phase::Settle);
}

void ContendingGangs::links_change(FlowId flow) {
  if (params_.gangs == 0 || !flows_.is_standing(flow)) return;
  for (const MaxMin::Use& use : flows_.uses(flow)) {
    flows_.for_each_on(use.link, [&](FlowId other, double) {
      if (other != flow) gang_changed(ask_.job(other));
    });
  }
}

void ContendingGangs::link_changed(LinkId link) {
  flows_.for_each_on(link, [&](FlowId flow, double) { gang_changed(ask_.job(flow)); });
}

void ContendingGangs::gang_ended(JobId job) {
  if (job.index >= entries_.size()) return;
  Entry& ended = entries_[job.index];
  Play* const play = std::exchange(ended.play, nullptr);
  ended.step.reset();
  ended.known.reset();
  ended.is_counted = false;
  if (play == nullptr) return;
  for (const Play::Member& member : play->members) gang_changed(member.job);
  dissolve(*play);  // now: nobody else may be left in it
}

void ContendingGangs::set_step(JobId job, std::optional<Duration> step) {
  Entry& gang = entry(job);
  if (gang.step == step) return;
  gang.step = step;
  changed.emit(job);
}

// ---- who meets whom

void ContendingGangs::settle() {
  ++settled_;
  for (size_t i = 0; i < dirty_.size(); ++i) {  // it grows
    Play* const play = entry(dirty_[i]).play;
    if (play != nullptr) dissolve(*play);
  }
  for (size_t i = 0; i < dirty_.size(); ++i) {
    const JobId job = dirty_[i];
    entry(job).is_dirty = false;
    if (entry(job).settled == settled_) continue;
    if (find(job)) {
      begin_play();
    } else {
      leave_crowd();
    }
  }
  dirty_.clear();
}

// Where each of its gangs is at this moment; all of them are looked at anew.
void ContendingGangs::dissolve(Play& play) {
  ++counters_.dissolved;
  engine_.cancel(play.event);
  if (!play.is_frozen) {
    play.steps.start(play.from);
    play.steps.run(engine_.now() - play.since);
  }
  for (size_t i = 0; i < play.members.size(); ++i) {
    const JobId job = play.members[i].job;
    Entry& gang = entry(job);
    if (gang.play != &play) continue;  // it ended
    gang.play = nullptr;
    if (!play.is_frozen) {
      gang.known = {.position = play.steps.positions()[i],
                    .work = play.members[i].work + play.steps.work(i),
                    .bits = play.steps.shapes()[i].bits};
    }
    if (!std::exchange(gang.is_dirty, true)) dirty_.push_back(job);
  }
  counters_.events += static_cast<uint64_t>(play.steps.played());
  std::erase_if(plays_, [&](const auto& one) { return one.get() == &play; });
}

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
  if (asked && flows_.is_standing(asked->flow) && alone_rate(asked->flow) > 0) {
    found_.push_back({job, std::move(*asked)});
  } else {
    if (gang.known && gang.known->position.saves()) gang.known.reset();  // unseen meanwhile
    if (gang.known && !gang.known->cut_off) gang.known->cut_off = engine_.now();
    set_step(job, {});
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
    set_step(one.job, {});
    for (const MaxMin::Use& use : flows_.uses(one.gang.flow)) {
      if (plays_.empty() || !could_be_full(use.link)) continue;
      flows_.for_each_on(use.link, [&](FlowId flow, double) {
        Play* const play = entry(ask_.job(flow)).play;
        if (play != nullptr) dissolve(*play);
      });
    }
  }
}

// ---- plays

void ContendingGangs::begin_play() {
  const bool is_alone = found_.size() == 1 && !entry(found_.front().job).known;
  if (found_.empty() || is_alone) {
    for (const Found& one : found_) {
      entry(one.job).known.reset();
      set_step(one.job, {});
    }
    return;
  }
  std::ranges::sort(found_, {}, [](const Found& one) { return one.job.index; });
  std::vector<StepParts> shapes;
  std::vector<StepPosition> positions;
  std::vector<Play::Member> members;
  for (Found& one : found_) {
    StepParts& shape = one.gang.shape;
    shape.rate_max = alone_rate(one.gang.flow);
    for (const MaxMin::Use& use : flows_.uses(one.gang.flow)) {
      const uint32_t local = links_[use.link.index].local;
      if (local != UINT32_MAX) shape.uses.push_back({{local}, use.weight});
    }
    std::optional<Known>& known = entry(one.job).known;
    if (known && known->cut_off) {
      ORRERY_MARK("gangs.played_again_after_an_outage");
      const double steps = known->position.go_on_cut_off(shape, engine_.now() - *known->cut_off,
                                                         std::exchange(known->bits, 0.0));
      known->work += steps * shape.compute.seconds() * 1e9;
    }
    positions.push_back(known ? position_of(one.gang, *known) : position_of(one.gang));
    const double work = known ? known->work : static_cast<double>(one.gang.done.ns);
    members.push_back({.job = one.job, .work = work, .work_begun = work});
    known.reset();
    shapes.push_back(std::move(shape));
  }
  std::vector<double> capacities;
  for (const LinkId link : full_) capacities.push_back(flows_.capacity(link));
  ++counters_.plays;
  plays_.push_back(std::make_unique<Play>(Play{.steps = {std::move(shapes), capacities},
                                               .members = std::move(members),
                                               .begun = engine_.now()}));
  Play& play = *plays_.back();
  play.steps.start(std::move(positions));
  for (const Play::Member& member : play.members) entry(member.job).play = &play;
  begin_segment(play);
}

StepPosition ContendingGangs::position_of(const Gang& gang, const Known& known) {
  StepPosition position = known.position;
  if (known.bits > 0) position.bits *= gang.shape.bits / known.bits;
  if (gang.is_stopped && (gang.done - gang.base).ns % gang.shape.compute.ns == 0) {
    position = StepPosition::begin(gang.shape);  // it is between two steps, not just before
  }
  const bool is_last = gang.to_save == StepPosition::kNever;  // stretch, without a checkpoint
  if (gang.is_stopped || position.is_stopped || is_last) {
    position.to_save = gang.to_save;
    position.pause = gang.pause;
  }
  position.is_stopped = gang.is_stopped;
  return position;
}

// Of a gang that was not played: its work says where it is in its step.
StepPosition ContendingGangs::position_of(const Gang& gang) {
  const StepParts& shape = gang.shape;
  const double part = static_cast<double>((gang.done - gang.base).ns % shape.compute.ns) /
                      static_cast<double>(shape.compute.ns);
  StepPosition position = StepPosition::after(shape, nearest_ns(shape.alone().seconds() * part));
  position.is_stopped = gang.is_stopped;
  position.to_save = gang.to_save;
  position.pause = gang.pause;
  return position;
}

// How long the next means hold: ever longer, as it matters ever less what they hide. But nobody
// ends before it could alone, and so does no segment, save for the last step; nor is it longer than
// the budget lasts for the one whose steps are short.
Duration ContendingGangs::next_segment(const Play& play) const {
  const std::vector<StepParts>& shapes = play.steps.shapes();
  Duration longest{}, shortest = kLongest, soonest = kLongest;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const Duration alone = shapes[i].alone();
    longest = std::clamp(alone, longest, kLongest);
    shortest = std::min(alone, shortest);
    const std::optional<Gang> gang = ask_.gang(play.members[i].job);
    if (!gang) continue;
    const double steps = std::max(gang->left.seconds() / shapes[i].compute.seconds(), 1.0);
    soonest = nearest_ns(std::min(soonest.seconds(), steps * alone.seconds()));
  }
  const double budget = shortest.seconds() * params_.steps;
  const Duration usual =
      std::max(longest * kFirstSegment, Duration{(engine_.now() - play.begun).ns / kGrowth});
  return std::min({usual, soonest, nearest_ns(std::min(budget, kLongest.seconds()))});
}

void ContendingGangs::begin_segment(Play& play) {
  const Time now = engine_.now();
  play.since = now;
  play.from = play.steps.positions();
  const size_t gangs = play.members.size();
  const std::vector<StepParts>& shapes = play.steps.shapes();
  if (play.steps.period() > Duration{}) {
    ORRERY_MARK("gangs.repeat_themselves");
    for (size_t i = 0; i < gangs; ++i) {
      const int64_t steps = play.steps.steps_of_period(i);
      const double period = play.steps.period().seconds();
      set_step(play.members[i].job,
               steps > 0 ? nearest_ns(period / static_cast<double>(steps)) : shapes[i].alone());
    }
    return;
  }
  if (play.steps.played() > int64_t{params_.steps} * kEventsPerStep) return freeze(play);
  play.steps.start(play.from);
  const Duration segment = play.steps.run(next_segment(play));
  for (size_t i = 0; i < gangs; ++i) {
    const Play::Member& member = play.members[i];
    const double work = play.steps.work(i);
    const double span = (segment - play.steps.paused(i)).seconds();
    const std::optional<Gang> gang = ask_.gang(member.job);
    // None: its cable failed in this instant, which is taken up when rates are settled.
    const double late = gang ? member.work - static_cast<double>(gang->done.ns) : 0.0;
    const double told = work + std::clamp(late, -work / 2, work / 2);
    const bool goes_on = work > 0 && span > 0;
    set_step(member.job, goes_on ? nearest_ns(shapes[i].compute.seconds() * span * 1e9 / told)
                                 : shapes[i].alone());
  }
  play.event =
      engine_.after(segment, Label{"gangs.play_goes_on"}, [this, &play] { end_segment(play); });
}

void ContendingGangs::end_segment(Play& play) {
  for (size_t i = 0; i < play.members.size(); ++i) {
    play.members[i].work += play.steps.work(i);
    play.members[i].paused += play.steps.paused(i);
  }
  if (play.members.size() > 1) return begin_segment(play);
  const JobId job = play.members.front().job;  // it is alone, and now where it should be
  entry(job).play = nullptr;
  counters_.events += static_cast<uint64_t>(play.steps.played());
  std::erase_if(plays_, [&](const auto& one) { return one.get() == &play; });
  set_step(job, {});
}

// What it was up to now goes on.
void ContendingGangs::freeze(Play& play) {
  ORRERY_MARK("gangs.do_not_repeat_themselves");
  play.is_frozen = true;
  for (size_t i = 0; i < play.members.size(); ++i) {
    const Play::Member& member = play.members[i];
    const double work = member.work - member.work_begun;
    const double span = (engine_.now() - play.begun - member.paused).seconds();
    if (work <= 0 || span <= 0) continue;
    set_step(member.job, nearest_ns(play.steps.shapes()[i].compute.seconds() * span * 1e9 / work));
  }
}

}  // namespace orrery

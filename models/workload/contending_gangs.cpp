#include "models/workload/contending_gangs.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

constexpr int64_t kFirstSegment = 2;  // steps of the slowest gang
constexpr int64_t kGrowth = 4;        // later ones last that part of the play so far
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
  int64_t events_before = 0;         // played before that
  std::optional<StepPlay> played{};  // of the present segment, once somebody asked
  Duration played_for{};             // so much of it

  const StepPlay& played_until(Time now);
};

// `steps` are at the end of the segment.
const StepPlay& ContendingGangs::Play::played_until(Time now) {
  if (!played) {
    played = steps;
    played->start(from, events_before);
    played_for = {};
  }
  const Duration span = now - since;
  if (played_for < span) played->run(span - std::exchange(played_for, span));
  return *played;
}

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

std::optional<ContendingGangs::Mean> ContendingGangs::mean(JobId job) const {
  return job.index < entries_.size() ? entries_[job.index].mean : std::nullopt;
}

std::optional<ContendingGangs::Place> ContendingGangs::place(JobId job) const {
  if (job.index >= entries_.size()) return {};
  Play* const play = entries_[job.index].play;
  if (play == nullptr || play->is_frozen) return {};
  const StepPlay& steps = play->played_until(engine_.now());
  const auto member = std::ranges::find(play->members, job, &Play::Member::job);
  const auto i = static_cast<size_t>(member - play->members.begin());
  const StepParts& shape = steps.shapes()[i];
  const StepPosition& position = steps.positions()[i];
  const double last = position.to_end == 1 ? 0 : shape.last_part;
  return Place{.position = position,
               .done = {std::llround(member->work + steps.work(i))},
               .exchange = shape.inside + nearest_ns(shape.bits / shape.rate_max),
               .next = position.to_end <= 2 ? last : 1};
}

void ContendingGangs::gang_changed(JobId job) {
  if (params_.gangs == 0) return;
  if (std::exchange(entry(job).is_dirty, true)) return;
  dirty_.push_back(job);
  if (engine_.is_pending(settle_event_)) return;
  settle_event_ = engine_.after(
      {}, Label{"gangs.meet_others"}, [this] { settle(); }, Phase::Settle);
}

// Who meets whom stays as it is, so it is nothing to those who are not played.
void ContendingGangs::gang_stopped(JobId job) {
  const Entry& gang = entry(job);
  const bool is_left_out = gang.crowded == gang.settled || gang.alone == gang.settled;
  if (gang.play == nullptr && !gang.known && gang.settled > 0 && is_left_out) return;
  gang_changed(job);
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
  ended.mean.reset();
  ended.known.reset();
  ended.is_counted = false;
  if (play == nullptr) return;
  for (const Play::Member& member : play->members) gang_changed(member.job);
  dissolve(*play);  // now: nobody else may be left in it
}

void ContendingGangs::set_mean(JobId job, std::optional<Mean> mean) {
  Entry& gang = entry(job);
  if (gang.mean == mean) return;
  gang.mean = mean;
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
  const StepPlay& steps = play.is_frozen ? play.steps : play.played_until(engine_.now());
  for (size_t i = 0; i < play.members.size(); ++i) {
    const JobId job = play.members[i].job;
    Entry& gang = entry(job);
    if (gang.play != &play) continue;  // it ended
    gang.play = nullptr;
    if (!play.is_frozen) {
      const StepPosition& position = steps.positions()[i];
      const StepParts& shape = steps.shapes()[i];
      gang.known = {.position = position,
                    .begun = play.members[i].work + steps.work(i) - position.work(shape),
                    .bits = shape.bits};
    }
    if (!std::exchange(gang.is_dirty, true)) dirty_.push_back(job);
  }
  counters_.events += static_cast<uint64_t>(play.steps.played());
  std::erase_if(plays_, [&](const auto& one) { return one.get() == &play; });
}

// ---- plays

void ContendingGangs::begin_play() {
  if (found_.empty() || (found_.size() == 1 && !entry(found_.front().job).known)) {
    for (const Found& one : found_) {
      entry(one.job).alone = settled_;
      set_mean(one.job, {});
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
      go_on_cut_off(*known, one.gang);
    }
    double work = static_cast<double>(one.gang.done.ns);
    if (known) {
      known->count_in(shape.bits);
      follow(*known, one.gang);
      count_to_end(known->position, one.gang, known->begun);
      work = known->begun + known->position.work(shape);
      placed.emit(one.job, {std::llround(work)});
    }
    positions.push_back(known ? known->position : position_of(one.gang));
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

void ContendingGangs::Known::count_in(double now) {
  if (bits > 0) position.bits *= now / bits;
  bits = now;
}

// Whether it is stopped, and where its checkpoints are, is for others to say.
void ContendingGangs::follow(Known& known, const Gang& gang) {
  StepPosition& position = known.position;
  if (gang.is_stopped && (gang.done - gang.base).ns % gang.shape.compute.ns == 0) {
    position = position_of(gang);  // it is between two steps, not just before
    known.begun = static_cast<double>(gang.done.ns);
  }
  const bool is_last = gang.to_save == StepPosition::kNever;  // stretch, without a checkpoint
  if (gang.is_stopped || position.is_stopped || is_last) {
    position.to_save = gang.to_save;
    position.pause = gang.pause;
  }
  position.is_stopped = gang.is_stopped;
}

// Steps that are left, of which the last may be shorter.
void ContendingGangs::count_to_end(StepPosition& position, const Gang& gang, double begun) {
  if (gang.steps == StepPosition::kNever) return;
  const double done = (begun - static_cast<double>(gang.base.ns)) / 1e9;
  const int64_t over = std::llround(done / gang.shape.compute.seconds());
  position.to_end = std::max(gang.steps - over, int64_t{1});
}

// Of a gang that was not played: its work says where it is in its step, and its time does so to the
// nanosecond, if it met nobody.
StepPosition ContendingGangs::position_of(const Gang& gang) {
  const StepParts& shape = gang.shape;
  const Duration done = gang.done - gang.base, in_step{done.ns % shape.compute.ns};
  const bool is_last = done / shape.compute == gang.steps - 1;
  const double part = is_last ? shape.last_part : 1;
  const double of_it = std::min(in_step.seconds() / (shape.compute.seconds() * part), 1.0);
  const Duration alone = part == 1 ? shape.alone() : shape.scaled(part).alone();
  const Duration since = gang.step == alone ? gang.in_step : nearest_ns(alone.seconds() * of_it);
  StepPosition position = StepPosition::after(shape, since, part);
  count_to_end(position, gang, static_cast<double>((gang.done - in_step).ns));
  position.is_stopped = gang.is_stopped;
  position.to_save = gang.to_save;
  position.pause = gang.pause;
  return position;
}

// How long the next means hold, if nobody ends: ever longer, as it matters ever less what they
// hide, but no longer than the budget lasts for the one whose steps are short. Who has ended is
// gone within nanoseconds.
Duration ContendingGangs::next_segment(const Play& play) const {
  Duration longest{}, shortest = kLongest;
  for (const StepParts& shape : play.steps.shapes()) {
    const Duration alone = shape.alone();
    longest = std::clamp(alone, longest, kLongest);
    shortest = std::min(alone, shortest);
  }
  for (size_t i = 0; i < play.members.size(); ++i) {
    if (play.steps.has_ended(i)) return longest;
  }
  if (play.members.size() == 1) {  // it is to be alone from the begin of a step on
    const StepPosition& at = play.steps.positions().front();
    const Duration pause = at.pause == Duration::max() ? Duration{} : at.pause;
    return std::min(pause + at.left(play.steps.shapes().front()), kLongest);
  }
  const double budget = std::min(shortest.seconds() * params_.steps, kLongest.seconds());
  const Duration usual =
      std::max(longest * kFirstSegment, Duration{(engine_.now() - play.begun).ns / kGrowth});
  return std::min(usual, nearest_ns(budget));
}

void ContendingGangs::begin_segment(Play& play) {
  const Time now = engine_.now();
  play.since = now;
  play.from = play.steps.positions();
  play.played.reset();
  play.events_before = play.steps.played();
  const size_t gangs = play.members.size();
  const std::vector<StepParts>& shapes = play.steps.shapes();
  bool repeats = play.steps.period() > Duration{};
  for (size_t i = 0; i < gangs; ++i) repeats = repeats && !play.steps.has_ended(i);
  if (repeats) ORRERY_MARK("gangs.repeat_themselves");
  if (!repeats && play.steps.played() > int64_t{params_.steps} * kEventsPerStep) {
    return freeze(play);
  }
  play.steps.start_again();
  const Duration segment =
      play.steps.run(repeats ? kLongest : next_segment(play), params_.steps * kEventsPerStep);
  for (size_t i = 0; i < gangs; ++i) {
    const Play::Member& member = play.members[i];
    const double work = play.steps.work(i);
    const Duration span = segment - play.steps.paused(i);
    const std::optional<Gang> gang = ask_.gang(member.job);
    // None: in this instant its way became another, which is taken up when rates are settled.
    const double late = gang ? member.work - static_cast<double>(gang->done.ns) : 0.0;
    const Duration told{std::llround(work + std::clamp(late, -work / 2, work / 2))};
    const bool goes_on = told > Duration{} && span > Duration{};
    set_mean(member.job, goes_on ? Mean{told, span} : Mean{shapes[i].compute, shapes[i].alone()});
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
  const JobId job = play.members.front().job;  // it is alone, and soon where it should be
  const std::optional<Gang> gang = ask_.gang(job);
  const double done = gang ? static_cast<double>(gang->done.ns) : play.members.front().work;
  const bool is_there = std::abs(play.members.front().work - done) < 1;
  if (!is_there && gang && !gang->is_stopped) return begin_segment(play);
  entry(job).play = nullptr;
  counters_.events += static_cast<uint64_t>(play.steps.played());
  std::erase_if(plays_, [&](const auto& one) { return one.get() == &play; });
  set_mean(job, {});
}

// What it was up to now goes on.
void ContendingGangs::freeze(Play& play) {
  ORRERY_MARK("gangs.do_not_repeat_themselves");
  play.is_frozen = true;
  for (size_t i = 0; i < play.members.size(); ++i) {
    const Play::Member& member = play.members[i];
    const Duration work{std::llround(member.work - member.work_begun)};
    const Duration span = engine_.now() - play.begun - member.paused;
    if (work > Duration{} && span > Duration{}) set_mean(member.job, Mean{work, span});
  }
}

}  // namespace orrery

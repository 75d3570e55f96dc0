// models/workload/contending_gangs.hpp -- how long steps take of gangs that share full links.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "models/network/flow_network.hpp"
#include "models/workload/play_ahead_params.hpp"
#include "models/workload/step_play.hpp"
#include "sim/core/id.hpp"
#include "sim/engine/engine.hpp"
#include "sim/engine/signal.hpp"

namespace orrery {

// How bursts of exchanges meet depends on when each gang begins its steps, and no share of a link
// says that. So gangs that could fill a link together are played ahead, step by step, from the
// moment when something changes among them; what comes out is the mean length of the steps of each.
// Plays are looked at again after a while, and ever less often; never, if the gangs repeat
// themselves. Gangs that meet nobody, or too many, are not played.
class ContendingGangs {
 public:
  struct Gang {
    FlowId flow;         // a standing one
    StepParts shape;     // without uses: they are those of the flow, whose limit is rate_max
    Duration done;       // of its work, all in all
    Duration base;       // of that, when it began its first step
    Duration step{};     // how long one takes at present, by its progress
    Duration in_step{};  // how long ago it began the present one, by that
    int64_t steps = StepPosition::kNever;    // until all is done, from that first one on
    int64_t to_save = StepPosition::kNever;  // steps that end before the next checkpoint
    Duration pause{};                        // left of the present one
    bool is_stopped = false;                 // by somebody else
    bool is_cut_off = false;                 // its exchanges cannot move; it may have no flow
    // An exchange of the steps by which its work says where it is; none: it does not.
    std::optional<Duration> counted_by{};
    bool has_changed = false;  // in this instant: its exchanges last otherwise from now on
  };
  struct Ask {
    // Of a gang that runs and exchanges across nodes; none: of others.
    std::function<std::optional<Gang>(JobId)> gang;
    std::function<JobId(FlowId)> job;
  };

  ContendingGangs(Engine& engine, const FlowNetwork& flows, const PlayAheadParams& params, Ask ask);
  ContendingGangs(const ContendingGangs&) = delete;
  ContendingGangs& operator=(const ContendingGangs&) = delete;
  ~ContendingGangs();

  // Its flow, its links or its step are others now. Taken up once rates are settled.
  void gang_changed(JobId job);
  void gang_stopped(JobId job);  // or goes on
  // Before its flow, or what it uses, is changed or ended: those it meets there are concerned, too.
  void links_change(FlowId flow);
  void gang_ended(JobId job);
  void link_changed(LinkId link);  // its capacity

  // So much work in so much time, pauses left out, to the nanosecond of both, until `changed`.
  struct Mean {
    Duration work, span;
    bool operator==(const Mean&) const = default;
  };
  std::optional<Mean> mean(JobId job) const;  // none: it is not played
  struct Place {
    StepPosition position;
    Duration done;      // of its work, counted as if it did so all through each step
    Duration exchange;  // of a step, if it met nobody
    double next;        // part of a whole step that its next one is; 0: it has none
  };
  std::optional<Place> place(JobId job) const;  // of one whose steps are played one by one
  Signal<JobId> changed;                        // mean()
  Signal<JobId, Duration> placed;  // where it is by its play, as in Place::done; then comes a step
  struct Counters {
    uint64_t plays = 0, dissolved = 0, events = 0;  // events: of plays that are over
    uint64_t too_many = 0;                          // gangs that at some time met too many others
  };
  const Counters& counters() const { return counters_; }

 private:
  struct Play;
  struct Known {  // of a gang that was played until this instant, or is cut off
    StepPosition position;
    double begun = 0;               // work done when its step began, in nanoseconds
    double bits = 0;                // of a whole step
    std::optional<Time> cut_off{};  // since when its exchanges cannot move
    void count_in(double now);      // bits of a whole step, on what is its heaviest link now
  };
  struct Entry {
    std::optional<Mean> mean;
    Play* play = nullptr;
    std::optional<Known> known;
    bool is_dirty = false;
    uint32_t seen = 0, settled = 0;   // the last search and settling that came by
    uint32_t crowded = 0, alone = 0;  // the last settling in which it met too many, or nobody
    bool is_counted = false;          // among those that met too many
  };
  struct Found {
    JobId job;
    Gang gang;
  };
  struct Alone {  // what a flow could move alone
    uint32_t settled = 0;
    double rate = 0;
  };
  struct LinkSeen {
    uint32_t settled = 0, search = 0;
    bool is_full = false;         // its gangs could fill it together, as of that settling
    uint32_t local = UINT32_MAX;  // its place in full_, in that search
  };
  Entry& entry(JobId job);
  void settle();
  bool find(JobId first);
  bool visit(JobId job);
  bool look_at(LinkId link);
  bool could_be_full(LinkId link);
  void leave_crowd();
  double alone_rate(FlowId flow);
  void begin_play();
  static Known known_by_work(const Gang& gang);
  void cut_off(std::optional<Known>& known, const Gang& gang);
  void go_on_cut_off(Known& known, const Gang& gang);
  static void follow(Known& known, const Gang& gang);
  static StepPosition position_of(const Gang& gang);
  static void count_to_end(StepPosition& position, const Gang& gang, double begun);
  Duration next_segment(const Play& play) const;
  void begin_segment(Play& play);
  void end_segment(Play& play);
  void freeze(Play& play);
  void dissolve(Play& play);
  void set_mean(JobId job, std::optional<Mean> mean);

  Engine& engine_;
  const FlowNetwork& flows_;
  PlayAheadParams params_;
  Ask ask_;
  std::vector<Entry> entries_;  // by job
  std::vector<std::unique_ptr<Play>> plays_;
  std::vector<JobId> dirty_;
  EventId settle_event_;
  Counters counters_;
  uint32_t settled_ = 0;
  // Of the search under way:
  uint32_t search_ = 0;
  std::vector<Found> found_;
  std::vector<LinkId> full_;
  std::vector<Alone> alone_;     // by flow
  std::vector<LinkSeen> links_;  // by link
};

}  // namespace orrery

// models/workload/gang_exchanges.hpp -- what exchanges between ranks cost the gangs that run.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "models/hardware/cluster_state.hpp"
#include "models/hardware/machine.hpp"
#include "models/network/exchange_times.hpp"
#include "models/network/network.hpp"
#include "models/workload/contending_gangs.hpp"
#include "models/workload/dataset_readers.hpp"
#include "models/workload/job_controller.hpp"
#include "models/workload/job_table.hpp"
#include "models/workload/step_activity.hpp"
#include "models/workload/step_tracer.hpp"
#include "models/workload/training_step.hpp"
#include "models/workload/workload_params.hpp"
#include "sim/core/id.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// Sets the paces of gangs that have a step. Alone, the exchanges of a step take as long as
// ExchangeTimes says. On the network a gang is one flow that never ends, which asks for no more
// than it could move alone and uses links in proportion to what a step puts on them, the heaviest
// with weight 1. So links are shared as if gangs exchanged all the time: the most that they can
// hinder one another. How much they really do is found by ContendingGangs. A gang that cannot
// exchange at all for longer than NCCL retries is aborted.
class GangExchanges {
 public:
  // `network`: null with level: alpha_beta; `storage`: null if there is none. All must outlive it.
  GangExchanges(Sim sim, const ClusterState& cluster, const JobTable& jobs,
                std::span<const Machine> machines, JobController& controller, Network* network,
                ExchangeTimes times, Storage* storage, StepDetail steps,
                const PlayAheadParams& play_ahead);
  GangExchanges(const GangExchanges&) = delete;
  GangExchanges& operator=(const GangExchanges&) = delete;

  void phase_changed(JobId job, JobPhase after);
  // Of a gang that runs; nothing of others.
  struct View {
    const StepPlan* plan = nullptr;
    Duration exchange{};       // of a step, at present, in the mean; max: it cannot go on
    Bandwidth rate{};          // on its heaviest link, while it exchanges
    Bytes bytes{};             // of a step, on its heaviest link
    Duration inside{};         // part of the exchange that stays in nodes
    bool is_played = false;    // its steps are played one by one
    bool is_updating = false;  // by the optimizer, or waits for data; only if they are
  };
  View view(JobId job) const;
  // The controller changed how fast the job goes, or whether it pauses.
  void pace_changed(JobId job);

  // It cannot exchange, and nobody will give up for it.
  bool waits_in_vain(JobId job) const;
  uint32_t standing_still() const { return standing_still_; }  // gangs that cannot exchange now
  uint64_t gave_up() const { return gave_up_; }                // gangs, because they could not
  const ContendingGangs* contending() const { return contending_ ? &*contending_ : nullptr; }
  uint64_t rerouted() const { return rerouted_; }  // times that routes of a gang were asked again
  // Bytes of steps played one by one, on the heaviest link. Includes earlier jobs with this id.
  Bytes sent(JobId job) const;
  // The share of these bytes that each GPU of a running job sends, by NIC. Empty without a fabric.
  std::vector<double> nic_parts(JobId job) const;

 private:
  struct StepTime {  // where a gang is in its step by its progress
    Time at = kNever;
    Duration step{};                       // how long one takes
    Duration in_step{};                    // how long ago it began the present one
    std::optional<Duration> counted_by{};  // as in Gang
  };
  struct Gang {
    bool is_running = false;
    StepPlan plan{};
    StepActivity activity{};  // in bytes on its heaviest link
    std::vector<LinkUse> held{};
    bool has_detour = false;
    Duration shared{};    // an exchange at the rate of its flow
    Duration exchange{};  // as it really is, in the mean; max: it is due, and cannot move
    Duration step{};      // as it went on last; 0: it stands still
    std::optional<Duration> counted_by{};  // an exchange, if progress says where in a step it is
    std::optional<Duration> due_at{};      // progress up to which it goes on though nothing moves
    Duration slack{};                      // for which it was due by then, unseen
    EventId is_due{};
    Bandwidth rate{};   // of its flow
    Duration base{};    // of its work, when it began its first step
    StepTime before{};  // anything changed in the instant `before.at`
    bool is_paused = false;
    FlowId flow{};
    EventId gives_up{};               // pending while it cannot exchange
    Duration goal = Duration::max();  // progress at which its data are in the cache
  };
  struct Places {  // of a gang's GPUs
    std::vector<RankPlace> ranks;
    std::vector<NodeId> nodes;  // each once
    GpuMask gpus = 0;           // on the first node
    int64_t cpu_milli = 0;      // likewise; 0: no limit
  };
  GangTerms terms_of(JobId job) const;
  StepPlan plan_of(JobId job, const Places& places) const;
  void begin(JobId job);
  void end(JobId job);
  void reroute(const Network::RouteNews& news);
  Places places_of(JobId job) const;
  void find_activity(JobId job, const Places& places);
  void connect(JobId job);
  void rate_changed(FlowId flow);
  StepTime step_time_of(JobId job) const;
  StepParts parts_of(JobId job) const;
  std::pair<Pace, Duration> lone_pace(JobId job, Duration step) const;
  Bandwidth rate_of(const Gang& gang) const;
  static Bandwidth rate_in(const Gang& gang);
  void set_rate(Gang& gang, Bandwidth rate);
  void set_pace(JobId job);
  bool goes_on(JobId job);
  void find_due(JobId job);
  bool find_due_of_played(JobId job);
  Duration progress_after(JobId job, Duration span) const;
  bool place(JobId job, Duration done, const Pace& pace);
  bool shares_links(const Gang& gang) const;
  void begin_cut_off(JobId job);
  void look_again(JobId job);
  std::optional<ContendingGangs::Gang> playable(JobId job) const;
  void watch(JobId job);
  void give_up(JobId job);
  void read_data(JobId job, const Places& places);
  void goal_reached(JobId job);

  Sim sim_;
  const ClusterState& cluster_;
  const JobTable& jobs_;
  std::span<const Machine> machines_;
  JobController& controller_;
  Network* network_;
  ExchangeTimes times_;
  std::optional<StepTracer> tracer_;
  std::optional<DatasetReaders> readers_;
  std::optional<ContendingGangs> contending_;
  std::vector<std::vector<uint32_t>> nic_of_gpu_;  // by machine: which compute NIC, by GPU
  std::vector<Gang> gangs_;                        // by job
  std::vector<JobId> job_of_flow_;                 // by index of the flow
  uint32_t standing_still_ = 0;
  uint64_t gave_up_ = 0, rerouted_ = 0;
};

}  // namespace orrery

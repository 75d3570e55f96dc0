// Policies that load correctly and then violate their contract, each in one way.
#include <stdexcept>
#include <string>

#include "models/scheduling/contract/policy_registry.hpp"
#include "sim/core/check.hpp"

namespace {

using namespace orrery;

// Base of the faulty policies for pods. Each implements one extension point and has no parameters.
template <class Point>
class Faulty : public Policy, public Point {
 public:
  using Params = NoParams;
  Faulty(Handle& handle, const Params& /*params*/) : handle_{handle} {}

 protected:
  Handle& handle_;
};

class ThrowsWhenMade final : public Policy {
 public:
  using Params = NoParams;
  ThrowsWhenMade(Handle& /*handle*/, const Params& /*params*/) {
    throw std::runtime_error{"no licence"};
  }
};
ORRERY_REGISTER_POLICY(ThrowsWhenMade, "ThrowsWhenMade", "Throws in its constructor.");

class ThrowsInScore final : public Faulty<Score> {
 public:
  using Faulty::Faulty;
  void score(const Cycle& /*cycle*/, std::span<const NodeId> /*nodes*/,
             std::span<int64_t> /*scores*/) const override {
    throw std::runtime_error{"boom"};
  }
};
ORRERY_REGISTER_POLICY(ThrowsInScore, "ThrowsInScore", "Throws an exception of its own.");

class ThrowsNumber final : public Faulty<Filter> {
 public:
  using Faulty::Faulty;
  void filter(const Cycle& /*cycle*/, Candidates& /*nodes*/) const override { throw 42; }
};
ORRERY_REGISTER_POLICY(ThrowsNumber, "ThrowsNumber", "Throws what is no exception.");

class ThrowsInUnreserve final : public Faulty<Reserve> {
 public:
  using Faulty::Faulty;
  Status reserve(const Cycle& /*cycle*/, NodeId /*node*/) override {
    return {Code::Unschedulable, "never"};
  }
  void unreserve(const PodView& /*pod*/, NodeId /*node*/) override {
    throw std::runtime_error{"it was mine"};
  }
};
ORRERY_REGISTER_POLICY(ThrowsInUnreserve, "ThrowsInUnreserve", "Throws while it gives back.");

class ThrowsWhenDestroyed final : public Faulty<PostBind> {
 public:
  using Faulty::Faulty;
  ~ThrowsWhenDestroyed() override { throw_anyway(); }
  void post_bind(const PodView& /*pod*/, NodeId /*node*/) override {}

 private:
  static void throw_anyway() { throw std::runtime_error{"not in a destructor"}; }
};
ORRERY_REGISTER_POLICY(ThrowsWhenDestroyed, "ThrowsWhenDestroyed", "Nothing can catch it.");

class ChecksInVain final : public Faulty<PostBind> {
 public:
  using Faulty::Faulty;
  void post_bind(const PodView& pod, NodeId /*node*/) override {
    ORRERY_CHECK(pod.attempts > 100, "pods need many attempts");
  }
};
ORRERY_REGISTER_POLICY(ChecksInVain, "ChecksInVain", "A check of its own fails.");

class ScoresTooLow final : public Faulty<Score> {
 public:
  using Faulty::Faulty;
  void score(const Cycle& /*cycle*/, std::span<const NodeId> /*nodes*/,
             std::span<int64_t> scores) const override {
    for (int64_t& score : scores) score = INT64_MIN;
  }
};
ORRERY_REGISTER_POLICY(ScoresTooLow, "ScoresTooLow", "Scores below 0.");

class KeepsOthers final : public Faulty<Filter> {
 public:
  using Faulty::Faulty;
  void filter(const Cycle& cycle, Candidates& nodes) const override {
    nodes.keep(NodeSet::all(cycle.cluster.nodes() + 1), {Code::Unschedulable, "never"});
  }
};
ORRERY_REGISTER_POLICY(KeepsOthers, "KeepsOthers", "Keeps nodes of another cluster.");

class AddsNodes final : public Faulty<PreFilter> {
 public:
  using Faulty::Faulty;
  Status pre_filter(const Cycle& cycle, NodeSet& nodes) const override {
    nodes = NodeSet::all(cycle.cluster.nodes() + 1);
    return {};
  }
};
ORRERY_REGISTER_POLICY(AddsNodes, "AddsNodes", "Gives more nodes than there are.");

class TakesTime final : public Faulty<Charges> {
 public:
  using Faulty::Faulty;
  Duration charge(const Cycle& /*cycle*/) const override { return Duration{-1}; }
};
ORRERY_REGISTER_POLICY(TakesTime, "TakesTime", "Takes less than no time.");

class FailsEarly final : public Policy, public Filter, public PostFilter {
 public:
  using Params = NoParams;
  FailsEarly(Handle& /*handle*/, const Params& /*params*/) {}
  void filter(const Cycle& /*cycle*/, Candidates& nodes) const override {
    nodes.keep_if([](NodeId) { return false; }, {Code::Unschedulable, "never"});
  }
  Status post_filter(const Cycle& /*cycle*/, const Diagnosis& /*diagnosis*/) override {
    return {Code::Unschedulable, "never"};
  }
  Duration charge(const CycleState& /*state*/) const override { return Duration{-1}; }
};
ORRERY_REGISTER_POLICY(FailsEarly, "FailsEarly", "Its PostFilter takes less than no time.");

class WaitsBackwards final : public Faulty<Permit> {
 public:
  using Faulty::Faulty;
  PermitStatus permit(const Cycle& /*cycle*/, NodeId /*node*/) override {
    return {Code::Wait, Duration{-1}, "never"};
  }
};
ORRERY_REGISTER_POLICY(WaitsBackwards, "WaitsBackwards", "Waits for less than no time.");

class PicksNothing final : public Faulty<PickDevices> {
 public:
  using Faulty::Faulty;
  GpuMask pick(const Cycle& /*cycle*/, NodeId /*node*/) const override { return 0; }
};
ORRERY_REGISTER_POLICY(PicksNothing, "PicksNothing", "Gives no GPU.");

class PicksTaken final : public Faulty<PickDevices> {
 public:
  using Faulty::Faulty;
  GpuMask pick(const Cycle& cycle, NodeId /*node*/) const override {
    return static_cast<GpuMask>((1U << cycle.pod.spec->gpus) - 1);
  }
};
ORRERY_REGISTER_POLICY(PicksTaken, "PicksTaken", "Gives the first GPUs, free or not.");

class AsksForNobody final : public Faulty<PostBind> {
 public:
  using Faulty::Faulty;
  void post_bind(const PodView& /*pod*/, NodeId /*node*/) override { (void)handle_.pod({}); }
};
ORRERY_REGISTER_POLICY(AsksForNobody, "AsksForNobody", "Asks for a pod that is none.");

class NamesTheSame final : public Faulty<NextPod> {
 public:
  using Faulty::Faulty;
  PodId next() override { return {0}; }
};
ORRERY_REGISTER_POLICY(NamesTheSame, "NamesTheSame", "Names one pod for ever.");

class NamesNoLeaf final : public Faulty<Domains> {
 public:
  using Faulty::Faulty;
  void domains(const Cycle& /*cycle*/, const GangView& /*gang*/,
               std::vector<GangDomain>& out) override {
    out.push_back(InLeaf{999});
  }
};
ORRERY_REGISTER_POLICY(NamesNoLeaf, "NamesNoLeaf", "Names a leaf that does not exist.");

class ScoresTooHigh final : public Faulty<ScorePlacement> {
 public:
  using Faulty::Faulty;
  int64_t score_placement(const Cycle& /*cycle*/, const GangView& /*gang*/,
                          std::span<const NodeId> /*nodes*/) const override {
    return 101;
  }
};
ORRERY_REGISTER_POLICY(ScoresTooHigh, "ScoresTooHigh", "Scores placements above 100.");

// Base of the faulty policies of the job queue.
class FaultyPlan : public Policy, public Plan {
 public:
  using Params = NoParams;
  FaultyPlan(JobBoard& board, const Params& /*params*/) : board_{board} {}

 protected:
  JobBoard& board_;
};

class StartsTwice final : public FaultyPlan {
 public:
  using FaultyPlan::FaultyPlan;
  void plan(const PlanNews& /*news*/) override {
    const JobSlot head = board_.head();
    board_.start(head);
    board_.start(head);
  }
};
ORRERY_REGISTER_POLICY(StartsTwice, "StartsTwice", "Starts what runs.");

class StartsNobody final : public FaultyPlan {
 public:
  using FaultyPlan::FaultyPlan;
  void plan(const PlanNews& /*news*/) override { board_.start(kNoJob); }
};
ORRERY_REGISTER_POLICY(StartsNobody, "StartsNobody", "Starts a job that is none.");

class WakesTooEarly final : public FaultyPlan {
 public:
  using FaultyPlan::FaultyPlan;
  void plan(const PlanNews& /*news*/) override { board_.wake_at(Time{-1}); }
};
ORRERY_REGISTER_POLICY(WakesTooEarly, "WakesTooEarly", "Wants to be woken in the past.");

class RanksNobody final : public Policy, public QueueOrder {
 public:
  using Params = NoParams;
  RanksNobody(JobBoard& /*board*/, const Params& /*params*/) {}
  int64_t rank(const QueuedJob& /*job*/) override { throw std::logic_error{"who is it"}; }
};
ORRERY_REGISTER_POLICY(RanksNobody, "RanksNobody", "Throws when it ranks.");

}  // namespace

ORRERY_POLICY_LIBRARY();

// models/scheduling/cycle/gang_trial.cpp -- tests whether a gang would fit after evictions.
#include <unordered_map>
#include <utility>

#include "models/scheduling/cycle/gang_cycle.hpp"
#include "sim/core/check.hpp"

namespace orrery {

// One savepoint covers all evictions. Inside of it, each attempt of fits() has its own savepoint.
class GangCycle::Trial final : public GangWhatIf {
 public:
  Trial(GangCycle& gangs, const Cycle& cycle, Running running)
      : gangs_{gangs},
        cycle_{cycle},
        running_{std::move(running)},
        savepoint_{context().transaction} {}
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  void evict(PodId pod) override {
    const Placed& placed = context().placements.of(pod);
    ORRERY_CHECK(placed.node.is_valid(), "only a placed pod is evicted");
    out_[pod.index] = placed;
    context().transaction.evict(context().tracks.pod(pod));
  }
  void restore(PodId pod) override {
    const auto out = out_.find(pod.index);
    ORRERY_CHECK(out != out_.end(), "only an evicted pod is restored");
    const Placed placed = out->second;
    out_.erase(out);
    context().transaction.place(context().tracks.pod(pod), placed.node, placed.grant, placed.since);
  }
  bool fits() override {
    Framework& framework = gangs_.framework();
    const auto tried = context().log.tried;
    const size_t given = framework.pause_commands();
    const GangView view = gangs_.view_of(running_.unit, running_.gang);
    const std::vector<GangDomain> domains = framework.domains(cycle_, view);
    const Best best = gangs_.attempt(cycle_, view, running_.members, domains);
    framework.resume_commands(given);
    context().log.tried = tried;
    spent_ += best.cost;
    if (best.score < 0) return false;
    placed_.clear();
    for (const PlacedMember& member : best.attempt.placed) {
      placed_.push_back({member.pod, member.node});
    }
    return true;
  }
  std::span<const MemberOnNode> placed() const override { return placed_; }
  Duration spent() const override { return spent_; }

 private:
  const SchedulerContext& context() const { return gangs_.context_; }

  GangCycle& gangs_;
  const Cycle& cycle_;
  const Running running_;
  Transaction::Savepoint savepoint_;
  // Evicted pods by index; for lookup only, never iterated.
  std::unordered_map<uint32_t, Placed> out_;
  std::vector<MemberOnNode> placed_;
  Duration spent_;
};

std::unique_ptr<GangWhatIf> GangCycle::gang_what_if(const Cycle& cycle) {
  if (running_ != nullptr) return std::make_unique<Trial>(*this, cycle, *running_);
  if (cycle.pod.gang.is_valid()) return nullptr;
  Members alone;
  alone.pods = {cycle.pod.id};
  alone.spec = cycle.pod.spec_id;
  return std::make_unique<Trial>(*this, cycle, Running{cycle.pod.id, {}, std::move(alone)});
}

}  // namespace orrery

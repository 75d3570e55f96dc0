// policies/python/pod_policy.hpp -- a policy that schedules pods; its extension points are Python
// methods.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/scheduling/contract/policy_api.hpp"
#include "policies/python/answers.hpp"
#include "policies/python/pod_views.hpp"

namespace orrery::python {

// Inherits all extension points of pods. The framework binds only those whose methods the Python
// class defines.
class PodPolicy final : public Policy,
                        public PreEnqueue,
                        public QueueSort,
                        public NextPod,
                        public PreFilter,
                        public Filter,
                        public PostFilter,
                        public PreScore,
                        public Score,
                        public Domains,
                        public ScorePlacement,
                        public PickDevices,
                        public Charges,
                        public Reserve,
                        public Permit,
                        public PreBind,
                        public Bind,
                        public PostBind,
                        public EventHints {
 public:
  PodPolicy(Handle& handle, const RawParams& args);
  ~PodPolicy() override;
  PodPolicy(const PodPolicy&) = delete;
  PodPolicy& operator=(const PodPolicy&) = delete;

  Status pre_enqueue(const PodView& pod) override;
  bool less(const QueuedUnit& a, const QueuedUnit& b) const override;
  PodId next() override;
  Status pre_filter(const Cycle& cycle, NodeSet& nodes) const override;
  void filter(const Cycle& cycle, Candidates& nodes) const override;
  bool is_node_local() const override { return is_node_local_; }
  Status post_filter(const Cycle& cycle, const Diagnosis& diagnosis) override;
  Duration charge(const CycleState& state) const override;
  Status pre_score(const Cycle& cycle, std::span<const NodeId> feasible) const override;
  void score(const Cycle& cycle, std::span<const NodeId> nodes,
             std::span<int64_t> scores) const override;
  void normalize(std::span<int64_t> scores) const override;
  bool is_by_extremes() const override { return is_by_extremes_; }
  void domains(const Cycle& cycle, const GangView& gang, std::vector<GangDomain>& out) override;
  bool places_lone_pods() const override { return places_lone_pods_; }
  int64_t score_placement(const Cycle& cycle, const GangView& gang,
                          std::span<const NodeId> nodes) const override;
  GpuMask pick(const Cycle& cycle, NodeId node) const override;
  Duration charge(const Cycle& cycle) const override;
  Status reserve(const Cycle& cycle, NodeId node) override;
  void unreserve(const PodView& pod, NodeId node) override;
  PermitStatus permit(const Cycle& cycle, NodeId node) override;
  Status pre_bind(const PodView& pod, NodeId node) override;
  Status bind(const PodView& pod, NodeId node) override;
  void post_bind(const PodView& pod, NodeId node) override;
  ClusterEvents events() const override { return events_; }
  QueueHint hint(const PodView& pod, const ClusterEvent& event) const override;

 private:
  // Python objects, and the text to which the last Status refers.
  struct Kept;
  void make(const RawParams& args);
  ClusterEvents events_of_interest() const;
  Status kept(Answer answer) const;
  Asked asked(std::string_view method) const;
  template <class F>
  auto with(const Cycle& cycle, F&& f) const;
  Status status_of(const char* method, const PodView& pod, NodeId node) const;

  const ClusterState& cluster_;
  const Lent<Handle> handle_;
  std::unique_ptr<Kept> kept_;
  ClusterEvents events_ = 0;
  bool is_node_local_ = false, is_by_extremes_ = false, places_lone_pods_ = false;
};

}  // namespace orrery::python

// models/facts/fact.hpp -- properties of a whole scenario on which parameters depend.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace orrery {

// In fields(), a parameter names the fact on which it depends: Heeded{Fact::FullPlane}.
enum class Fact : uint8_t {
  ControlPlane,
  FullPlane,
  EtcdReads,
  Lists,
  DeletedNamespaces,
  NamespaceAskers,
  NodeAddresses,
  CrashLoops,
  NewNodes,
  NodeBoots,
  SilentNodes,
  RecordedEvents,
  Images,
  NetworkTime,
  Links,
  Steps,
  Exchanges,
  CrossingExchanges,
  AllReduces,
  NvlinkSwitches,
  AdaptiveRouting,
  FlowsApart,
  Spines,
  DownLinks,
  DamagedPackets,
  SharedTraining,
  Gangs,
  GangsOfPods,
  ElasticGangs,
  IndependentPods,
  GpuJobs,
  Communicators,
  Requests,
  HeededRequests,
  Pods,
  PodBatches,
  Stops,
  Restarts,
  Failures,
  Hangs,
  LostWork,
  Preemption,
  Priorities,
  SharedStores,
  SharedWrites,
  LocalDisks,
  LocalWrites,
  PermitTimeouts,
  PodAffinity,
  PodLabels,
  PodSpread,
  QueueStops,
  CountedJobs,
  Controllers,
  NodeGroups,
};

// For each fact, in the order of Fact: the text for the case that the fact does not hold. The text
// is the reason why parameters that depend on the fact have no effect.
constexpr auto kWhyNot = std::to_array<std::string_view>({
    "control_plane.level is none",
    "control_plane.level is not full",
    "no client in events.readers or namespaces.readers reads from etcd",
    "no client gets, lists or watches anything after the start of the run",
    "no namespace is deleted (see control_plane.namespaces.per_job and deleted)",
    "there are no control_plane.namespaces.askers",
    "control_plane.services has groups (nodes then list the groups' Endpoints or EndpointSlices)",
    "there are no control_plane.crash_loops",
    "there are neither control_plane.joins nor an autoscaler",
    "no node joins and no node fails",
    "control_plane.level is delays and no node joins or fails",
    "there are no Events (control_plane.events is absent and no node boots)",
    "pods have no images",
    "network.level is none",
    "network.level is not flow",
    "no job has a step (training.step)",
    "no step of a gang has exchanges",
    "no gang of several pods has a step with exchanges",
    "no step of a gang with several pods has an all-reduce",
    "no machine of the cluster has NVSwitches that reduce data (NVLink SHARP)",
    "neither network.routing nor faults.links.routing has an adaptive engine",
    "no routing engine is ecmp or adaptive (only these distinguish flows)",
    "the fabric is a single leaf switch",
    "no link is down (there are no faults.links of kind dead or flap)",
    "no packets are damaged (there are no faults.links of kind degraded)",
    "all jobs except services have a training section, their own or their source's",
    "no job is a gang",
    "no gang has several pods",
    "every gang needs all of its pods to start (see min_available)",
    "no job is of kind: pods",
    "no job asks for GPUs",
    "no job has more than one GPU",
    "no job has a requested duration (requested)",
    "there is no policy.job_queue, and workload.controller.overruns is not kill",
    "policy.driver is counting, which has no pods",
    "there is a control plane, where each batch waits for the API servers' answers to the previous "
    "batch",
    "nothing stops a job (see faults)",
    "no failure, preemption or eviction restarts a job (see faults)",
    "no failure stops a job (see faults)",
    "no rank waits for a dead rank (see faults.ranks)",
    "checkpoints take no time, and no job loses compute (there is no failure, preemption or "
    "eviction, and workload.controller.overruns is not kill)",
    "no pod can be preempted (by a pod of higher priority) or evicted (by a controller or an "
    "autoscaler)",
    "all pods have the same priority",
    "no job uses a store that nodes share (training.checkpoint or training.dataset)",
    "no checkpoint goes to a store that nodes share",
    "no job uses local disks (training.checkpoint or training.dataset)",
    "no checkpoint goes to local disks",
    "no policy of the scenario uses it (coscheduling, koordinator and native_gang use it)",
    "the policy has no plugin InterPodAffinity",
    "the policy has neither InterPodAffinity nor PodTopologySpread, and no disruption budget has "
    "labels",
    "the policy has no plugin PodTopologySpread",
    "no policy of the queue stops running jobs (SRTF, Tiresias, Gavel, Themis, Lucid, Remote do)",
    "all jobs have pods (policy.driver is not counting)",
    "there are no policy.controllers and no control_plane.autoscaler: only these obey budgets",
    "there is no control_plane.autoscaler with pools to scale, or no control plane",
});
static_assert(kWhyNot.size() == static_cast<size_t>(Fact::NodeGroups) + 1);

constexpr std::string_view why_not(Fact fact) { return kWhyNot[static_cast<size_t>(fact)]; }

}  // namespace orrery

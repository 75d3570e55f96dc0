#include "models/workload/training/gang_traffic.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "models/hardware/machine_topology.hpp"
#include "sim/core/check.hpp"

namespace orrery {
namespace {

constexpr uint32_t kNoNic = UINT32_MAX;

// For each GPU, the nearest compute NIC as an index among the node's compute NICs.
std::vector<uint32_t> nics_of_gpus(const Machine& machine) {
  std::vector<uint32_t> compute(machine.nics.size());  // number of compute NICs before each NIC
  for (uint32_t i = 0, k = 0; i < machine.nics.size(); ++i) {
    compute[i] = k;
    k += machine.nics[i].role == NicRole::Compute ? 1U : 0U;
  }
  std::vector<uint32_t> nics;
  for (int gpu = 0; gpu < machine.gpus(); ++gpu) {
    const int nic = nearest_nic(machine, gpu);
    nics.push_back(nic < 0 ? kNoNic : compute[static_cast<size_t>(nic)]);
  }
  return nics;
}

// A pod without a CPU request may use all CPUs of the node.
double cores_per_gpu(const Machine& machine, const GangPlaces::Share& share) {
  const double cores = share.cpu_milli > 0 ? static_cast<double>(share.cpu_milli) / kMilli
                                           : static_cast<double>(machine.cpu.threads());
  return cores / std::popcount(share.gpus);
}

// Scales weights, bytes and rate so that the heaviest link has weight 1.
void scale_to_heaviest(StepActivity& activity) {
  std::vector<LinkUse>& uses = activity.fabric.uses;
  if (uses.empty()) return;
  const double heaviest = std::ranges::max(uses, {}, &LinkUse::weight).weight;
  for (LinkUse& use : uses) use.weight /= heaviest;
  const auto scaled = [&](int64_t count) {
    return std::llround(static_cast<double>(count) * heaviest);
  };
  activity.bytes = {scaled(activity.bytes.count)};
  activity.rate_max = {scaled(activity.rate_max.bits_per_s)};
}

}  // namespace

GangTraffic::GangTraffic(const ClusterState& cluster, const JobTable& jobs,
                         std::span<const Machine> machines, Network* network, ExchangeTimes times)
    : cluster_{cluster},
      jobs_{jobs},
      machines_{machines},
      network_{network},
      times_{std::move(times)} {
  for (const Machine& machine : machines) nic_of_gpu_.push_back(nics_of_gpus(machine));
}

GangPlaces GangTraffic::places_of(JobId id) const {
  const Job& job = jobs_.job(id);
  GangPlaces places;
  std::map<uint32_t, NodeId> first_of_kind;
  std::map<uint32_t, GangPlaces::Share> shares;
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod_id) {
    const Pod& pod = jobs_.pod(pod_id);
    if (pod.state != PodState::Running || pod.grant.gpus == 0) return;
    const uint32_t kind = cluster_.machine(pod.node);
    const std::vector<uint32_t>& nics = nic_of_gpu_[kind];
    for (uint32_t gpu = 0; gpu < nics.size(); ++gpu) {
      if ((pod.grant.gpus >> gpu & 1U) == 0) continue;
      const bool has_nic = network_ != nullptr && nics[gpu] != kNoNic;
      places.ranks.push_back(
          {pod.node, has_nic ? network_->fabric().nic(pod.node, nics[gpu]) : NicId{}, pod_id});
    }
    places.nodes.push_back(pod.node);
    if (first_of_kind.try_emplace(kind, pod.node).first->second != pod.node) return;
    GangPlaces::Share& share = shares[kind];
    share.machine = kind;
    share.gpus = static_cast<GpuMask>(share.gpus | pod.grant.gpus);
    share.cpu_milli += jobs_.request(pod_id).resources[Resource::Cpu];
  });
  for (const auto& [kind, share] : shares) places.shares.push_back(share);
  std::ranges::sort(places.nodes);
  places.nodes.erase(std::unique(places.nodes.begin(), places.nodes.end()), places.nodes.end());
  return places;
}

StepPlan GangTraffic::plan_of(JobId id, const GangPlaces& places) const {
  const Job& job = jobs_.job(id);
  std::optional<double> rate;
  for (const GangPlaces::Share& share : places.shares) {
    if (!job.spec.step->model) break;
    const double own = flops_rate(*job.spec.step->model, machines_[share.machine].gpu);
    rate = std::min(rate.value_or(own), own);
  }
  ORRERY_CHECK(rate.value_or(1) > 0, "GPUs without a known peak are refused before the run");
  return plan_step(*job.spec.step, job.gpus, static_cast<int32_t>(places.nodes.size()), rate);
}

GangTraffic::Found GangTraffic::find(JobId id, const StepPlan& plan, const GangPlaces& places,
                                     std::span<const LinkUse> held) const {
  const auto nodes = static_cast<int32_t>(places.nodes.size());
  const GangPlaces::Share* slowest = nullptr;
  double nic_factor = 1;
  Duration longest{-1};
  for (const GangPlaces::Share& share : places.shares) {
    const Machine& machine = machines_[share.machine];
    const double factor =
        polling_factor(jobs_.job(id).spec.step->polling, cores_per_gpu(machine, share), nodes);
    const Duration time = exchange_time(plan, machine, share.gpus, factor, times_);
    if (time <= longest) continue;
    slowest = &share, nic_factor = factor, longest = time;
  }
  Found found;
  if (network_ == nullptr) {
    found.activity.inside = longest;
    return found;
  }
  Network::Routes routes{*network_, held};
  found.activity =
      step_activity(plan, machines_[slowest->machine], slowest->gpus, by_node(places.ranks),
                    std::ref(routes), nic_factor, times_, network_->queue_pairs());
  found.has_detour = routes.has_detour();
  if (found.activity.fabric.is_connected) {
    found.load = routes.load();
  } else {
    found.activity.fabric.uses.clear();
  }
  scale_to_heaviest(found.activity);
  return found;
}

std::vector<double> GangTraffic::nic_parts(const GangPlaces& places,
                                           const StepActivity& activity) const {
  if (network_ == nullptr) return {};
  std::map<uint32_t, double> weights;  // by link
  for (const LinkUse& use : activity.fabric.uses) weights[use.link.index] = use.weight;
  std::map<uint32_t, int32_t> sharing;  // number of ranks by NIC
  for (const RankPlace& rank : places.ranks) ++sharing[rank.nic.index];
  std::vector<double> parts;
  for (const RankPlace& rank : places.ranks) {
    const bool has_nic = rank.nic.is_valid();
    const auto found = has_nic ? weights.find(up_link(network_->fabric().nic_cable(rank.nic)).index)
                               : weights.end();
    parts.push_back(found == weights.end() ? 0.0 : found->second / sharing[rank.nic.index]);
  }
  return parts;
}

}  // namespace orrery

#include "models/workload/gang_exchanges.hpp"

#include <algorithm>
#include <bit>

#include "models/hardware/machine_topology.hpp"

namespace orrery {
namespace {

constexpr uint32_t kNoNic = UINT32_MAX;

// Which of the node's compute NICs is nearest, by GPU.
std::vector<uint32_t> nics_of_gpus(const Machine& machine) {
  std::vector<uint32_t> compute(machine.nics.size());  // how many compute NICs come before
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

Pattern pattern_of(Collective collective) {
  const bool is_direct = collective == Collective::AllToAll || collective == Collective::PushPull;
  return is_direct ? Pattern::Direct : Pattern::Ring;
}

}  // namespace

GangExchanges::GangExchanges(const ClusterState& cluster, const JobTable& jobs,
                             std::span<const Machine> machines, JobController& controller,
                             Network* network)
    : cluster_{cluster},
      jobs_{jobs},
      machines_{machines},
      controller_{controller},
      network_{network} {
  for (const Machine& machine : machines) nic_of_gpu_.push_back(nics_of_gpus(machine));
  if (network == nullptr) return;
  bits_.resize(network->fabric().links());
  network->rate_changed().connect([this](FlowId flow) { rate_changed(flow); });
  network->routes_changed.connect([this] { reroute(); });
}

void GangExchanges::phase_changed(JobId job, JobPhase after) {
  if (!jobs_.job(job).step) return;
  if (job.index >= gangs_.size()) gangs_.resize(job.index + size_t{1});
  if (after == JobPhase::Running) {
    begin(job);
  } else if (gangs_[job.index].is_running) {
    end(job);
  }
}

GangExchanges::View GangExchanges::view(JobId job) const {
  if (job.index >= gangs_.size() || !gangs_[job.index].is_running) return {};
  const Gang& gang = gangs_[job.index];
  return {&gang.plan, gang.alone, gang.exchange, gang.flow};
}

// GPUs of the running pods, in order of ranks.
void GangExchanges::find_ranks(JobId id) {
  const Job& job = jobs_.job(id);
  ranks_.clear();
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod_id) {
    const Pod& pod = jobs_.pod(pod_id);
    if (pod.state != PodState::Running) return;
    const std::vector<uint32_t>& nics = nic_of_gpu_[cluster_.machine(pod.node)];
    for (uint32_t gpu = 0; gpu < nics.size(); ++gpu) {
      if ((pod.grant.gpus >> gpu & 1U) == 0) continue;
      const bool has_nic = network_ != nullptr && nics[gpu] != kNoNic;
      ranks_.push_back({pod.node, has_nic ? network_->fabric().nic(pod.node, nics[gpu]) : NicId{}});
    }
  });
}

void GangExchanges::begin(JobId id) {
  const Job& job = jobs_.job(id);
  Gang& gang = gangs_[id.index];
  find_ranks(id);
  if (ranks_.empty()) return;
  // Where nodes give unlike GPUs, those of the first one stand for all.
  const NodeId home = ranks_.front().node;
  const Machine& machine = machines_[cluster_.machine(home)];
  std::vector<NodeId> nodes;
  for (const Rank& rank : ranks_) nodes.push_back(rank.node);
  std::ranges::sort(nodes);
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  GpuMask gpus = 0;
  int64_t cpu_milli = 0;
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) {
    if (jobs_.pod(pod).state == PodState::Running && jobs_.pod(pod).node == home) {
      gpus |= jobs_.pod(pod).grant.gpus;
      cpu_milli += jobs_.request(pod).resources[Resource::Cpu];
    }
  });
  const auto node_count = static_cast<int32_t>(nodes.size());
  gang = {.is_running = true,
          .plan = plan_step(*job.step, static_cast<int32_t>(ranks_.size()), node_count)};
  // Without a request a pod may use the whole node's.
  const double cores = cpu_milli > 0 ? static_cast<double>(cpu_milli) / 1000.0
                                     : static_cast<double>(machine.cpu.threads());
  const double factor = polling_factor(job.step->polling, cores / std::popcount(gpus), node_count);
  gang.alone = exchange_time(gang.plan, machine, gpus, factor);
  gang.exchange = gang.alone;
  connect(gang, id);
  set_pace(id);
}

void GangExchanges::end(JobId id) {
  Gang& gang = gangs_[id.index];
  if (network_ != nullptr) network_->close(gang.flow);
  gang = {};
}

// What one group puts on the links in a step.
void GangExchanges::add_group(const StepTraffic& traffic, size_t first, Gang& gang) {
  const auto stride = static_cast<size_t>(traffic.stride);
  nics_.clear();
  NodeId last;
  int32_t nodes = 0;
  for (int32_t i = 0; i < traffic.ranks; ++i) {
    const size_t at = first + static_cast<size_t>(i) * stride;
    if (at >= ranks_.size()) break;
    const Rank& rank = ranks_[at];
    if (!rank.nic.is_valid()) {
      gang.is_connected = false;
      return;
    }
    if (rank.node != last) ++nodes;
    last = rank.node;
    nics_.push_back(rank.nic);
  }
  if (nodes < 2) return;
  const auto ranks_per_node = static_cast<int32_t>(nics_.size()) / nodes;
  FabricExchange exchange{.collective = traffic.collective,
                          .pattern = pattern_of(traffic.collective),
                          .nics = nics_,
                          .rails = ranks_per_node,
                          .ranks_per_node = ranks_per_node,
                          .first_flow = static_cast<uint32_t>(first)};
  if (nics_.size() % static_cast<size_t>(nodes) != 0) exchange.rails = exchange.ranks_per_node = 1;
  const FabricActivity activity = network_->activity_of(exchange);
  gang.is_connected = gang.is_connected && activity.is_connected;
  const double bits =
      8.0 * static_cast<double>(traffic.bytes.count) * static_cast<double>(traffic.count);
  for (const LinkUse& use : activity.uses) {
    if (bits_[use.link.index] == 0) used_.push_back(use.link);
    bits_[use.link.index] += use.weight * bits;
  }
}

// Of all groups of all traffic; find_ranks() was just called. Each link once, in order.
std::vector<LinkUse> GangExchanges::uses_of(Gang& gang) {
  gang.is_connected = true;
  used_.clear();
  for (const StepTraffic& traffic : gang.plan.traffic) {
    if (traffic.ranks < 2) continue;
    const auto stride = static_cast<size_t>(traffic.stride);
    if (traffic.among == ExchangeGroup::Pipeline) {  // each stage with the next
      for (size_t r = 0; r + stride < ranks_.size(); ++r) add_group(traffic, r, gang);
      continue;
    }
    const size_t block = stride * static_cast<size_t>(traffic.ranks);
    for (size_t start = 0; start < ranks_.size(); start += block) {
      for (size_t offset = 0; offset < stride; ++offset) add_group(traffic, start + offset, gang);
    }
  }
  std::ranges::sort(used_);
  std::vector<LinkUse> uses;
  gang.heaviest_bits = 0;
  for (const LinkId link : used_) {
    gang.heaviest_bits = std::max(gang.heaviest_bits, bits_[link.index]);
  }
  for (const LinkId link : used_) {
    uses.push_back({link, bits_[link.index] / gang.heaviest_bits});
    bits_[link.index] = 0;
  }
  return uses;
}

void GangExchanges::connect(Gang& gang, JobId job) {
  if (network_ == nullptr || gang.alone == Duration{}) return;
  const std::vector<LinkUse> uses = uses_of(gang);
  if (!gang.is_connected || uses.empty()) {
    network_->close(gang.flow);
    gang.flow = {};
    gang.exchange = gang.is_connected ? gang.alone : Duration::max();
    return;
  }
  if (gang.flow != FlowId{}) return network_->set_uses(gang.flow, uses);
  gang.flow = network_->open(uses, gang.heaviest_bits / gang.alone.seconds());
  if (gang.flow.index >= job_of_flow_.size()) job_of_flow_.resize(gang.flow.index + size_t{1});
  job_of_flow_[gang.flow.index] = job;
}

void GangExchanges::reroute() {
  for (uint32_t j = 0; j < gangs_.size(); ++j) {
    Gang& gang = gangs_[j];
    if (!gang.is_running) continue;
    find_ranks({j});
    connect(gang, {j});
    set_pace({j});
  }
}

void GangExchanges::rate_changed(FlowId flow) {
  const JobId job = job_of_flow_[flow.index];
  Gang& gang = gangs_[job.index];
  const double rate = network_->flows().rate(flow);
  gang.exchange =
      rate > 0 ? std::max(gang.alone, nearest_ns(gang.heaviest_bits / rate)) : Duration::max();
  set_pace(job);
}

void GangExchanges::set_pace(JobId job) {
  const Gang& gang = gangs_[job.index];
  const Duration step =
      gang.exchange == Duration::max() ? Duration::max() : step_time(gang.plan, gang.exchange);
  controller_.set_pace(job,
                       Pace::of_step(step_time(gang.plan, Duration{}), step, gang.plan.compute));
}

}  // namespace orrery

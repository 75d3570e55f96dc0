#include "models/workload/gang_exchanges.hpp"

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

// A pod that asks for no CPU may use all of the node's.
double cores_per_gpu(const Machine& machine, int64_t cpu_milli, GpuMask gpus) {
  const double cores = cpu_milli > 0 ? static_cast<double>(cpu_milli) / kMilli
                                     : static_cast<double>(machine.cpu.threads());
  return cores / std::popcount(gpus);
}

// So that the heaviest link has weight 1, and rates are that link's.
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

GangExchanges::GangExchanges(Sim sim, const ClusterState& cluster, const JobTable& jobs,
                             std::span<const Machine> machines, JobController& controller,
                             Network* network, ExchangeTimes times, Storage* storage,
                             StepDetail steps, const PlayAheadParams& play_ahead)
    : sim_{sim},
      cluster_{cluster},
      jobs_{jobs},
      machines_{machines},
      controller_{controller},
      network_{network},
      times_{std::move(times)} {
  for (const Machine& machine : machines) nic_of_gpu_.push_back(nics_of_gpus(machine));
  if (steps == StepDetail::Traced) {
    tracer_.emplace(sim, controller, network);
    tracer_->transfer_due.connect([this](JobId job) { watch(job); });
  }
  controller.goal_reached.connect([this](JobId job) { goal_reached(job); });
  controller.ask_at_starts([this](JobId job) { return terms_of(job); });
  if (storage != nullptr) {
    readers_.emplace(*storage);
    readers_->changed.connect([this](JobId job) {
      set_pace(job);
      if (contending_) contending_->gang_changed(job);
    });
  }
  if (network == nullptr) return;
  if (!tracer_) {
    contending_.emplace(
        sim.engine, network->flows(), play_ahead,
        ContendingGangs::Ask{[this](JobId job) { return playable(job); },
                             [this](FlowId flow) { return job_of_flow_[flow.index]; }});
    contending_->changed.connect([this](JobId job) { set_pace(job); });
    contending_->placed.connect([this](JobId job, Duration done) {
      place(job, done, controller_.run_now(job).terms.pace);
    });
    network->capacity_changed().connect([this](LinkId link) { contending_->link_changed(link); });
  }
  network->rate_changed().connect([this](FlowId flow) { rate_changed(flow); });
  network->routes_changed.connect([this](const Network::RouteNews& news) { reroute(news); });
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
  return {.plan = &gang.plan,
          .exchange = gang.exchange,
          .rate = gang.shared == gang.exchange ? gang.rate : rate_in(gang),
          .bytes = gang.activity.bytes,
          .inside = gang.activity.inside,
          .is_played = tracer_.has_value(),
          .is_updating = tracer_ && tracer_->is_updating(job)};
}

// While it exchanges, in the mean.
Bandwidth GangExchanges::rate_in(const Gang& gang) {
  const double seconds = (gang.exchange - gang.activity.inside).seconds();
  return {
      std::llround(static_cast<double>(gang.activity.bytes.count) * 8 / std::max(seconds, 1e-9))};
}

Bytes GangExchanges::sent(JobId job) const { return tracer_ ? tracer_->sent(job) : Bytes{}; }

bool GangExchanges::waits_in_vain(JobId job) const {
  if (job.index >= gangs_.size() || !gangs_[job.index].is_running) return false;
  const Gang& gang = gangs_[job.index];
  return gang.exchange == Duration::max() && !sim_.engine.is_pending(gang.gives_up);
}

std::vector<double> GangExchanges::nic_parts(JobId job) const {
  if (network_ == nullptr || view(job).plan == nullptr) return {};
  const Gang& gang = gangs_[job.index];
  std::map<uint32_t, double> weights;  // by link
  for (const LinkUse& use : gang.activity.fabric.uses) weights[use.link.index] = use.weight;
  const std::vector<RankPlace> ranks = places_of(job).ranks;
  std::map<uint32_t, int32_t> sharing;  // by NIC
  for (const RankPlace& rank : ranks) ++sharing[rank.nic.index];
  std::vector<double> parts;
  for (const RankPlace& rank : ranks) {
    const bool has_nic = rank.nic.is_valid();
    const auto found = has_nic ? weights.find(up_link(network_->fabric().nic_cable(rank.nic)).index)
                               : weights.end();
    parts.push_back(found == weights.end() ? 0.0 : found->second / sharing[rank.nic.index]);
  }
  return parts;
}

// Of running pods, in order of ranks. Where nodes give unlike GPUs, those of the first one stand
// for all.
GangExchanges::Places GangExchanges::places_of(JobId id) const {
  const Job& job = jobs_.job(id);
  Places places;
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod_id) {
    const Pod& pod = jobs_.pod(pod_id);
    if (pod.state != PodState::Running || pod.grant.gpus == 0) return;
    const std::vector<uint32_t>& nics = nic_of_gpu_[cluster_.machine(pod.node)];
    for (uint32_t gpu = 0; gpu < nics.size(); ++gpu) {
      if ((pod.grant.gpus >> gpu & 1U) == 0) continue;
      const bool has_nic = network_ != nullptr && nics[gpu] != kNoNic;
      places.ranks.push_back(
          {pod.node, has_nic ? network_->fabric().nic(pod.node, nics[gpu]) : NicId{}, pod_id});
    }
    places.nodes.push_back(pod.node);
    if (pod.node != places.nodes.front()) return;
    places.gpus = static_cast<GpuMask>(places.gpus | pod.grant.gpus);
    places.cpu_milli += jobs_.request(pod_id).resources[Resource::Cpu];
  });
  if (places.nodes.empty()) return places;
  std::ranges::sort(places.nodes);
  places.nodes.erase(std::unique(places.nodes.begin(), places.nodes.end()), places.nodes.end());
  return places;
}

// The slowest of its GPUs sets the pace of all.
StepPlan GangExchanges::plan_of(JobId id, const Places& places) const {
  const Job& job = jobs_.job(id);
  std::optional<double> rate;
  for (const NodeId node : places.nodes) {
    if (!job.step->model) break;
    const double own = flops_rate(*job.step->model, machines_[cluster_.machine(node)].gpu);
    rate = std::min(rate.value_or(own), own);
  }
  ORRERY_CHECK(rate.value_or(1) > 0, "GPUs without a known peak are refused before the run");
  return plan_step(*job.step, job.gpus, static_cast<int32_t>(places.nodes.size()), rate);
}

GangTerms GangExchanges::terms_of(JobId id) const {
  const Job& job = jobs_.job(id);
  const Places places = places_of(id);
  if (places.ranks.empty()) return {job.work, job.checkpoint_interval, {}};
  const StepPlan plan = plan_of(id, places);
  const auto& model = job.step->model;
  const Duration reference =
      model ? compute_time(*job.step, job.gpus, reference_rate(*model)) : plan.compute;
  return {.work = work_at(job.work, reference, plan.compute),
          .checkpoint_interval = in_whole_steps(job.checkpoint_interval, plan.compute),
          .servers = dedicated_servers(plan, places.ranks)};
}

void GangExchanges::begin(JobId id) {
  Gang& gang = gangs_[id.index];
  const Places places = places_of(id);
  if (places.ranks.empty()) return;
  gang = {.is_running = true, .plan = plan_of(id, places)};
  find_activity(id, places);
  if (tracer_) {
    return tracer_->begin(id, gang.plan, gang.activity, controller_.work(id));
  }
  gang.base = controller_.done(id);
  connect(id);
  if (gang.shared == Duration::max()) begin_cut_off(id);
  read_data(id, places);
  set_pace(id);
  if (contending_) contending_->gang_changed(id);
}

void GangExchanges::read_data(JobId id, const Places& places) {
  const Job& job = jobs_.job(id);
  if (!job.dataset) return;
  Gang& gang = gangs_[id.index];
  const auto gpus = static_cast<int32_t>(places.ranks.size());
  const bool moves = gang.exchange != Duration::max();
  const Duration step = step_time(gang.plan, moves ? gang.exchange : Duration{});
  readers_->begin(id, *job.dataset, places.nodes, gpus, step);
  if (!job.dataset->cache || job.dataset->store == kLocalStore) return;
  const double steps = static_cast<double>(job.dataset->size.count) /
                       (static_cast<double>(job.dataset->per_step.count) * gpus);
  gang.goal = controller_.done(id) + nearest_ns(gang.plan.compute.seconds() * steps);
}

void GangExchanges::goal_reached(JobId id) {
  if (tracer_) return tracer_->goal_reached(id);
  Duration& goal = gangs_[id.index].goal;
  if (controller_.done(id) < goal) return set_pace(id);  // it begins its last step
  goal = Duration::max();
  readers_->use_cache(id);
  set_pace(id);
  if (contending_) contending_->gang_changed(id);
}

void GangExchanges::end(JobId id) {
  Gang& gang = gangs_[id.index];
  if (tracer_) tracer_->end(id);
  if (sim_.engine.cancel(gang.gives_up)) --standing_still_;
  sim_.engine.cancel(gang.is_due);
  if (readers_) readers_->end(id);
  if (contending_) {
    contending_->links_change(gang.flow);
    contending_->gang_ended(id);
  }
  if (network_ != nullptr) {
    network_->close(gang.flow);
    network_->release(gang.held);
  }
  gang = {};
}

void GangExchanges::find_activity(JobId id, const Places& places) {
  Gang& gang = gangs_[id.index];
  const Machine& machine = machines_[cluster_.machine(places.ranks.front().node)];
  const double nic_factor = polling_factor(jobs_.job(id).step->polling,
                                           cores_per_gpu(machine, places.cpu_milli, places.gpus),
                                           static_cast<int32_t>(places.nodes.size()));
  if (network_ == nullptr) {
    gang.activity.inside = exchange_time(gang.plan, machine, places.gpus, nic_factor, times_);
  } else {
    StepActivity found;
    std::vector<LinkUse> load;
    {
      Network::Routes routes{*network_, gang.held};
      found = step_activity(gang.plan, machine, places.gpus, by_node(places.ranks),
                            std::ref(routes), nic_factor, times_, network_->queue_pairs());
      gang.has_detour = routes.has_detour();
      if (found.fabric.is_connected) load = routes.load();
    }
    if (!found.fabric.is_connected) found.fabric.uses.clear();
    scale_to_heaviest(found);
    network_->release(gang.held);
    gang.held = std::move(load);
    network_->hold(gang.held);
    gang.activity = std::move(found);
  }
  set_rate(gang, gang.activity.fabric.is_connected ? gang.activity.rate_max : Bandwidth{});
}

// Its flow, with the links as they are now. Its rate is known when rates are settled.
void GangExchanges::connect(JobId id) {
  Gang& gang = gangs_[id.index];
  const std::vector<LinkUse>& uses = gang.activity.fabric.uses;
  if (network_ == nullptr) return;
  if (!gang.activity.fabric.is_connected || uses.empty()) {
    network_->close(gang.flow);
    gang.flow = {};
    return;
  }
  const auto rate_max = static_cast<double>(gang.activity.rate_max.bits_per_s);
  if (gang.flow != FlowId{}) {
    network_->set_uses(gang.flow, uses, rate_max);
    set_rate(gang, rate_of(gang));  // which may stay: then nothing will be told
    return;
  }
  gang.flow = network_->open(uses, rate_max);
  if (gang.flow.index >= job_of_flow_.size()) job_of_flow_.resize(gang.flow.index + size_t{1});
  job_of_flow_[gang.flow.index] = id;
}

void GangExchanges::reroute(const Network::RouteNews& news) {
  for (uint32_t j = 0; j < gangs_.size(); ++j) {
    const Gang& gang = gangs_[j];
    if (!gang.is_running || !news.concerns(gang.activity.fabric.uses, gang.has_detour)) continue;
    ++rerouted_;
    if (contending_) contending_->links_change(gang.flow);
    find_activity({j}, places_of({j}));
    if (tracer_) {
      tracer_->reroute({j}, gangs_[j].activity);
      watch({j});
    } else {
      connect({j});
      set_pace({j});
      contending_->gang_changed({j});
    }
  }
}

void GangExchanges::rate_changed(FlowId flow) {
  const JobId job = job_of_flow_[flow.index];
  Gang& gang = gangs_[job.index];
  gang.before = step_time_of(job);
  set_rate(gang, rate_of(gang));
  if (shares_links(gang)) gang.counted_by.reset();
  set_pace(job);
  contending_->gang_changed(job);
}

}  // namespace orrery

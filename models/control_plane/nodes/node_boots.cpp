#include "models/control_plane/nodes/node_boots.hpp"

#include <algorithm>
#include <utility>

#include "models/control_plane/base/backoff.hpp"
#include "models/control_plane/clients/reflectors.hpp"
#include "models/control_plane/kubelet/kubelet.hpp"
#include "sim/core/check.hpp"

namespace orrery {

NodeBoots::NodeBoots(Sim sim, const BootParams& params, NodeApi& api, uint32_t nodes)
    : sim_{sim},
      api_{api},
      rng_{sim.rng.stream("control_plane.boots")},
      gate_{sim.engine, params.join},
      join_{join_script(params)},
      reboot_{reboot_script(params)},
      boots_{nodes},
      rows_{sim.recorder, "/events/boots",
            "Boots of nodes that join the cluster or come back, in the order in which the boots "
            "ended."} {}

void NodeBoots::boot(NodeId node) {
  Boot& boot = boots_[node];
  ORRERY_CHECK(!boot.is_open, "a node boots once at a time");
  ++boot.generation;
  boot.is_open = true;
  boot.is_ready = false;
  boot.row = {.node = node, .joins = boot.joins, .asked = sim_.engine.now()};
  ++booting_;
  if (!boot.joins) return enter(node, boot.generation);
  gate_.ask([this, node, generation = boot.generation] { enter(node, generation); });
}

void NodeBoots::enter(NodeId node, uint32_t generation) {
  if (boots_[node].generation != generation) return;  // the node died while waiting at the gate
  boots_[node].row.entered = sim_.engine.now();
  begin(node, BootStage::Certificate);
}

void NodeBoots::begin(NodeId node, BootStage stage) {
  const std::vector<BootThread>& threads = script(node)[static_cast<size_t>(stage)];
  boots_[node].left[static_cast<size_t>(stage)] = static_cast<uint32_t>(threads.size());
  if (threads.empty()) return end(node, stage);
  const uint32_t generation = boots_[node].generation;
  for (uint16_t t = 0; t < threads.size(); ++t) {
    ask({.node = node, .generation = generation, .stage = stage, .thread = t});
  }
}

void NodeBoots::ask(Ticket ticket) {
  if (boots_[ticket.node].generation != ticket.generation) return;
  const auto stage = static_cast<size_t>(ticket.stage);
  const BootThread& thread = script(ticket.node)[stage][ticket.thread];
  if (ticket.request == thread.requests.size()) {
    if (--boots_[ticket.node].left[stage] == 0) end(ticket.node, ticket.stage);
    return;
  }
  ++counters_.requests;
  api_.send(ticket.node, thread.client, thread.requests[ticket.request],
            [this, ticket](bool is_done) { answered(ticket, is_done); });
}

void NodeBoots::answered(Ticket ticket, bool is_done) {
  Boot& boot = boots_[ticket.node];
  if (boot.generation != ticket.generation) return;
  const BootThread& thread = script(ticket.node)[static_cast<size_t>(ticket.stage)][ticket.thread];
  if (!is_done) {
    ORRERY_MARK("node_boots.begun_anew");
    ++boot.row.again;
    ++counters_.again;
    ticket.failures = static_cast<uint16_t>(std::min(ticket.failures + 1, UINT16_MAX));
    sim_.engine.after(pause(ticket, thread.requests[ticket.request].verb),
                      Label{"node_boots.tries_again"}, [this, ticket] { ask(ticket); });
    return;
  }
  ticket.failures = 0;
  if (thread.is_registration && ticket.request == 0) {
    boot.row.registered = sim_.engine.now();
    if (std::exchange(boot.joins, false)) registered.emit(ticket.node);
    begin(ticket.node, BootStage::Agents);
  }
  ++ticket.request;
  ask(ticket);
}

Duration NodeBoots::pause(const Ticket& ticket, Verb verb) {
  if (verb != Verb::List && verb != Verb::Watch) return kRegistrationBackoff.after(ticket.failures);
  return jittered(Reflectors::Params{}.backoff.after(ticket.failures), rng_);
}

void NodeBoots::end(NodeId node, BootStage stage) {
  Boot& boot = boots_[node];
  if (stage == BootStage::Certificate) return begin(node, BootStage::Registration);
  if (stage == BootStage::Registration) return begin(node, BootStage::Report);
  if (stage == BootStage::Report) {
    boot.is_ready = true;
    boot.row.ready = sim_.engine.now();
    --booting_;
    ++(boot.row.joins ? counters_.joined : counters_.came_back);
    if (boot.row.joins) join_times_.push_back(boot.row.ready - boot.row.asked);
    ready.emit(node);
  }
  if (boot.is_ready && boot.left[static_cast<size_t>(BootStage::Agents)] == 0) settle(node);
}

void NodeBoots::settle(NodeId node) {
  Boot& boot = boots_[node];
  boot.row.settled = sim_.engine.now();
  boot.is_open = false;
  rows_.emit(boot.row);
}

void NodeBoots::died(NodeId node) {
  Boot& boot = boots_[node];
  if (!boot.is_open) return;
  ++boot.generation;
  boot.is_open = false;
  booting_ -= boot.is_ready ? 0 : 1;
  ++counters_.broken;
  rows_.emit(boot.row);
}

void NodeBoots::finish() {
  for (const Boot& boot : boots_) {
    if (boot.is_open) rows_.emit(boot.row);
  }
}

}  // namespace orrery

#include "models/control_plane/api_server/api_server_params.hpp"

#include <cmath>

namespace orrery {
namespace {

Duration rounded(double ns) { return {static_cast<int64_t>(std::llround(ns))}; }

}  // namespace

Duration ApiCostParams::of(const ApiRequest& request) const {
  const auto objects = static_cast<double>(request.objects);
  double ns = sent_byte * static_cast<double>(request.answer.count);
  if (is_mutating(request.verb)) return write + request.cpu + rounded(ns);
  if (request.is_consistent) ns += stored_byte * static_cast<double>(request.bytes.count);
  if (request.verb == Verb::Watch) return watch + request.cpu + rounded(ns);
  if (request.verb == Verb::List)
    ns += objects * (request.is_consistent ? stored_object : cached_object);
  return read + request.cpu + rounded(ns);
}

void ApiServersParams::check(Checker& c) const {
  if (flow_control.wait_limit > server.request_timeout) {
    c.error("flow_control.wait_limit", "must not exceed `server.request_timeout`");
  }
}

Bytes heap_of(const ApiHeapParams& params, int64_t nodes, Bytes listing, int64_t watchers) {
  return params.base + params.per_node * nodes + params.per_watcher * watchers +
         nearest_bytes(params.list_factor * static_cast<double>(listing.count));
}

SteadyLoad sum_of(std::span<const SteadyLoad> loads) {
  SteadyLoad sum;
  double cpu = 0, held = 0, sent = 0;
  for (const SteadyLoad& load : loads) {
    if (load.requests_per_s <= 0) continue;
    sum.requests_per_s += load.requests_per_s;
    cpu += load.requests_per_s * static_cast<double>(load.cpu.ns);
    held += load.requests_per_s * static_cast<double>(load.held.ns);
    sent += load.requests_per_s * static_cast<double>(load.sent.count);
  }
  if (sum.requests_per_s == 0) return sum;
  sum.cpu = rounded(cpu / sum.requests_per_s);
  sum.held = rounded(held / sum.requests_per_s);
  sum.sent = nearest_bytes(sent / sum.requests_per_s);
  return sum;
}

}  // namespace orrery

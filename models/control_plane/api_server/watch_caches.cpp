#include "models/control_plane/api_server/watch_caches.hpp"

namespace orrery {

void WatchCaches::keep(ApiResource resource) {
  if (of(resource).empty()) of(resource).resize(1 + of_lost_);
}

void WatchCaches::changed(ApiResource resource) {
  for (WatchCache& cache : of(resource)) cache.append(engine_.now(), 1);
}

void WatchCaches::set_rate(ApiResource resource, double changes_per_s) {
  for (WatchCache& cache : of(resource)) cache.set_rate(engine_.now(), changes_per_s);
}

void WatchCaches::restart(uint32_t server) {
  uint32_t& index = servers_[server].cache;
  const bool is_first = index == 0;
  if (is_first) index = ++of_lost_;
  for (std::vector<WatchCache>& caches : caches_) {
    if (caches.empty()) continue;
    if (is_first) caches.push_back(caches.front());  // steady changes continue
    caches[index].clear(engine_.now());
  }
}

bool WatchCaches::resume(uint32_t server, ApiResource resource, Time seen) {
  Server& asked = servers_[server];
  const bool knows = of(resource)[asked.cache].can_resume(engine_.now(), seen);
  asked.gone += knows ? 0 : 1;
  return knows;
}

uint64_t WatchCaches::gone() const {
  uint64_t sum = 0;
  for (const Server& server : servers_) sum += server.gone;
  return sum;
}

}  // namespace orrery

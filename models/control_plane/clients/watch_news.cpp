#include "models/control_plane/clients/watch_news.hpp"

#include <memory>
#include <utility>

namespace orrery {

WatchNews::WatchNews(Engine& engine, ApiServers& servers, Reflectors& reflectors)
    : engine_{engine}, servers_{servers}, reflectors_{reflectors} {
  reflectors_.synced.connect([this](uint32_t reflector) { synced(reflector); });
}

WatchNews::Line& WatchNews::line(uint32_t reflector) {
  if (reflector >= lines_.size()) lines_.resize(reflector + size_t{1});
  return lines_[reflector];
}

void WatchNews::changed(const Event& event, uint32_t reflector, Delivered delivered) {
  Delivered done = arrival(reflector, std::move(delivered));
  const bool is_sent = reflectors_.is_watching(reflector);
  send_to_all(event, is_sent ? reflectors_.server_of(reflector) : UINT32_MAX, std::move(done));
}

void WatchNews::tell(const Event& event, uint32_t reflector, Delivered delivered) {
  Delivered done = arrival(reflector, std::move(delivered));
  if (!reflectors_.is_watching(reflector)) return;
  servers_.tell(reflectors_.server_of(reflector), 1, event.cpu, event.bytes, std::move(done));
}

void WatchNews::send_to_all(const Event& event, uint32_t server, Delivered done) {
  servers_.tell_watchers(event.resource, event.cpu, {}, event.bytes, server, std::move(done));
}

// Queues the event for the reflector. Returns the callback that the server calls after it has sent
// the event.
WatchNews::Delivered WatchNews::arrival(uint32_t reflector, Delivered delivered) {
  Line& to = line(reflector);
  to.news.push_back(std::move(delivered));
  return [this, reflector, syncs = to.syncs] {
    if (lines_[reflector].syncs == syncs) arrives(reflector);
  };
}

// Called once for each event that the server has sent on this watch. The server may finish the
// events out of order, but a watch is one ordered stream. So the oldest queued event is delivered.
void WatchNews::arrives(uint32_t reflector) {
  Line& to = lines_[reflector];
  const Delivered delivered = std::move(to.news.front());
  to.news.pop_front();
  delivered();
}

// Delivers all queued events, because the reflector now has all changes (see Reflectors::synced).
void WatchNews::synced(uint32_t reflector) {
  Line& to = line(reflector);
  ++to.syncs;
  for (const Delivered& delivered : std::exchange(to.news, {})) delivered();
}

void WatchNews::end(uint32_t reflector) {
  Line& to = line(reflector);
  ++to.syncs;
  if (to.news.empty()) return;
  engine_.after({}, Label{"control.watch_ended"},
                [news = std::make_unique<std::list<Delivered>>(std::exchange(to.news, {}))] {
                  for (const Delivered& delivered : *news) delivered();
                });
}

}  // namespace orrery

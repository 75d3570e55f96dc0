#include "models/control_plane/clients/reflectors.hpp"

#include <utility>

#include "sim/core/check.hpp"

namespace orrery {

Reflectors::Reflectors(Engine& engine, ApiServers& servers, Params params, Rng rng)
    : engine_{engine}, servers_{servers}, params_{params}, rng_{rng}, on_server_(servers.size()) {
  servers_.lost.connect([this](uint32_t server) { lose(server); });
}

uint32_t Reflectors::add(const Spec& spec) {
  Reflector& reflector = reflectors_.emplace_back();
  reflector.client = &spec.client;
  reflector.list = spec.list;
  reflector.list.verb = Verb::List;
  reflector.sizes = spec.sizes;
  reflector.is_narrow = spec.is_narrow;
  servers_.watch_caches().keep(spec.list.resource);
  return static_cast<uint32_t>(reflectors_.size() - 1);
}

void Reflectors::start(uint32_t id) {
  Reflector& reflector = reflectors_[id];
  ORRERY_CHECK(reflector.state == State::Stopped, "only a stopped reflector is started");
  reflector.backoff = {};
  reflector.has_listed = false;
  list(id);
}

void Reflectors::start_synced(uint32_t id) {
  Reflector& reflector = reflectors_[id];
  ORRERY_CHECK(reflector.state == State::Stopped, "only a stopped reflector is started");
  const uint32_t server = servers_.server_of(reflector.client->connection());
  if (server == UINT32_MAX) return start(id);
  reflector.backoff = {};
  reflector.has_listed = true;
  reflector.seen = engine_.now();
  begin_watch(id, server);
}

void Reflectors::stop(uint32_t id) {
  Reflector& reflector = reflectors_[id];
  ++reflector.generation;
  if (std::exchange(reflector.state, State::Stopped) != State::Watching) return;
  --watching_;
  count_watch(reflector, -1);
  std::vector<uint32_t>& there = on_server_[reflector.server];
  there[reflector.place] = there.back();
  reflectors_[there.back()].place = reflector.place;
  there.pop_back();
}

void Reflectors::count_watch(const Reflector& reflector, int32_t change) {
  ApiServer& server = servers_.server(reflector.server);
  if (reflector.is_narrow) return server.add_narrow_watchers(change);
  server.add_watchers(reflector.list.resource, change);
}

void Reflectors::list(uint32_t id) {
  Reflector& reflector = reflectors_[id];
  reflector.state = State::Listing;
  if (reflector.sizes != nullptr) {
    reflector.list.objects = reflector.sizes->objects;
    reflector.list.bytes = reflector.sizes->bytes;
    reflector.list.answer = reflector.sizes->answer;
  }
  reflector.client->send(reflector.list, [this, asked = ticket(id)](const ApiAnswer& answer) {
    answered(asked, answer);
  });
}

void Reflectors::watch(uint32_t id) {
  Reflector& reflector = reflectors_[id];
  reflector.state = State::Connecting;
  ApiRequest request = reflector.list;
  request.verb = Verb::Watch;
  request.is_consistent = false;
  request.bytes = request.answer = {};
  request.cpu = {};
  reflector.client->send(
      request, [this, asked = ticket(id)](const ApiAnswer& answer) { answered(asked, answer); });
}

void Reflectors::answered(uint64_t asked, const ApiAnswer& answer) {
  const auto id = static_cast<uint32_t>(asked);
  if (ticket(id) != asked) return;  // the reflector was stopped meanwhile
  if (answer.outcome != ApiOutcome::Done) return back_off(id);
  Reflector& reflector = reflectors_[id];
  if (reflector.state == State::Connecting) {
    if (servers_.watch_caches().resume(answer.server, reflector.list.resource, reflector.seen)) {
      return begin_watch(id, answer.server);
    }
    ORRERY_MARK("control.watch_gone");
    reflector.has_listed = false;
    return back_off(id);
  }
  reflector.has_listed = true;
  reflector.seen = answer.as_of;
  ++lists_;
  watch(id);
}

void Reflectors::begin_watch(uint32_t id, uint32_t server) {
  Reflector& reflector = reflectors_[id];
  reflector.state = State::Watching;
  reflector.server = server;
  reflector.place = static_cast<uint32_t>(on_server_[server].size());
  reflector.watches_since = engine_.now();
  on_server_[server].push_back(id);
  count_watch(reflector, 1);
  ++watching_;
  synced.emit(id);
}

void Reflectors::back_off(uint32_t id) {
  Reflector& reflector = reflectors_[id];
  reflector.state = State::BackingOff;
  reflector.backoff = params_.backoff.next(reflector.backoff);
  const Duration wait = jittered(reflector.backoff, rng_);
  engine_.after(wait, Label{"control.reflector_tries_again"}, [this, asked = ticket(id)] {
    const auto again = static_cast<uint32_t>(asked);
    if (ticket(again) != asked) return;
    const Reflector& r = reflectors_[again];
    if (r.has_listed) return watch(again);
    list(again);
  });
}

// The time up to which the reflector has all changes. A watch of all objects is up to date. A
// narrow watch has all changes up to its last bookmark or, before its first bookmark, up to `seen`.
Time Reflectors::seen_by(const Reflector& reflector) const {
  const Duration watched = engine_.now() - reflector.watches_since;
  if (!reflector.is_narrow) return engine_.now();
  if (watched < params_.bookmark_period) return reflector.seen;
  return reflector.watches_since + params_.bookmark_period * (watched / params_.bookmark_period);
}

void Reflectors::lose(uint32_t server) {
  const std::vector<uint32_t> watched = std::exchange(on_server_[server], {});
  watching_ -= static_cast<uint32_t>(watched.size());
  for (const uint32_t id : watched) {
    Reflector& reflector = reflectors_[id];
    reflector.seen = seen_by(reflector);
    if (engine_.now() - reflector.watches_since > params_.backoff_reset) {
      reflector.backoff = {};
    }
    back_off(id);
  }
}

}  // namespace orrery

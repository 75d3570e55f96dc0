#include "models/control_plane/clients/list_readers.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace orrery {

ListReaders::ListReaders(Engine& engine, ApiServers& servers, const ApiClientParams& params,
                         const Setup& setup, std::function<Listed()> listed, Rng& rng)
    : engine_{engine}, setup_{setup}, listed_{std::move(listed)} {
  const uint32_t shared = servers.new_account();
  for (uint32_t c = 0; c < setup.clients; ++c) {
    const uint32_t user = setup.nodes != nullptr ? shared : servers.new_account();
    clients_.push_back(std::make_unique<ApiClient>(
        engine, servers, params,
        ApiClient::Setup{.kind = ApiClientKind::ServiceAccount, .user = user}, rng));
  }
}

void ListReaders::start() { next_turn(); }

void ListReaders::next_turn() {
  const auto count = static_cast<int64_t>(clients_.size());
  const auto round = static_cast<int64_t>(turn_) / count,
             client = static_cast<int64_t>(turn_) % count;
  const auto phase = static_cast<int64_t>(int128_t{setup_.every.ns} * (client + 1) / count);
  const Time due = Time{} + setup_.every * round + Duration{phase};
  engine_.at(due, Label{"control.list_due"}, [this, client] {
    ++turn_;
    list(static_cast<uint32_t>(client));
    next_turn();
  });
}

void ListReaders::list(uint32_t client) {
  if (setup_.nodes != nullptr && !(*setup_.nodes)[client]) return;
  if (clients_[client]->present() > 0) {
    ++counters_.missed;
    return;
  }
  const Listed all = listed_();
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  const ApiRequest request{.verb = Verb::List,
                           .resource = setup_.resource,
                           .is_consistent = setup_.from == ListFrom::Etcd,
                           .objects = static_cast<int32_t>(std::min(all.objects, kMost)),
                           .bytes = all.bytes,
                           .answer = all.bytes};
  clients_[client]->send(request, [this, sent = engine_.now()](const ApiAnswer& answer) {
    if (answer.outcome != ApiOutcome::Done) {
      ++counters_.failed;
      return;
    }
    ++counters_.answered;
    latency_.add(engine_.now() - sent);
  });
}

}  // namespace orrery

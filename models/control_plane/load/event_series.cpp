#include "models/control_plane/load/event_series.hpp"

#include <utility>

namespace orrery {
namespace {

constexpr Duration kFinish = 6_min, kRefresh = 30_min;  // client-go: event_broadcaster.go
constexpr uint32_t kNone = UINT32_MAX;

}  // namespace

EventSeries::EventSeries(Engine& engine, EtcdStore& store, ApiClient& client, const Setup& setup)
    : engine_{engine},
      store_{store},
      client_{client},
      setup_{setup},
      next_look_{engine, Label{"control.event_series_end"}, [this] { look(); }} {}

void EventSeries::occurred(PodId pod, uint64_t life, uint32_t name_space) {
  const Time now = engine_.now();
  ++counters_.occurrences;
  if (pod.index >= of_pods_.size()) of_pods_.resize(pod.index + size_t{1}, kNone);
  uint32_t& place = of_pods_[pod.index];
  if (place != kNone && series_[place].life == life) {
    Series& known = series_[place];
    known.last = now;
    if (!std::exchange(known.is_series, true)) write(known, Verb::Patch);
    return;
  }
  place = static_cast<uint32_t>(series_.size());
  Series first{.pod = pod, .life = life, .name_space = name_space, .last = now, .events = {}};
  for (int32_t i = 0; i < setup_.events; ++i) {
    first.events.push_back(store_.new_name(ApiResource::Events));
    if (first.events.back() >= written_.size()) written_.resize(first.events.back() + size_t{1});
    written_[first.events.back()] = {};
  }
  write(first, Verb::Create);
  series_.push_back(std::move(first));
  if (!next_look_.is_armed()) next_look_.arm_at(Time{} + kFinish * ((now - Time{}) / kFinish + 1));
}

void EventSeries::write(const Series& series, Verb verb) {
  for (const uint32_t event : series.events) {
    ++written_[event].unanswered;
    client_.send({.verb = verb,
                  .resource = ApiResource::Events,
                  .name_space = series.name_space,
                  .bytes = setup_.bytes,
                  .object = event,
                  .answer = setup_.bytes},
                 [this, event, verb](const ApiAnswer& answer) {
                   answered(event, verb, answer.outcome == ApiOutcome::Done);
                 });
  }
}

void EventSeries::answered(uint32_t event, Verb verb, bool is_done) {
  ++(!is_done ? counters_.dropped : verb == Verb::Create ? counters_.written : counters_.patched);
  if (--written_[event].unanswered == 0 && written_[event].is_over) store_.forget(event);
}

void EventSeries::look() {
  const Time now = engine_.now();
  const bool is_refresh = (now - Time{}).ns % kRefresh.ns == 0;
  std::vector<Series> all = std::exchange(series_, {});
  for (uint32_t i = 0; i < all.size(); ++i) {
    uint32_t& place = of_pods_[all[i].pod.index];
    const bool is_newest = place == i;  // the newest series of its pod
    const bool is_over = all[i].last + kFinish < now;
    if (all[i].is_series && (is_over || is_refresh)) write(all[i], Verb::Patch);
    if (is_over) {
      if (is_newest) place = kNone;
      end(all[i]);
      continue;
    }
    if (is_newest) place = static_cast<uint32_t>(series_.size());
    series_.push_back(std::move(all[i]));
  }
  if (!series_.empty()) next_look_.arm(kFinish);
}

void EventSeries::end(const Series& series) {
  for (const uint32_t event : series.events) {
    written_[event].is_over = true;
    if (written_[event].unanswered == 0) store_.forget(event);
  }
}

}  // namespace orrery

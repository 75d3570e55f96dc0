// models/control_plane/control_plane_samples.cpp -- time series and summary of the control plane.
#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "models/control_plane/control_plane.hpp"
#include "models/control_plane/etcd/etcd_memory.hpp"

namespace orrery {

void ControlPlane::sample(Time now) {
  const double seconds = (now - sampled_to_).seconds();
  sampled_to_ = now;
  if (seconds <= 0) return;
  if (services_) services_->sample(now, seconds);
  ApiStatistics& statistics = servers_.statistics();
  const std::vector<PriorityLevelParams>& levels = params_.api_servers.flow_control.levels;
  for (uint32_t level = 0; level < statistics.levels(); ++level) {
    for (size_t v = 0; v < kVerbs; ++v) {
      const auto verb = static_cast<Verb>(v);
      const ApiStatistics::Cell& cell = statistics.cell(level, verb);
      if (cell.total() == 0) continue;
      const auto rate = [&](uint64_t count) { return static_cast<double>(count) / seconds; };
      samples_.emit({.time = now,
                     .level = std::string_view{levels[level].name},
                     .verb = verb,
                     .done = rate(cell.of(ApiOutcome::Done)),
                     .too_many = rate(cell.of(ApiOutcome::TooManyRequests)),
                     .errors = rate(cell.server_errors()),
                     .lost = rate(cell.of(ApiOutcome::ServerLost)),
                     .p50 = cell.latency.quantile(0.5),
                     .p90 = cell.latency.quantile(0.9),
                     .p99 = cell.latency.quantile(0.99)});
    }
  }
  total_.add(statistics.of_all());
  statistics.clear();
  if (events_)
    most_[Quantity::EventObjects] = std::max(most_[Quantity::EventObjects], events_->kept());
  if (namespaces_) namespaces_->sample(now);
  sample_servers(now, seconds);
  sample_etcd(now, seconds);
}

void ControlPlane::sample_servers(Time now, double seconds) {
  for (uint32_t s = 0; s < servers_.size(); ++s) {
    const ApiServer& server = servers_.server(s);
    const double cores = server.cpu_seconds(), sent = server.egress_seconds();
    const uint64_t gone = servers_.watch_caches().gone(s),
                   before = std::exchange(gone_before_[s], gone);
    const auto link = static_cast<double>(params_.api_servers.server.egress.bits_per_s);
    server_samples_.emit({.time = now,
                          .server = s,
                          .is_up = server.is_up(),
                          .cores = (cores - std::exchange(cores_[s], cores)) / seconds +
                                   (server.is_up() ? server.steady_cores() : 0),
                          .egress = (sent - std::exchange(egress_[s], sent)) / seconds * link,
                          .heap = server.is_up() ? server.heap() : Bytes{},
                          .watches = server.watchers(),
                          .requests = server.present(),
                          .steady = server.is_up() ? server.steady_requests() : 0,
                          .gone = static_cast<double>(gone - before) / seconds});
  }
}

Bytes ControlPlane::watcher_memory() const {
  const NamespaceParams each = params_.namespaces ? params_.namespaces->each : NamespaceParams{};
  return memory_of(EtcdWatchers{.connections = int64_t{servers_.up()} * each.resource_types});
}

Bytes ControlPlane::index_memory() {
  constexpr Bytes kKey{64};  // estimate of the length of /registry/pods/NAMESPACE/NAME
  MvccStore::Count count = etcd_.objects().count();
  if (etcd_.is_split()) {
    const MvccStore::Count events = etcd_.events().count();
    count.keys += events.keys;
    count.versions += events.versions;
  }
  const int64_t of_nodes = node_objects_.keys_from_start();
  return memory_of(
      EtcdKeys{.keys = count.keys + of_nodes, .versions = count.versions + of_nodes, .key = kKey});
}

void ControlPlane::sample_etcd(Time now, double seconds) {
  node_objects_.expire(now);
  Etcd::Counters counters = etcd_.objects().counters();
  size_t waiting = etcd_.objects().waiting();
  Bytes in_use = etcd_.objects().in_use(), file = etcd_.objects().file();
  if (etcd_.is_split()) {
    const Etcd::Counters& events = etcd_.events().counters();
    counters.read = counters.read + events.read;
    counters.writes += events.writes;
    counters.too_large += events.too_large;
    counters.out_of_space += events.out_of_space;
    counters.timed_out += events.timed_out;
    waiting += etcd_.events().waiting();
    in_use = in_use + etcd_.events().in_use();
    file = file + etcd_.events().file();
  }
  const auto refused = [](const Etcd::Counters& c) { return c.too_large + c.out_of_space; };
  const Bytes watchers = watcher_memory(), index = index_memory();
  watcher_memory_peak_ = std::max(watcher_memory_peak_, watchers);
  index_memory_peak_ = std::max(index_memory_peak_, index);
  etcd_samples_.emit(
      {.time = now,
       .writes = static_cast<double>(counters.writes - etcd_before_.writes) / seconds,
       .refused = static_cast<double>(refused(counters) - refused(etcd_before_)) / seconds,
       .timed_out = static_cast<double>(counters.timed_out - etcd_before_.timed_out) / seconds,
       .in_use = in_use,
       .file = file,
       .waiting = waiting,
       .read = static_cast<double>((counters.read - etcd_before_.read).count) / seconds,
       .events = etcd_.events().events(),
       .pods = store_.stored(ApiResource::Pods),
       .watcher_memory = watchers,
       .index_memory = index,
       .members_lost = etcd_.objects().members_lost()});
  etcd_before_ = counters;
}

std::vector<std::string> ControlPlane::notes() const {
  ClusterSize size = most_;
  if (namespaces_) size[Quantity::Namespaces] = namespaces_->most();
  size[Quantity::ObjectsOfType] = std::max(size[Quantity::Pods], size[Quantity::Namespaces]);
  size[Quantity::BytesOfType] = (params_.pods.bytes * size[Quantity::Pods]).count;
  std::vector<std::string> notes;
  if (services_) notes = services_->notes();
  std::ranges::move(log_.notes(), std::back_inserter(notes));
  if (servers_.up() == 0) {
    notes.push_back(
        "control plane: no API server was up at the end: no pod could be created or bound");
  }
  if (params_.level == ControlPlaneLevel::Full && !etcd_.objects().has_quorum()) {
    notes.push_back("control plane: etcd had no quorum at the end: nothing could be stored");
  }
  for (const Excess& excess : beyond_thresholds(size)) {
    std::string name{enum_names(Quantity{})[static_cast<size_t>(excess.quantity)]};
    std::ranges::replace(name, '_', ' ');
    notes.push_back("control plane: " + std::to_string(excess.count) + " " + name +
                    ", where Kubernetes is tested with up to " + std::to_string(excess.threshold));
  }
  return notes;
}

void ControlPlane::add_summary(Recorder& recorder) {
  total_.add(servers_.statistics().of_all());
  servers_.statistics().clear();
  const auto count = [&](std::string_view name, uint64_t n, std::string_view doc) {
    recorder.add_summary(name, static_cast<int64_t>(n), "requests", doc);
  };
  count("api_requests", total_.total(),
        "requests to API servers, retries included; without steady load such as heartbeats");
  count("api_too_many", total_.of(ApiOutcome::TooManyRequests), "requests rejected with 429");
  count("api_errors", total_.server_errors(),
        "requests that failed with a 5xx status, because etcd did not serve them or they timed "
        "out");
  count("api_lost", total_.of(ApiOutcome::ServerLost),
        "requests that failed because no API server was up, or their server went down");
  recorder.add_summary("etcd_elections", static_cast<int64_t>(etcd_.objects().counters().elections),
                       "elections",
                       "elections of a leader of etcd, after members were lost or came back");
  log_.add_summary(recorder);
  recorder.add_summary("watches_gone", static_cast<int64_t>(servers_.watch_caches().gone()),
                       "watches",
                       "watches that a server rejected with 410 Gone, because its watch cache no "
                       "longer had the changes since the last event of the watch; the client then "
                       "lists again");
  recorder.add_summary("etcd_watcher_memory_peak", watcher_memory_peak_.count, "B",
                       "largest sampled memory of etcd's leader for the watches of API servers; "
                       "with separate_events, summed over both etcds");
  recorder.add_summary("etcd_index_memory_peak", index_memory_peak_.count, "B",
                       "largest sampled memory of an etcd member for its index of keys and "
                       "uncompacted versions; with separate_events, summed over both etcds");
  if (events_) events_->add_summary(recorder);
  if (crash_loops_) crash_loops_->add_summary(recorder);
  if (namespaces_) namespaces_->add_summary(recorder);
  if (images_.pulls().counters().asked > 0) images_.add_summary(recorder);
  count("api_retried", retried_,
        "writes of Pod objects, sent again because the API client's own retries failed");
  recorder.add_summary("api_latency_p50", total_.latency.quantile(0.5).seconds(), "s",
                       "median latency of requests that succeeded");
  recorder.add_summary("api_latency_p99", total_.latency.quantile(0.99).seconds(), "s",
                       "99th percentile of the latency of requests that succeeded");
  if (services_) services_->add_summary(recorder);
}

}  // namespace orrery

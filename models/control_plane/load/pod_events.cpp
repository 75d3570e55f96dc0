#include "models/control_plane/load/pod_events.hpp"

#include <algorithm>
#include <utility>

namespace orrery {

PodEvents::PodEvents(Sim sim, ApiServers& servers, EtcdStore& store, const Params& params,
                     const std::vector<bool>& nodes)
    : etcd_{store.etcd()},
      servers_{servers},
      params_{params},
      events_{params.events},
      rng_{sim.rng.stream("control_plane.events")},
      scheduler_{sim.engine, servers, events_.client, {.kind = ApiClientKind::Scheduler}, rng_},
      failures_{sim.engine,
                store,
                scheduler_,
                {.bytes = events_.bytes, .events = events_.per_failed_bind}} {
  for (uint32_t n = 0; n < nodes.size() && events_.per_pod > 1; ++n) {
    kubelets_.push_back(std::make_unique<ApiClient>(
        sim.engine, servers, events_.client,
        ApiClient::Setup{.kind = ApiClientKind::Kubelet, .user = n}, rng_));
  }
  for (const ListReaderParams& reader : events_.readers) {
    const auto clients = reader.clients ? static_cast<size_t>(*reader.clients) : nodes.size();
    readers_.push_back(std::make_unique<ListReaders>(
        sim.engine, servers, params_.clients.others,
        ListReaders::Setup{.from = reader.from,
                           .every = reader.every,
                           .clients = static_cast<uint32_t>(clients),
                           .nodes = reader.clients ? nullptr : &nodes},
        [this] {
          return ListReaders::Listed{kept(), etcd_.events().events()};
        },
        rng_));
  }
}

void PodEvents::start() {
  if (events_.others_per_s > 0) {
    const ApiCostParams& cost = params_.api_servers.server.cost;
    const ApiRequest write{.verb = Verb::Create, .bytes = events_.bytes, .answer = events_.bytes};
    const FlowClass flow = classify(params_.api_servers.flow_control, ApiClientKind::ServiceAccount,
                                    ApiResource::Events);
    const Duration cpu = cost.of(write);
    servers_.set_steady(flow.level,
                        {.requests_per_s = events_.others_per_s,
                         .cpu = cpu,
                         .held = cpu + params_.etcd.commit_time(),
                         .sent = events_.bytes},
                        SteadySource::Events);
    const double bytes_per_s = events_.others_per_s * static_cast<double>(events_.bytes.count);
    etcd_.events().set_steady_load(
        {.writes_per_s = events_.others_per_s,
         .stored = {.event_bytes_per_s = bytes_per_s, .events_per_s = events_.others_per_s}},
        SteadySource::Events);
  }
  for (const auto& readers : readers_) readers->start();
}

void PodEvents::pod_bound(NodeId node, uint32_t name_space) {
  record(scheduler_, std::min(events_.per_pod, 1), name_space);
  if (events_.per_pod > 1 && node.is_valid()) {
    record(*kubelets_[node.index], events_.per_pod - 1, name_space);
  }
}

void PodEvents::scheduling_failed(PodId pod, uint64_t life, uint32_t name_space) {
  if (events_.per_failed_bind > 0) failures_.occurred(pod, life, name_space);
}

int64_t PodEvents::kept() const { return etcd_.events().events().count / events_.bytes.count; }

void PodEvents::record(ApiClient& client, int32_t count, uint32_t name_space) {
  for (int32_t i = 0; i < count; ++i) {
    client.send({.verb = Verb::Create,
                 .resource = ApiResource::Events,
                 .name_space = name_space,
                 .bytes = events_.bytes,
                 .answer = events_.bytes},
                [this](const ApiAnswer& answer) {
                  ++(answer.outcome == ApiOutcome::Done ? written_ : dropped_);
                });
  }
}

void PodEvents::add_summary(Recorder& recorder) const {
  const auto count = [&](std::string_view name, uint64_t n, std::string_view unit,
                         std::string_view doc) {
    recorder.add_summary(name, static_cast<int64_t>(n), unit, doc);
  };
  const EventSeries::Counters& failures = failures_.counters();
  count("events_written", written_ + failures.written, "Events", "Events recorded about pods");
  count("events_dropped", dropped_ + failures.dropped, "requests",
        "failed requests to write an Event about a pod");
  count("failed_scheduling", failures.occurrences, "attempts",
        "failed attempts to schedule or bind a pod, each recorded in an Event or in a series of "
        "Events");
  count("event_series_patches", failures.patched, "requests",
        "writes that turned an Event about failed scheduling into a series, or updated such a "
        "series");
  if (readers_.empty()) return;
  ListReaders::Counters all;
  LatencyHistogram latency;
  for (const auto& readers : readers_) {
    all.answered += readers->counters().answered;
    all.failed += readers->counters().failed;
    all.missed += readers->counters().missed;
    latency.add(readers->latency());
  }
  count("event_lists", all.answered, "requests", "answered LISTs of all Events");
  count("event_lists_failed", all.failed, "requests", "failed LISTs of all Events");
  count("event_lists_missed", all.missed, "requests",
        "LISTs of all Events that were not sent, because the client still waited for the "
        "response to its previous LIST");
  recorder.add_summary("event_list_latency_p99", latency.quantile(0.99).seconds(), "s",
                       "99th percentile of the latency of answered LISTs of all Events");
}

}  // namespace orrery

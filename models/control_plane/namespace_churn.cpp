#include "models/control_plane/namespace_churn.hpp"

#include <algorithm>
#include <utility>

#include "models/control_plane/flow_schemas.hpp"

namespace orrery {

NamespaceChurn::NamespaceChurn(Sim sim, ApiServers& servers, EtcdSplit& etcd,
                               const ControlPlaneParams& params, uint32_t nodes)
    : engine_{sim.engine},
      servers_{servers},
      etcd_{etcd},
      params_{params},
      namespaces_{*params.namespaces},
      each_{namespaces_.each},
      rng_{sim.rng.stream("control_plane.namespaces")},
      user_{engine_, servers, params.clients.others, {.kind = ApiClientKind::User}, rng_},
      controller_manager_{engine_,
                          servers,
                          params.clients.controller_manager,
                          {.kind = ApiClientKind::ControllerManager},
                          rng_},
      samples_{sim.recorder, "/timeline/namespaces", "Namespaces over time."} {
  for (const ListReaderParams& reader : namespaces_.readers) {
    const uint32_t clients = reader.clients ? static_cast<uint32_t>(*reader.clients) : nodes;
    readers_.push_back(std::make_unique<ListReaders>(
        engine_, servers, params.clients.others,
        ListReaders::Setup{.resource = ApiResource::ServiceAccounts,
                           .from = reader.from,
                           .every = reader.every,
                           .clients = clients},
        [this] {
          return ListReaders::Listed{count_, bytes_of_type(count_, each_)};
        },
        rng_));
  }
  for (const NamespaceAskersParams& asker : namespaces_.askers) {
    rounds_.push_back({.clients = asker.clients, .every = asker.every, .asked_in = {}});
  }
}

void NamespaceChurn::start() {
  count(namespaces_.existing);
  etcd_.objects().preload(bytes());
  for (const auto& readers : readers_) readers->start();
  for (size_t r = 0; r < rounds_.size(); ++r) ask(r);
}

void NamespaceChurn::count(int64_t change) {
  count_ += change;
  most_ = std::max(most_, count_);
  const double heap = namespaces_.heap_factor * static_cast<double>(bytes().count);
  servers_.set_cached({static_cast<int64_t>(heap)});
}

// The namespace by whoever submits the job, the rest by controllers that fill new ones.
void NamespaceChurn::job_arrived() {
  if (!namespaces_.per_job) return;
  count(1);
  for (int32_t i = 0; i < each_.objects; ++i) {
    const ApiResource resource = i == 0   ? ApiResource::Namespaces
                                 : i == 1 ? ApiResource::ServiceAccounts
                                          : ApiResource::ConfigMaps;
    (i == 0 ? user_ : controller_manager_)
        .send({.verb = Verb::Create,
               .resource = resource,
               .bytes = each_.object_bytes,
               .answer = each_.object_bytes},
              [](const ApiAnswer&) {});
  }
}

void NamespaceChurn::job_over() {
  if (!namespaces_.per_job || !namespaces_.deleted) return;
  leaving_.push_back(engine_.now());
  begin_deletion();
  set_load();
}

// A worker begins with one when it is done with its last; the requests of all go one after another.
void NamespaceChurn::begin_deletion() {
  const auto workers = static_cast<size_t>(each_.workers);
  if (begun_ == leaving_.size() || ends_.size() == workers) return;
  ++begun_;
  const double per_s = each_.delete_qps;
  const Duration requests = nearest_ns(static_cast<double>(requests_of_deletion(each_)) / per_s);
  requests_end_ = std::max(requests_end_, engine_.now()) + requests;
  ends_.push_back(requests_end_ + each_.grace);
  engine_.at(ends_.back(), Label{"control.namespace_deleted"}, [this] { deleted(); });
}

void NamespaceChurn::deleted() {
  longest_ = std::max(longest_, engine_.now() - leaving_.front());
  leaving_.pop_front();
  ends_.pop_front();
  --begun_;
  ++deleted_;
  count(-1);
  etcd_.objects().drop(each_.object_bytes * each_.objects);
  begin_deletion();
  set_load();
}

void NamespaceChurn::ask(size_t index) {
  Round& round = rounds_[index];
  const Duration span = time_to_ask_each(count_, each_);
  round.is_asking = true;
  set_load();
  engine_.after(span, Label{"control.namespaces_asked"}, [this, index, span] {
    Round& done = rounds_[index];
    done.asked_in = span;
    done.is_asking = false;
    set_load();
    engine_.after(std::max(done.every - span, Duration{}), Label{"control.namespaces_ask"},
                  [this, index] { ask(index); });
  });
}

void NamespaceChurn::set_load() {
  const FlowControlParams& flow = params_.api_servers.flow_control;
  const ApiCostParams& cost = params_.api_servers.server.cost;
  const uint32_t deleting =
      classify(flow, ApiClientKind::ControllerManager, ApiResource::Namespaces).level;
  const uint32_t asking =
      classify(flow, ApiClientKind::ServiceAccount, ApiResource::AccessReviews).level;
  double asked_per_s = 0;
  for (const Round& round : rounds_) {
    if (round.is_asking) asked_per_s += static_cast<double>(round.clients) * each_.client_qps;
  }
  const double deleted_per_s = requests_end_ > engine_.now() ? each_.delete_qps : 0;
  const SteadyLoad both[] = {
      {.requests_per_s = deleted_per_s, .cpu = cost.read, .held = cost.read, .sent = {}},
      {.requests_per_s = asked_per_s, .cpu = cost.read, .held = cost.read, .sent = {}}};
  if (deleting == asking)
    return servers_.set_steady(asking, sum_of(both), SteadySource::Namespaces);
  servers_.set_steady(deleting, both[0], SteadySource::Namespaces);
  servers_.set_steady(asking, both[1], SteadySource::Namespaces);
}

void NamespaceChurn::sample(Time now) {
  Duration asked_in{};
  for (const Round& round : rounds_) asked_in = std::max(asked_in, round.asked_in);
  samples_.emit({.time = now,
                 .namespaces = count_,
                 .leaving = static_cast<int64_t>(leaving_.size()),
                 .objects = bytes(),
                 .asked_in = asked_in});
}

void NamespaceChurn::add_summary(Recorder& recorder) const {
  recorder.add_summary("namespaces", count_, "namespaces", "at the end of the run");
  recorder.add_summary("namespaces_leaving", static_cast<int64_t>(leaving_.size()), "namespaces",
                       "of these, that are to be deleted");
  recorder.add_summary("namespaces_deleted", static_cast<int64_t>(deleted_), "namespaces",
                       "in the run");
  recorder.add_summary("namespace_deletion_max", longest_.seconds(), "s",
                       "from the end of a job until its namespace was gone, the longest");
  if (readers_.empty()) return;
  LatencyHistogram latency;
  for (const auto& readers : readers_) latency.add(readers->latency());
  recorder.add_summary("namespace_list_latency_p99", latency.quantile(0.99).seconds(), "s",
                       "of LISTs over all namespaces");
}

}  // namespace orrery

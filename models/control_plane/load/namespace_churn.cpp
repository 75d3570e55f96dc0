#include "models/control_plane/load/namespace_churn.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "models/control_plane/base/backoff.hpp"
#include "models/control_plane/flow_control/flow_schemas.hpp"

namespace orrery {
namespace {

// The wait before a failed creation is retried.
constexpr Backoff kNamespaceBackoff{.first = 1_s, .max = 60_s};

// The Namespace and its default objects; all further objects are ConfigMaps.
constexpr ApiResource kObjectKinds[] = {ApiResource::Namespaces, ApiResource::ServiceAccounts,
                                        ApiResource::ConfigMaps};

}  // namespace

NamespaceChurn::NamespaceChurn(Sim sim, ApiServers& servers, EtcdStore& store,
                               const JobNamespaces& numbers, const Params& params,
                               const std::vector<bool>& nodes)
    : engine_{sim.engine},
      servers_{servers},
      store_{store},
      numbers_{numbers},
      params_{params},
      namespaces_{params.namespaces},
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
    const auto clients = reader.clients ? static_cast<size_t>(*reader.clients) : nodes.size();
    readers_.push_back(std::make_unique<ListReaders>(
        engine_, servers, params.clients.others,
        ListReaders::Setup{.resource = ApiResource::ServiceAccounts,
                           .from = reader.from,
                           .every = reader.every,
                           .clients = static_cast<uint32_t>(clients),
                           .nodes = reader.clients ? nullptr : &nodes},
        [this] {
          return ListReaders::Listed{count(), bytes_of_type(count(), each_)};
        },
        rng_));
  }
  for (const NamespaceAskersParams& asker : namespaces_.askers) {
    rounds_.push_back({.clients = asker.clients, .every = asker.every, .asked_in = {}});
  }
}

void NamespaceChurn::start() {
  changed();
  store_.etcd().objects().preload(bytes(), objects());
  for (const auto& readers : readers_) readers->start();
  for (size_t r = 0; r < rounds_.size(); ++r) ask(r);
}

int64_t NamespaceChurn::count() const {
  return namespaces_.existing + store_.stored(ApiResource::Namespaces);
}

int64_t NamespaceChurn::objects() const {
  int64_t sum = objects_of(namespaces_.existing, each_);
  for (const ApiResource resource : kObjectKinds) sum += store_.stored(resource);
  return sum;
}

void NamespaceChurn::changed() {
  most_ = std::max(most_, count());
  const double heap = namespaces_.heap_factor * static_cast<double>(bytes().count);
  servers_.set_cached(nearest_bytes(std::floor(heap)));
}

// The job's user creates the namespace. Controllers then create the objects in it.
void NamespaceChurn::job_arrived(JobId job) {
  if (!namespaces_.per_job) return;
  if (free_.empty()) {
    free_.push_back(static_cast<uint32_t>(spaces_.size()));
    spaces_.emplace_back();
  }
  const uint32_t space = free_.back();
  free_.pop_back();
  spaces_[space] = {.number = numbers_.of(job),
                    .objects = std::vector<uint32_t>(static_cast<size_t>(each_.objects)),
                    .left = Time::max(),
                    .use = spaces_[space].use + 1};
  if (job.index >= of_jobs_.size()) of_jobs_.resize(job.index + size_t{1});
  of_jobs_[job] = space;
  create(space, 0, kNamespaceBackoff.first);
}

void NamespaceChurn::create(uint32_t space, size_t object, Duration pause) {
  const ApiResource resource = kObjectKinds[std::min(object, std::size(kObjectKinds) - 1)];
  uint32_t& name = spaces_[space].objects[object];
  if (name == 0) name = store_.new_name(resource);
  ++spaces_[space].asked;
  const ApiRequest request{.verb = Verb::Create,
                           .resource = resource,
                           .name_space = object == 0 ? 0 : spaces_[space].number,
                           .bytes = each_.object_bytes,
                           .object = name,
                           .answer = each_.object_bytes};
  ApiClient& client = object == 0 ? user_ : controller_manager_;
  client.send(request, [this, space, object, pause](const ApiAnswer& answer) {
    --spaces_[space].asked;
    changed();
    if (spaces_[space].left != Time::max()) return leave(space);
    if (answer.outcome == ApiOutcome::Done) return created(space, object);
    engine_.after(pause, Label{"control.namespace_tries_again"},
                  [this, space, object, pause, use = spaces_[space].use] {
                    const Space& now_is = spaces_[space];  // may belong to a later job
                    if (now_is.left != Time::max() || now_is.use != use) return;
                    create(space, object, kNamespaceBackoff.next(pause));
                  });
  });
}

void NamespaceChurn::created(uint32_t space, size_t object) {
  for (size_t i = 1; i < static_cast<size_t>(each_.objects) && object == 0; ++i) {
    create(space, i, kNamespaceBackoff.first);
  }
}

void NamespaceChurn::job_over(JobId job) {
  if (!namespaces_.per_job || !namespaces_.deleted) return;
  spaces_[of_jobs_[job]].left = engine_.now();
  leave(of_jobs_[job]);
}

// Does nothing while a creation awaits its response. Otherwise queues the namespace for deletion if
// the store has any object of the namespace. The store may have an object although the client saw
// the creation of the object fail.
void NamespaceChurn::leave(uint32_t space) {
  if (spaces_[space].asked > 0) return;
  const auto is_stored = [this](uint32_t name) { return name != 0 && store_.has(name); };
  if (std::ranges::none_of(spaces_[space].objects, is_stored)) return drop(space);
  leaving_.push_back(space);
  begin_deletion();
  set_load();
}

void NamespaceChurn::drop(uint32_t space) {
  for (const uint32_t name : std::exchange(spaces_[space].objects, {})) {
    if (name == 0) continue;
    store_.drop(name);
    store_.forget(name);
  }
  free_.push_back(space);
  changed();
}

// A worker that has finished a deletion begins the next one. The requests of all deletions are sent
// one after another.
void NamespaceChurn::begin_deletion() {
  const auto workers = static_cast<size_t>(each_.workers);
  if (begun_ == leaving_.size() || ends_.size() == workers) return;
  ++begun_;
  const double per_s = each_.delete_qps;
  const Duration requests = nearest_ns(static_cast<double>(requests_of_deletion(each_)) / per_s);
  requests_end_ = std::max(requests_end_, engine_.now()) + requests;
  ends_.push_back(requests_end_ + each_.grace);
  engine_.at(ends_.back(), Label{"control.namespace_deleted"}, [this] { deleted(); });
  if (each_.grace == Duration{}) return;
  engine_.at(requests_end_, Label{"control.namespace_emptied"}, [this] { set_load(); });
}

void NamespaceChurn::deleted() {
  const uint32_t space = leaving_.front();
  longest_ = std::max(longest_, engine_.now() - spaces_[space].left);
  leaving_.pop_front();
  ends_.pop_front();
  --begun_;
  ++deleted_;
  drop(space);
  begin_deletion();
  set_load();
}

void NamespaceChurn::ask(size_t index) {
  Round& round = rounds_[index];
  const Duration span = time_to_ask_each(count(), each_);
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
                 .namespaces = count(),
                 .leaving = static_cast<int64_t>(leaving_.size()),
                 .objects = bytes(),
                 .asked_in = asked_in});
}

void NamespaceChurn::add_summary(Recorder& recorder) const {
  recorder.add_summary("namespaces", count(), "namespaces", "namespaces at the end of the run");
  recorder.add_summary("namespaces_leaving", static_cast<int64_t>(leaving_.size()), "namespaces",
                       "namespaces waiting for deletion or being deleted at the end of the run");
  recorder.add_summary("namespaces_deleted", static_cast<int64_t>(deleted_), "namespaces",
                       "namespaces deleted in the run");
  recorder.add_summary("namespace_deletion_max", longest_.seconds(), "s",
                       "longest time from the end of a job until its namespace was deleted");
  if (readers_.empty()) return;
  LatencyHistogram latency;
  for (const auto& readers : readers_) latency.add(readers->latency());
  recorder.add_summary("namespace_list_latency_p99", latency.quantile(0.99).seconds(), "s",
                       "99th percentile of the latency of LISTs over all namespaces");
}

}  // namespace orrery

// bench/control_plane.cpp -- how many requests one host core simulates per second, with one API
// server and with five. The load is moderate, or three times what the seats of API Priority and
// Fairness admit. The counter `allocations` is per request.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "models/control_plane/api_server/api_servers.hpp"
#include "models/control_plane/clients/api_client.hpp"
#include "sim/core/rng.hpp"
#include "sim/engine/engine.hpp"

namespace {

uint64_t allocations = 0;

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes)) return memory;
  std::abort();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace orrery {
namespace {

class SteadyStore final : public ApiStore {
 public:
  explicit SteadyStore(Engine& engine) : engine_{engine} {}
  void write(const ApiRequest&, Time, Done done) override { answer(std::move(done)); }
  void read(const ApiRequest&, Time, Done done) override { answer(std::move(done)); }

 private:
  void answer(Done done) {
    engine_.after(2_ms, Label{"bench.stored"}, [done = std::move(done)] { done(true); });
  }
  Engine& engine_;
};

// The five kinds of requests, each a fifth of the load: kubelets renew Leases, patch nodes and read
// pods; the controller manager creates pods; service accounts list ConfigMaps.
struct Kind {
  ApiClientKind client;
  ApiRequest request;
};
const Kind kKinds[] = {
    {ApiClientKind::Kubelet, {.verb = Verb::Update, .resource = ApiResource::Leases}},
    {ApiClientKind::Kubelet, {.verb = Verb::Patch, .resource = ApiResource::Nodes}},
    {ApiClientKind::Kubelet, {.verb = Verb::Get, .resource = ApiResource::Pods, .answer = {5'000}}},
    {ApiClientKind::ControllerManager, {.verb = Verb::Create, .resource = ApiResource::Pods}},
    {ApiClientKind::ServiceAccount,
     {.verb = Verb::List, .resource = ApiResource::ConfigMaps, .objects = 50, .answer = {50'000}}},
};

class Load {
 public:
  Load(int32_t servers, double per_s_each)
      : servers_{{engine_, store_}, params_of(servers), Rng{1}}, gap_{gap(servers, per_s_each)} {
    for (uint32_t i = 0; i < 7'500; ++i) {
      const ApiClient::Setup setup{.kind = kKinds[i % 5].client, .user = i};
      clients_.push_back(
          std::make_unique<ApiClient>(engine_, servers_, client_params_, setup, jitter_));
    }
    arrive();
  }
  void run_until(uint64_t answered) {
    while (answered_ < answered) engine_.step();
  }
  uint64_t answered() const { return answered_; }
  uint64_t turned_away() const {
    return servers_.statistics().of_all().of(ApiOutcome::TooManyRequests);
  }

 private:
  static ApiServersParams params_of(int32_t servers) {
    ApiServersParams params;
    params.servers = servers;
    return params;
  }
  static Duration gap(int32_t servers, double per_s_each) {
    return nearest_ns(1 / (servers * per_s_each));
  }
  void arrive() {
    const auto i = static_cast<uint32_t>(rng_.below(clients_.size()));
    clients_[i]->send(kKinds[i % 5].request, [this](const ApiAnswer&) { ++answered_; });
    engine_.after(rng_.exponential(gap_), Label{"bench.arrives"}, [this] { arrive(); });
  }

  Engine engine_;
  SteadyStore store_{engine_};
  ApiServers servers_;
  ApiClientParams client_params_{.qps = 1e6, .burst = 1'000'000, .tries_max = 2};
  Rng rng_{2}, jitter_{3};
  Duration gap_;
  std::vector<std::unique_ptr<ApiClient>> clients_;
  uint64_t answered_ = 0;
};

// range(0) is the number of servers, range(1) the requests a second to each server.
void requests(benchmark::State& state) {
  constexpr uint64_t kBatch = 100'000;
  Load load{static_cast<int32_t>(state.range(0)), static_cast<double>(state.range(1))};
  load.run_until(5 * kBatch);
  const uint64_t before = allocations, rejected = load.turned_away();
  for (auto _ : state) load.run_until(load.answered() + kBatch);
  const double all = static_cast<double>(state.iterations()) * kBatch;
  state.counters["requests/s"] = benchmark::Counter(all, benchmark::Counter::kIsRate);
  state.counters["allocations"] = static_cast<double>(allocations - before) / all;
  state.counters["turned_away"] = static_cast<double>(load.turned_away() - rejected) / all;
}
BENCHMARK(requests)
    ->ArgNames({"servers", "per_s_each"})
    ->Args({1, 10'000})
    ->Args({5, 10'000})
    ->Args({1, 100'000})
    ->Args({5, 100'000})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(20);

}  // namespace
}  // namespace orrery

BENCHMARK_MAIN();

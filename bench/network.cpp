// bench/network.cpp -- flows that share links, compared with a bare loop that recomputes all rates.
//
//   bench_network
//
// Measures random flows of 1 to 20 MB on fat trees of two levels, with 32 hosts per leaf, links of
// 400 Gb/s and D-mod-K routing. When a flow ends, a new flow starts at once. Then measures rings of
// hosts, and one activity of MaxMin that uses all links of a fat tree.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <numeric>
#include <queue>
#include <utility>
#include <vector>

#include "bench/support/world.hpp"
#include "models/network/sharing/flow_network.hpp"
#include "sim/core/rng.hpp"
#include "tests/support/plain_fat_tree.hpp"

namespace orrery::bench {
namespace {

using test::PlainFatTree;

constexpr double kCapacity = 400e9;
constexpr double kSeconds = 1;  // CPU time of one measurement; half of it for the bare loop

struct RandomFlow {
  std::vector<LinkUse> uses;
  Bytes size;
};
RandomFlow draw(const PlainFatTree& tree, Rng& rng) {
  const auto from = static_cast<uint32_t>(rng.below(tree.hosts));
  const auto hop = static_cast<uint32_t>(1 + rng.below(tree.hosts - 1));
  return {tree.route(from, (from + hop) % tree.hosts),
          {1'000'000 + static_cast<int64_t>(rng.below(19'000'000))}};
}

struct Window {
  uint64_t completions = 0;
  double seconds = 0;
  double rates_changed = 0;  // rates that changed for each completed flow, on average
  double per_s() const { return static_cast<double>(completions) / seconds; }
};

class Churn {
 public:
  explicit Churn(const PlainFatTree& tree) : tree_{tree} {
    for (uint32_t l = 0; l < tree.links(); ++l) network_.add_link(400_Gbps);
  }
  Window run(uint32_t flows) {
    for (uint32_t i = 0; i < flows; ++i) start();
    engine_.set_poll(64, [this] {
      if (cpu_seconds() > deadline_) engine_.stop();
    });
    advance(kSeconds / 4);  // warm-up, until the ends of flows are spread over time
    const FlowNetwork::Counters before = network_.counters();
    const double began = cpu_seconds();
    advance(kSeconds);
    Window window;
    window.seconds = cpu_seconds() - began;
    window.completions = network_.counters().finished - before.finished;
    window.rates_changed =
        static_cast<double>(network_.counters().rates_changed - before.rates_changed) /
        static_cast<double>(window.completions);
    return window;
  }

 private:
  void advance(double seconds) {
    deadline_ = cpu_seconds() + seconds;
    engine_.run();
  }
  void start() {
    const RandomFlow flow = draw(tree_, rng_);
    network_.start({.size = flow.size, .uses = flow.uses}, [this] { start(); });
  }

  PlainFatTree tree_;
  Rng rng_{1};
  Engine engine_;
  FlowNetwork network_{engine_};
  double deadline_ = 0;
};

// Scans all flows for the next end, then recomputes all rates. A link's share is its remaining
// capacity divided by its number of flows without a rate. The link with the
// least share gives that share to each of its flows without a rate. This repeats until all flows
// have a rate.
class BareLoop {
 public:
  explicit BareLoop(const PlainFatTree& tree) : tree_{tree}, on_(tree.links()) {}
  Window run(uint32_t flows) {
    for (uint32_t i = 0; i < flows; ++i) flows_.push_back(next(i));
    rate_.resize(flows);
    fill();
    Window window;
    const double began = cpu_seconds();
    while (window.seconds < kSeconds / 2) {
      end_one();
      fill();
      if (++window.completions % 8 == 0) window.seconds = cpu_seconds() - began;
    }
    return window;
  }

 private:
  struct Flow {
    std::vector<LinkUse> uses;
    double left;
  };
  Flow next(uint32_t index) {
    RandomFlow flow = draw(tree_, rng_);
    for (const LinkUse& use : flow.uses) on_[use.link.index].push_back(index);
    return {std::move(flow.uses), static_cast<double>(flow.size.count) * 8};
  }
  void end_one() {
    double least = std::numeric_limits<double>::infinity();
    uint32_t ended = 0;
    for (uint32_t i = 0; i < flows_.size(); ++i) {
      const double span = flows_[i].left / rate_[i];
      if (span >= least) continue;
      least = span;
      ended = i;
    }
    for (uint32_t i = 0; i < flows_.size(); ++i) flows_[i].left -= rate_[i] * least;
    for (const LinkUse& use : flows_[ended].uses) std::erase(on_[use.link.index], ended);
    flows_[ended] = next(ended);
  }
  void fill() {
    using Share = std::pair<double, uint32_t>;
    std::priority_queue<Share, std::vector<Share>, std::greater<>> shares;
    rest_.assign(on_.size(), kCapacity);
    unfixed_.resize(on_.size());
    for (uint32_t l = 0; l < on_.size(); ++l) {
      unfixed_[l] = on_[l].size();
      if (unfixed_[l] > 0) shares.emplace(share(l), l);
    }
    std::ranges::fill(rate_, -1);
    while (!shares.empty()) {
      const auto [level, link] = shares.top();
      shares.pop();
      if (unfixed_[link] == 0) continue;
      if (share(link) > level) {  // `level` is outdated: shares only grow
        shares.emplace(share(link), link);
        continue;
      }
      for (const uint32_t flow : on_[link]) {
        if (rate_[flow] >= 0) continue;
        rate_[flow] = level;
        for (const LinkUse& use : flows_[flow].uses) {
          rest_[use.link.index] -= level;
          --unfixed_[use.link.index];
        }
      }
    }
  }
  double share(uint32_t link) const { return rest_[link] / static_cast<double>(unfixed_[link]); }

  PlainFatTree tree_;
  Rng rng_{1};
  std::vector<std::vector<uint32_t>> on_;  // indices of the flows on each link
  std::vector<Flow> flows_;
  std::vector<double> rate_, rest_;
  std::vector<size_t> unfixed_;
};

void measure_churn() {
  std::printf(
      "| hosts |  flows | completions/CPU s | rates changed by one | all anew, /CPU s | times |\n");
  std::printf(
      "|------:|-------:|------------------:|---------------------:|-----------------:|------:|\n");
  constexpr std::pair<uint32_t, uint32_t> kPoints[] = {
      {128, 128},     {512, 512}, {1024, 1024}, {2048, 2048}, {4096, 4096}, {16384, 16384},
      {65536, 65536}, {1024, 64}, {1024, 256},  {1024, 2048}, {1024, 4096}, {1024, 16384}};
  for (const auto& [hosts, flows] : kPoints) {
    const PlainFatTree tree{.half = 32, .hosts = hosts};
    const Window ours = Churn{tree}.run(flows), bare = BareLoop{tree}.run(flows);
    std::printf("| %5u | %6u | %17.0f | %20.1f | %16.0f | %5.1f |\n", hosts, flows, ours.per_s(),
                ours.rates_changed, bare.per_s(), ours.per_s() / bare.per_s());
    std::fflush(stdout);
  }
}

std::vector<uint32_t> ring_order(uint32_t hosts, bool is_random) {
  std::vector<uint32_t> order(hosts);
  std::iota(order.begin(), order.end(), 0u);
  Rng rng{1};
  for (size_t i = hosts; is_random && i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
  return order;
}

double ms_of(auto&& action) {
  const double began = cpu_seconds();
  action();
  return (cpu_seconds() - began) * 1e3;
}

// Each host sends a flow to the next host of the ring. Row `again` is the second measurement, in
// which no memory is allocated.
void measure_ring(uint32_t hosts, bool is_random) {
  const PlainFatTree tree{.half = 64, .hosts = hosts};
  const std::vector<uint32_t> order = ring_order(hosts, is_random);
  MaxMin sharing;
  for (uint32_t l = 0; l < tree.links(); ++l) sharing.add_link(kCapacity);
  std::vector<std::vector<LinkUse>> routes;
  for (uint32_t i = 0; i < hosts; ++i) {
    routes.push_back(tree.route(order[i], order[(i + 1) % hosts]));
  }
  for (const char* const time : {"first", "again"}) {
    const double add = ms_of([&] {
      for (const auto& route : routes) sharing.add(route);
    });
    const double solve = ms_of([&] { sharing.solve(); });
    const double remove = ms_of([&] {
      for (uint32_t i = 0; i < hosts; ++i) sharing.remove({i});
      sharing.solve();
    });
    std::printf("| %-10s | %5s | %6u | %7.1f | %7.1f | %7.1f |\n",
                is_random ? "random" : "in order", time, hosts, add, solve, remove);
  }
}

void measure_network_ring(uint32_t hosts) {
  const PlainFatTree tree{.half = 64, .hosts = hosts};
  Engine engine;
  FlowNetwork network{engine};
  for (uint32_t l = 0; l < tree.links(); ++l) network.add_link(400_Gbps);
  const double start = ms_of([&] {
    for (uint32_t host = 0; host < hosts; ++host) {
      network.start({.size = 1_GiB, .uses = tree.route(host, (host + 8) % hosts)}, {});
    }
  });
  const double settle = ms_of([&] { engine.run(Time{}); });
  const double end = ms_of([&] { engine.run(); });
  std::printf("\n%u ring flows in simulated time: start %.1f ms, settle %.1f ms, end %.1f ms\n",
              hosts, start, settle, end);
}

void measure_macro_activity(uint32_t hosts) {
  const PlainFatTree tree{.half = 64, .hosts = hosts};
  MaxMin sharing;
  std::vector<LinkUse> uses;
  for (uint32_t l = 0; l < tree.links(); ++l) uses.push_back({sharing.add_link(kCapacity)});
  const double add = ms_of([&] {
    sharing.add(uses);
    sharing.solve();
  });
  const double slower = ms_of([&] {
    sharing.set_capacity({hosts / 2}, kCapacity / 4);
    sharing.solve();
  });
  Rng rng{2};
  constexpr int kBeside = 10'000;
  const double beside = ms_of([&] {
    for (int i = 0; i < kBeside; ++i) {
      sharing.add(draw(tree, rng).uses);
      sharing.solve();
    }
  });
  std::printf(
      "One activity with %zu uses: start %.1f ms, one link slower %.1f ms, one of %d flows "
      "beside it %.1f us\n",
      uses.size(), add, slower, kBeside, beside * 1e3 / kBeside);
}

}  // namespace
}  // namespace orrery::bench

int main() {
  orrery::bench::measure_churn();
  std::printf("\n| ring       |  time |  flows |  add ms | solve ms | remove and solve ms |\n");
  std::printf("|------------|-------|-------:|--------:|---------:|--------------------:|\n");
  for (const bool is_random : {false, true}) orrery::bench::measure_ring(65'536, is_random);
  orrery::bench::measure_network_ring(60'000);
  orrery::bench::measure_macro_activity(60'000);
}

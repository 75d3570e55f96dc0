// One API server against formulas: the mean wait for a seat (Erlang; with one seat Pollaczek and
// Khinchine), the mean latency on one core (processor sharing), and the probability that shuffle
// sharding starves a flow.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "models/control_plane/flow_control/priority_and_fairness.hpp"
#include "models/control_plane/flow_control/shuffle_sharding.hpp"
#include "tests/support/api_world.hpp"
#include "tests/support/report.hpp"
#include "tests/support/starving_probability.hpp"

namespace orrery {
namespace {

using nlohmann::json;

constexpr const char* kFile = "tests/closed_form/data/api_server.json";

// The mean wait by Erlang's formula. Requests arrive at rate lambda, c seats serve them first come
// first served, and service times are exponential with rate mu. With a = lambda / mu and C = P(wait
// > 0), the mean wait is C / (c mu - lambda).
double erlang_wait(double a, int c) {  // the wait in units of 1 / mu
  double term = 1, sum = 0;
  for (int k = 0; k < c; ++k) {
    sum += term;
    term *= a / (k + 1);
  }
  const double waiting = term / (1 - a / c);
  return waiting / (sum + waiting) / (c - a);
}

struct Service {
  std::string kind;
  double mean_s = 0;
  Duration draw(Rng& rng) const {
    if (kind == "fixed") return nearest_ns(mean_s);
    if (kind == "exponential") return nearest_ns(mean_s * rng.exponential());
    return nearest_ns(rng.lognormal(std::log(mean_s) - 0.5, 1));  // sigma is 1
  }
  double squares() const {  // E[S^2] / E[S]^2 of service times S
    return kind == "fixed" ? 1 : kind == "exponential" ? 2 : std::exp(1);
  }
};

// Requests that arrive at random times, each with a CPU time drawn from `service`.
struct Load {
  double per_s = 0;
  Service service;
  int64_t requests = 0;
  double worked_s = 0;  // sum of the CPU times drawn by mean_latency_s()
};
double mean_latency_s(const ApiServersParams& params, Load& load) {
  test::ApiWorld world{params, 3};
  Rng rng = world.streams.stream("test.load");
  int64_t left = load.requests;
  std::function<void()> next = [&] {
    const Duration cpu = load.service.draw(rng);
    load.worked_s += cpu.seconds();
    world.server().submit({.flow = 1, .cpu = cpu}, [](const ApiAnswer&) {});
    if (--left > 0) {
      world.engine.after(rng.exponential(nearest_ns(1 / load.per_s)), Label{"test.arrives"},
                         [&] { next(); });
    }
  };
  next();
  world.engine.run();
  const ApiStatistics::Cell all = world.servers.statistics().of_all();
  EXPECT_EQ(all.of(ApiOutcome::Done), static_cast<uint64_t>(load.requests));
  return all.latency.mean_s();
}

class ApiServerClosedForm : public testing::TestWithParam<std::string> {};

TEST_P(ApiServerClosedForm, MeanTimeIsThatOfTheFormula) {
  const json row = json::parse(test::case_of(kFile, GetParam()));
  const json& input = row["input"];
  const bool waits = input["quantity"] == "wait_mean, s";
  const int seats = waits ? input["seats"].get<int>() : 1'000'000;
  ApiServersParams params = test::free_servers();
  params.server.cores = waits ? seats : 1;
  params.server.request_timeout = Duration::max();
  params.flow_control = test::one_level(seats);
  params.flow_control.wait_limit = 3650_d;
  Load load{.per_s = input["per_s"],
            .service = {input["service"].get<std::string>(), input["service_s"]},
            .requests = 4'000'000};
  const double latency = mean_latency_s(params, load);
  const double a = load.per_s * load.service.mean_s;
  double ours = latency, expected = load.service.mean_s / (1 - a);
  if (waits) {
    ours = latency - load.worked_s / static_cast<double>(load.requests);
    expected = seats == 1 ? load.per_s * load.service.squares() * load.service.mean_s *
                                load.service.mean_s / (2 * (1 - a))
                          : load.service.mean_s * erlang_wait(a, seats);
  }
  test::report({.id = GetParam()}, ours, expected);
  EXPECT_NEAR(ours, expected, row["tolerance"].get<double>() * expected);
}

INSTANTIATE_TEST_SUITE_P(Loads, ApiServerClosedForm,
                         testing::Values("API.mmc.1", "API.mmc.3", "API.mmc.8", "API.mg1.fixed",
                                         "API.mg1.lognormal", "API.mg1ps.exponential",
                                         "API.mg1ps.lognormal"));

// Deals each flow a hand of queues by the hash of the flow's number, and counts how often the hands
// of the heavy flows cover the hand of a light flow. The tolerance is three standard deviations.
class ShuffleShardingMonteCarlo : public testing::TestWithParam<std::string> {};

TEST_P(ShuffleShardingMonteCarlo, HandsStarveAsOftenAsTheFormulaSays) {
  const json row = json::parse(test::case_of(kFile, GetParam()));
  const json& input = row["input"];
  const int32_t queues = input["queues"], hand = input["hand"], heavy = input["heavy"];
  const ShuffleSharding sharding{queues, hand};
  constexpr int kTrials = 200'000;
  uint64_t flow = 0;
  int starved = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<bool> is_taken(static_cast<size_t>(queues));
    const auto deal = [&] { return sharding.deal(flow_hash(flow++)); };
    for (int32_t n = 0; n < heavy; ++n) {
      const ShuffleSharding::Hand dealt = deal();
      for (int32_t i = 0; i < hand; ++i) is_taken[dealt[static_cast<size_t>(i)]] = true;
    }
    const ShuffleSharding::Hand light = deal();
    starved +=
        std::all_of(light.begin(), light.begin() + hand, [&](uint16_t q) { return is_taken[q]; })
            ? 1
            : 0;
  }
  const double expected = test::starving_probability(queues, hand, heavy);
  const double ours = static_cast<double>(starved) / kTrials;
  test::report({.id = GetParam()}, ours, expected);
  EXPECT_LE(std::abs(ours - expected), 3 * std::sqrt(expected * (1 - expected) / kTrials));
}

INSTANTIATE_TEST_SUITE_P(Hands, ShuffleShardingMonteCarlo,
                         testing::Values("API-3.carlo.12x32.4", "API-3.carlo.12x32.16",
                                         "API-3.carlo.10x32.4", "API-3.carlo.10x64.16",
                                         "API-3.carlo.8x64.16", "API-3.carlo.8x128.16",
                                         "API-3.carlo.6x64.16", "API-3.carlo.6x128.16"));

// Heavy flows fill every queue of their hands. A light flow is then rejected exactly if all queues
// of its hand are full.
class ShuffleShardingOfSeats : public testing::TestWithParam<std::string> {};

TEST_P(ShuffleShardingOfSeats, LightFlowsAreRejectedAsOftenAsTheFormulaSays) {
  const json row = json::parse(test::case_of(kFile, GetParam()));
  const json& input = row["input"];
  const int32_t queues = input["queues"], hand = input["hand"], heavy = input["heavy"];
  const LevelSetup level{.seats = 1, .queues = queues, .hand = hand, .queue_length = 3};
  const FlowControlSetup setup{.levels = {level}, .seats = 1, .adjust_every = {}};
  constexpr int kTrials = 20'000;
  uint64_t flow = 0;
  int turned_away = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    PriorityAndFairness flow_control{setup};
    uint32_t request = 0;
    for (int32_t n = 0; n < heavy; ++n, ++flow) {
      while (flow_control.arrive({.request = request, .level = 0, .flow = flow}, Time{})) ++request;
    }
    if (!flow_control.arrive({.request = request, .level = 0, .flow = flow++}, Time{})) {
      ++turned_away;
    }
  }
  const double expected = test::starving_probability(queues, hand, heavy);
  const double ours = static_cast<double>(turned_away) / kTrials;
  test::report({.id = GetParam()}, ours, expected);
  EXPECT_LE(std::abs(ours - expected), 3 * std::sqrt(expected * (1 - expected) / kTrials));
}

INSTANTIATE_TEST_SUITE_P(Hands, ShuffleShardingOfSeats,
                         testing::Values("API-3.seats.2x8.3", "API-3.seats.4x16.4",
                                         "API-3.seats.6x64.16"));

}  // namespace
}  // namespace orrery

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "models/control_plane/base/token_bucket.hpp"
#include "models/control_plane/clients/api_client.hpp"
#include "models/control_plane/clients/reflectors.hpp"
#include "tests/support/api_world.hpp"

namespace orrery {
namespace {

struct Clients : test::ApiWorld {
  explicit Clients(const ApiServersParams& params) : test::ApiWorld{params} {}
  ApiClient& add(const ApiClientParams& p, ApiClient::Setup setup = {}) {
    all_params.push_back(std::make_unique<ApiClientParams>(p));
    clients.push_back(
        std::make_unique<ApiClient>(engine, servers, *all_params.back(), setup, jitter));
    return *clients.back();
  }
  ApiDone note() {
    return [this](const ApiAnswer& answer) {
      answers.push_back(answer.outcome);
      times.push_back(engine.now());
    };
  }
  Rng jitter{3};
  std::vector<std::unique_ptr<ApiClientParams>> all_params;
  std::vector<std::unique_ptr<ApiClient>> clients;
  std::vector<ApiOutcome> answers;
  std::vector<Time> times;
};

TEST(TokenBucket, GivesABurstAndThenAtItsPace) {
  TokenBucket bucket{10, 3};
  EXPECT_EQ(bucket.reserve(Time{}), Time{});
  EXPECT_EQ(bucket.reserve(Time{}), Time{});
  EXPECT_EQ(bucket.reserve(Time{}), Time{});
  EXPECT_EQ(bucket.reserve(Time{}), Time{} + 100_ms);
  EXPECT_EQ(bucket.reserve(Time{} + 50_ms), Time{} + 200_ms);
  EXPECT_EQ(bucket.reserve(Time{} + 350_ms), Time{} + 350_ms) << "one token had come back";
  EXPECT_EQ(bucket.reserve(Time{} + 350_ms), Time{} + 400_ms);
  EXPECT_EQ(bucket.reserve(Time{} + 10_s), Time{} + 10_s);
  EXPECT_EQ(bucket.reserve(Time{} + 10_s), Time{} + 10_s);
  EXPECT_EQ(bucket.reserve(Time{} + 10_s), Time{} + 10_s);
  EXPECT_EQ(bucket.reserve(Time{} + 10_s), Time{} + 10_s + 100_ms) << "and no more than a burst";
}

TEST(ApiClient, HoldsItselfBackBeforeItReachesAServer) {
  Clients world{test::free_servers()};
  ApiClient& client = world.add({.qps = 20, .burst = 30});
  for (int i = 0; i < 800; ++i) client.send({.verb = Verb::Create}, world.note());
  world.engine.run();
  ASSERT_EQ(world.times.size(), 800U);
  EXPECT_EQ(world.times[29], Time{});
  EXPECT_EQ(world.times[30], Time{} + 50_ms);
  EXPECT_EQ(world.times.back(), Time{} + 50_ms * 770);  // 800 - 30 requests at 20 a second: 38.5 s
}

TEST(ApiClient, TriesAgainAfterTheRetryAfter) {
  ApiServersParams params = test::free_servers();
  params.flow_control.levels = {{.name = "only", .kind = LevelKind::Reject, .shares = 1}};
  params.flow_control.schemas = {{.name = "all", .level = "only"}};
  params.flow_control.max_requests_inflight = 1;
  params.flow_control.max_mutating_requests_inflight = 0;
  Clients world{params};
  ApiClient& client = world.add({.qps = 1000, .burst = 1000, .tries_max = 3});
  client.send({.cpu = 1500_ms}, world.note());
  client.send({.cpu = 50_s}, world.note());
  client.send({}, world.note());
  world.engine.run();
  // The only seat is taken until 1.5 s, so the second and the third request are rejected at 0 s and
  // again at 1 s. At 2 s the second request gets the seat, until 52 s. The third request fails its
  // last try.
  EXPECT_EQ(world.answers,
            (std::vector{ApiOutcome::Done, ApiOutcome::TooManyRequests, ApiOutcome::Done}));
  EXPECT_EQ(world.times[1], Time{} + 2_s);
  EXPECT_EQ(world.times[2], Time{} + 52_s);
  EXPECT_EQ(client.counters().tried, 7U);
  EXPECT_EQ(client.counters().given_up, 1U);
}

TEST(ApiClient, GoesToAnotherServerWhenItsOwnIsLost) {
  Clients world{test::free_servers(2)};
  ApiClient& client = world.add({});
  client.send({.cpu = 10_s}, world.note());
  world.engine.after(1_s, Label{"test.lose"}, [&] {
    for (uint32_t s = 0; s < 2; ++s) {
      if (world.server(s).present() > 0) return world.server(s).lose();
    }
  });
  world.engine.run();
  EXPECT_EQ(world.answers, std::vector{ApiOutcome::Done});
  EXPECT_GE(world.times[0], Time{} + 12_s);  // lost at 1 s, a backoff of 1 to 2 s, then 10 s
  EXPECT_LE(world.times[0], Time{} + 13_s);
}

TEST(ApiClient, GivesUpWhenNoServerComesBack) {
  Clients world{test::free_servers()};
  world.server().lose();
  ApiClient& client = world.add({.tries_max = 4});
  client.send({}, world.note());
  world.engine.run();
  EXPECT_EQ(world.answers, std::vector{ApiOutcome::ServerLost});
  EXPECT_GE(world.times[0], Time{} + 7_s);  // backoffs of 1 to 2, 2 to 4 and 4 to 8 s
  EXPECT_LE(world.times[0], Time{} + 14_s);
}

TEST(ApiClient, TheSchemaOfTheResourceDecidesTheLevel) {
  Clients world{test::free_servers()};
  ApiClient& kubelet = world.add({}, {.kind = ApiClientKind::Kubelet, .user = 7});
  kubelet.send({.resource = ApiResource::Leases}, world.note());
  kubelet.send({.resource = ApiResource::Pods}, world.note());
  world.add({}, {.kind = ApiClientKind::Scheduler}).send({.name_space = 3}, world.note());
  world.engine.run();
  const ApiStatistics& statistics = world.servers.statistics();
  EXPECT_EQ(statistics.of_level(2).total(), 1U);
  EXPECT_EQ(statistics.of_level(3).total(), 1U);
  EXPECT_EQ(statistics.of_level(4).total(), 1U);
}

// Returns how long a request of `who` takes beside a flood, or Duration::max() if the request is
// rejected. The server has one seat. Another client has sent 301 requests of a second each: one
// executes, and 300 fill the six queues of their flow. Then `who` sends a request. A request of the
// same flow is rejected. Before a request of another flow, at most six requests execute, one from
// each queue.
Duration second_in_line(ApiClient::Setup who, uint32_t name_space) {
  ApiServersParams params = test::free_servers();
  params.flow_control.max_requests_inflight = 1;
  params.flow_control.max_mutating_requests_inflight = 0;
  params.flow_control.adjust_every = {};
  params.flow_control.wait_limit = 1_h;
  params.server.request_timeout = 1_h;
  for (PriorityLevelParams& level : params.flow_control.levels) {
    level.shares = level.name == "workload-high" ? 1 : 0;
  }
  Clients world{params};
  const ApiClientParams fast{.qps = 1e6, .burst = 1'000, .tries_max = 1};
  ApiClient& flood = world.add(fast, {.kind = ApiClientKind::Scheduler});
  for (int i = 0; i < 301; ++i) flood.send({.name_space = 7, .cpu = 1_s}, [](const ApiAnswer&) {});
  Duration waited = Duration::max();
  world.add(fast, who).send({.name_space = name_space, .cpu = 1_s}, [&](const ApiAnswer& answer) {
    if (answer.outcome == ApiOutcome::Done) waited = world.engine.now() - Time{};
  });
  world.engine.run();
  return waited;
}

TEST(ApiClient, AFloodOfOneFlowHoldsUpNoOtherSchemaAndNoOtherNamespace) {
  const ApiClient::Setup scheduler{.kind = ApiClientKind::Scheduler};
  EXPECT_EQ(second_in_line(scheduler, 7), Duration::max()) << "the same flow: queues are full";
  EXPECT_LE(second_in_line(scheduler, 8), 10_s) << "another namespace";
  EXPECT_LE(second_in_line({.kind = ApiClientKind::ControllerManager}, 7), 10_s)
      << "another schema of the same level and namespace";
}

TEST(ApiServers, AConnectionStaysWhileItsServerIsUpAndDoesNotComeBack) {
  Clients world{test::free_servers(3)};
  std::vector<uint32_t> connections;
  for (int i = 0; i < 300; ++i) connections.push_back(world.servers.connect());
  const auto spread = [&] {
    std::vector<int> on(3);
    for (const uint32_t c : connections) {
      world.servers.submit(c, {}, [&](const ApiAnswer& answer) { ++on.at(answer.server); });
    }
    return on;
  };
  const std::vector<int> first = spread();
  EXPECT_EQ(spread(), first);
  for (const int n : first) EXPECT_GT(n, 60);
  world.server(1).lose();
  const std::vector<int> after = spread();
  EXPECT_EQ(after[1], 0);
  EXPECT_GE(after[0], first[0]);
  world.server(1).recover();
  EXPECT_EQ(spread(), after);
}

TEST(ApiServers, RequestsMayEachGoToAnyServer) {
  ApiServersParams params = test::free_servers(2);
  params.balance = ApiBalance::PerRequest;
  Clients world{params};
  const uint32_t connection = world.servers.connect();
  std::vector<int> on(2);
  for (int i = 0; i < 1000; ++i) {
    world.servers.submit(connection, {}, [&](const ApiAnswer& answer) { ++on.at(answer.server); });
  }
  EXPECT_NEAR(on[0], 500, 60);
}

TEST(ApiServers, SteadyLoadIsSpreadOverThoseThatAreUp) {
  Clients world{test::free_servers(5)};
  world.servers.set_steady(2, {.requests_per_s = 100, .cpu = 100_ms});
  EXPECT_NEAR(world.server(0).steady_cores(), 2, 1e-9);
  world.server(4).lose();
  EXPECT_NEAR(world.server(0).steady_cores(), 2.5, 1e-9);
  EXPECT_EQ(world.server(4).steady_cores(), 0);
  world.server(4).recover();
  EXPECT_NEAR(world.server(0).steady_cores(), 2, 1e-9);
}

TEST(ApiServers, SteadyLoadsOfSeveralSourcesAddUp) {
  Clients world{test::free_servers(2)};
  world.servers.set_steady(2, {.requests_per_s = 100, .cpu = 10_ms});
  world.servers.set_steady(2, {.requests_per_s = 300, .cpu = 20_ms}, SteadySource::Events);
  EXPECT_NEAR(world.server(0).steady_cores(), (1 + 6) / 2.0, 1e-6);
  EXPECT_NEAR(world.server(0).steady_requests(), 200, 1e-9);
  world.servers.set_steady(2, {}, SteadySource::Events);
  EXPECT_NEAR(world.server(0).steady_cores(), 0.5, 1e-9);
}

TEST(ApiServers, EachTellsItsOwnWatchers) {
  ApiServersParams params = test::free_servers(2);
  params.server.cores = 4;
  Clients world{params};
  world.server(0).add_watchers(ApiResource::Endpoints, 10);
  world.server(1).add_watchers(ApiResource::Pods, 10);
  world.servers.tell_watchers(ApiResource::Endpoints, 2_ms, 1_ms, {1'000});
  world.engine.run();
  EXPECT_NEAR(world.server(0).cpu_seconds(), 0.012, 1e-9);
  EXPECT_EQ(world.server(1).cpu_seconds(), 0);
  EXPECT_EQ(world.engine.now(), Time{} + 3_ms) << "on four cores";
  EXPECT_EQ(world.servers.watchers(ApiResource::Endpoints), 10);
}

struct Watching : Clients {
  explicit Watching(int count = 1, bool is_narrow = false) : Clients{test::free_servers(2)} {
    for (int i = 0; i < count; ++i) {
      ids.push_back(
          reflectors.add({.client = add({}), .list = {.cpu = 100_ms}, .is_narrow = is_narrow}));
      reflectors.start(ids.back());
    }
    run_to(10_min);
  }
  void run_to(Duration when) {
    engine.at(Time{} + when, Label{"test.then"}, [] {});
    engine.run(Time{} + when);
  }
  uint32_t lose_one() {
    const uint32_t s = server(0).watchers() > 0 ? 0 : 1;
    server(s).lose();
    return s;
  }
  void change(double per_s) { servers.watch_caches().set_rate(ApiResource::Pods, per_s); }
  uint64_t gone() const { return servers.watch_caches().gone(); }
  Reflectors reflectors{engine, servers, {}, Rng{4}};
  std::vector<uint32_t> ids;
};

TEST(Reflectors, ListAndThenWatch) {
  Watching world{};
  EXPECT_TRUE(world.reflectors.is_watching(0));
  EXPECT_EQ(world.reflectors.lists(), 1U);
  EXPECT_EQ(world.servers.watchers(ApiResource::Pods), 1);
  EXPECT_EQ(world.engine.pending(), 0U);
  world.reflectors.stop(0);
  EXPECT_EQ(world.servers.watchers(ApiResource::Pods), 0);
  world.reflectors.start(0);
  world.engine.run();
  EXPECT_TRUE(world.reflectors.is_watching(0));
}

TEST(Reflectors, ThoseOfFewObjectsMakeNoWriteWider) {
  Watching world{};
  const uint32_t narrow =
      world.reflectors.add({.client = world.add({}), .list = {}, .is_narrow = true});
  world.reflectors.start(narrow);
  world.engine.run();
  EXPECT_EQ(world.servers.watchers(ApiResource::Pods), 1);
  EXPECT_EQ(world.server(0).watchers() + world.server(1).watchers(), 2);
  world.reflectors.stop(narrow);
  EXPECT_EQ(world.server(0).watchers() + world.server(1).watchers(), 1);
}

TEST(Reflectors, ResumeTheirWatchElsewhereAfterALoss) {
  Watching world{100};
  const Time start = world.engine.now();
  std::vector<Time> back;
  world.reflectors.synced.connect([&](uint32_t) { back.push_back(world.engine.now()); });
  const uint32_t lost = world.lose_one();
  EXPECT_LT(world.reflectors.watching(), 70U);
  world.engine.run();
  EXPECT_EQ(world.server(1 - lost).watchers(), 100);
  EXPECT_EQ(world.reflectors.lists(), 100U);
  EXPECT_GE(back.front(), start + 800_ms);
  EXPECT_LE(back.back(), start + 1600_ms);
}

// One of two servers is lost. The watch cache of the other holds the last 102,400 events, which at
// 100,000 events/s are those of the last 1.024 s. Reflectors resume 0.8 to 1.6 s after their last
// event. So a share of (1.6 - 1.024) / 0.8 = 0.72 finds that event gone.
TEST(Reflectors, ListAgainIfTheOtherServersCacheLacksTheirLastEvent) {
  Watching world{400};
  world.change(100'000);
  world.run_to(15_min);
  world.lose_one();
  const uint64_t lost = 400 - world.reflectors.watching();
  world.engine.run(world.engine.now() + 1_min);
  EXPECT_EQ(world.reflectors.watching(), 400U);
  EXPECT_NEAR(static_cast<double>(world.gone()), 0.72 * static_cast<double>(lost), 30);
  EXPECT_EQ(world.reflectors.lists(), 400U + world.gone());
}

TEST(Reflectors, AllListAgainIfNoCacheReachesBackFarEnough) {
  Watching world{100};
  world.server(0).lose();
  world.server(1).lose();
  world.engine.run(world.engine.now() + 10_s);
  EXPECT_EQ(world.reflectors.watching(), 0U);
  for (const uint32_t s : {0U, 1U}) world.server(s).recover();
  world.engine.run();
  EXPECT_EQ(world.gone(), 100U);
  EXPECT_EQ(world.reflectors.lists(), 200U);
  EXPECT_EQ(world.reflectors.watching(), 100U);
}

// One of two servers is lost. The watch cache of the other covers half a minute. A watch of few
// objects has seen no event since the last bookmark, almost a minute ago, so the other server
// answers 410 Gone. A watch of all pods sees events all the time, so it resumes.
TEST(Reflectors, ThoseOfFewObjectsHaveSeenTheLastBookmark) {
  for (const bool is_narrow : {false, true}) {
    Watching world{100, is_narrow};
    world.change(102'400 / 30.0);
    world.run_to(11_min);
    world.lose_one();
    const uint64_t lost = 100 - world.reflectors.watching();
    world.engine.run(world.engine.now() + 1_min);
    EXPECT_EQ(world.gone(), is_narrow ? lost : 0);
    EXPECT_EQ(world.reflectors.watching(), 100U);
  }
}

// If a LIST takes longer than the period that the watch cache covers, the following watch fails,
// because the version of the LIST is gone. Then the reflector lists again.
TEST(Reflectors, ListOverAndOverWhatChangesFasterThanTheyList) {
  Watching world{};
  world.change(2'000'000);  // the cache covers 51 ms; a LIST takes 100 ms
  world.reflectors.stop(0);
  world.reflectors.start(0);
  world.engine.run(world.engine.now() + 10_min);
  EXPECT_FALSE(world.reflectors.is_watching(0));
  EXPECT_GT(world.gone(), 10U);
  world.change(0);
  world.engine.run();
  EXPECT_TRUE(world.reflectors.is_watching(0));
}

TEST(Reflectors, AreNotWatchingOnAServerThatIsLostAsTheyConnect) {
  Watching world{};
  world.reflectors.stop(0);
  world.reflectors.start(0);
  world.server(0).lose();
  world.server(1).lose();
  EXPECT_FALSE(world.reflectors.is_watching(0));
  world.engine.after(5_s, Label{"test.recover"}, [&] { world.server(1).recover(); });
  world.engine.run();
  EXPECT_TRUE(world.reflectors.is_watching(0));
  EXPECT_EQ(world.server(1).watchers(), 1);
}

}  // namespace
}  // namespace orrery

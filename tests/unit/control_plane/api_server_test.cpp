#include "models/control_plane/api_server/api_server.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/api_world.hpp"

namespace orrery {
namespace {

struct Received {
  ApiOutcome outcome{};
  Time at;
  int times = 0;
};

// One API server. OneServer(seats) has `seats` seats and adds no cost to a request.
struct OneServer : test::ApiWorld {
  explicit OneServer(const ApiServersParams& params) : test::ApiWorld{params} {}
  explicit OneServer(int32_t seats) : test::ApiWorld{params_of(seats)} {}
  static ApiServersParams params_of(int32_t seats) {
    ApiServersParams params = test::free_servers();
    params.flow_control = test::one_level(seats);
    return params;
  }
  void submit(const ApiRequest& request, Received& received) {
    server().submit(request, [this, &received](const ApiAnswer& answer) {
      received = {answer.outcome, engine.now(), received.times + 1};
    });
  }
};

TEST(ApiServer, WhatCostsNothingIsAnsweredAtOnce) {
  OneServer world{10};
  Received received;
  world.submit({.verb = Verb::Create}, received);
  EXPECT_EQ(received.times, 1);
  EXPECT_EQ(received.outcome, ApiOutcome::Done);
  EXPECT_EQ(world.engine.pending(), 0U);
}

TEST(ApiServer, AWriteComputesThenStoresThenSends) {
  ApiServersParams params = OneServer::params_of(10);
  params.server.cost.write = 3_ms;
  params.server.egress = {8'000'000};  // a byte takes a microsecond
  OneServer world{params};
  world.store.write_time = 20_ms;
  Received received;
  world.submit({.verb = Verb::Patch, .answer = {500}, .cpu = 1_ms}, received);
  world.engine.run();
  EXPECT_EQ(received.at, Time{} + 24_ms + 500_us);
  EXPECT_EQ(world.store.asked, 1U);
}

TEST(ApiServer, AConsistentListAsksTheStoreAndPaysForEveryByteAndObject) {
  ApiServersParams params = OneServer::params_of(10);
  params.server.cost = {};
  OneServer world{params};
  world.store.read_time = 7_ms;
  Received cached, consistent;
  ApiRequest list{.verb = Verb::List, .objects = 1000, .bytes = {1'000'000}, .answer = {100'000}};
  world.submit(list, cached);
  world.engine.run();
  const Duration sent{100'000 * 10};
  EXPECT_EQ(cached.at, Time{} + 200_us + sent + 1_us * 1800);
  EXPECT_EQ(world.store.asked, 0U);
  const Time start = world.engine.now();
  list.is_consistent = true;
  world.submit(list, consistent);
  world.engine.run();
  EXPECT_EQ(consistent.at, start + 7_ms + 200_us + sent + 16_ms + 10_ms);
  EXPECT_EQ(world.store.asked, 1U);
}

TEST(ApiServer, ARequestThatTheStoreRejectsIsRejected) {
  OneServer world{10};
  world.store.refuses = true;
  world.store.write_time = 1_ms;
  Received received;
  world.submit({.verb = Verb::Create}, received);
  world.engine.run();
  EXPECT_EQ(received.outcome, ApiOutcome::Refused);
  EXPECT_EQ(world.servers.statistics().cell(0, Verb::Create).server_errors(), 1U);
}

TEST(ApiServer, ARequestIsGivenUpAfterAMinuteAndItsSeatIsFree) {
  OneServer world{1};
  Received stuck, next;
  world.submit({.cpu = 10_min}, stuck);
  world.engine.after(50_s, Label{"test.next"}, [&] { world.submit({.cpu = 1_s}, next); });
  world.engine.run();
  EXPECT_EQ(stuck.outcome, ApiOutcome::TimedOut);
  EXPECT_EQ(stuck.at, Time{} + 1_min);
  EXPECT_EQ(next.outcome, ApiOutcome::Done);
  EXPECT_EQ(next.at, Time{} + 61_s);
}

TEST(ApiServer, ARequestThatWaitsFifteenSecondsForASeatIsRejected) {
  OneServer world{1};
  Received stuck, waits;
  world.submit({.cpu = 40_s}, stuck);
  world.submit({.cpu = 1_s}, waits);
  world.engine.run();
  EXPECT_EQ(waits.outcome, ApiOutcome::TooManyRequests);
  EXPECT_EQ(waits.at, Time{} + 15_s);
  EXPECT_EQ(waits.times, 1);
}

TEST(ApiServer, AWriteThatManyWatchKeepsItsSeatsForAWhile) {
  OneServer world{20};
  // The watch events for 200 watchers need 20 seats for 5 ms. A write may take at most 10 seats, so
  // it keeps them for 10 ms.
  world.server().add_watchers(ApiResource::Pods, 200);
  Received received;
  world.submit({.verb = Verb::Patch, .resource = ApiResource::Pods, .cpu = 3_ms}, received);
  EXPECT_EQ(world.server().flow_control().state(0).in_use, 10);
  world.engine.run();
  EXPECT_EQ(received.at, Time{} + 3_ms);
  EXPECT_EQ(world.engine.now(), Time{} + 13_ms);
  EXPECT_EQ(world.server().flow_control().state(0).in_use, 0);
}

TEST(ApiServer, AListIsAsWideAsItsObjects) {
  OneServer world{20};
  Received received;
  world.submit({.verb = Verb::List, .objects = 101, .cpu = 1_ms}, received);
  EXPECT_EQ(world.server().flow_control().state(0).in_use, 2);
  world.submit({.verb = Verb::List, .objects = 2'000'000'000, .cpu = 1_ms}, received);
  EXPECT_EQ(world.server().flow_control().state(0).in_use, 12);
}

TEST(ApiServer, ALostServerLosesAllAndAnswersNothingUntilItIsBack) {
  OneServer world{1};
  world.store.write_time = 5_s;
  Received executing, waiting, refused, later;
  world.submit({.verb = Verb::Create}, executing);
  world.submit({.verb = Verb::Create}, waiting);
  world.server().add_watchers(ApiResource::Pods, 50);
  world.engine.after(1_s, Label{"test.lose"}, [&] {
    world.server().lose();
    world.submit({}, refused);
  });
  world.engine.after(10_s, Label{"test.recover"}, [&] {
    world.server().recover();
    world.submit({}, later);
  });
  world.engine.run();
  for (const Received* received : {&executing, &waiting, &refused}) {
    EXPECT_EQ(received->outcome, ApiOutcome::ServerLost);
    EXPECT_EQ(received->at, Time{} + 1_s);
    EXPECT_EQ(received->times, 1);
  }
  EXPECT_EQ(later.outcome, ApiOutcome::Done);
  EXPECT_EQ(world.server().watchers(), 0);
}

TEST(ApiServer, OutOfMemoryItRestarts) {
  ApiServersParams params = OneServer::params_of(100);
  params.server.heap = {.base = {1'000'000'000}, .limit = Bytes{2'000'000'000}};
  OneServer world{params};
  std::vector<Received> received(3);
  for (Received& each : received) {
    world.submit({.verb = Verb::List, .answer = {80'000'000}, .cpu = 1_s}, each);
  }
  for (const Received& each : received) EXPECT_EQ(each.outcome, ApiOutcome::ServerLost);
  EXPECT_EQ(world.server().memory_kills(), 1U);
  EXPECT_EQ(world.server().heap(), Bytes{1'000'000'000});
  world.engine.run(Time{} + 29_s);
  EXPECT_FALSE(world.server().is_up());
  world.engine.run(Time{} + 30_s);
  EXPECT_TRUE(world.server().is_up());
}

TEST(ApiServer, ALossDuringARestartLastsUntilItsOwnEnd) {
  ApiServersParams params = OneServer::params_of(100);
  params.server.heap = {.base = {1'000'000'000}, .limit = Bytes{1'500'000'000}};
  OneServer world{params};
  const auto kill = [&] {
    Received received;
    world.submit({.verb = Verb::List, .answer = {200'000'000}, .cpu = 1_s}, received);
    EXPECT_EQ(received.outcome, ApiOutcome::ServerLost);
  };
  const auto wait_until = [&](Duration at) {
    world.engine.at(Time{} + at, Label{"test.waits"}, [] {});
    world.engine.run(Time{} + at);
  };
  kill();
  wait_until(10_s);
  world.server().lose();
  wait_until(31_s);
  EXPECT_FALSE(world.server().is_up()) << "the restart would have ended at 30 s";
  world.server().recover();
  kill();
  wait_until(40_s);
  world.server().recover();
  wait_until(41_s);
  kill();
  wait_until(70_s);
  EXPECT_FALSE(world.server().is_up()) << "the restart from 31 s on was interrupted";
  wait_until(71_s);
  EXPECT_TRUE(world.server().is_up());
}

TEST(ApiServer, MemoryGrowsWithNodesWatchesAndListsUntilTheyAreAnswered) {
  ApiServersParams params = OneServer::params_of(100);
  params.server.heap.per_watcher = {1'000};
  OneServer world{params};
  world.server().set_nodes(100);
  world.server().add_narrow_watchers(10);
  const Bytes idle{933'333'300 + 10'000};
  EXPECT_EQ(world.server().heap(), idle);
  Received received;
  world.submit({.verb = Verb::List, .answer = {2'000'000}, .cpu = 1_s}, received);
  EXPECT_EQ(world.server().heap(), idle + Bytes{10'000'000});
  world.engine.run();
  EXPECT_EQ(world.server().heap(), idle);
}

TEST(ApiServer, TheRetryAfterGrowsWithTheNumberOfRejections) {
  ApiServersParams params = OneServer::params_of(1);
  params.flow_control.levels[0].kind = LevelKind::Reject;
  params.flow_control.retry_after = RetryAfterKind::Adaptive;
  OneServer world{params};
  Received stuck;
  world.submit({.cpu = 50_s}, stuck);
  std::vector<int64_t> received;
  for (int64_t i = 0; i < 80; ++i) {
    world.engine.after(250_ms * i, Label{"test.asks"}, [&world, &received] {
      world.server().submit({}, [&received](const ApiAnswer& answer) {
        received.push_back(answer.retry_after / 1_s);
      });
    });
  }
  world.engine.run();
  EXPECT_EQ(received.front(), 1);
  EXPECT_EQ(received[4], 2);  // sent at 1 s, when Retry-After has doubled
  EXPECT_EQ(received[12], 4);
  EXPECT_EQ(received.back(), 16);
}

TEST(ApiServer, SteadyLoadTakesCoresAndSeats) {
  ApiServersParams params = OneServer::params_of(10);
  params.server.cores = 1;
  OneServer world{params};
  world.server().set_steady(0, {.requests_per_s = 100, .cpu = 5_ms, .held = 20_ms});
  EXPECT_EQ(world.engine.pending(), 0U) << "no event for what is steady";
  Received received;
  world.submit({.cpu = 1_s}, received);
  world.engine.run();
  EXPECT_EQ(received.at, Time{} + 2_s);
  world.server().set_steady(0, {.requests_per_s = 1'000'000, .cpu = 5_ms});
  const Time start = world.engine.now();
  world.submit({.cpu = 1_s}, received);
  world.engine.run();
  EXPECT_EQ(received.at, start + 20_s) << "never below a twentieth";
}

TEST(ApiServer, AChargeSlowsDownRequestsAndHasNoResponse) {
  ApiServersParams params = OneServer::params_of(10);
  params.server.cores = 2;
  params.server.egress = {8'000'000};
  OneServer world{params};
  world.server().charge({.cpu = 3_s, .sent = {30}, .threads = 3});
  Received received;
  world.submit({.cpu = 1_s}, received);
  world.engine.run();
  // The charge has three threads of 1 s each, and the request has one. The four share two cores.
  EXPECT_EQ(received.at, Time{} + 2_s);
  EXPECT_EQ(world.server().present(), 0U);
  EXPECT_EQ(world.servers.statistics().of_all().total(), 1U);
  EXPECT_NEAR(world.server().cpu_seconds(), 4, 1e-6);
  EXPECT_NEAR(world.server().egress_seconds(), 30e-6, 1e-8);
}

TEST(ApiServer, FiguresAreByVerbAndLevel) {
  OneServer world{ApiServersParams{test::free_servers()}};
  Received received;
  world.submit({.verb = Verb::Get, .level = 5, .cpu = 5_ms}, received);
  world.submit({.verb = Verb::Patch, .level = 4, .cpu = 15_ms}, received);
  world.engine.run();
  const ApiStatistics& statistics = world.servers.statistics();
  EXPECT_EQ(statistics.of_level(5).total(), 1U);
  EXPECT_NEAR(statistics.cell(4, Verb::Patch).latency.quantile(0.99).seconds(), 0.015, 1.5e-4);
  EXPECT_NEAR(statistics.of_all().latency.mean_s(), 0.010, 1e-9);
  world.servers.statistics().clear();
  EXPECT_EQ(statistics.of_all().total(), 0U);
}

}  // namespace
}  // namespace orrery

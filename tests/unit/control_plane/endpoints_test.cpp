#include "models/control_plane/services/endpoints.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "models/control_plane/services/endpoints_controller.hpp"
#include "models/control_plane/services/watch_fan_out.hpp"
#include "sim/core/rng.hpp"
#include "tests/unit/control_plane/mistakes.hpp"

namespace orrery {
namespace {

using Change = ObjectWrite::Change;

std::vector<uint32_t> ids(uint32_t first, uint32_t count) {
  std::vector<uint32_t> all(count);
  std::iota(all.begin(), all.end(), first);
  return all;
}

std::vector<ObjectWrite> sync(ServiceEndpoints& service, const std::vector<uint32_t>& removed,
                              const std::vector<uint32_t>& added) {
  const auto writes = service.sync(removed, added);
  return {writes.begin(), writes.end()};
}

EndpointsParams slices_of(int32_t size) { return {.slice_size = size}; }

EndpointsParams one_object(int32_t addresses_max = 0) {
  return {.kind = EndpointsKind::Endpoints, .addresses_max = addresses_max};
}

TEST(EndpointSlices, WhatIsNewGoesFirstIntoSlicesThatAreWrittenAnyway) {
  ServiceEndpoints service{slices_of(10)};
  EXPECT_EQ(sync(service, {}, ids(0, 30)).size(), 3U);
  const auto writes = sync(service, {12}, {40});
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_EQ(writes[0].change, Change::Update);
  EXPECT_EQ(writes[0].addresses, 10);
}

TEST(EndpointSlices, TheRestGoesIntoTheFullestSliceWithRoomForAllOfIt) {
  ServiceEndpoints service{slices_of(10)};
  sync(service, {}, ids(0, 30));
  sync(service, ids(0, 5), {});   // the first slice keeps 5 addresses
  sync(service, ids(10, 3), {});  // the second slice keeps 7 addresses
  auto writes = sync(service, {}, ids(50, 3));
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_EQ(writes[0].addresses, 10) << "the slice of 7";
  writes = sync(service, {}, ids(60, 6));
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_EQ(writes[0].change, Change::Create) << "no slice has room for six";
  EXPECT_EQ(service.objects(), 4U);
}

TEST(EndpointSlices, NothingIsMovedToFillThemUp) {
  ServiceEndpoints service{slices_of(10)};
  sync(service, {}, ids(0, 100));
  for (uint32_t i = 0; i < 10; ++i) sync(service, ids(10 * i, 9), {});
  EXPECT_EQ(service.addresses(), 10U);
  EXPECT_EQ(service.objects(), 10U);
}

TEST(EndpointSlices, AnEmptySliceIsDeletedUnlessItIsTheLast) {
  ServiceEndpoints service{slices_of(2)};
  sync(service, {}, ids(0, 4));
  auto writes = sync(service, {0, 1}, {});
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_EQ(writes[0].change, Change::Delete);
  writes = sync(service, {2, 3}, {});
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_EQ(writes[0].change, Change::Update);
  EXPECT_EQ(service.objects(), 1U);
  writes = sync(service, {}, {9});
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_EQ(writes[0].change, Change::Update) << "the empty one is used";
}

TEST(EndpointSlices, TheyHoldWhatAPlainSetHoldsWhateverChanges) {
  Rng rng{3};
  ServiceEndpoints service{slices_of(7)};
  std::set<uint32_t> plain;
  int64_t held = 0;  // number of objects according to the writes
  for (int step = 0; step < 2'000; ++step) {
    std::vector<uint32_t> removed, added;
    for (uint32_t id = 0; id < 200; ++id) {
      if (!rng.chance(0.02)) continue;
      (plain.contains(id) ? removed : added).push_back(id);
    }
    for (const uint32_t id : removed) plain.erase(id);
    for (const uint32_t id : added) plain.insert(id);
    for (const ObjectWrite& write : sync(service, removed, added)) {
      ASSERT_LE(write.addresses, 7);
      held += write.change == Change::Create;
      held -= write.change == Change::Delete;
    }
    ASSERT_EQ(service.addresses(), plain.size());
    ASSERT_EQ(service.objects(), static_cast<size_t>(held));
    ASSERT_GE(service.objects() * 7, plain.size());
  }
}

TEST(Endpoints, EveryChangeRewritesTheWholeObject) {
  ServiceEndpoints service{one_object()};
  EXPECT_EQ(sync(service, {}, ids(0, 5'000)).at(0).change, Change::Create);
  const auto writes = sync(service, {17}, {});
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_EQ(writes[0].addresses, 4'999);
  EXPECT_EQ(writes[0].bytes, Bytes{300 + 4'999 * 200});
}

TEST(Endpoints, BeyondAThousandOnlyTheLowestAreKeptAndOtherChangesWriteNothing) {
  ServiceEndpoints service{one_object(1'000)};
  EXPECT_EQ(sync(service, {}, ids(0, 5'000)).at(0).addresses, 1'000);
  EXPECT_TRUE(sync(service, {3'000}, {}).empty());
  EXPECT_TRUE(sync(service, {}, {6'000}).empty());
  EXPECT_EQ(sync(service, {999}, {}).at(0).addresses, 1'000);
  EXPECT_EQ(sync(service, {}, {999}).at(0).addresses, 1'000);
}

TEST(EndpointsParams, WrongValuesAreRejected) {
  using test::mistakes_of;
  EXPECT_TRUE(mistakes_of<EndpointsParams>("{kind: endpoints, addresses_max: 0}").empty());
  EXPECT_EQ(mistakes_of<EndpointsParams>("{slice_size: 1001}").size(), 1U);
  EXPECT_EQ(mistakes_of<EndpointsParams>("{slice_size: 0}").size(), 1U);
  EXPECT_EQ(mistakes_of<EndpointsParams>("{kind: slices}").size(), 1U);
  EXPECT_EQ(mistakes_of<EndpointsParams>("{syncs: 0}").size(), 1U);
}

TEST(WatchFanOut, EncodingOnceCostsAsManyTimesLessAsThereAreWatchers) {
  const ObjectWrite write{.addresses = 400, .bytes = {80'000}};
  WatchFanOutParams params;
  const Duration once = fan_out(write, 5'000, params).cpu;
  params.encodes_for_each_watcher = true;
  const Duration each = fan_out(write, 5'000, params).cpu;
  EXPECT_EQ(each - once, params.encode_per_address * 400 * 4'999);
}

TEST(WatchFanOut, HeadlessServicesAreHiddenFromKubeProxiesAlone) {
  const Subscribers all{.kube_proxies = 7'500, .daemons = 100, .controllers = 3, .agents = 1};
  EXPECT_EQ(all.at_servers(false, {}), 7'604);
  EXPECT_EQ(all.at_servers(true, {}), 104);
  EXPECT_EQ(all.at_servers(true, {.has_headless_filter = false}), 7'604);
}

TEST(WatchFanOut, AnAgentTakesTheWatchersFromTheServers) {
  const ObjectWrite write{.addresses = 100, .bytes = {20'300}};
  const Subscribers direct{.daemons = 7'500}, through{.agents = 1, .behind_agents = 7'500};
  EXPECT_EQ(fan_out(write, direct.at_servers(false, {}), {}).egress, Bytes{20'300 * 7'500});
  EXPECT_EQ(fan_out(write, through.at_servers(false, {}), {}).egress, Bytes{20'300});
  EXPECT_EQ(fan_out_of_agents(write, through, {}).egress, Bytes{20'300 * 7'500});
}

// An endpoints controller. Each of its writes gets a response after the duration `answer`.
struct ControllerWorld {
  ControllerWorld(const EndpointsParams& params, Duration answer)
      : controller{
            engine, params,
            [this, answer](ServiceId, const ObjectWrite& write, EndpointsController::Done done) {
              writes.push_back(engine.now());
              written.push_back(write);
              const bool is_stored = !is_refused;
              engine.after(answer, Label{"test.answered"},
                           [done = std::move(done), is_stored] { done(is_stored); });
            }} {}
  Engine engine;
  bool is_refused = false;
  std::vector<Time> writes;
  std::vector<ObjectWrite> written;
  EndpointsController controller;
};

TEST(EndpointsController, ChangesWithinTheBatchingPeriodMakeOneWrite) {
  ControllerWorld world{{.batch_period = 1_s}, 1_ms};
  const ServiceId service = world.controller.add_service();
  for (uint32_t pod = 0; pod < 50; ++pod) {
    world.engine.at(Time{} + 10_ms * pod, Label{"test.ready"},
                    [&, pod] { world.controller.pod_ready(service, pod); });
  }
  world.engine.run();
  EXPECT_EQ(world.writes, std::vector{Time{} + 1_s});
  EXPECT_EQ(world.controller.endpoints(service).addresses(), 50U);
}

TEST(EndpointsController, WhatChangesDuringAPassWaitsForTheNext) {
  ControllerWorld world{{}, 1_s};
  const ServiceId service = world.controller.add_service();
  for (uint32_t pod = 0; pod < 5; ++pod) {
    world.engine.at(Time{} + 100_ms * pod, Label{"test.ready"},
                    [&, pod] { world.controller.pod_ready(service, pod); });
  }
  world.engine.run();
  EXPECT_EQ(world.writes, (std::vector{Time{}, Time{} + 1_s}));
  EXPECT_EQ(world.controller.endpoints(service).addresses(), 5U);
}

TEST(EndpointsController, AsManyServicesAreWorkedOnAsThereAreWorkers) {
  ControllerWorld world{{.syncs = 2}, 1_s};
  for (int i = 0; i < 6; ++i) world.controller.pod_ready(world.controller.add_service(), 0);
  world.engine.run();
  const Time first, second = Time{} + 1_s, third = Time{} + 2_s;
  EXPECT_EQ(world.writes, (std::vector{first, first, second, second, third, third}));
}

TEST(EndpointsController, APodThatComesAndGoesWithinABatchIsNotWritten) {
  ControllerWorld world{{.batch_period = 1_s}, 1_ms};
  const ServiceId service = world.controller.add_service();
  world.controller.pod_ready(service, 4);
  world.controller.pod_gone(service, 4);
  world.engine.run();
  EXPECT_TRUE(world.writes.empty());
  world.controller.pod_ready(service, 4);
  world.engine.run();
  EXPECT_EQ(world.writes.size(), 1U);
}

TEST(EndpointsController, WhatIsRefusedIsWrittenAgainAfterPausesThatDouble) {
  ControllerWorld world{{}, {}};
  world.is_refused = true;
  const ServiceId service = world.controller.add_service();
  world.controller.pod_ready(service, 1);
  world.engine.run(Time{} + 10_s);
  EXPECT_EQ(world.writes, (std::vector{Time{}, Time{} + 1_s, Time{} + 3_s, Time{} + 7_s}));
  world.is_refused = false;
  world.engine.run();
  EXPECT_EQ(world.writes.size(), 5U);
  EXPECT_EQ(world.writes.back(), Time{} + 15_s);
  EXPECT_EQ(world.written.back().change, Change::Create);
}

TEST(EndpointsController, AfterFifteenRetriesItWaitsForAChangeWhichWritesTheRestAsWell) {
  ControllerWorld world{one_object(), {}};
  world.is_refused = true;
  const ServiceId service = world.controller.add_service();
  world.controller.pod_ready(service, 1);
  world.engine.run();
  EXPECT_EQ(world.writes.size(), 16U);
  EXPECT_EQ(world.writes.back(), Time{} + 5_ms * ((1 << 15) - 1));
  EXPECT_EQ(world.controller.counters().given_up, 1U);
  world.is_refused = false;
  world.controller.pod_ready(service, 2);
  world.engine.run();
  ASSERT_EQ(world.writes.size(), 17U);
  EXPECT_EQ(world.written.back().change, Change::Create);
  EXPECT_EQ(world.written.back().addresses, 2);
  EXPECT_EQ(world.written.back().bytes_before, Bytes{});
}

TEST(EndpointsController, OfSlicesOnlyThoseThatWereRefusedAreWrittenAgain) {
  ControllerWorld world{slices_of(2), {}};
  const ServiceId service = world.controller.add_service();
  world.controller.preload(service, ids(0, 6));
  world.is_refused = true;
  world.controller.pod_gone(service, 0);
  world.engine.run(Time{} + 100_ms);
  world.is_refused = false;
  world.controller.pod_gone(service, 3);  // pods 0 and 3 are in different slices
  world.engine.run();
  ASSERT_EQ(world.written.size(), 3U);
  EXPECT_EQ(world.written[1].object, world.written[0].object);
  EXPECT_NE(world.written[2].object, world.written[0].object);
}

TEST(EndpointsController, AServiceThatIsRemovedLeavesNoObjectAndItsIdIsGivenAgain) {
  ControllerWorld world{slices_of(2), 1_ms};
  const ServiceId service = world.controller.add_service();
  for (uint32_t pod = 0; pod < 5; ++pod) world.controller.pod_ready(service, pod);
  world.engine.run();
  world.controller.remove_service(service);
  world.engine.run();
  int32_t held = 0;
  for (const ObjectWrite& write : world.written) {
    held += write.change == Change::Create;
    held -= write.change == Change::Delete;
  }
  EXPECT_EQ(held, 0);
  EXPECT_EQ(world.controller.services(), 0U);
  EXPECT_EQ(world.controller.add_service(), service);
  EXPECT_EQ(world.controller.endpoints(service).objects(), 0U);
}

// The service's objects were never stored, so its removal has nothing to delete.
TEST(EndpointsController, AServiceWhoseWritesAreRefusedIsRemovedWithoutAWrite) {
  ControllerWorld world{one_object(), 1_ms};
  world.is_refused = true;
  const ServiceId service = world.controller.add_service();
  world.controller.pod_ready(service, 1);
  world.engine.run(Time{} + 100_us);
  world.controller.remove_service(service);  // while the pass that creates the object is under way
  world.engine.run();
  EXPECT_EQ(world.writes.size(), 1U);
  EXPECT_EQ(world.controller.services(), 0U);
}

}  // namespace
}  // namespace orrery

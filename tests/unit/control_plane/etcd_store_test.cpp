// Creates, patches and deletes of a named object in etcd while earlier writes of the object wait.
#include "models/control_plane/etcd/etcd_store.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "sim/engine/engine.hpp"

namespace orrery {
namespace {

struct StoreWorld {
  StoreWorld() : pod{store.new_name(ApiResource::Pods)} {
    store.changed.connect([this](ApiResource) { ++changes; });
  }
  void write(Verb verb) {
    const ApiRequest request{
        .verb = verb, .resource = ApiResource::Pods, .bytes = {1'000}, .object = pod};
    store.write(request, Time::max(), [this](bool is_done) { logged.push_back(is_done); });
  }
  void lose_quorum() {
    for (const uint32_t member : {0U, 1U, 2U}) etcd.objects().set_member_up(member, false);
  }
  void run(Duration span) {
    const Time end = engine.now() + span;
    engine.at(end, Label{"test.end"}, [] {});
    engine.run(end);
  }

  Engine engine;
  EtcdSplit etcd{engine, {.commit_latency = 1_ms}};
  EtcdStore store{etcd};
  uint32_t pod;
  std::vector<bool> logged;
  int changes = 0;
};

TEST(EtcdStore, AnObjectIsThereFromItsCommitAndMayBeFromTheRequest) {
  StoreWorld world;
  world.write(Verb::Create);
  EXPECT_TRUE(world.store.has(world.pod));
  EXPECT_EQ(world.store.stored(ApiResource::Pods), 0);
  EXPECT_EQ(world.changes, 0);
  world.run(1_s);
  EXPECT_EQ(world.store.stored(ApiResource::Pods), 1);
  EXPECT_EQ(world.changes, 1);
  EXPECT_EQ(world.logged, std::vector{true});
}

TEST(EtcdStore, WhatAWriteDoesIsDecidedWhenItIsCommitted) {
  StoreWorld world;
  for (const Verb verb : {Verb::Create, Verb::Create, Verb::Delete, Verb::Delete, Verb::Create}) {
    world.write(verb);
  }
  world.run(1_s);
  EXPECT_EQ(world.logged, std::vector<bool>(5, true));
  EXPECT_EQ(world.changes, 3) << "created, deleted, and created";
  EXPECT_EQ(world.etcd.objects().live(), Bytes{1'000});
  EXPECT_EQ(world.etcd.objects().counters().writes, 5U);
}

TEST(EtcdStore, AnEventThatIsForgottenStaysUntilItExpires) {
  StoreWorld world;
  const auto write = [&](uint32_t event, Verb verb) {
    world.store.write(
        {.verb = verb, .resource = ApiResource::Events, .bytes = {1'000}, .object = event},
        Time::max(), [](bool) {});
  };
  const uint32_t first = world.store.new_name(ApiResource::Events);
  for (const Verb verb : {Verb::Create, Verb::Create, Verb::Patch}) write(first, verb);
  world.run(1_s);
  EXPECT_EQ(world.etcd.events().events(), Bytes{1'000});
  EXPECT_EQ(world.etcd.events().count().versions, 2) << "the patch replaced one";
  world.store.forget(first);
  const uint32_t second = world.store.new_name(ApiResource::Events);
  EXPECT_EQ(second, first);
  write(second, Verb::Create);
  world.store.forget(second);  // its creation still waits for its commit
  EXPECT_NE(world.store.new_name(ApiResource::Events), second);
  world.run(1_s);
  EXPECT_EQ(world.etcd.events().events(), Bytes{2'000});
  EXPECT_EQ(world.store.stored(ApiResource::Events), 0) << "under a name";
}

TEST(EtcdStore, AWriteThatFailsWithoutALeaderLeavesNothing) {
  StoreWorld world;
  world.lose_quorum();
  world.write(Verb::Create);
  world.run(6_s);
  EXPECT_TRUE(world.store.has(world.pod)) << "it may yet be stored";
  world.run(2_s);
  EXPECT_FALSE(world.store.has(world.pod));
  EXPECT_EQ(world.logged, std::vector{false});
  world.etcd.objects().set_member_up(0, true);
  world.run(10_s);
  EXPECT_EQ(world.etcd.objects().live(), 0_B);
  EXPECT_EQ(world.store.stored(ApiResource::Pods), 0);
}

TEST(EtcdStore, ADroppedObjectStaysAwayAndItsNameIsKeptWhileAWriteOfItWaits) {
  StoreWorld world;
  world.write(Verb::Create);
  world.store.drop(world.pod);
  EXPECT_FALSE(world.store.has(world.pod));
  world.store.forget(world.pod);
  EXPECT_NE(world.store.new_name(ApiResource::Pods), world.pod);
  world.run(1_s);
  EXPECT_EQ(world.logged, std::vector{true});
  EXPECT_EQ(world.etcd.objects().live(), 0_B);
  EXPECT_EQ(world.store.new_name(ApiResource::Pods), world.pod);
}

TEST(EtcdStore, WhatIsWrittenAfterItWasDroppedIsKept) {
  StoreWorld world;
  world.write(Verb::Create);
  world.store.drop(world.pod);
  world.write(Verb::Create);
  world.run(1_s);
  EXPECT_TRUE(world.store.has(world.pod));
  EXPECT_EQ(world.etcd.objects().live(), Bytes{1'000});
}

}  // namespace
}  // namespace orrery

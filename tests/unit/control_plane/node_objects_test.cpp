// The etcd objects of nodes that join, leave, and join again.
#include "models/control_plane/nodes/node_objects.hpp"

#include <gtest/gtest.h>

#include "sim/engine/engine.hpp"

namespace orrery {
namespace {

struct Objects {
  int64_t keys() { return etcd.objects().count().keys + objects.keys_from_start(); }
  // Sends the requests of a joining node; the retries of two of them arrive, too.
  void join(NodeId node) {
    for (const ApiResource what :
         {ApiResource::CertificateRequests, ApiResource::CertificateRequests, ApiResource::Nodes,
          ApiResource::CsiNodes, ApiResource::CsiNodes, ApiResource::Leases}) {
      write(node, {.verb = Verb::Create, .resource = what, .bytes = {1000}});
    }
  }
  void write(NodeId node, ApiRequest request) {
    request.object = objects.name(node, request, engine.now());
    arrives(node, request);
  }
  void arrives(NodeId node, const ApiRequest& request) {
    store.write(request, Time::max(), [this, node, object = request.object](bool is_done) {
      EXPECT_TRUE(is_done);
      objects.answered(node, object, engine.now());
    });
  }
  void run(Duration span) {
    const Time end = engine.now() + span;
    engine.at(end, Label{"test.end"}, [] {});
    engine.run(end);
    objects.expire(engine.now());
  }

  Engine engine;
  EtcdSplit etcd{engine, {}};
  EtcdStore store{etcd};
  NodeObjects objects{store, 3};
};

TEST(NodeObjects, OfANodeThatJoinsAreKeptAsThoseOfOthersAndItsRequestForAnHour) {
  Objects world;
  EXPECT_EQ(world.keys(), 9);
  world.objects.absent({2});
  EXPECT_EQ(world.keys(), 6);
  world.join({2});
  world.run(59_min);
  EXPECT_EQ(world.keys(), 10);
  world.run(61_s);
  EXPECT_EQ(world.keys(), 9);
}

// The boot takes long: the certificate request arrives after 2 h and is retried half an hour later.
// The CertificateRequest is kept for an hour after the retry.
TEST(NodeObjects, ARequestForACertificateIsKeptForAnHourAfterItIsAnswered) {
  Objects world;
  world.objects.absent({2});
  ApiRequest request{
      .verb = Verb::Create, .resource = ApiResource::CertificateRequests, .bytes = {1000}};
  request.object = world.objects.name({2}, request, world.engine.now());
  EXPECT_EQ(world.objects.name({2}, request, world.engine.now()), request.object);
  world.run(2_h);
  EXPECT_EQ(world.keys(), 6);
  world.arrives({2}, request);
  world.run(30_min);
  EXPECT_EQ(world.keys(), 7);
  world.arrives({2}, request);
  world.run(59_min);
  EXPECT_EQ(world.keys(), 7);
  world.run(61_s);
  EXPECT_EQ(world.keys(), 6);
  EXPECT_NE(world.objects.name({2}, request, world.engine.now()), 0U);
}

TEST(NodeObjects, OfANodeThatGoesBeforeTheyAreStoredAreNotKept) {
  Objects world;
  world.objects.absent({2});
  world.write({2}, {.verb = Verb::Create, .resource = ApiResource::Nodes, .bytes = {1000}});
  world.objects.removed({2});
  world.run(1_s);
  EXPECT_EQ(world.keys(), 6);
  world.write({2}, {.verb = Verb::Create, .resource = ApiResource::Nodes, .bytes = {1000}});
  world.run(1_s);
  EXPECT_EQ(world.keys(), 7);
}

TEST(NodeObjects, GoWithTheirNodeAndComeWithItAgain) {
  Objects world;
  world.objects.absent({2});
  for (int i = 1; i <= 3; ++i) {
    world.join({2});
    world.join({2});  // all requests again, as if their responses were lost
    world.run(1_s);
    EXPECT_EQ(world.keys(), 6 + 3 + i);
    world.objects.removed({2});
    EXPECT_EQ(world.keys(), 6 + i) << "it asked for a certificate each time";
    world.run(1_min);
  }
  world.run(1_h);
  EXPECT_EQ(world.keys(), 6);
}

TEST(NodeObjects, OfANodeThatWasAlwaysThereGoWithItToo) {
  Objects world;
  world.write({0}, {.verb = Verb::Update, .resource = ApiResource::Nodes, .bytes = {1000}});
  world.run(1_s);
  EXPECT_EQ(world.keys(), 9);
  world.objects.removed({0});
  EXPECT_EQ(world.keys(), 6);
  world.join({0});
  world.run(1_s);
  EXPECT_EQ(world.keys(), 10);
  world.write({0}, {.verb = Verb::Create, .resource = ApiResource::Events, .bytes = {1000}});
  world.run(1_s);
  EXPECT_EQ(world.keys(), 11) << "Events have no names";
}

}  // namespace
}  // namespace orrery

// Watch events on their way to clients.
#include "models/control_plane/clients/watch_news.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "models/control_plane/clients/reflectors.hpp"
#include "tests/support/api_world.hpp"

namespace orrery {
namespace {

// Two API servers and one reflector, which watches all pods or, with `is_narrow`, those of one
// node.
struct NewsWorld : test::ApiWorld {
  explicit NewsWorld(bool is_narrow = false) : test::ApiWorld{test::free_servers(2)} {
    reflectors.add({.client = client, .list = {}, .is_narrow = is_narrow});
    reflectors.start(0);
    run_to(1_min);
  }
  void run_to(Duration when) { engine.run(Time{} + when); }
  WatchNews::Delivered note(int number) {
    return [this, number] { delivered.push_back({number, engine.now()}); };
  }
  struct Delivery {
    int number;
    Time when;
  };
  Rng jitter{3};
  ApiClientParams params;
  ApiClient client{engine, servers, params, {}, jitter};
  Reflectors reflectors{engine, servers, {}, Rng{4}};
  WatchNews news{engine, servers, reflectors};
  std::vector<Delivery> delivered;
};

TEST(WatchNews, ArrivesOnceTheServerHasEncodedIt) {
  for (const bool is_narrow : {false, true}) {
    NewsWorld world{is_narrow};
    const Time sent = world.engine.now();
    const WatchNews::Event event{.cpu = 3_ms};
    is_narrow ? world.news.tell(event, 0, world.note(1))
              : world.news.changed(event, 0, world.note(1));
    EXPECT_TRUE(world.delivered.empty());
    world.run_to(2_min);
    ASSERT_EQ(world.delivered.size(), 1U);
    EXPECT_EQ(world.delivered[0].when, sent + 3_ms);
  }
}

TEST(WatchNews, IsLateWhileTheServerIsBusy) {
  NewsWorld world;
  const uint32_t server = world.reflectors.server_of(0);
  const Time sent = world.engine.now();
  const int32_t cores = static_cast<int32_t>(world.servers.params().server.cores);
  world.server(server).charge({.cpu = 1_s * (9 * cores), .sent = {}, .threads = 9 * cores});
  world.news.changed({.cpu = 3_ms}, 0, world.note(1));
  world.run_to(2_min);
  ASSERT_EQ(world.delivered.size(), 1U);
  EXPECT_GT(world.delivered[0].when, sent + 27_ms) << "a ninth of a core is its share";
}

TEST(WatchNews, OfAServerThatIsLostArrivesInOrderWithTheSync) {
  NewsWorld world;
  world.news.changed({.cpu = 3_ms}, 0, world.note(1));
  world.server(world.reflectors.server_of(0)).lose();
  world.news.changed({.cpu = 1_ms}, 0, world.note(2));
  world.news.tell({.cpu = 1_ms}, 0, world.note(3));
  const Time lost = world.engine.now();
  Time synced;
  world.reflectors.synced.connect([&](uint32_t) { synced = world.engine.now(); });
  world.run_to(2_min);
  EXPECT_GE(synced, lost + 800_ms);
  ASSERT_EQ(world.delivered.size(), 3U);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(world.delivered[static_cast<size_t>(i)].number, i + 1);
    EXPECT_EQ(world.delivered[static_cast<size_t>(i)].when, synced);
  }
  world.news.changed({.cpu = 1_ms}, 0, world.note(4));
  world.run_to(3_min);
  EXPECT_EQ(world.delivered.size(), 4U)
      << "events that the lost server was sending are not delivered twice";
}

TEST(WatchNews, OfAClientThatIsGoneIsReportedAtOnceSoThatNobodyWaits) {
  NewsWorld world;
  world.server(world.reflectors.server_of(0)).lose();
  world.news.changed({.cpu = 1_ms}, 0, world.note(1));
  world.reflectors.stop(0);
  world.news.end(0);
  EXPECT_TRUE(world.delivered.empty());
  const Time now = world.engine.now();
  world.run_to(2_min);
  ASSERT_EQ(world.delivered.size(), 1U);
  EXPECT_EQ(world.delivered[0].when, now);
}

}  // namespace
}  // namespace orrery

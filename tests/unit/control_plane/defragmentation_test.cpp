#include "models/control_plane/etcd/defragmentation.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "models/control_plane/etcd/etcd_split.hpp"
#include "tests/unit/control_plane/mistakes.hpp"

namespace orrery {
namespace {

// Three members defragment one after another, at 80 Mbit/s = 10 MB/s. With 50 MB in use, each
// member takes 5 s.
struct DefragmentationWorld {
  explicit DefragmentationWorld(EtcdParams params = {}) : etcd{engine, tuned(std::move(params))} {
    etcd.objects().news.connect([this](EtcdNews what, uint32_t member) {
      news.push_back({what, member, engine.now() - Time{}});
    });
    for (int i = 0; i < 50; ++i) {
      etcd.objects().store({.bytes = {1'000'000}, .change = EtcdChange::Create});
    }
  }
  static EtcdParams tuned(EtcdParams params) {
    params.members = 3;
    params.commit_latency = 1_ms;
    params.compaction_interval = {};
    params.defragmentation_rate = Bandwidth{80'000'000};
    return params;
  }
  void update(int count) {
    for (int i = 0; i < count; ++i) etcd.objects().store({.bytes = {1'000'000}});
  }
  void at(Duration when, std::function<void()> action) {
    engine.at(Time{} + when, Label{"test.acted"}, std::move(action));
  }
  void write() {
    const EtcdAnswer answer = etcd.objects().propose({.bytes = {300}}, [this](bool is_committed) {
      (is_committed ? done : failed).push_back(engine.now() - Time{});
    });
    if (answer == EtcdAnswer::OutOfSpace) ++refused;
  }

  struct News {
    EtcdNews what;
    uint32_t member;
    Duration at;
    bool operator==(const News&) const = default;
  };
  Engine engine;
  EtcdSplit etcd;
  std::vector<News> news;
  std::vector<Duration> done, failed;
  int refused = 0;
};

TEST(Defragmentation, MembersTakeTurnsTheLeaderLastThenTheAlarmEnds) {
  DefragmentationWorld world{{.quota = {90'000'000}}};
  world.update(40);
  Etcd& etcd = world.etcd.objects();
  EXPECT_TRUE(etcd.is_out_of_space());
  world.at(10_s, [&] { world.etcd.defragment(); });
  world.engine.run();
  using enum EtcdNews;
  EXPECT_EQ(world.news, (std::vector<DefragmentationWorld::News>{{OutOfSpace, 0, {}},
                                                                 {Defragmenting, 1, 10_s},
                                                                 {Defragmented, 1, 15_s},
                                                                 {Defragmenting, 2, 15_s},
                                                                 {Defragmented, 2, 20_s},
                                                                 {Defragmenting, 0, 20_s},
                                                                 {Defragmented, 0, 25_s},
                                                                 {SpaceBack, 0, 25_s}}));
  EXPECT_EQ(etcd.file(), Bytes{50'000'000});
  EXPECT_EQ(etcd.in_use(), Bytes{50'000'000});
  EXPECT_FALSE(etcd.is_out_of_space());
}

TEST(Defragmentation, AnAlarmStaysOnIfWhatIsInUseIsTooMuch) {
  DefragmentationWorld world{{.quota = {50'000'000}}};
  EXPECT_TRUE(world.etcd.objects().is_out_of_space());
  world.etcd.defragment();
  world.engine.run();
  EXPECT_TRUE(world.etcd.objects().is_out_of_space());
  EXPECT_EQ(world.news.back().what, EtcdNews::Defragmented);
}

// The leader defragments last, from 10 s to 15 s. Meanwhile writes wait. They do not fail, because
// they may wait up to 7 s.
TEST(Defragmentation, WhileTheLeaderRewritesNothingIsCommittedAndReadsWait) {
  DefragmentationWorld world;
  Etcd& etcd = world.etcd.objects();
  world.etcd.defragment();
  std::vector<Duration> read;
  for (const Duration when : {4_s, 9'999'500_us, 11_s}) {
    world.at(when, [&] {
      world.write();
      etcd.read({.bytes = {1}}, [&] { read.push_back(world.engine.now() - Time{}); });
      EXPECT_EQ(etcd.stores(), world.engine.now() < Time{} + 10_s);
    });
  }
  world.engine.run();
  EXPECT_EQ(world.done, (std::vector<Duration>{4_s + 1_ms, 15_s + 1_ms, 15_s + 1_ms}));
  ASSERT_EQ(read.size(), 3U);
  EXPECT_LT(read[0], 4_s + 1_ms);
  EXPECT_LT(read[1], 10_s + 1_ms) << "it was under way";
  EXPECT_GT(read[2], 15_s);
  EXPECT_EQ(etcd.counters().elections, 0U);
  EXPECT_TRUE(world.failed.empty());
}

TEST(Defragmentation, AWriteThatWaitsLongerThanEtcdLetsItFails) {
  DefragmentationWorld world;
  for (int i = 0; i < 50; ++i) {
    world.etcd.objects().store({.bytes = {1'000'000}, .change = EtcdChange::Create});
  }
  world.etcd.defragment();  // the leader rewrites 100 MB from 20 s to 30 s
  world.at(21_s, [&] { world.write(); });
  world.at(25_s, [&] { world.write(); });
  world.engine.run();
  EXPECT_EQ(world.failed, std::vector<Duration>{28_s});
  EXPECT_EQ(world.done, std::vector<Duration>{30_s + 1_ms});
  EXPECT_EQ(world.etcd.objects().counters().timed_out, 1U);
}

TEST(Defragmentation, AMemberThatIsLostIsLeftOutAndTheNextLeaderComesLast) {
  DefragmentationWorld world{{.election_timeout = 1_s}};
  world.etcd.defragment();
  world.at(2_s, [&] { world.etcd.objects().set_member_up(1, false); });
  world.at(4_s, [&] { world.etcd.objects().set_member_up(1, true); });
  world.at(9_s, [&] { world.etcd.objects().set_member_up(0, false); });
  world.at(9'500_ms, [&] { world.write(); });
  world.engine.run();
  using enum EtcdNews;
  EXPECT_EQ(world.news, (std::vector<DefragmentationWorld::News>{{Defragmenting, 1, {}},
                                                                 {MemberLost, 1, 2_s},
                                                                 {Defragmenting, 2, 2_s},
                                                                 {MemberBack, 1, 4_s},
                                                                 {Defragmented, 2, 7_s},
                                                                 {Defragmenting, 0, 7_s},
                                                                 {MemberLost, 0, 9_s}}));
  EXPECT_EQ(world.done, std::vector<Duration>{10_s + 1_ms}) << "the next leader was elected";
}

TEST(Defragmentation, WithSeparateEventsBothEtcdsShrink) {
  DefragmentationWorld world{{.quota = {90'000'000}, .separate_events = true}};
  Etcd& events = world.etcd.events();
  for (int i = 0; i < 10; ++i) events.store({.bytes = {10'000'000}, .change = EtcdChange::Create});
  for (int i = 0; i < 9; ++i) events.store({.bytes = {10'000'000}, .change = EtcdChange::Delete});
  EXPECT_TRUE(events.is_out_of_space());
  world.update(5);
  world.etcd.defragment();
  world.etcd.defragment();  // no effect: a defragmentation is under way
  world.engine.run();
  EXPECT_FALSE(events.is_out_of_space());
  EXPECT_EQ(events.file(), Bytes{10'000'000});
  EXPECT_EQ(world.etcd.objects().file(), Bytes{50'000'000});
  EXPECT_EQ(world.news.size(), 6U);
}

TEST(Defragmentation, MistakesAreRejected) {
  EXPECT_EQ(test::mistakes_of<EtcdParams>("{defragmentations: [{at: 1h}, {at: 2h}]}").size(), 0U);
  EXPECT_EQ(test::mistakes_of<EtcdParams>("{defragmentations: [{at: 2h}, {at: 1h}]}").size(), 1U);
  EXPECT_EQ(test::mistakes_of<EtcdParams>("{defragmentations: [{}]}").size(), 1U);
}

}  // namespace
}  // namespace orrery

// tests/unit/config/reader_test.cpp -- values go into the struct; mistakes are reported at their
// positions.
#include "sim/config/reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/config/params.hpp"

namespace orrery::config_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Demo {
  Policy policy;
  template <class V>
  void fields(V& v) {
    v("policy", policy, "");
  }
};

TEST(Reader, four_mistakes_of_one_file_are_reported_together_in_order) {
  Diagnostics d;
  const auto document = config::load_text(
      "policy:\n  permti_timeout: 5s\n  uplink: 400 gbit\n  max_waiting: 5000\n"
      "  order: fifo\n  order: fifo\n",
      "scenarios/demo.yaml", d);
  static_cast<void>(read_params<Demo>(document.root, "", d));
  EXPECT_THAT(
      d.messages(),
      ElementsAre("scenarios/demo.yaml:2:3: policy: unknown key 'permti_timeout'; did you mean "
                  "'permit_timeout'? (keys here: permit_timeout, uplink, max_waiting, order)",
                  "scenarios/demo.yaml:3:11: policy.uplink: expected a bandwidth such as 400Gbps "
                  "or 900GBps, got '400 gbit'",
                  "scenarios/demo.yaml:4:16: policy.max_waiting: out of range: must be between 1 "
                  "and 1024 gangs, got '5000'",
                  "scenarios/demo.yaml:6:3: policy: key 'order' given twice; first on line 5, "
                  "column 3"));
}

TEST(Diagnostics, warnings_are_no_mistakes) {
  Diagnostics d;
  d.warning({"s.yaml", 2, 1}, "run.until", "is odd");
  d.warning({"s.yaml", 1, 5}, "", "is odd, too");
  EXPECT_TRUE(d.ok());
  EXPECT_EQ(d.count(), 0U);
  EXPECT_EQ(d.warning_count(), 2U);
  EXPECT_THAT(d.messages(), IsEmpty());
  EXPECT_THAT(d.warnings(), ElementsAre("s.yaml:1:5: warning: is odd, too",
                                        "s.yaml:2:1: warning: run.until: is odd"));
}

TEST(Diagnostics, what_has_no_effect_is_a_warning_unless_it_is_refused) {
  Diagnostics warned, refused{Idle::Refused};
  for (Diagnostics* const d : {&warned, &refused}) {
    d->idle({"s.yaml", 2, 1}, "network.routing", "has no effect");
  }
  EXPECT_TRUE(warned.ok());
  EXPECT_THAT(warned.warnings(),
              ElementsAre("s.yaml:2:1: warning: network.routing: has no effect"));
  EXPECT_THAT(refused.messages(), ElementsAre("s.yaml:2:1: network.routing: has no effect"));
}

TEST(Reader, every_kind_of_member_is_read) {
  Diagnostics d;
  const All all = read_text<All>(R"(is_on: false
ratio: 2.5e-1
seed: 18446744073709551615
title: 007
skew: -7ns
policy: {order: fair_share, permit_timeout: 1.5 s}
pools:
  - {name: a, nodes: 3, gpus: 4, memory: 16MB}
  - name: b
until: 2d
jitter: {low: 0}
weights: {y: 2, z: 3.5}
source: {kind: file, path: x.csv}
matrix: [[1, 2], [], [-3]]
args: {deep: [1, two]}
)",
                                 d);
  ASSERT_THAT(d.messages(), IsEmpty());
  EXPECT_FALSE(all.is_on);
  EXPECT_EQ(all.ratio, 0.25);
  EXPECT_EQ(all.seed, 18446744073709551615U);
  EXPECT_EQ(all.title, "007");
  EXPECT_EQ(all.skew, Duration{-7});
  EXPECT_EQ(all.policy.order, Order::FairShare);
  EXPECT_EQ(all.policy.permit_timeout, 1500_ms);
  EXPECT_EQ(all.policy.max_waiting, 64);
  ASSERT_EQ(all.pools.size(), 2U);
  EXPECT_EQ(all.pools[0].memory, Bytes{16'000'000});
  EXPECT_EQ(all.pools[1].nodes, 1);
  EXPECT_EQ(all.until, 48_h);
  EXPECT_EQ(all.jitter->high, 2_s);
  EXPECT_EQ(all.weights, (std::map<std::string, double>{{"y", 2}, {"z", 3.5}}));
  EXPECT_EQ(std::get<FromFile>(all.source).path, "x.csv");
  EXPECT_EQ(all.matrix, (std::vector<std::vector<int64_t>>{{1, 2}, {}, {-3}}));
  EXPECT_EQ(all.args.path, "args");
  EXPECT_EQ(all.args.node["deep"].items[1].text, "two");
}

TEST(Reader, a_missing_node_gives_all_defaults) {
  Diagnostics d;
  const auto document = config::load_text("other: 1", "t.yaml", d);
  const Policy policy = read_params<Policy>(document.root["policy"], "policy", d);
  EXPECT_TRUE(d.ok());
  EXPECT_EQ(policy.permit_timeout, 60_s);
}

struct Case {
  const char* yaml;
  const char* message;
};

const Case kMistakes[] = {
    Case{"is_on: yes", "t.yaml:1:8: is_on: expected true or false, got 'yes'"},
    Case{"is_on: 'true'", "t.yaml:1:8: is_on: expected true or false, got 'true' in quotes"},
    Case{"is_on:", "t.yaml:1:1: is_on: expected true or false, got nothing"},
    Case{"ratio: .inf", "t.yaml:1:8: ratio: expected a finite number, got '.inf'"},
    Case{"ratio: nan", "t.yaml:1:8: ratio: expected a finite number, got 'nan'"},
    Case{"ratio: 1e999", "t.yaml:1:8: ratio: expected a finite number, got '1e999'"},
    Case{"ratio: 1.5", "t.yaml:1:8: ratio: out of range: must be between 0 and 1, got '1.5'"},
    Case{"seed: -1",
         "t.yaml:1:7: seed: out of range: must be between 0 and 18446744073709551615, got "
         "'-1'"},
    Case{"seed: 18446744073709551616",
         "t.yaml:1:7: seed: out of range: must be between 0 and 18446744073709551615, got "
         "'18446744073709551616'"},
    Case{"seed: 1.0", "t.yaml:1:7: seed: expected an integer, got '1.0'"},
    Case{"seed: 0x10", "t.yaml:1:7: seed: expected an integer, got '0x10'"},
    Case{"seed: 010", "t.yaml:1:7: seed: expected an integer, got '010'"},
    Case{"seed: [1]", "t.yaml:1:7: seed: expected an integer, got a list"},
    Case{"title: {a: 1}", "t.yaml:1:8: title: expected text, got a map"},
    Case{"skew: 101ns",
         "t.yaml:1:7: skew: out of range: must be between -100ns and 100ns, got '101ns'"},
    Case{"until: -1s", "t.yaml:1:8: until: out of range: must be at least 0s, got '-1s'"},
    Case{"until: 3661d",
         "t.yaml:1:8: until: out of range: must be between 0s and 3660d, got '3661d'"},
    Case{"policy: {uplink: 1001Tbps}",
         "t.yaml:1:18: policy.uplink: out of range: must be between 0bps and 1000Tbps, got "
         "'1001Tbps'"},
    Case{"pools: [{name: a, memory: 129PiB}]",
         "t.yaml:1:27: pools[0].memory: out of range: must be between 0B and 128PiB, got "
         "'129PiB'"},
    Case{"until: 5",
         "t.yaml:1:8: until: expected a duration such as 250us or 2h, got '5' without a unit"},
    Case{"until: 0.5ns",
         "t.yaml:1:8: until: expected a duration such as 250us or 2h, got '0.5ns', which is "
         "not a whole number of ns"},
    Case{"until: 9223372036854775808ns",
         "t.yaml:1:8: until: expected a duration such as 250us or 2h, got "
         "'9223372036854775808ns', which is too large"},
    Case{"until: [1s]", "t.yaml:1:8: until: expected a duration such as 250us or 2h, got a list"},
    Case{"policy: {permit_timeout: 0}",
         "t.yaml:1:26: policy.permit_timeout: out of range: must be between 1ms and 1d, got "
         "'0'"},
    Case{"policy: {order: fiof}",
         "t.yaml:1:17: policy.order: expected one of fifo, priority, fair_share; got 'fiof'; "
         "did you mean 'fifo'?"},
    Case{"policy: [1]", "t.yaml:1:9: policy: expected a map, got a list"},
    Case{"policy: {max_waiting: 101}",
         "t.yaml:1:23: policy.max_waiting: must be at most 100 with order fifo"},
    Case{"pools: {name: a}", "t.yaml:1:8: pools: expected a list, got a map"},
    Case{"pools:\n  - nodes: 2", "t.yaml:2:5: pools[0]: missing required key 'name'"},
    Case{"pools: [{name: a}, {name: b, nodes: 0}]",
         "t.yaml:1:37: pools[1].nodes: out of range: must be between 1 and 100000, got '0'"},
    Case{"weights: {a: 11}",
         "t.yaml:1:14: weights.a: out of range: must be between 0 and 10, got '11'"},
    Case{"weights: 3", "t.yaml:1:10: weights: expected a map, got '3'"},
    Case{"jitter: {low: 3s}", "t.yaml:1:9: jitter.high: must not be below low"},
    Case{"source: {low: 3s}",
         "t.yaml:1:9: source: missing key 'kind'; expected one of uniform, file"},
    Case{"source: {kind: fil}",
         "t.yaml:1:16: source.kind: expected one of uniform, file; got 'fil'; did you mean "
         "'file'?"},
    Case{"source: {kind: file}", "t.yaml:1:9: source: missing required key 'path'"},
    Case{"source: {kind: file, path: x, kidn: 1}",
         "t.yaml:1:31: source: unknown key 'kidn'; did you mean 'kind'? (keys here: path, kind)"},
    Case{"source: 3", "t.yaml:1:9: source: expected a map with the key 'kind', got '3'"},
    Case{"matrix: [[1, x]]", "t.yaml:1:14: matrix[0][1]: expected an integer, got 'x'"},
    Case{"entirely_different: 1",
         "t.yaml:1:1: unknown key 'entirely_different' (keys here: is_on, ratio, seed, title, "
         "skew, policy, pools, until, jitter, weights, source, matrix, args)"}};

TEST(Reader, each_mistake_is_worded_and_placed) {
  for (const Case& c : kMistakes) {
    EXPECT_THAT(mistakes<All>(c.yaml), ElementsAre(c.message)) << c.yaml;
  }
}

TEST(Reader, raw_parameters_are_read_later_with_their_position_and_path) {
  Diagnostics d;
  const All all = read_text<All>("is_on: true\nargs:\n  ordre: fifo\n", d);
  ASSERT_TRUE(d.ok());
  static_cast<void>(read_params<Policy>(all.args.node, all.args.path, d));
  EXPECT_THAT(d.messages(),
              ElementsAre("t.yaml:3:3: args: unknown key 'ordre'; did you mean 'order'? (keys "
                          "here: permit_timeout, uplink, max_waiting, order)"));
}

TEST(Reader, an_absent_struct_still_misses_its_required_keys) {
  Diagnostics d;
  const auto document = config::load_text("other: 1", "t.yaml", d);
  static_cast<void>(read_params<Pool>(document.root["pool"], "pool", d));
  EXPECT_THAT(d.messages(), ElementsAre("pool: missing required key 'name'"));
}

TEST(Diagnostics, are_cut_after_a_hundred) {
  std::string text;
  for (int i = 0; i < 150; ++i) text += "key_number_" + std::to_string(i) + ": 1\n";
  const auto messages = mistakes<All>(text);
  ASSERT_EQ(messages.size(), 101U);
  EXPECT_EQ(messages.back(), "... and 50 more");
}

TEST(Diagnostics, show_the_users_text_shortened_and_without_control_characters) {
  EXPECT_EQ(in_quotes("a\x1b[1m\n"), "'a\\x1b[1m\\n'");
  EXPECT_EQ(in_quotes(std::string(59, 'x') + "\xC3\xA9"), "'" + std::string(59, 'x') + "...'");
}

TEST(DidYouMean, counts_a_swap_as_one_and_stays_silent_when_nothing_is_near) {
  EXPECT_EQ(did_you_mean("permti", {"permit", "uplink"}), "; did you mean 'permit'?");
  EXPECT_EQ(did_you_mean("zebra", {"permit", "uplink"}), "");
  EXPECT_EQ(did_you_mean("ab", {"xy"}), "");
}

}  // namespace
}  // namespace orrery::config_test

// tests/unit/config/document_test.cpp -- loading, limits, includes and overrides.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temporary_folder.hpp"
#include "tests/unit/config/params.hpp"

namespace orrery::config_test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string repeated(std::string_view text, size_t times) {
  std::string all;
  for (size_t i = 0; i < times; ++i) all += text;
  return all;
}

std::string numbered(std::string_view prefix, int number) {
  return std::string{prefix}.append(std::to_string(number));
}

std::string load_error(std::string_view text) {
  Diagnostics d;
  const auto document = config::load_text(text, "t", d);
  EXPECT_FALSE(document.is_usable);
  return d.text();
}

TEST(Document, positions_and_quotes_are_kept) {
  Diagnostics d;
  const auto document = config::load_text("\xEF\xBB\xBF# c\na:\n  b: 'x'\n  c: [1, ~]\n", "t", d);
  ASSERT_TRUE(d.ok());
  const config::Node& a = document.root["a"];
  EXPECT_EQ(to_string(a.entries[0].key_position), "t:3:3");
  EXPECT_EQ(to_string(a["b"].position), "t:3:6");
  EXPECT_TRUE(a["b"].was_quoted);
  EXPECT_FALSE(a["c"].items[0].was_quoted);
  EXPECT_TRUE(a["c"].items[1].is_null());
  EXPECT_TRUE(a["nothing"].is_null());
  // A missing value has the position of its key.
  const auto gaps = config::load_text("x: 1\na:\n  b:\n  c: ~\n\nd:\n", "t", d);
  EXPECT_EQ(to_string(gaps.root["a"]["b"].position), "t:3:3");
  EXPECT_EQ(to_string(gaps.root["a"]["c"].position), "t:4:6");
  EXPECT_EQ(to_string(gaps.root["d"].position), "t:6:1");
}

TEST(Document, aliases_stand_for_their_value) {
  Diagnostics d;
  const auto document = config::load_text("a: &x {b: 1}\nc: [*x, *x]\n", "t", d);
  ASSERT_TRUE(d.ok());
  EXPECT_EQ(document.root["c"].items[1]["b"].text, "1");
}

TEST(Document, what_is_not_one_clean_yaml_map_is_refused) {
  EXPECT_EQ(load_error(""), "t:1:1: the file is empty\n");
  EXPECT_EQ(load_error("# only a comment\n"), "t:1:1: the file is empty\n");
  EXPECT_EQ(load_error("- a\n"), "t:1:1: expected a map at the top, got a list\n");
  EXPECT_EQ(load_error("a: 1\n---\nb: 2\n"),
            "t:2:1: a second YAML document; a file holds exactly one\n");
  EXPECT_EQ(load_error("a: 1\n<<: {b: 2}\n"),
            "t:2:1: merge keys ('<<') are not supported; use include: or repeat the values\n");
  EXPECT_EQ(load_error("a: [1, 2\n"), "t:2:1: not valid YAML: end of sequence flow not found\n");
  EXPECT_EQ(load_error("a: 1\nb: \"x\nc: 1\n"),
            "t:2:4: not valid YAML: this quote is never closed\n");
  EXPECT_EQ(load_error("a: !!str 'it''s\n"), "t:1:4: not valid YAML: this quote is never closed\n");
  EXPECT_EQ(load_error("a: !!python/object x\n"),
            "t:1:4: the YAML tag 'tag:yaml.org,2002:python/object' is not supported\n");
  EXPECT_EQ(load_error("[a]: 1\n"), "t:1:1: a key must be plain text; is a bracket not closed?\n");
  EXPECT_EQ(load_error("a: *x\n"), "t:1:4: not valid YAML: the referenced anchor is not defined\n");
  EXPECT_EQ(load_error("a: &x [*x]\n"), "t:1:8: this alias stands inside the value it names\n");
  EXPECT_EQ(load_error(std::string_view{"a: 1\nb: \0", 9}),
            "t:2:4: a NUL byte; is this a text file?\n");
  EXPECT_EQ(load_error("a: 1\nb: \xC0\xAF"), "t:2:4: not UTF-8 (byte 192)\n");
  EXPECT_EQ(load_error("a: \xED\xA0\x80"), "t:1:4: not UTF-8 (byte 237)\n");
  EXPECT_EQ(load_error("a: \"x\\_\""), "t:1:4: an escape in this text gives NUL or is not UTF-8\n");
  EXPECT_EQ(load_error("a: \"x\\0\""), "t:1:4: an escape in this text gives NUL or is not UTF-8\n");
  EXPECT_EQ(load_error("a: \x04"), "t:1:4: a control character (byte 4)\n");
  EXPECT_EQ(load_error("include: x.yaml\n"), "t:1:10: include: only a file can include others\n");
}

TEST(Limits, deep_nesting_is_refused) {
  EXPECT_THAT(load_error("a: " + repeated("[", 100'000)), HasSubstr("t:"));
  EXPECT_THAT(load_error("a: " + repeated("[", 65) + repeated("]", 65)),
              HasSubstr("nested more than 64 levels deep"));
  std::string steps;
  for (size_t i = 0; i < 200; ++i) steps += std::string(i, ' ') + "a:\n";
  EXPECT_EQ(load_error(steps), "t:65:65: nested more than 64 levels deep\n");
}

TEST(Limits, an_alias_bomb_is_refused_before_it_goes_off) {
  std::string bomb = "a0: &a0 [x, x]\n";
  std::string deep = "a0: &a0 " + repeated("[", 60) + repeated("]", 60) + "\n";
  for (int i = 1; i < 40; ++i) {
    const std::string last = numbered("*a", i - 1);
    const std::string name = numbered("a", i);
    bomb.append(name + ": &" + name + " [").append(repeated(last + ", ", 10)).append("]\n");
    deep.append(name + ": &" + name + " [[[[[").append(last).append("]]]]]\n");
  }
  EXPECT_THAT(load_error(bomb), HasSubstr("more than 1000000 values"));
  EXPECT_THAT(load_error(deep), HasSubstr("nested more than 64 levels deep"));
  const std::string wide =
      "a: &a " + std::string(1'000'000, 'x') + "\nb: [" + repeated("*a, ", 1000) + "]\n";
  EXPECT_THAT(load_error(wide), HasSubstr("more than 64 MiB of text"));
}

TEST(Limits, brackets_that_the_parser_would_hoard_are_refused) {
  EXPECT_EQ(load_error(repeated("[", 1'100'000)), "t: a value with too many parts in brackets\n");
}

TEST(Limits, a_huge_scalar_is_read_and_a_larger_file_refused) {
  Diagnostics d;
  const std::string text = "a: " + std::string(2'000'000, 'x') + "\n";
  EXPECT_EQ(config::load_text(text, "t", d).root["a"].text.size(), 2'000'000U);
  EXPECT_EQ(load_error(std::string((16U << 20U) + 1, '#')), "t: larger than 16 MiB\n");
  EXPECT_EQ(load_error(std::string(300, 'k') + ": 1"), "t:1:1: a key of more than 256 bytes\n");
}

// A folder of files, removed at the end of the test.
class Includes : public testing::Test {
 protected:
  Includes() { fs::create_directory(folder_ / "base"); }
  void write(const std::string& name, std::string_view text) { folder_.write(name, text); }
  config::Document load(const std::string& name) {
    return config::load_file((folder_ / name).string(), diagnostics_);
  }
  // All messages, in which files are named relative to the folder.
  std::string errors() const {
    std::string text = diagnostics_.text();
    const std::string prefix = folder_.path().string() + "/";
    for (size_t at = 0; (at = text.find(prefix)) != std::string::npos;) {
      text.erase(at, prefix.size());
    }
    return text;
  }
  test::TemporaryFolder folder_;
  Diagnostics diagnostics_;
};

TEST_F(Includes, lie_under_the_document_and_maps_merge) {
  write("base/a.yaml", "include: b.yaml\npolicy: {max_waiting: 3, order: priority}\n");
  write("base/b.yaml", "ratio: 0.5\nmatrix: [[1], [2]]\nsource: {kind: uniform, low: 0}\n");
  write("main.yaml",
        "include: [base/a.yaml]\npolicy: {max_waiting: 5}\nmatrix: []\n"
        "source: {kind: file, path: x}\n");
  const auto document = load("main.yaml");
  const All all = read_params<All>(document.root, "", diagnostics_);
  ASSERT_EQ(errors(), "");
  EXPECT_EQ(all.policy.max_waiting, 5);
  EXPECT_EQ(all.policy.order, Order::Priority);
  EXPECT_EQ(all.ratio, 0.5);
  EXPECT_THAT(all.matrix, IsEmpty());
  EXPECT_EQ(std::get<FromFile>(all.source).path, "x");
  EXPECT_EQ(document.sources.size(), 3U);
}

TEST_F(Includes, mistakes_point_into_the_included_file) {
  write("base/a.yaml", "policy:\n  odrer: fifo\n");
  write("main.yaml", "include: base/a.yaml\nis_on: 1\n");
  const auto document = load("main.yaml");
  static_cast<void>(read_params<All>(document.root, "", diagnostics_));
  EXPECT_EQ(errors(),
            "base/a.yaml:2:3: policy: unknown key 'odrer'; did you mean 'order'? (keys here: "
            "permit_timeout, uplink, max_waiting, order)\n"
            "main.yaml:2:8: is_on: expected true or false, got '1'\n");
}

TEST_F(Includes, that_go_in_a_circle_are_refused) {
  write("main.yaml", "include: base/a.yaml\n");
  write("base/a.yaml", "\ninclude: ../main.yaml\n");
  EXPECT_FALSE(load("main.yaml").is_usable);
  EXPECT_EQ(errors(), "base/a.yaml:2:10: includes itself: main.yaml -> base/a.yaml -> main.yaml\n");
}

TEST_F(Includes, that_go_too_deep_or_grow_too_many_are_refused) {
  for (int i = 0; i < 20; ++i) {
    const std::string next = numbered("n", i + 1) + ".yaml";
    write(numbered("n", i) + ".yaml", "include: " + next + "\n");
  }
  EXPECT_FALSE(load("n0.yaml").is_usable);
  EXPECT_EQ(errors(), "n16.yaml:1:10: includes nested more than 16 files deep\n");
  for (int i = 0; i < 12; ++i) {
    const std::string next = numbered("n", i + 1) + ".yaml";
    write(numbered("n", i) + ".yaml", "include: [" + next + ", " + next + "]\n");
  }
  write("n12.yaml", "a: 1\n");
  Diagnostics d;
  std::swap(d, diagnostics_);
  EXPECT_FALSE(load("n0.yaml").is_usable);
  EXPECT_THAT(errors(), HasSubstr("more than 256 included files"));
}

TEST_F(Includes, must_name_regular_files) {
  write("main.yaml", "include: [none.yaml, base]\n");
  EXPECT_FALSE(load("main.yaml").is_usable);
  write("other.yaml", "include: {a: 1}\n");
  EXPECT_FALSE(load("other.yaml").is_usable);
  EXPECT_FALSE(load("nothing.yaml").is_usable);
  EXPECT_FALSE(load("/dev/zero").is_usable);
  EXPECT_EQ(errors(),
            "/dev/zero: '/dev/zero' is not a regular file\n"
            "main.yaml:1:11: cannot open 'none.yaml': no such file\n"
            "main.yaml:1:22: 'base' is not a regular file\n"
            "nothing.yaml: cannot open 'nothing.yaml': no such file\n"
            "other.yaml:1:10: include: expected a file name or a list of them\n");
}

class Override : public testing::Test {
 protected:
  All apply(std::initializer_list<const char*> assignments) {
    auto document = config::load_text(
        "policy: {max_waiting: 5}\npools:\n  - {name: a}\n  - {name: b}\n", "t", diagnostics_);
    for (const char* assignment : assignments) {
      config::apply_override(document, assignment, diagnostics_);
    }
    return read_params<All>(document.root, "", diagnostics_);
  }
  std::string error(const char* assignment) {
    diagnostics_ = {};
    static_cast<void>(apply({assignment}));
    return diagnostics_.text();
  }
  Diagnostics diagnostics_;
};

TEST_F(Override, sets_scalars_lists_and_items) {
  const All all =
      apply({"policy.max_waiting=7", "pools[1].nodes=4", "pools.0.gpus=2", "jitter.low=1ms",
             "matrix=[[1, 2]]", "weights.\"a.b\"=3", "source={kind: file, path: a=b}", "until="});
  ASSERT_EQ(diagnostics_.text(), "");
  EXPECT_EQ(all.policy.max_waiting, 7);
  EXPECT_EQ(all.pools[1].nodes, 4);
  EXPECT_EQ(all.pools[0].gpus, 2U);
  EXPECT_EQ(all.jitter->low, 1_ms);
  EXPECT_EQ(all.matrix, (std::vector<std::vector<int64_t>>{{1, 2}}));
  EXPECT_EQ(all.weights.at("a.b"), 3);
  EXPECT_EQ(std::get<FromFile>(all.source).path, "a=b");
  EXPECT_EQ(all.until, std::nullopt);
}

TEST_F(Override, mistakes_point_into_the_argument) {
  EXPECT_EQ(error("policy.max_waitng=7"),
            "--set #1:1:8: policy: unknown key 'max_waitng'; did you mean 'max_waiting'? (keys "
            "here: permit_timeout, uplink, max_waiting, order)\n");
  EXPECT_EQ(error("policy.max_waiting=x"),
            "--set #1:1:20: policy.max_waiting: expected an integer, got 'x'\n");
  EXPECT_EQ(error("pools[2].nodes=1"),
            "--set #1:1:6: pools: no item 2: the list has items 0 to 1\n");
  EXPECT_EQ(error("pools.x=1"),
            "--set #1:1:7: pools: cannot set 'x' in a list; name an item by its index, from 0\n");
  EXPECT_EQ(error("policy[0]=1"), "--set #1:1:7: policy: expected a list here, found a map\n");
  EXPECT_EQ(error("policy.max_waiting.x=1"),
            "--set #1:1:20: policy.max_waiting: cannot set 'x' in '5'\n");
  EXPECT_EQ(error("matrix=[1, 2"),
            "--set #1:1:8: a key must be plain text; is a bracket not closed?\n");
  EXPECT_EQ(error("matrix=1: 2: 3"), "--set #1:1:12: not valid YAML: illegal map value\n");
  for (const char* bad : {"", "policy", "=1", "a..b=1", ".a=1", "a[x]=1", "a[1=1", "\"a=1"}) {
    EXPECT_THAT(error(bad), HasSubstr("expected path=value such as")) << bad;
  }
  std::string path = "a";
  for (int i = 0; i < 100; ++i) path += ".a";
  EXPECT_THAT(error((path + "=1").c_str()), HasSubstr("a path of more than 64 steps"));
}

}  // namespace
}  // namespace orrery::config_test

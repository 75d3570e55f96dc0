// tests/unit/config/describe_test.cpp -- quantities, resolved values, and descriptions and schema
// of parameters.
#include "sim/config/describe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <nlohmann/json.hpp>

#include "sim/config/quantity.hpp"
#include "sim/core/rng.hpp"
#include "tests/unit/config/params.hpp"

namespace orrery::config_test {
namespace {

using testing::HasSubstr;

TEST(Quantity, is_written_in_the_largest_unit_that_fits) {
  EXPECT_EQ(format_quantity(Duration{250'000}), "250us");
  EXPECT_EQ(format_quantity(90_s), "90s");
  EXPECT_EQ(format_quantity(48_h), "2d");
  EXPECT_EQ(format_quantity(Duration{}), "0s");
  EXPECT_EQ(format_quantity(Duration{-1'500}), "-1500ns");
  EXPECT_EQ(format_quantity(80_GiB), "80GiB");
  EXPECT_EQ(format_quantity(Bytes{1'000'000}), "1MB");
  EXPECT_EQ(format_quantity(400_Gbps), "400Gbps");
  EXPECT_EQ(format_quantity(Bandwidth{7'200'000'000}), "7200Mbps");
}

TEST(Quantity, sums_and_products_end_at_the_largest_integer) {
  EXPECT_EQ(Duration::max() + 1_ns, Duration::max());
  EXPECT_EQ(3660_d * 1'000'000, Duration::max());
  EXPECT_EQ(Time{} + 3660_d + Duration::max(), Time::max());
  EXPECT_EQ(Bytes{1} * 3 + Bytes{4}, Bytes{7});
  EXPECT_EQ(nearest_bytes(1e30) + Bytes{1}, nearest_bytes(1e30));
  EXPECT_EQ(nearest_bytes(2.5), Bytes{3});
  EXPECT_EQ(nearest_bytes(-1), Bytes{});
}

TEST(Quantity, reads_decimals_exactly) {
  const auto ns = [](std::string_view text) {
    const auto parsed = config::parse_quantity(text, config::kDurationMeasure);
    return parsed.complaint.empty() ? parsed.value : -1;
  };
  EXPECT_EQ(ns("0.1s"), 100'000'000);
  EXPECT_EQ(ns("1.000000001s"), 1'000'000'001);
  EXPECT_EQ(ns("1.50000000000000000000000000000000000s"), 1'500'000'000);
  EXPECT_EQ(ns("00000000000000000000000000000000000001s"), 1'000'000'000);
  EXPECT_EQ(ns("2.5 min"), 150'000'000'000);
  EXPECT_EQ(ns("9223372036854775807ns"), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(ns("106751.99116730064591435d"), -1);
  EXPECT_EQ(ns("1.0000000001s"), -1);
  for (const char* bad : {"", "-", ".5s", "5.s", "1e3s", "+5s", "5 S", "s", "5ss", "0x5s", "1,5s",
                          "99999999999999999999999999999999999999999999999d"}) {
    EXPECT_EQ(ns(bad), -1) << bad;
  }
}

TEST(Quantity, written_and_read_back_is_the_same) {
  Rng rng{7};
  for (int i = 0; i < 20'000; ++i) {
    const auto value = static_cast<int64_t>(rng.next() >> (rng.next() % 64));
    for (const config::Measure* measure :
         {&config::kDurationMeasure, &config::kBytesMeasure, &config::kBandwidthMeasure}) {
      const std::string text = config::format_quantity(value, *measure);
      const auto parsed = config::parse_quantity(text, *measure);
      ASSERT_EQ(parsed.complaint, "");
      ASSERT_EQ(parsed.value, value) << text;
    }
  }
}

All filled() {
  All all;
  all.ratio = 0.1 + 0.2;
  all.seed = std::numeric_limits<uint64_t>::max();
  all.policy.permit_timeout = Duration{123'456'789};
  all.pools = {{.name = "true"}, {.name = "", .nodes = 7, .gpus = 0, .memory = {12345}}};
  all.until = 30_min;
  all.jitter = Uniform{};
  all.source = FromFile{"a: b # c"};
  all.matrix = {{1}, {}};
  Diagnostics d;
  all.args.node = config::load_text("a: [1, 1.50, 007, 'true', true, ~, x]", "t", d).root;
  return all;
}

TEST(Resolved, read_back_gives_the_same_parameters) {
  for (const All& all : {All{}, filled()}) {
    const std::string json = resolved_json(all);
    Diagnostics d;
    const All again = read_text<All>(json, d);
    ASSERT_EQ(d.text(), "");
    EXPECT_EQ(resolved_json(again), json);
    EXPECT_EQ(again.title, all.title);
    EXPECT_EQ(again.ratio, all.ratio);
  }
}

TEST(Resolved, is_json_in_the_order_of_the_fields) {
  const auto json = nlohmann::ordered_json::parse(resolved_json(filled()));
  EXPECT_EQ(json.begin().key(), "is_on");
  EXPECT_EQ(json["seed"], std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(json["policy"]["permit_timeout"], "123456789ns");
  EXPECT_EQ(json["source"]["kind"], "file");
  // Numbers have no leading zeros, so 007 is a string. The quoted 'true' is a string, too.
  EXPECT_EQ(json["args"]["a"].dump(), R"([1,1.5,"007","true",true,null,"x"])");
}

TEST(Describe, tells_type_default_range_and_source) {
  const FieldTree tree = describe_params<Policy>();
  EXPECT_EQ(tree.doc, "Who runs next.");
  ASSERT_EQ(tree.children.size(), 4U);
  EXPECT_EQ(tree.children[0].default_text, "1min");
  EXPECT_EQ(tree.children[0].range_text, "between 1ms and 1d");
  EXPECT_EQ(tree.children[0].source, "scheduler-plugins 0.28");
  EXPECT_EQ(tree.children[2].range_text, "between 1 and 1024 gangs");
  EXPECT_EQ(describe_text(tree),
            R"(Who runs next.

permit_timeout  duration, between 1ms and 1d         default 1min
    How long a partly placed gang may hold GPUs.
    Basis of the default: scheduler-plugins 0.28
uplink          bandwidth                            default 400Gbps
    Rate of one uplink.
    Example: 200Gbps
max_waiting     integer, between 1 and 1024 gangs    default 64
    Gangs that may wait at once.
order           one of fifo | priority | fair_share  default fifo
    Order of the queue.
)");
}

TEST(Describe, shows_lists_and_kinds_with_their_fields) {
  const std::string text = describe_text(describe_params<All>());
  EXPECT_THAT(text, HasSubstr("kind: file"));
  EXPECT_THAT(text, HasSubstr("  name "));
  EXPECT_THAT(text, HasSubstr("required"));
  EXPECT_THAT(text, HasSubstr("kind of uniform | file"));
}

template <size_t N>
struct NumberedKeys {
  static constexpr std::string_view kDoc = "N keys.";

  std::array<int32_t, N> values = {};

  template <class V>
  void fields(V& v) {
    static constexpr auto kNames = std::to_array<std::string_view>(
        {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p"});
    for (size_t i = 0; i < N; ++i) v(kNames[i], values[i], "A number.");
  }
};
template <size_t N>
struct OneOfMany {
  static constexpr std::string_view kDoc = "One of several.";

  std::string name = {};
  NumberedKeys<N> keys = {};

  template <class V>
  void fields(V& v) {
    v("name", name, "Its name.");
    v("keys", keys, "Its keys.");
  }
};
template <size_t N>
struct KeysInThreePlaces {
  static constexpr std::string_view kDoc = "Keys at two depths.";

  std::vector<OneOfMany<N>> several = {};
  NumberedKeys<N> all = {}, other = {};

  template <class V>
  void fields(V& v) {
    v("several", several, "Several.");
    v("all", all, "For all.");
    v("other", other, "Other keys.");
  }
};

size_t count_of(std::string_view part, const std::string& text) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++count;
  return count;
}

TEST(Describe, shows_common_keys_once_at_the_first_place_of_least_depth) {
  const std::string text = describe_text(describe_params<KeysInThreePlaces<16>>());
  EXPECT_EQ(count_of("A number.", text), 16U);
  EXPECT_THAT(text, HasSubstr("    Its keys.\n      Same keys as `all`.\n"));
  EXPECT_THAT(text, HasSubstr("    For all.\n  a "));
  EXPECT_THAT(text, HasSubstr("    Other keys.\n    Same keys as `all`.\n"));
}

TEST(Describe, repeats_a_few_keys_in_each_place) {
  const std::string text = describe_text(describe_params<KeysInThreePlaces<15>>());
  EXPECT_EQ(count_of("A number.", text), 45U);
}

TEST(Describe, a_default_of_its_own_makes_keys_differ) {
  FieldTree tree = describe_params<KeysInThreePlaces<16>>();
  tree.children[2].children[0].default_text = "7";
  const std::string text = describe_text(tree);
  EXPECT_EQ(count_of("A number.", text), 32U);
  EXPECT_EQ(count_of("Same keys as `all`.", text), 1U);
}

TEST(Schema, tells_an_editor_what_the_reader_accepts) {
  const auto schema = nlohmann::json::parse(to_json_schema(describe_params<All>(), "Scenario"));
  EXPECT_EQ(schema["$schema"], "http://json-schema.org/draft-07/schema#");
  EXPECT_EQ(schema["title"], "Scenario");
  EXPECT_EQ(schema["additionalProperties"], false);
  const auto& properties = schema["properties"];
  EXPECT_TRUE(properties.contains("include"));
  EXPECT_EQ(properties["policy"]["description"], "Who runs next.");
  const auto& policy = properties["policy"]["properties"];
  EXPECT_EQ(policy["max_waiting"]["maximum"], 1024);
  EXPECT_EQ(policy["order"]["enum"], (std::vector<std::string>{"fifo", "priority", "fair_share"}));
  EXPECT_THAT(policy["permit_timeout"]["anyOf"][0]["pattern"].get<std::string>(),
              HasSubstr("ns|us|ms|s|min|h|d"));
  EXPECT_EQ(properties["pools"]["items"]["required"], std::vector<std::string>{"name"});
  // The schema offers two forms of `source`. In the second one the kind is missing, because an
  // included file may set it.
  const auto& source = properties["source"]["anyOf"];
  EXPECT_EQ(source[1]["not"]["required"], std::vector<std::string>{"kind"});
  const auto& kinds = source[0]["oneOf"];
  ASSERT_EQ(kinds.size(), 3U);  // the kinds uniform and file, and null
  EXPECT_EQ(kinds[1]["properties"]["kind"]["const"], "file");
  EXPECT_EQ(kinds[1]["required"], (std::vector<std::string>{"kind", "path"}));
}

}  // namespace
}  // namespace orrery::config_test

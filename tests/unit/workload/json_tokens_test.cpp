#include "models/workload/traces/io/json_tokens.hpp"

#include <gtest/gtest.h>

#include <string>

namespace orrery::traces {
namespace {

using Kind = JsonTokens::Kind;

// The tokens of the text, one letter each. Keys, strings and numbers are followed by their text.
std::string tokens_of(std::string_view text) {
  JsonTokens tokens{TextSource::from_memory(text, "t.json")};
  std::string out;
  for (Kind kind = tokens.next(); kind != Kind::End; kind = tokens.next()) {
    if (kind == Kind::Error) return out + *tokens.error();
    constexpr std::string_view kLetters = "{}[]KSNTF0";
    out += kLetters[static_cast<size_t>(kind)];
    if (kind == Kind::Key || kind == Kind::String || kind == Kind::Number) {
      out.append(tokens.text()).append(";");
    }
  }
  return out;
}

TEST(JsonTokens, ValuesComeInTheirOrder) {
  EXPECT_EQ(tokens_of(R"({"a": [1, -2.5e3, "x\n\u00e9"], "b": {"c": null}, "d": [true, false]})"),
            "{Ka;[N1;N-2.5e3;Sx\n\xC3\xA9;]Kb;{Kc;0}Kd;[TF]}");
  EXPECT_EQ(tokens_of("[]\n{}\n 7 "), "[]{}N7;");
  EXPECT_EQ(tokens_of(""), "");
}

TEST(JsonTokens, WhatIsNotJsonIsReportedByRowAndColumn) {
  EXPECT_EQ(tokens_of("[1,\n 2"), "[N1;N2;t.json:2:3: the JSON text ends too early");
  EXPECT_EQ(tokens_of("[1 2]"), "[N1;t.json:1:4: expected ',' or a closing bracket");
  EXPECT_EQ(tokens_of("[1,]"), "[N1;t.json:1:4: found a bracket after a comma");
  EXPECT_EQ(tokens_of("[1}"), "[N1;t.json:1:3: found a bracket out of place");
  EXPECT_EQ(tokens_of("{\"a\" 1}"), "{t.json:1:6: expected ':' after a key");
  EXPECT_EQ(tokens_of("{\"a\":}"), "{Ka;t.json:1:6: found a bracket out of place");
  EXPECT_EQ(tokens_of("{1: 2}"), "{t.json:1:2: expected a key in quotes");
  EXPECT_EQ(tokens_of("[nil]"), "[t.json:1:5: expected a JSON value");
  EXPECT_EQ(tokens_of("[\"a"), "[t.json:1:4: a string does not end");
  EXPECT_EQ(tokens_of("[\"\\x\"]"), "[t.json:1:5: an unknown escape in a string");
  EXPECT_EQ(tokens_of("[\"\\\n\"]"), "[t.json:1:4: a control character in a string");
  EXPECT_EQ(tokens_of(std::string(65, '[')).substr(64),
            "t.json:1:65: more than 64 brackets within each other");
}

TEST(JsonTokens, AValueIsSkippedAsAWhole) {
  JsonTokens tokens{TextSource::from_memory("[{\"a\": [1, [2]]}, 3]", "t.json")};
  EXPECT_EQ(tokens.next(), Kind::BeginArray);
  tokens.skip(tokens.next());
  EXPECT_EQ(tokens.next(), Kind::Number);
  EXPECT_EQ(tokens.text(), "3");
}

}  // namespace
}  // namespace orrery::traces

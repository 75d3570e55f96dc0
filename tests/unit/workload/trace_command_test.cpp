// `orrery trace`: what it says of a file, and what it makes of it.
#include <gmock/gmock.h>

#include <sstream>
#include <string>
#include <vector>

#include "sim/cli/cli.hpp"
#include "tests/unit/workload/trace_support.hpp"

namespace orrery {
namespace {

using ::testing::HasSubstr;

struct Said {
  int status = 0;
  std::string out, err;
};

Said run(const std::vector<const char*>& args) {
  std::ostringstream out, err;
  Said said;
  said.status = run_cli(args, out, err);
  said.out = out.str();
  said.err = err.str();
  return said;
}

const std::string kLog =
    "; MaxProcs: 8\n1 0 5 10 4 -1 -1 4 20 -1 1 1 1 -1 1 -1 -1 -1\n"
    "2 60 5 10 8 -1 -1 8 20 -1 0 2 1 -1 1 -1 -1 -1\n";

TEST(TraceCommand, InfoTellsFormatFiguresAndProblems) {
  const test::TemporaryFile file{kLog + "3 70 5 -1 8 -1 -1 8 20 -1 0 2 1 -1 1 -1 -1 -1\n"};
  const std::string path = file.path();
  const Said said = run({"trace", "info", path.c_str()});
  EXPECT_EQ(said.status, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("format                swf"));
  EXPECT_THAT(said.out, HasSubstr("jobs                  2"));
  EXPECT_THAT(said.out, HasSubstr("users                 2"));
  EXPECT_THAT(said.out, HasSubstr("it says: MaxProcs     8"));
  EXPECT_THAT(said.out, HasSubstr("left out: the run time is unknown (first: row 4)"));
}

TEST(TraceCommand, InfoShowsMalformedRowsAndFailsUnlessTheyAreAllowed) {
  const test::TemporaryFile file{kLog + "3 70\n4 x\n"};
  const std::string path = file.path();
  const Said strict = run({"trace", "info", path.c_str()});
  EXPECT_EQ(strict.status, 2);
  EXPECT_THAT(strict.err, HasSubstr(":4: found 2 fields, expected at least 18 fields"));
  EXPECT_THAT(strict.err, HasSubstr(":5: found 2 fields, expected at least 18 fields"));
  const Said lenient = run({"trace", "info", path.c_str(), "--lenient"});
  EXPECT_EQ(lenient.status, 0) << lenient.err;
  EXPECT_THAT(lenient.out, HasSubstr("2 rows                malformed, skipped"));
}

TEST(TraceCommand, InfoKnowsRequestTracesToo) {
  const test::TemporaryFile file{
      "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,4808,10\n"};
  const std::string path = file.path();
  const Said said = run({"trace", "info", path.c_str()});
  EXPECT_EQ(said.status, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("azure_llm (requests)"));
}

TEST(TraceCommand, ConvertKeepsWhereTheJobsCameFrom) {
  const test::TemporaryFile file{kLog};
  const test::TemporaryFile target{"an older file"};
  const std::string path = file.path();
  const std::string converted = target.path() + ".otr";
  const Said said = run({"trace", "convert", path.c_str(), converted.c_str(), "--set", "copies=3"});
  EXPECT_EQ(said.status, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("6 jobs"));
  const Said info = run({"trace", "info", converted.c_str()});
  EXPECT_EQ(info.status, 0) << info.err;
  EXPECT_THAT(info.out, HasSubstr("format                native"));
  EXPECT_THAT(info.out, HasSubstr("jobs                  6"));
  EXPECT_THAT(info.out, HasSubstr("source_sha256"));
  EXPECT_THAT(info.out, HasSubstr("it says: set          copies=3"));
  EXPECT_THAT(info.out, HasSubstr("it says: MaxProcs     8"));
  std::filesystem::remove(converted);
}

TEST(TraceCommand, WrongUseIsTold) {
  const test::TemporaryFile file{kLog};
  const std::string path = file.path();
  EXPECT_EQ(run({"trace", "info"}).status, 2);
  EXPECT_THAT(run({"trace", "frob", path.c_str()}).err, HasSubstr("not 'frob'"));
  EXPECT_THAT(run({"trace", "convert", path.c_str()}).err, HasSubstr("takes two files"));
  EXPECT_THAT(run({"trace", "convert", path.c_str(), path.c_str()}).err,
              HasSubstr("would replace"));
  EXPECT_THAT(run({"trace", "info", path.c_str(), "--set", "gpus_min=x"}).err,
              HasSubstr("expected an integer"));
  EXPECT_THAT(run({"trace", "info", path.c_str(), "--set", "file=x"}).err,
              HasSubstr("name the file as an argument"));
  const Said nowhere = run({"trace", "convert", path.c_str(), "/no/such/folder/a.otr"});
  EXPECT_EQ(nowhere.status, 74);
  EXPECT_THAT(run({"trace", "info", "/no/such/file"}).err, HasSubstr("cannot open the file"));
}

}  // namespace
}  // namespace orrery

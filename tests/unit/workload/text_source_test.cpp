#include "models/workload/traces/io/text_source.hpp"

#include <string>
#include <vector>

#include "tests/unit/workload/trace_support.hpp"

namespace orrery::traces {
namespace {

using test::gzipped;
using test::xzipped;

struct Lines {
  std::vector<std::string> lines;
  std::string error;
};

Lines read(TextSource source) {
  Lines out;
  while (const auto line = source.next_line()) out.lines.emplace_back(*line);
  out.error = source.error().value_or("");
  return out;
}

Lines read(std::string_view text) { return read(TextSource::from_memory(text, "t.csv")); }

using Strings = std::vector<std::string>;

TEST(TextSource, LinesEndWithAnyUsualEnd) {
  EXPECT_EQ(read("a\r\nb\n\nc").lines, (Strings{"a", "b", "", "c"}));
  EXPECT_EQ(read("a\n").lines, (Strings{"a"}));
  EXPECT_TRUE(read("").lines.empty());
}

TEST(TextSource, AByteOrderMarkIsNotPartOfTheText) {
  const std::string marked = "\xEF\xBB\xBFid\n";
  for (const std::string& stored : {marked, gzipped(marked), xzipped(marked)}) {
    EXPECT_EQ(read(stored).lines, (Strings{"id"}));
  }
  EXPECT_TRUE(read("\xEF\xBB\xBF").lines.empty());
}

TEST(TextSource, GzipReadsAsItsContentEvenInSeveralMembers) {
  EXPECT_EQ(read(gzipped("a\nb") + gzipped("c\nd\n")).lines, (Strings{"a", "bc", "d"}));
}

TEST(TextSource, TextLongerThanAnyBufferKeepsEveryLine) {
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += std::to_string(i) + ",some more text\n";
  for (const std::string& stored : {text, gzipped(text), xzipped(text)}) {
    const Lines read_back = read(stored);
    ASSERT_EQ(read_back.error, "");
    ASSERT_EQ(read_back.lines.size(), 200'000U);
    for (size_t i = 0; i < read_back.lines.size(); i += 999) {
      ASSERT_EQ(read_back.lines[i], std::to_string(i) + ",some more text");
    }
  }
}

TEST(TextSource, CutGzipIsAnErrorWithItsRow) {
  const std::string whole = gzipped("a,b\n1,2\n3,4\n");
  const Lines cut = read(std::string_view{whole}.substr(0, whole.size() - 6));
  EXPECT_EQ(cut.lines, (Strings{"a,b", "1,2", "3,4"}));
  EXPECT_EQ(cut.error, "t.csv:4: the gzip data ends too early");
}

TEST(TextSource, DamagedGzipIsAnErrorWithItsRow) {
  std::string damaged = gzipped("a,b\n1,2\n");
  damaged[damaged.size() - 6] ^= 1;  // changes a bit of the checksum
  EXPECT_EQ(read(damaged).error, "t.csv:3: the gzip data is damaged (incorrect data check)");
}

TEST(TextSource, BytesAfterGzipAreAnError) {
  EXPECT_EQ(read(gzipped("a\n") + "b\n").error,
            "t.csv:2: the gzip data is followed by something else");
}

TEST(TextSource, XzReadsAsItsContentEvenInSeveralStreams) {
  EXPECT_EQ(read(xzipped("a\nb") + xzipped("c\nd\n")).lines, (Strings{"a", "bc", "d"}));
}

TEST(TextSource, CutDamagedAndFollowedXzIsAnError) {
  const std::string whole = xzipped("a,b\n1,2\n3,4\n");
  EXPECT_EQ(read(std::string_view{whole}.substr(0, whole.size() - 6)).error,
            "t.csv:4: the xz data ends too early");
  std::string damaged = whole;
  damaged[30] ^= 1;
  EXPECT_NE(read(damaged).error.find("the xz data is damaged"), std::string::npos);
  EXPECT_EQ(read(whole + "more than twelve bytes of text\n").error,
            "t.csv:4: the xz data is damaged");
}

TEST(TextSource, BlocksGiveTheTextWithoutLookingAtLines) {
  const std::string line(1'000'000, 'x');
  for (const std::string& stored : {line, gzipped(line), xzipped(line)}) {
    TextSource source = TextSource::from_memory(stored, "t.json");
    std::string text;
    for (std::string_view block; !(block = source.next_block()).empty();) text += block;
    EXPECT_EQ(text, line);
    EXPECT_FALSE(source.error());
  }
  TextSource cut = TextSource::from_memory(std::string_view{"\x1F\x8B", 2}, "t.json");
  EXPECT_TRUE(cut.next_block().empty());
  EXPECT_EQ(cut.error(), "t.json: the gzip data ends too early");
}

TEST(TextSource, LinesMayBeSixtyFourKibibytesLongButNoMore) {
  const std::string longest(TextSource::kLineMax, 'x');
  EXPECT_EQ(read("a\n" + longest + "\r\nb").lines, (Strings{"a", longest, "b"}));
  EXPECT_EQ(read("a\n" + longest + "x\nb").error, "t.csv:2: the line is longer than 65536 bytes");
  // A bad line may be gigabytes long. The reader rejects it before it has seen the end of the line.
  EXPECT_EQ(read(std::string(1'000'000, 'x')).error,
            "t.csv:1: the line is longer than 65536 bytes");
}

TEST(TextSource, ANulByteIsRefused) {
  EXPECT_EQ(read(std::string_view{"a\nb\0c\n", 6}).error,
            "t.csv:2: found a NUL byte, expected text");
}

TEST(TextSource, FilesThatCannotBeReadSayWhy) {
  EXPECT_EQ(read(TextSource::open_file("/no/such/jobs.csv")).error,
            "/no/such/jobs.csv: cannot open the file: No such file or directory");
  EXPECT_EQ(read(TextSource::open_file("/")).error, "/: cannot read the file: Is a directory");
}

TEST(TextSource, AFileReadsLikeMemory) {
  const test::TemporaryFile file{gzipped("a\nb\n")};
  EXPECT_EQ(read(TextSource::open_file(file.path())).lines, (Strings{"a", "b"}));
}

}  // namespace
}  // namespace orrery::traces

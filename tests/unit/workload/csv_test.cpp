#include "models/workload/traces/io/csv.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace orrery::traces {
namespace {

using Strings = std::vector<std::string>;

struct WithFindings {
  Findings findings;
};
struct Table : WithFindings, CsvReader {
  explicit Table(std::string_view text, size_t errors_max = 1, bool is_lenient = false)
      : WithFindings{Findings{
            {.file = "t.csv", .errors_max = errors_max, .is_lenient = is_lenient}}},
        CsvReader{TextSource::from_memory(text, "t.csv"), WithFindings::findings} {}
  const Strings& errors() const { return WithFindings::findings.errors(); }
};
Table table(std::string_view text, size_t errors_max = 1) { return Table{text, errors_max}; }

Strings column(CsvReader& csv) {
  Strings out;
  while (csv.next_row()) out.emplace_back(csv.text(0));
  return out;
}

constexpr std::array<std::string_view, 1> kB = {"b"};

TEST(Cell, NumbersAreTheWholeTextOrNothing) {
  EXPECT_EQ(parse_integer("-12"), -12);
  EXPECT_EQ(parse_integer("9223372036854775807"), INT64_MAX);
  for (const char* text : {"", " 1", "1 ", "+1", "1.0", "0x1", "9223372036854775808", "--1"}) {
    EXPECT_FALSE(parse_integer(text)) << text;
  }
}

TEST(Cell, DecimalSecondsAreExact) {
  EXPECT_EQ(parse_seconds("14414259.0"), Duration{14'414'259'000'000'000});
  EXPECT_EQ(parse_seconds("0.1"), Duration{100'000'000});
  EXPECT_EQ(parse_seconds("0.0000000019"), Duration{1});  // digits below a nanosecond are dropped
  EXPECT_EQ(parse_seconds("-1.5"), Duration{-1'500'000'000});
  EXPECT_EQ(parse_seconds("1.5e3"), Duration{1'500'000'000'000});
  for (const char* text : {"", ".5", "1.", "nan", "inf", "-inf", "1e99", "9200000000", "1,5", "-",
                           "1e", "1.5x", "99999999999999999999999"}) {
    EXPECT_FALSE(parse_seconds(text)) << text;
  }
}

TEST(Cell, DatesMustExist) {
  EXPECT_EQ(parse_date_time("1970-01-02"), Time{86'400'000'000'000});
  EXPECT_EQ(parse_date_time("2020-03-18 04:01:39"), Time{1'584'504'099'000'000'000});
  EXPECT_EQ(parse_date_time("2020-02-29T00:00:00"), Time{1'582'934'400'000'000'000});
  for (const char* text :
       {"2020-02-30 00:00:00", "2019-02-29 00:00:00", "2020-13-01 00:00:00", "2020-00-01 00:00:00",
        "2020-01-01 24:00:00", "2020-01-01 00:60:00", "2020-01-01 00:00:60", "2020-1-1 00:00:00",
        "2020-01-01 00:00", "2020-01-01 00:00:00Z", "1969-12-31 23:59:59", "2200-01-01 00:00:00",
        "", "None", "2020/01/01 00:00:00"}) {
    EXPECT_FALSE(parse_date_time(text)) << text;
  }
}

TEST(Csv, ColumnsAreFoundByNameInAnyOrder) {
  auto csv = table("a,b,extra\n1,2,3\n\n4,5,6\n");
  csv.bind(kB);
  EXPECT_EQ(column(csv), (Strings{"2", "5"}));
  EXPECT_TRUE(csv.errors().empty());
}

TEST(Csv, QuotedFieldsMayHoldCommasAndQuotes) {
  auto csv = table("\"a\",\"b\"\n1,\"x, \"\"y\"\"\"\n2,\"\"\n3,\n\"4\",\n");
  csv.bind(kB);
  EXPECT_EQ(column(csv), (Strings{"x, \"y\"", "", "", ""}));
  EXPECT_TRUE(csv.errors().empty());
}

TEST(Csv, CommentsComeBeforeTheHeaderAndAfterItOnlyWhereAllowed) {
  auto csv = table("# note\n\nb\n1\n# two\n3\n");
  csv.bind(kB);
  EXPECT_EQ(column(csv), (Strings{"1", "# two", "3"}));
  auto commented = table("# note\nb\n1\n# two\n3\n");
  commented.bind(kB);
  commented.allow_comments();
  EXPECT_EQ(column(commented), (Strings{"1", "3"}));
}

TEST(Csv, AMissingColumnIsNamedWithItsNearestNeighbour) {
  auto csv = table("gpu_nums,vc\n");
  csv.bind(std::array<std::string_view, 1>{"gpu_num"});
  EXPECT_EQ(csv.errors(), (Strings{"t.csv:1: missing column 'gpu_num'; did you mean 'gpu_nums'?"}));
}

TEST(Csv, BadTablesSayWhatIsWrong) {
  EXPECT_EQ(table("").errors(), (Strings{"t.csv: found no rows, expected a header"}));
  EXPECT_EQ(table("a,b,a\n").errors(), (Strings{"t.csv:1: column 'a' is named twice"}));
  EXPECT_EQ(table("a,\"b\n").errors(),
            (Strings{"t.csv:1: the header has a quote that does not end"}));
}

TEST(Csv, AHeaderOfThousandsOfColumnsIsRefused) {
  EXPECT_EQ(table(std::string(1000, ',')).errors(),
            (Strings{"t.csv:1: found 1001 columns, expected at most 1000"}));
}

TEST(Csv, RowsMustHaveAsManyFieldsAsTheHeader) {
  auto csv = table("a,b\n1\n1,2,3\n1,\"2\n1,\"2\"x\n5,6\n", 20);
  csv.bind(kB);
  EXPECT_EQ(column(csv), (Strings{"6"}));
  EXPECT_EQ(csv.errors(), (Strings{"t.csv:2: found 1 field, expected 2 fields",
                                   "t.csv:3: found 3 fields, expected 2 fields",
                                   "t.csv:4: found a quote that does not end, expected 2 fields",
                                   "t.csv:5: found a quote that does not end, expected 2 fields"}));
}

TEST(Csv, AWrongFieldIsReportedByRowColumnAndName) {
  auto csv = table("a,b\r\n1,7\r\n1,x\ty\r\n");
  csv.bind(kB);
  ASSERT_TRUE(csv.next_row());
  EXPECT_EQ(csv.integer(0, 0, 9), 7);
  ASSERT_TRUE(csv.next_row());
  EXPECT_EQ(csv.integer(0, 3, 9), 3);
  EXPECT_FALSE(csv.row_ok());
  EXPECT_EQ(csv.errors(),
            (Strings{"t.csv:3:2 (b): found 'x\\ty', expected an integer from 3 to 9"}));
  EXPECT_FALSE(csv.next_row());  // without `lenient` the first mistake ends the reading
}

TEST(Csv, OnlyTheFirstMistakeOfARowIsNoted) {
  auto csv = table("b\n-1\n-2\n", 20);
  csv.bind(kB);
  while (csv.next_row()) {
    csv.seconds(0);
    csv.date_time(0);
  }
  EXPECT_EQ(csv.errors(),
            (Strings{"t.csv:2:1 (b): found '-1', expected a number of seconds >= 0",
                     "t.csv:3:1 (b): found '-2', expected a number of seconds >= 0"}));
}

TEST(Csv, ALenientReaderSkipsAndCountsWrongRows) {
  Table csv{"b,c\n1,1\nx,1\n3\n4,1\n", 1, true};
  csv.bind(kB);
  int64_t sum = 0;
  while (csv.next_row()) {
    const int64_t value = csv.integer(0, 0, 9);
    if (csv.row_ok()) sum += value;
  }
  const Findings& findings = csv.WithFindings::findings;
  EXPECT_EQ(sum, 5);
  EXPECT_EQ(findings.skipped(), 2);
  EXPECT_EQ(findings.skipped_examples(),
            (Strings{"t.csv:3:1 (b): found 'x', expected an integer from 0 to 9",
                     "t.csv:4: found 1 field, expected 2 fields"}));
  EXPECT_TRUE(csv.errors().empty());
}

TEST(Csv, LenienceDoesNotReachBeyondRows) {
  Table csv{"a\n1\n", 1, true};
  csv.bind(kB);
  EXPECT_FALSE(csv.next_row());
  EXPECT_EQ(csv.errors(), (Strings{"t.csv:1: missing column 'b'"}));
}

TEST(Csv, ATableWithoutHeaderTakesItsColumnsFromTheFormat) {
  Findings findings{{.file = "t.csv"}};
  constexpr std::array<std::string_view, 2> kColumns = {"a", "b"};
  CsvReader csv{TextSource::from_memory("1,2\n3,4\n", "t.csv"), findings, kColumns};
  csv.bind(kB);
  EXPECT_EQ(column(csv), (Strings{"2", "4"}));
}

TEST(Csv, LongFieldsAreShownShort) {
  auto csv = table("b\n" + std::string(300, 'z') + "\n");
  csv.bind(kB);
  ASSERT_TRUE(csv.next_row());
  csv.short_text(0, 256);
  EXPECT_EQ(csv.errors().front(),
            "t.csv:2:1 (b): found '" + std::string(60, 'z') + "...', expected at most 256 bytes");
}

}  // namespace
}  // namespace orrery::traces

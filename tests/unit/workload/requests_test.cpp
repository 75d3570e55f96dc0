// Tests the readers of Azure LLM, Mooncake and GenAI traces on short texts and, if available, on
// published files. Also tests filters and the native format of requests.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "models/workload/traces/native/native_layout.hpp"
#include "models/workload/traces/native/native_request_writer.hpp"
#include "models/workload/traces/requests/request_reader.hpp"
#include "sim/core/enum_names.hpp"
#include "tests/unit/workload/trace_support.hpp"

namespace orrery::requests_test {
namespace {

using test::real_trace;
using namespace literals;

struct ReadRequests {
  std::vector<RequestRow> rows;  // without prefix_blocks, which the reader owns
  std::vector<size_t> blocks;
  RequestFormat format = RequestFormat::Auto;
  int64_t skipped = 0;
  std::string error;
};

ReadRequests read_text(std::string_view text, bool is_lenient = false) {
  const auto reader = open_requests_text({.file = "r.csv", .lenient = is_lenient}, text);
  ReadRequests out;
  while (const RequestRow* row = reader->next()) {
    out.rows.push_back(*row);
    out.blocks.push_back(row->prefix_blocks.size());
    out.rows.back().prefix_blocks = {};
  }
  out.format = reader->format();
  out.skipped = reader->counts().skipped;
  out.error = reader->error().value_or("");
  return out;
}

TEST(AzureLlm, TicksOfAHundredNanosecondsAreKept) {
  const ReadRequests trace = read_text(
      "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,4808,10\n"
      "2023-11-16 18:17:04.0319601,3180,8");
  ASSERT_EQ(trace.rows.size(), 2U) << trace.error;
  EXPECT_EQ(trace.format, RequestFormat::AzureLlm);
  EXPECT_EQ(trace.rows[0].arrival, Time{} + 18_h + 17_min + 3_s + 979'960_us);
  EXPECT_EQ(trace.rows[1].arrival - trace.rows[0].arrival, Duration{52'000'100});
  EXPECT_EQ(trace.rows[0].input_tokens, 4808);
  EXPECT_EQ(trace.rows[0].output_tokens, 10);
}

TEST(Mooncake, EveryLineIsARequestWithItsBlocks) {
  const ReadRequests trace = read_text(
      "{\"timestamp\": 0, \"input_length\": 6758, \"output_length\": 500, \"hash_ids\": [0, 1, "
      "2]}\n"
      "{\"timestamp\": 3000, \"input_length\": 10, \"output_length\": 5, \"hash_ids\": []}\n");
  ASSERT_EQ(trace.rows.size(), 2U) << trace.error;
  EXPECT_EQ(trace.format, RequestFormat::Mooncake);
  EXPECT_EQ(trace.rows[0].input_tokens, 6758);
  EXPECT_EQ(trace.blocks[0], 3U);
  EXPECT_EQ(trace.rows[1].arrival, Time{} + 3_s);
  EXPECT_EQ(trace.blocks[1], 0U);
}

TEST(Mooncake, WrongLinesAreReportedByRowAndColumnOrSkipped) {
  const std::string good = "{\"timestamp\": 0, \"input_length\": 1, \"output_length\": 2}\n";
  const std::string wrong = "{\"timestamp\": 0, \"input_length\": -1, \"output_length\": 2}\n";
  const std::string partial = "{\"timestamp\": 0}\n";
  EXPECT_EQ(read_text(good + wrong).error,
            "r.csv:2:34 (input_length): found '-1', expected a whole number from 0 to 1000000000");
  EXPECT_EQ(read_text(good + partial).error,
            "r.csv:2: the request lacks a timestamp, an input_length or an output_length");
  const ReadRequests lenient = read_text(good + wrong + partial + good, true);
  EXPECT_EQ(lenient.rows.size(), 2U) << lenient.error;
  EXPECT_EQ(lenient.skipped, 2);
}

TEST(GenAi, AFailedRequestMayHaveEmptyFields) {
  const ReadRequests trace = read_text(
      "gmt_create,predict_type,predict_status,exec_time_seconds,groupId,prompt_length,"
      "negative_prompt_length,num_images_per_prompt,num_inference_steps,"
      "checkpoint_model_version_id,num_lora\n"
      "2024-11-15 16:57:50,TXT_2_IMG,SUCCEED,32.0,G0000,63.0,26.0,1.0,30.0,M0000,2\n"
      "2024-11-15 18:16:14,TXT_2_IMG,FAILED,43.5,G0001,,,,,,0\n");
  ASSERT_EQ(trace.rows.size(), 2U) << trace.error;
  EXPECT_EQ(trace.format, RequestFormat::GenAi);
  EXPECT_EQ(trace.rows[0].kind, RequestKind::Image);
  EXPECT_EQ(trace.rows[0].execution, 32_s);
  EXPECT_EQ(trace.rows[0].steps, 30);
  EXPECT_EQ(trace.rows[0].input_tokens, 89);
  EXPECT_EQ(trace.rows[0].adapters, 2);
  EXPECT_EQ(trace.rows[1].status, TraceStatus::Failed);
}

TEST(Requests, ArrivalsNeverGoBackAndUnknownFilesAreRefused) {
  EXPECT_EQ(read_text("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9,1,1\n"
                      "2023-11-16 18:17:03.8,1,1\n")
                .error,
            "r.csv:3: the request arrived before the one above it");
  EXPECT_EQ(read_text("a,b\n1,2\n").error,
            "r.csv: the file is of no known request format (azure_llm, mooncake, genai, "
            "native_requests, genai_rates)");
}

TEST(Mooncake, ABrokenLineIsOneSkippedRow) {
  const std::string text =
      "{\"timestamp\": 0, \"input_length\": 1, \"output_length\": 1}\n"
      "{\"timestamp\": 10, \"input_len\n"
      "{\"timestamp\": 20, \"input_length\": 1, \"output_length\": 1\n"
      "}} nonsense {\n"
      "[1, 2]\n"
      "{\"timestamp\": 30, \"input_length\": 1, \"output_length\": 1}\n";
  EXPECT_EQ(read_text(text).error, "r.csv:2:29: a control character in a string");
  const auto reader = open_requests_text({.file = "r.csv", .lenient = true}, text);
  int64_t rows = 0;
  while (reader->next() != nullptr) ++rows;
  EXPECT_EQ(reader->error().value_or(""), "");
  EXPECT_EQ(rows, 2);
  EXPECT_EQ(reader->counts().skipped, 4);
  ASSERT_EQ(reader->skipped_examples().size(), 4U);
  EXPECT_EQ(reader->skipped_examples()[1], "r.csv:3:56: the line ends within a value");
  EXPECT_EQ(reader->counts().rows, 6);
}

const std::string kImages =
    "gmt_create,predict_type,predict_status,exec_time_seconds,groupId,prompt_length,"
    "negative_prompt_length,num_images_per_prompt,num_inference_steps,"
    "checkpoint_model_version_id,num_lora\n"
    "2024-11-15 16:00:00,TXT_2_IMG,SUCCEED,32.5,G0,63.0,26.0,1.0,30.0,M0,2\n"
    "2024-11-15 17:00:00,TXT_2_IMG,FAILED,43,G1,,,,,,0\n"
    "2024-11-15 18:00:00,TXT_2_IMG,SUCCEED,10,G1,1,,2,20,M1,0\n"
    "2024-11-16 01:00:00,TXT_2_IMG,SUCCEED,10,G0,1,,2,20,M1,0\n";

TEST(Requests, FiltersLeaveOutAndCount) {
  const auto arrivals = [](RequestTraceParams params, RequestCounts& counts) {
    params.file = "r.csv";
    const auto reader = open_requests_text(params, kImages);
    std::vector<int64_t> hours;
    while (const RequestRow* row = reader->next()) {
      hours.push_back((row->arrival - Time{}) / Duration{1_h});
    }
    EXPECT_EQ(reader->error().value_or(""), "");
    counts = reader->counts();
    if (params.requests_max == 0) {
      EXPECT_EQ(counts.rows, counts.filtered() + counts.delivered / params.copies);
    }
    return hours;
  };
  using Hours = std::vector<int64_t>;
  RequestCounts counts;
  EXPECT_EQ(arrivals({}, counts), (Hours{16, 17, 18, 25}));
  EXPECT_EQ(arrivals({.window_start = "2024-11-15 17:00:00", .window_end = "2024-11-16"}, counts),
            (Hours{0, 1}));
  EXPECT_EQ(counts.outside_window, 2);
  EXPECT_EQ(arrivals({.groups = {"G0"}}, counts), (Hours{16, 25}));
  EXPECT_EQ(arrivals({.groups = {"G0", "G0"}}, counts), (Hours{16, 25}));
  EXPECT_EQ(counts.other_group, 2);
  EXPECT_EQ(arrivals({.statuses = {TraceStatus::Failed}}, counts), (Hours{17}));
  EXPECT_EQ(counts.other_status, 3);
  EXPECT_EQ(arrivals({.time_scale = 0.5}, counts), (Hours{8, 8, 9, 12}));
  EXPECT_EQ(arrivals({.copies = 2, .requests_max = 3}, counts), (Hours{16, 16, 17}));
  EXPECT_EQ(counts.delivered, 3);
}

TEST(Requests, ParametersThatCannotBeFollowedAreRefused) {
  const std::string azure =
      "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,4808,10\n";
  const auto error = [](RequestTraceParams params, std::string_view text) {
    params.file = "r.csv";
    const auto reader = open_requests_text(params, text);
    while (reader->next() != nullptr) {
    }
    return reader->error().value_or("");
  };
  EXPECT_EQ(error({.groups = {"a"}}, azure), "groups: a trace of format azure_llm names no groups");
  EXPECT_EQ(error({.statuses = {TraceStatus::Failed}}, azure),
            "statuses: a trace of format azure_llm does not say how requests ended");
  EXPECT_EQ(error({.window_start = "5"}, azure),
            "window_start: found '5', expected a date such as 2020-04-01 or 2020-04-01 12:00:00");
  EXPECT_EQ(error({.window_start = "2023-11-17", .window_end = "2023-11-16"}, azure),
            "window_end: expected a time after window_start");
  EXPECT_EQ(error({.groups = {"G7"}}, kImages),
            "groups: no request of r.csv in the window is of group 'G7'");
}

std::string said_of(const RequestRow& row) {
  std::string text = std::to_string(row.row) + " " + std::to_string(row.arrival.ns) + " " +
                     std::to_string(row.input_tokens) + " " + std::to_string(row.output_tokens);
  for (const int64_t block : row.prefix_blocks) text += " b" + std::to_string(block);
  text += " " + std::to_string(row.images) + " " + std::to_string(row.steps) + " " +
          std::to_string(row.adapters) + " " + std::string{row.model} + " " +
          std::string{row.group} + " " + std::string{row.application} + " " +
          std::to_string(row.execution.ns);
  return text + " " + std::string{name_of(row.kind)} + " " + std::string{name_of(row.status)};
}

std::vector<std::string> all_said(RequestReader& reader) {
  std::vector<std::string> said;
  while (const RequestRow* row = reader.next()) said.push_back(said_of(*row));
  if (reader.error()) said.push_back("error " + *reader.error());
  return said;
}

// The requests as the bytes of a native file.
std::string native(const std::string& requests,
                   const std::vector<traces::native::BlockWriter::Fact>& facts = {}) {
  const test::TemporaryFile file{""};
  const auto source = open_requests_text({.file = "r.csv"}, requests);
  NativeRequestWriter writer{file.path(), facts};
  while (const RequestRow* row = source->next()) writer.add(*row);
  EXPECT_TRUE(writer.finish()) << writer.error();
  std::ostringstream bytes;
  bytes << std::ifstream{file.path(), std::ios::binary}.rdbuf();
  return bytes.str();
}

TEST(NativeRequests, HoldAllThatTheReadersTell) {
  const std::string chats =
      "{\"timestamp\": 0, \"input_length\": 6758, \"output_length\": 500, \"hash_ids\": [46, 47, "
      "9000000000000000000, 3]}\n\n"
      "{\"timestamp\": 3001, \"input_length\": 10, \"output_length\": 5, \"hash_ids\": []}\n";
  for (const std::string& text : {chats, kImages}) {
    const auto reader = open_requests_text({.file = "r.orq"}, native(text, {{"source", "r.csv"}}));
    EXPECT_EQ(all_said(*reader), all_said(*open_requests_text({.file = "r.csv"}, text)));
    EXPECT_EQ(reader->format(), RequestFormat::Native);
    ASSERT_EQ(reader->facts().size(), 1U);
    EXPECT_EQ(reader->facts()[0].second, "r.csv");
  }
}

TEST(NativeRequests, DamageIsFound) {
  const std::string good = native(kImages);
  for (size_t i = 8; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    const auto reader = open_requests_text({.file = "r.orq"}, bad);
    while (reader->next() != nullptr) {
    }
    EXPECT_TRUE(reader->error()) << "byte " << i;
  }
  const auto cut = open_requests_text({.file = "r.orq"}, std::string_view{good}.substr(0, 40));
  EXPECT_EQ(all_said(*cut).back(),
            "error r.orq: the native trace is damaged at request 0: a block is cut");
}

// Changes bytes of a request in a block and recomputes the checksum, so the reader must check the
// request itself.
TEST(NativeRequests, WhatCouldNotHaveBeenWrittenIsRefusedOrARequest) {
  const std::string good = native(kImages);
  // Offsets of the first block's header and of the block's bytes, which follow the header.
  constexpr size_t kHeader = 12, kBytes = 28;
  uint32_t length = 0;
  std::memcpy(&length, good.data() + kHeader, sizeof length);
  int refused = 0;
  for (size_t i = kBytes; i < kBytes + length; ++i) {
    for (const int value : {0x00, 0x01, 0x02, 0x7F, 0x80, 0xFF}) {
      std::string bad = good;
      bad[i] = static_cast<char>(value);
      const uint64_t sum = traces::native::checksum(std::string_view{bad}.substr(kBytes, length));
      std::memcpy(bad.data() + kHeader + 8, &sum, sizeof sum);
      const auto reader = open_requests_text({.file = "r.orq"}, bad);
      Time last;
      while (const RequestRow* row = reader->next()) {
        ASSERT_GE(row->arrival, last);
        ASSERT_GE(std::min(row->input_tokens, row->output_tokens), 0);
        ASSERT_GE(row->row, 0);
        last = row->arrival;
      }
      refused += reader->error() ? 1 : 0;
    }
  }
  EXPECT_GT(refused, 0);
}

struct Sums {
  int64_t rows = 0, input = 0, output = 0, blocks = 0;
  double execution = 0;
  std::set<int64_t> unique_blocks;
  std::map<TraceStatus, int64_t> statuses;
  std::set<std::string_view> groups;
  Time last;
};

void add_up(RequestReader& reader, Sums& sums) {
  while (const RequestRow* row = reader.next()) {
    ++sums.rows;
    sums.input += row->input_tokens;
    sums.output += row->output_tokens;
    sums.blocks += static_cast<int64_t>(row->prefix_blocks.size());
    sums.unique_blocks.insert(row->prefix_blocks.begin(), row->prefix_blocks.end());
    if (row->execution.ns >= 0) sums.execution += row->execution.seconds();
    ++sums.statuses[row->status];
    sums.last = row->arrival;
  }
  EXPECT_EQ(reader.error().value_or(""), "");
}

TEST(RealRequests, AzureCodeHasItsTokens) {
  const auto path = real_trace("azure-llm-2023/AzureLLMInferenceTrace_code.csv.gz");
  ORRERY_NEED_TRACE(path);
  Sums sums;
  add_up(*open_requests({.file = path.string()}), sums);
  EXPECT_EQ(sums.rows, 8819);
  EXPECT_EQ(sums.input, 18'059'974);
  EXPECT_EQ(sums.output, 245'896);
}

TEST(RealRequests, MooncakeConversationsShareBlocks) {
  const auto path = real_trace("mooncake/conversation_trace.jsonl.gz");
  ORRERY_NEED_TRACE(path);
  Sums sums;
  add_up(*open_requests({.file = path.string()}), sums);
  EXPECT_EQ(sums.rows, 12'031);
  EXPECT_EQ(sums.blocks, 288'500);
  EXPECT_EQ(sums.unique_blocks.size(), 182'790U);
  EXPECT_NEAR(static_cast<double>(sums.input) / 12'031, 12'035, 1);
  EXPECT_EQ(sums.last, Time{3'536'999'000'000});
}

TEST(RealRequests, GenAiHasItsOutcomes) {
  const auto path = real_trace("alibaba-genai-v2026/lora_request_trace.csv.gz");
  ORRERY_NEED_TRACE(path);
  Sums sums;
  add_up(*open_requests({.file = path.string()}), sums);
  EXPECT_EQ(sums.rows, 26'823);
  EXPECT_EQ(sums.statuses[TraceStatus::Completed], 26'392);
  EXPECT_EQ(sums.statuses[TraceStatus::Failed], 398);
  EXPECT_NEAR(sums.execution / 26'823, 28.7, 0.05);
}

}  // namespace
}  // namespace orrery::requests_test

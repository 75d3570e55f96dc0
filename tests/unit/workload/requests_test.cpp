// Inference traces: Azure LLM, Mooncake and GenAI, by hand and, where they are at hand, as
// published.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "models/workload/traces/request_reader.hpp"
#include "tests/unit/workload/trace_support.hpp"

namespace orrery {
namespace {

using test::real_trace;
using namespace literals;

struct ReadRequests {
  std::vector<RequestRow> rows;  // without views
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
  out.skipped = reader->skipped();
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

TEST(Mooncake, WrongLinesAreToldByRowAndColumnOrSkipped) {
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
            "r.csv: the file is of no known request format (azure_llm, mooncake, genai)");
}

TEST(Mooncake, ABrokenLineIsOneSkippedRow) {
  const std::string text =
      "{\"timestamp\": 0, \"input_length\": 1, \"output_length\": 1}\n"
      "{\"timestamp\": 10, \"input_len\n"
      "{\"timestamp\": 20, \"input_length\": 1, \"output_length\": 1\n"
      "}} nonsense {\n"
      "[1, 2]\n"
      "{\"timestamp\": 30, \"input_length\": 1, \"output_length\": 1}\n";
  EXPECT_EQ(read_text(text).error, "r.csv:2:28: a control character in a string");
  const auto reader = open_requests_text({.file = "r.csv", .lenient = true}, text);
  int64_t rows = 0;
  while (reader->next() != nullptr) ++rows;
  EXPECT_EQ(reader->error().value_or(""), "");
  EXPECT_EQ(rows, 2);
  EXPECT_EQ(reader->counts().skipped, 4);
  ASSERT_EQ(reader->skipped_examples().size(), 4U);
  EXPECT_EQ(reader->skipped_examples()[1], "r.csv:3:56: the line ends within a value");
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
}  // namespace orrery

// Request traces in tables: Azure LLM of 2023 and Alibaba GenAI of 2026.
#include "models/workload/traces/formats/format.hpp"
#include "models/workload/traces/requests/request_format.hpp"

namespace orrery::traces::request_tables {
namespace {

constexpr int64_t kTokensMax = 1'000'000'000;

constexpr std::string_view kAzureColumns[] = {"TIMESTAMP", "ContextTokens", "GeneratedTokens"};

void parse_azure(CsvReader& csv, StringPool&, RequestRow& row) {
  row.arrival = csv.stamp(0);  // a date with a fraction in ticks of 100 ns
  row.input_tokens = csv.whole(1, 0, kTokensMax);
  row.output_tokens = csv.whole(2, 0, kTokensMax);
}

constexpr std::string_view kGenAiColumns[] = {"gmt_create",
                                              "predict_type",
                                              "predict_status",
                                              "exec_time_seconds",
                                              "groupId",
                                              "prompt_length",
                                              "negative_prompt_length",
                                              "num_images_per_prompt",
                                              "num_inference_steps",
                                              "checkpoint_model_version_id",
                                              "num_lora"};
enum GenAi : size_t {
  kCreate,
  kType,
  kStatus,
  kExecution,
  kGroup,
  kPrompt,
  kNegativePrompt,
  kImages,
  kSteps,
  kModel,
  kLora
};
constexpr Word<TraceStatus> kStates[] = {{"SUCCEED", TraceStatus::Completed},
                                         {"FAILED", TraceStatus::Failed},
                                         {"PENDING", TraceStatus::Pending},
                                         {"PROCESSING", TraceStatus::Running}};

// Failed requests have empty counts, which are read as 0.
void parse_genai(CsvReader& csv, StringPool& pool, RequestRow& row) {
  const auto count = [&](size_t column, int64_t high) {
    return csv.is_nothing(column) ? 0 : csv.whole(column, 0, high);
  };
  row.kind = RequestKind::Image;
  row.arrival = csv.date_time(kCreate);
  row.application = interned(csv, kType, pool);
  row.status = csv.word<TraceStatus>(kStatus, kStates);
  if (!csv.is_nothing(kExecution)) row.execution = csv.seconds(kExecution);
  row.group = interned(csv, kGroup, pool);
  row.input_tokens = count(kPrompt, kTokensMax) + count(kNegativePrompt, kTokensMax);
  row.images = static_cast<int32_t>(count(kImages, 1'000'000));
  row.steps = static_cast<int32_t>(count(kSteps, 1'000'000));
  row.model = interned(csv, kModel, pool);
  row.adapters = static_cast<int32_t>(count(kLora, 1'000'000));
}

template <const auto& columns, auto parse>
class RequestTable final : public RequestParser {
 public:
  explicit RequestTable(RequestInput input)
      : csv_{std::move(input.source), input.findings}, pool_{input.pool} {
    csv_.bind(columns);
  }
  RequestRow* next() override {
    while (csv_.next_row()) {
      row_ = {};
      row_.row = csv_.row();
      parse(csv_, pool_, row_);
      if (csv_.row_ok()) return &row_;
    }
    return nullptr;
  }

 private:
  CsvReader csv_;
  StringPool& pool_;
  RequestRow row_;
};

template <const auto& columns, auto parse>
std::unique_ptr<RequestParser> open_table(RequestInput input) {
  return std::make_unique<RequestTable<columns, parse>>(std::move(input));
}

template <const auto& columns>
bool has_columns(std::string_view beginning) {
  const auto fields = first_fields(beginning, ',');
  size_t found = 0;
  for (const std::string_view column : columns) {
    for (const std::string_view field : fields) found += field == column ? 1 : 0;
  }
  return found * 2 > std::size(columns);
}

}  // namespace

const RequestLayout kAzureLlmLayout{.id = RequestFormat::AzureLlm,
                                    .open = open_table<kAzureColumns, parse_azure>,
                                    .looks_like = has_columns<kAzureColumns>,
                                    .has_dates = true};

const RequestLayout kGenAiLayout{.id = RequestFormat::GenAi,
                                 .open = open_table<kGenAiColumns, parse_genai>,
                                 .looks_like = has_columns<kGenAiColumns>,
                                 .has_dates = true,
                                 .has_groups = true,
                                 .has_statuses = true};

}  // namespace orrery::traces::request_tables

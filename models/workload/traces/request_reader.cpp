#include "models/workload/traces/request_reader.hpp"

#include <limits>
#include <utility>

#include "models/workload/traces/detect.hpp"
#include "models/workload/traces/request_format.hpp"

namespace orrery {
namespace {

using namespace traces;

constexpr const RequestLayout* kLayouts[] = {&kAzureLlmLayout, &kMooncakeLayout, &kGenAiLayout};
constexpr int64_t kDayNs = 86'400'000'000'000;

class FileRequestReader final : public RequestReader {
 public:
  FileRequestReader(const RequestTraceParams& params, TextSource beginning, TextSource source)
      : findings_{{.file = params.file, .errors_max = 1, .is_lenient = params.lenient}} {
    const std::string head = read_beginning(std::move(beginning));
    for (const RequestLayout* layout : kLayouts) {
      const bool is_it = params.format == RequestFormat::Auto ? layout->looks_like(head)
                                                              : params.format == layout->id;
      if (is_it) layout_ = layout;
    }
    if (layout_ == nullptr) {
      findings_.stop(source.error().value_or(
          params.file + ": the file is of no known request format (azure_llm, mooncake, genai)"));
      return;
    }
    parser_ = layout_->open({std::move(source), findings_, pool_});
  }

  const RequestRow* next() override {
    while (RequestRow* const row = parser_ ? parser_->next() : nullptr) {
      // A trace with dates starts at midnight, so that the hour of the day keeps its meaning.
      if (!zero_) zero_ = Time{layout_->has_dates ? row->arrival.ns / kDayNs * kDayNs : 0};
      const Time arrival{row->arrival.ns - zero_->ns};
      if (arrival < last_) {
        findings_.mistake(": the request arrived before the one above it");
        continue;
      }
      row->arrival = last_ = arrival;
      return row;
    }
    return nullptr;
  }
  const std::vector<std::string>& errors() const override { return findings_.errors(); }
  std::vector<TraceNote> notes() const override { return notes_of(findings_); }
  int64_t skipped() const override { return findings_.skipped(); }
  RequestFormat format() const override { return layout_ ? layout_->id : RequestFormat::Auto; }

 private:
  Findings findings_;
  StringPool pool_;
  const RequestLayout* layout_ = nullptr;
  std::unique_ptr<RequestParser> parser_;
  std::optional<Time> zero_;
  Time last_;
};

}  // namespace

std::unique_ptr<RequestReader> open_requests(const RequestTraceParams& params) {
  return std::make_unique<FileRequestReader>(params, TextSource::open_file(params.file),
                                             TextSource::open_file(params.file));
}

std::unique_ptr<RequestReader> open_requests_text(const RequestTraceParams& params,
                                                  std::string_view text) {
  return std::make_unique<FileRequestReader>(params, TextSource::from_memory(text, params.file),
                                             TextSource::from_memory(text, params.file));
}

}  // namespace orrery

// models/workload/traces/requests/request_row.hpp -- one request of an inference trace.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "models/workload/traces/formats/trace_job.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// An Llm request has input and output tokens. An Image request has a number of images and a
// number of denoising steps per image.
enum class RequestKind : uint8_t { Llm, Image };
constexpr std::array<std::string_view, 2> enum_names(RequestKind) { return {"llm", "image"}; }

// `prefix_blocks` is valid until the next row. `model`, `group` and `application` are valid until
// the reader is destroyed.
struct RequestRow {
  static constexpr Duration kUnknown{-1};

  int64_t row = 0;  // number of the row in the file, from 1
  // In rows of RequestParser::next(): time on the trace's clock. In rows of a request reader: time
  // since window_start, multiplied by time_scale. Without a window_start, time counts from midnight
  // of the trace's first day if the trace has dates, else from time 0 of the trace's clock.
  Time arrival;
  RequestKind kind = RequestKind::Llm;
  int64_t input_tokens = 0;
  int64_t output_tokens = 0;
  // Ids of the 512-token blocks of the prompt. Blocks with equal ids have equal texts.
  std::span<const int64_t> prefix_blocks = {};
  int32_t images = 0;
  int32_t steps = 0;     // denoising steps of each image
  int32_t adapters = 0;  // LoRA weights on top of the model
  std::string_view model, group, application;
  Duration execution = kUnknown;  // recorded execution time
  TraceStatus status = TraceStatus::Unknown;
};

}  // namespace orrery

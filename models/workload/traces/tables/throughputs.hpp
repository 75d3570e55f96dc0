// models/workload/traces/tables/throughputs.hpp -- training throughput of each job type on
// each GPU model, as measured for Gavel.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "models/workload/traces/io/text_source.hpp"

namespace orrery::traces {

// Steps per second of jobs that do not share their GPUs, from Gavel's JSON.
struct Throughputs {
  using ByJob = std::map<std::string, double, std::less<>>;  // key: "('job type', GPUs)"

  std::map<std::string, ByJob, std::less<>> by_gpu;
  std::optional<std::string> error;  // what is wrong with the text

  // The key of ByJob for a job type on this number of GPUs.
  static std::string key(std::string_view type, int64_t gpus) {
    return "('" + std::string{type} + "', " + std::to_string(gpus) + ")";
  }
};

Throughputs read_throughputs(TextSource source);

}  // namespace orrery::traces

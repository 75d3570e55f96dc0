#include "models/workload/traces/formats/trace_checks.hpp"

#include <string_view>
#include <utility>

#include "models/workload/traces/io/cell.hpp"
#include "sim/config/diagnostics.hpp"

namespace orrery::traces {
namespace {

// Whether a parameter has its default value, and whether it has an effect with this format.
// `otherwise` is the reason if it has no effect.
struct Use {
  std::string_view name;
  bool is_default;
  bool has_effect;
  std::string_view otherwise;
};

std::optional<std::string> without_effect(const TraceParams& params, const Format& format) {
  const TraceParams unset;
  const Use uses[] = {
      {"queues", params.queues.empty(), format.has_queues, "names no queues"},
      {"arrive_at", params.arrive_at == unset.arrive_at, format.has_starts,
       "does not say when jobs started"},
      {"openb.pending_jobs", params.openb.pending_jobs == unset.openb.pending_jobs,
       format.has_pending, "has no pending jobs"},
      {"gpu_jobs_only", params.gpu_jobs_only == unset.gpu_jobs_only, format.has_gpus,
       "has no GPUs"},
      {"gpus_min", params.gpus_min == unset.gpus_min, format.has_gpus, "has no GPUs"},
      {"gpus_max", params.gpus_max == unset.gpus_max, format.has_gpus, "has no GPUs"},
      {"statuses", params.statuses.empty(), format.has_statuses, "does not say how jobs ended"},
      {"pai.measured", !params.pai.measured, format.has_sensors, "has no table of sensors"},
      {"recorded_nodes", !params.recorded_nodes, format.has_nodes, "does not say where jobs ran"},
      {"gavel.throughputs", params.gavel.throughputs.empty(), format.has_steps,
       "does not count steps"},
      {"gavel.gpu", params.gavel.gpu == unset.gavel.gpu, format.has_steps, "does not count steps"},
      {"swf.processors", params.swf.processors == unset.swf.processors, format.has_processors,
       "does not count processors"},
      {"swf.one_pod", params.swf.one_pod == unset.swf.one_pod, format.has_processors,
       "does not count processors"},
      {"swf.overruns", params.swf.overruns == unset.swf.overruns, format.has_processors,
       "has no requested times"},
      {"sacct.gpu_types", !params.sacct.gpu_types, format.has_gpu_types,
       "has no types of gres/gpu"},
      {"columns", params.columns == unset.columns, format.has_own_columns,
       "has columns of its own"},
  };
  for (const Use& use : uses) {
    if (use.is_default || use.has_effect) continue;
    std::string text{use.name};
    text.append(": a trace of format ").append(name_of(format.id)).append(" ");
    return text.append(use.otherwise);
  }
  return {};
}

}  // namespace

Instant parse_instant(std::string_view name, const std::string& text, Clock clock) {
  if (text.empty()) return {};
  if (clock != Clock::Seconds) {
    if (const auto instant = parse_date_time(text)) return {.at = *instant, .mistake = {}};
  }
  if (clock != Clock::Dates) {
    const auto seconds = parse_seconds(text);
    if (seconds && seconds->ns >= 0) return {.at = Time{seconds->ns}, .mistake = {}};
  }
  constexpr std::string_view kDate = "a date such as 2020-04-01 or 2020-04-01 12:00:00";
  std::string mistake{name};
  mistake.append(": found ").append(in_quotes(text)).append(", expected ");
  if (clock == Clock::Seconds) mistake.append("seconds as the trace counts them: it has no dates");
  if (clock != Clock::Seconds) mistake.append(kDate);
  if (clock == Clock::Either) mistake.append(", or seconds as the trace counts them");
  return {.at = {}, .mistake = std::move(mistake)};
}

std::optional<std::string> mistaken_param(const TraceParams& params, const Format& format) {
  if (auto idle = without_effect(params, format)) return idle;
  if (!(params.time_scale >= 0.001) || !(params.time_scale <= 1000)) {
    return "time_scale: expected a number from 0.001 to 1000";
  }
  if (format.durations == Durations::InNoRow && !params.default_duration) {
    return "default_duration: a trace of format " + std::string{name_of(format.id)} +
           " does not say how long jobs run: set this parameter";
  }
  if (params.copies < 1) return "copies: expected 1 or more";
  if (params.gpus_max > 0 && params.gpus_max < params.gpus_min) {
    return "gpus_max: expected at least gpus_min";
  }
  if (params.jobs_max < 0) return "jobs_max: expected 0 (all) or more";
  return {};
}

}  // namespace orrery::traces

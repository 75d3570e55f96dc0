// models/workload/traces/formats/trace_format.hpp -- layouts of job traces, and options of reading
// them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace orrery {

// Auto: the format is recognised by the column names in the header, or by the pattern of the first
// lines.
enum class TraceFormat : uint8_t {
  Auto,
  Openb,
  Helios,
  HeliosDerived,
  HeliosCanonical,
  Swf,
  PhillyPollux,
  Chronus,
  ElasticFlow,
  Tiresias,
  AcmeSeren,
  AcmeKalos,
  AcmeConverted,
  Dlrm,
  Spot,
  Sia,
  Philly,
  Gavel,
  Shockwave,
  GoogleJobs,
  GoogleTasks,
  GoogleCondensed,
  Pai,
  Native,
  OpenbUntimed,
  PaiInstances,
  Csv,
  JsonLines,
  Sacct
};
constexpr std::array<std::string_view, 29> enum_names(TraceFormat) {
  return {"auto",
          "openb",
          "helios",
          "helios_derived",
          "helios_canonical",
          "swf",
          "philly_pollux",
          "chronus",
          "elasticflow",
          "tiresias",
          "acme_seren",
          "acme_kalos",
          "acme_converted",
          "dlrm",
          "spot",
          "sia",
          "philly",
          "gavel",
          "shockwave",
          "google_jobs",
          "google_tasks",
          "google_condensed",
          "pai",
          "native",
          "openb_untimed",
          "pai_instances",
          "csv",
          "json_lines",
          "sacct"};
}

// When a job arrives in the run: at its recorded submission, or at its recorded start.
enum class TraceArrival : uint8_t { Submit, Start };
constexpr std::array<std::string_view, 2> enum_names(TraceArrival) { return {"submit", "start"}; }

// Window: a row may be late by fewer than 4,096 rows (ReorderBuffer). All: the whole file is read
// before the first job is returned; a file of more than 500,000 jobs needs a temporary file. Auto:
// Window or All, as the format requires.
enum class TraceSort : uint8_t { Auto, Window, All };
constexpr std::array<std::string_view, 3> enum_names(TraceSort) {
  return {"auto", "window", "all"};
}

// Which count of processors is a job's size. If only one of the two counts was recorded,
// that count is used.
enum class TraceProcessors : uint8_t { Requested, Allocated };
constexpr std::array<std::string_view, 2> enum_names(TraceProcessors) {
  return {"requested", "allocated"};
}

// What happens to a job that ran longer than requested.
enum class TraceOverruns : uint8_t { Keep, Cut, Raise };
constexpr std::array<std::string_view, 3> enum_names(TraceOverruns) {
  return {"keep", "cut", "raise"};
}

// Which property of a job is its team for quotas and fair shares.
enum class TraceTeam : uint8_t { Queue, Group };
constexpr std::array<std::string_view, 2> enum_names(TraceTeam) { return {"queue", "group"}; }

}  // namespace orrery

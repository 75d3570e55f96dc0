// models/workload/traces/trace_format.hpp -- the layouts of job traces, by name.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace orrery {

// Auto: by the names in the header, or the shape of the first lines.
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
  Pai
};
constexpr std::array<std::string_view, 23> enum_names(TraceFormat) {
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
          "pai"};
}

}  // namespace orrery

#include "models/workload/traces/formats/detect.hpp"

#include <algorithm>

#include "models/workload/traces/io/csv.hpp"

namespace orrery::traces {
namespace {

constexpr const Format* kFormats[] = {&openb::kFormat,
                                      &helios::kFormat,
                                      &helios::kDerivedFormat,
                                      &helios::kCanonicalFormat,
                                      &swf::kFormat,
                                      &philly::kFormat,
                                      &kPhillyPolluxFormat,
                                      &kChronusFormat,
                                      &kElasticFlowFormat,
                                      &tiresias::kFormat,
                                      &acme::kSerenFormat,
                                      &acme::kKalosFormat,
                                      &acme::kConvertedFormat,
                                      &dlrm::kFormat,
                                      &spot::kFormat,
                                      &sia::kFormat,
                                      &gavel::kFormat,
                                      &gavel::kShockwaveFormat,
                                      &google::kJobsFormat,
                                      &google::kTasksFormat,
                                      &google::kCondensedFormat,
                                      &pai::kFormat,
                                      &kNativeFormat,
                                      &openb::kUntimedFormat,
                                      &pai::kInstancesFormat,
                                      &own::kCsvFormat,
                                      &own::kJsonLinesFormat,
                                      &sacct::kFormat};

// The share of the format's columns that are in the header.
double share_of_columns(const CsvReader& csv, const Format& format) {
  const auto present = std::count_if(format.columns.begin(), format.columns.end(),
                                     [&](std::string_view name) { return csv.has_column(name); });
  return static_cast<double>(present) / static_cast<double>(format.columns.size());
}

}  // namespace

std::string read_beginning(TextSource source) {
  constexpr size_t kBeginning = size_t{64} << 10U;
  std::string text;
  while (text.size() < kBeginning) {
    const std::string_view block = source.next_block();
    if (block.empty()) break;
    text.append(block.substr(0, kBeginning - text.size()));
  }
  return text;
}

const Format* find_format(std::string_view beginning, TraceFormat wanted) {
  Findings findings{{.file = "header"}};
  const CsvReader csv{TextSource::from_memory(beginning, "header"), findings};
  const Format* best = nullptr;
  double best_share = 0.5;
  for (const Format* format : kFormats) {
    if (format->id == wanted) return format;
    if (wanted != TraceFormat::Auto) continue;
    const double share =
        format->likeness != nullptr ? format->likeness(beginning) : share_of_columns(csv, *format);
    // Of two formats with equal shares, the one with more columns is taken.
    if (share > best_share ||
        (best != nullptr && share == best_share && format->columns.size() > best->columns.size())) {
      best = format;
      best_share = share;
    }
  }
  return best;
}

const Format* find_own_format(std::string_view beginning) {
  const size_t first = beginning.find_first_not_of(" \t\r\n");
  const bool is_json = first != std::string_view::npos && beginning[first] == '{';
  return is_json ? &own::kJsonLinesFormat : &own::kCsvFormat;
}

std::string unknown_format(std::string_view beginning) {
  constexpr size_t kShown = 40;
  std::string text = "the file is of no known trace format (";
  for (const Format* format : kFormats) {
    text.append(format == kFormats[0] ? "" : ", ").append(name_of(format->id));
  }
  text += "). Its first line has ";
  const auto fields = first_fields(beginning, ',');
  for (size_t i = 0; i < std::min(fields.size(), kShown); ++i) {
    text.append(i == 0 ? "" : ", ").append(fields[i]);
  }
  if (fields.size() > kShown) text += " and others";
  return text +
         ". For a table of your own, the parameter columns says which of them are submit, duration "
         "and gpus";
}

}  // namespace orrery::traces

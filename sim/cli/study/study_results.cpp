#include "sim/cli/study/study_results.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "models/run/simulation.hpp"
#include "sim/config/describe.hpp"
#include "sim/core/shared_files.hpp"
#include "sim/record/hdf5_file.hpp"
#include "sim/record/hdf5_recorder.hpp"

namespace orrery {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string number_text(size_t cell, uint64_t seed) {
  char text[64];
  std::snprintf(text, sizeof text, "%05zu-s%llu", cell, static_cast<unsigned long long>(seed));
  return text;
}

// Writes a file with a unique name, then renames it. So several shards may write at the same time.
void write_whole(const fs::path& path, std::string_view text) {
  std::string part;
  std::FILE* file = nullptr;
  // A killed process may have left a .part file, so several numbers are tried.
  for (int i = 0; file == nullptr && i < 1'000; ++i) {
    part = path.string() + "." + std::to_string(i) + ".part";
    file = std::fopen(part.c_str(), "wbx");
    if (file == nullptr && errno != EEXIST) break;
  }
  const bool is_open = file != nullptr;
  bool is_good = is_open && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (is_open) is_good = std::fclose(file) == 0 && is_good;
  std::error_code error;
  if (is_good) fs::rename(part, path, error);
  if (is_good && !error) return;
  if (is_open) fs::remove(part, error);
  throw RecordError{path.string() + ": cannot be written"};
}

// The base and the names of the axes, as text. Two studies in one folder must agree in them. Empty
// if `text` is no study.
std::optional<std::string> gist_of(const std::string& text) {
  Diagnostics diagnostics;
  const config::Document study = config::load_text(text, "study.yaml", diagnostics);
  if (!diagnostics.ok() || study.root["base"].text.empty()) return {};
  std::string gist = "base " + fs::path{study.root["base"].text}.lexically_normal().string();
  const std::vector<config::Node>& axes = study.root["axes"].items;
  for (size_t i = 0; i < axes.size(); ++i) {
    gist += i == 0                 ? (axes.size() == 1 ? ", axis " : ", axes ")
            : i + 1 == axes.size() ? " and "
                                   : ", ";
    gist += axes[i]["name"].text;
  }
  return gist;
}

// The length of the file; 0 if the file does not exist or lacks the HDF5 signature.
uint64_t bytes_in(const std::string& path) {
  if (!is_hdf5(path)) return 0;
  std::error_code error;
  const uintmax_t bytes = fs::file_size(path, error);
  return error ? 0 : bytes;
}

json to_json(const StudyRunResult& result, const std::string& key, const std::string& file) {
  json summary = json::array();
  for (const SummaryValue& one : result.summary) {
    json entry{{"name", one.name}, {"unit", one.unit}, {"doc", one.doc}};
    std::visit([&](auto number) { entry["value"] = number; }, one.value);
    summary.push_back(std::move(entry));
  }
  json inputs = json::array();
  for (const InputFile& one : result.inputs) {
    inputs.push_back({{"file", one.path}, {"fingerprint", one.fingerprint}});
  }
  json kept{{"key", key},
            {"wall_seconds", result.wall_seconds},
            {"cpu_seconds", result.cpu_seconds},
            {"file_bytes", bytes_in(file)},
            {"file_fingerprint", fingerprint_of_file_now(file)},
            {"inputs", std::move(inputs)},
            {"summary", std::move(summary)}};
  kept["fingerprint"] = fingerprint_of(kept.dump());
  return kept;
}

// The file that keep() wrote, if it is complete and unchanged.
std::optional<json> kept_in(const std::string& path) {
  std::ifstream file{path};
  json kept = json::parse(file, nullptr, false);
  if (!kept.is_object()) return {};
  const json fingerprint = std::exchange(kept["fingerprint"], {});
  kept.erase("fingerprint");
  if (fingerprint != fingerprint_of(kept.dump())) return {};
  return kept;
}

bool is_as_written(const std::string& file, const json& kept) {
  return kept.at("file_fingerprint") == json(fingerprint_of_file_now(file));
}

}  // namespace

double as_double(const SummaryValue& value) {
  return std::visit([](auto number) { return static_cast<double>(number); }, value.value);
}

StudyRunResult result_of(size_t cell, uint64_t seed, SimulationResult found,
                         const InputFiles& inputs) {
  StudyRunResult result{.cell = cell, .seed = seed, .is_ok = true};
  result.wall_seconds = found.wall_seconds;
  result.summary = std::move(found.summary);
  for (const std::string& path : inputs.paths()) {
    result.inputs.push_back({path, fingerprint_of_file(path)});
  }
  return result;
}

void StudyFolder::make() const {
  std::error_code error;
  fs::create_directories(fs::path{path_} / "runs", error);
  if (error) throw RecordError{path_ + ": the folder cannot be made: " + error.message()};
}

std::string StudyFolder::take(const StudyPlan& plan) const {
  make();
  const fs::path path = fs::path{path_} / "runs" / "study.yaml";
  std::ifstream file{path, std::ios::binary};
  const std::string there{std::istreambuf_iterator<char>{file}, {}};
  if (there == plan.text()) return {};
  const std::optional<std::string> other = gist_of(there);
  if (other && other != gist_of(plan.text())) return *other;
  write_whole(path, plan.text());
  return {};
}

std::string StudyFolder::run_path(size_t cell, uint64_t seed) const {
  return fs::path{path_} / "runs" / (number_text(cell, seed) + ".h5");
}

Hdf5Recorder::Options StudyFolder::recorder_options(size_t cell, uint64_t seed,
                                                    const RecordParams& record) const {
  return {.path = run_path(cell, seed),
          .compression = record.compression,
          .part_after = std::chrono::seconds{1},
          .is_synced = false,
          .off = record.off};
}

std::string StudyFolder::json_path(size_t cell, uint64_t seed) const {
  return fs::path{run_path(cell, seed)}.replace_extension(".json");
}

std::optional<StudyRunResult> StudyFolder::find(size_t cell, uint64_t seed,
                                                const std::string& key) const {
  const std::optional<json> kept = kept_in(json_path(cell, seed));
  if (!kept || kept->at("key") != key) return {};
  const std::string file = run_path(cell, seed);
  const uint64_t bytes = options_.has_files ? bytes_in(file) : 0;
  if (options_.has_files && (bytes == 0 || kept->at("file_bytes") != bytes)) return {};
  if (options_.has_files && options_.verifies && !is_as_written(file, *kept)) return {};
  StudyRunResult result{.cell = cell, .seed = seed, .is_ok = true, .is_kept = true};
  for (const json& entry : kept->at("inputs")) {
    const InputFile input{entry.at("file"), entry.at("fingerprint")};
    if (fingerprint_of_file(input.path) != input.fingerprint) return {};
    result.inputs.push_back(input);
  }
  result.wall_seconds = kept->at("wall_seconds");
  result.cpu_seconds = kept->at("cpu_seconds");
  for (const json& entry : kept->at("summary")) {
    SummaryValue value{
        .name = entry.at("name"), .value = {}, .unit = entry.at("unit"), .doc = entry.at("doc")};
    if (entry.at("value").is_number_integer()) {
      value.value = entry.at("value").get<int64_t>();
    } else {
      value.value = entry.at("value").is_null() ? std::nan("") : entry.at("value").get<double>();
    }
    result.summary.push_back(std::move(value));
  }
  return result;
}

bool StudyFolder::may_know(size_t cell, uint64_t seed) const {
  return fs::exists(json_path(cell, seed));
}

std::string StudyFolder::damage(size_t cell, uint64_t seed) const {
  const std::optional<json> kept = kept_in(json_path(cell, seed));
  if (!kept) return json_path(cell, seed);
  const std::string file = run_path(cell, seed);
  return options_.has_files && !is_as_written(file, *kept) ? file : std::string{};
}

void StudyFolder::keep(const StudyRunResult& result, const std::string& key) const {
  const json kept = to_json(result, key, run_path(result.cell, result.seed));
  write_whole(json_path(result.cell, result.seed), kept.dump(1) + "\n");
}

std::string study_key(const Scenario& scenario) {
  static const std::string program = fingerprint_of_file("/proc/self/exe");
  return program + "-" + fingerprint_of(resolved_json(scenario));
}

StudyValues values_of(const std::vector<StudyRunResult>& results, const std::string& metric) {
  StudyValues values;
  for (const StudyRunResult& result : results) {
    const auto found = std::ranges::find(result.summary, metric, &SummaryValue::name);
    if (result.is_ok && found != result.summary.end()) {
      values[{result.cell, result.seed}] = as_double(*found);
    }
  }
  return values;
}

StudyPairs pairs_of(const StudyValues& values, size_t cell, size_t baseline) {
  StudyPairs pairs;
  for (auto at = values.lower_bound({cell, 0}); at != values.end() && at->first.first == cell;
       ++at) {
    const auto other = values.find({baseline, at->first.second});
    if (other == values.end() || std::isnan(at->second) || std::isnan(other->second)) continue;
    pairs.arm.push_back(at->second);
    pairs.baseline.push_back(other->second);
  }
  return pairs;
}

std::vector<std::string> metrics_of(const std::vector<StudyRunResult>& results) {
  std::vector<std::string> names;
  for (const StudyRunResult& result : results) {
    for (const SummaryValue& value : result.summary) {
      if (std::ranges::find(names, value.name) == names.end()) names.push_back(value.name);
    }
  }
  return names;
}

}  // namespace orrery

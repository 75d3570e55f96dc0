// bench/traces.cpp -- how fast one core loads traces that are in memory: SWF text, Helios text and
// the native format. For comparison, lines_of_swf only finds the lines of the SWF text.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "bench/support/world.hpp"
#include "models/workload/traces/native/native_writer.hpp"
#include "models/workload/traces/trace_reader.hpp"

namespace orrery {
namespace {

constexpr int kJobs = 1'000'000;

std::string swf_text() {
  std::string text = "; MaxProcs: 100\n";
  char row[256];
  for (int i = 0; i < kJobs; ++i) {
    std::snprintf(
        row, sizeof row,
        "%7d %10d %6d %6d %4d     -1    -1 %4d  90000    -1  1 %3d %3d  -1 %2d -1 -1 -1\n", i + 1,
        i * 7, i % 9999, i % 77777, 1 + i % 64, 1 + i % 64, i % 214, i % 7, i % 3);
    text += row;
  }
  return text;
}

std::string helios_text() {
  std::string text =
      "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,"
      "queue\n";
  char row[256];
  for (int i = 0; i < kJobs; ++i) {
    char date[32];
    std::snprintf(date, sizeof date, "2020-%02d-%02d %02d:%02d", 4 + i / 200'000,
                  1 + i % 200'000 / 8000, i % 8000 / 400, i % 400 / 8);
    std::snprintf(row, sizeof row, "%d,u%04d,vc%03d,8,64,1,COMPLETED,%s:00,%s:10,%s:50,40,10\n", i,
                  i % 900, i % 30, date, date, date);
    text += row;
  }
  return text;
}

std::string native_text() {
  const std::string swf = swf_text();
  const std::string path = bench::scratch_file(".otr");
  NativeWriter writer{path, {}};
  const auto reader = open_trace_text({.file = "swf"}, swf);
  while (const TraceJob* job = reader->next()) writer.add(*job);
  if (!writer.finish()) std::abort();
  std::ostringstream text;
  text << std::ifstream{path, std::ios::binary}.rdbuf();
  std::filesystem::remove(path);
  return text.str();
}

void find_lines(benchmark::State& state, const std::string& text) {
  int64_t lines = 0;
  for (auto _ : state) {
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at != nullptr && at != end) {
      at = static_cast<const char*>(std::memchr(at, '\n', static_cast<size_t>(end - at)));
      if (at != nullptr) ++at;
      ++lines;
    }
  }
  benchmark::DoNotOptimize(lines);
  state.SetItemsProcessed(state.iterations() * kJobs);
}

void load(benchmark::State& state, const std::string& text) {
  for (auto _ : state) {
    const auto reader = open_trace_text({.file = "bench"}, text);
    int64_t jobs = 0;
    while (reader->next() != nullptr) ++jobs;
    if (jobs != kJobs) state.SkipWithError(reader->error().value_or("jobs are missing").c_str());
  }
  state.SetItemsProcessed(state.iterations() * kJobs);
  state.counters["bytes/job"] = static_cast<double>(text.size()) / kJobs;
}

void lines_of_swf(benchmark::State& state) { find_lines(state, swf_text()); }
void load_swf(benchmark::State& state) { load(state, swf_text()); }
void load_helios(benchmark::State& state) { load(state, helios_text()); }
void load_native(benchmark::State& state) { load(state, native_text()); }

BENCHMARK(lines_of_swf)->Unit(benchmark::kMillisecond);
BENCHMARK(load_swf)->Unit(benchmark::kMillisecond);
BENCHMARK(load_helios)->Unit(benchmark::kMillisecond);
BENCHMARK(load_native)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace orrery

BENCHMARK_MAIN();

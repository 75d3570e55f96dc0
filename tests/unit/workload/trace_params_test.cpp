#include "models/workload/traces/formats/trace_params.hpp"

#include <gtest/gtest.h>

#include "sim/config/reader.hpp"

namespace orrery {
namespace {

TEST(TraceParams, AreReadFromAScenario) {
  Diagnostics diagnostics;
  const auto document = config::load_text(
      "{file: a.csv, format: helios, queues: [vcA, vcB], window_start: '2020-09-01', "
      "warm_start: false, arrive_at: start, sort: all, time_scale: 0.5}",
      "s.yaml", diagnostics);
  const auto params = read_params<TraceParams>(document.root, "trace", diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.text();
  EXPECT_EQ(params.file, "a.csv");
  EXPECT_EQ(params.format, TraceFormat::Helios);
  EXPECT_EQ(params.queues.size(), 2U);
  EXPECT_EQ(params.arrive_at, TraceArrival::Start);
  EXPECT_EQ(params.time_scale, 0.5);
}

TEST(TraceParams, OptionsOfOneFormatHaveASectionOfItsName) {
  Diagnostics diagnostics;
  const auto document = config::load_text(
      "{file: a.csv, swf: {processors: allocated, one_pod: true}, gavel: {gpu: k80}, "
      "pai: {measured: true}, openb: {pending_jobs: false}}",
      "s.yaml", diagnostics);
  const auto params = read_params<TraceParams>(document.root, "trace", diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.text();
  EXPECT_EQ(params.swf.processors, TraceProcessors::Allocated);
  EXPECT_TRUE(params.swf.one_pod);
  EXPECT_EQ(params.gavel.gpu, "k80");
  EXPECT_TRUE(params.pai.measured);
  EXPECT_FALSE(params.openb.pending_jobs);
}

TEST(TraceParams, NeedAFileAndAScaleInRange) {
  Diagnostics diagnostics;
  const auto document = config::load_text("{time_scale: 0}", "s.yaml", diagnostics);
  static_cast<void>(read_params<TraceParams>(document.root, "trace", diagnostics));
  EXPECT_EQ(diagnostics.count(), 2U) << diagnostics.text();
}

}  // namespace
}  // namespace orrery

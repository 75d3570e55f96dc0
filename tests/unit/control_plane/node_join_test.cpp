#include "models/control_plane/nodes/node_join.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "models/control_plane/nodes/boot_script.hpp"
#include "tests/unit/control_plane/mistakes.hpp"

namespace orrery {
namespace {

struct Asked {
  int64_t requests = 0, writes = 0, watches = 0;
  Bytes listed = {};  // bytes of Services and EndpointSlices in LIST responses
};

Asked asked_by(const BootParams& params) {
  Asked asked;
  for (const auto& stage : join_script(params)) {
    for (const BootThread& thread : stage) {
      for (const ApiRequest& request : thread.requests) {
        ++asked.requests;
        asked.writes += is_mutating(request.verb) ? 1 : 0;
        asked.watches += request.verb == Verb::Watch ? 1 : 0;
        const bool is_of_services = request.resource == ApiResource::Services ||
                                    request.resource == ApiResource::EndpointSlices;
        if (is_of_services) asked.listed = asked.listed + request.answer;
      }
    }
  }
  return asked;
}

TEST(NodeJoin, ANodeAsksForWhatItsParametersSay) {
  const Asked asked = asked_by({.join = {.services = 10'000, .slices = 10'000}});
  EXPECT_EQ(asked.writes, 14);
  EXPECT_EQ(asked.watches, 20);
  EXPECT_EQ(asked.requests, 56);
  const NodeJoinParams join;
  EXPECT_EQ(asked.listed, (join.service_bytes * 2 + join.slice_bytes) * 10'000);
  const Asked bare = asked_by({.join = {.certificate_requests = 0,
                                        .lease_requests = 0,
                                        .status_patches = 0,
                                        .kubelet_lists = 0,
                                        .proxy_lists = 0,
                                        .daemons = 0,
                                        .events = 0}});
  EXPECT_EQ(bare.requests, 3);
  EXPECT_EQ(bare.listed, Bytes{});
}

std::vector<Time> entries(const NodeJoinParams& params, int nodes, Duration apart) {
  Engine engine;
  JoinGate gate{engine, params};
  std::vector<Time> times;
  for (int i = 0; i < nodes; ++i) {
    engine.at(Time{} + apart * i, Label{"test.asked"},
              [&] { gate.ask([&] { times.push_back(engine.now()); }); });
  }
  engine.run();
  EXPECT_EQ(gate.waiting(), 0U);
  return times;
}

TEST(JoinGate, WithoutALimitAllEnterAtOnce) {
  EXPECT_EQ(entries({}, 500, {}), std::vector<Time>(500));
}

TEST(JoinGate, ALimitSpreadsABurst) {
  const std::vector<Time> times = entries({.rate_max = 50, .burst = 10}, 500, {});
  ASSERT_EQ(times.size(), 500U);
  for (size_t i = 0; i < times.size(); ++i) {
    ASSERT_EQ(times[i], Time{} + 20_ms * (i < 10 ? 0 : static_cast<int64_t>(i) - 9));
  }
}

TEST(JoinGate, NodesThatComeSlowlyNeverWait) {
  const std::vector<Time> times = entries({.rate_max = 50}, 10, 1_s);
  for (size_t i = 0; i < times.size(); ++i) {
    EXPECT_EQ(times[i], Time{} + 1_s * static_cast<int64_t>(i));
  }
}

TEST(NodeJoinParams, WrongValuesAreRejected) {
  using test::mistakes_of;
  EXPECT_TRUE(mistakes_of<NodeJoinParams>("{rate_max: 100, burst: 10}").empty());
  EXPECT_EQ(mistakes_of<NodeJoinParams>("{registrations: 0}").size(), 1U);
}

}  // namespace
}  // namespace orrery

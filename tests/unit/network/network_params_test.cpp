#include "models/network/network_params.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/network/fabric/build_fabric.hpp"
#include "sim/config/parse.hpp"
#include "sim/config/reader.hpp"
#include "tests/support/fabrics.hpp"

namespace orrery {
namespace {

using testing::HasSubstr;

NetworkParams read(std::string_view text, Diagnostics& diagnostics) {
  const config::Document document = config::load_text(text, "s.yaml", diagnostics);
  return read_params<NetworkParams>(document.root["network"], "network", diagnostics);
}

TEST(NetworkParams, AreReadFromAScenario) {
  Diagnostics diagnostics;
  const NetworkParams params = read(R"(
network:
  level: flow
  fabric: {radix: 40, rails: 8, oversubscription: 2, bandwidth: 200Gbps}
  routing: {engine: adaptive_global}
  links: {ib_timeout: 20}
)",
                                    diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.text();
  EXPECT_EQ(params.level, NetworkLevel::Flow);
  EXPECT_EQ(params.fabric.radix, 40);
  EXPECT_EQ(params.fabric.bandwidth, 200_Gbps);
  EXPECT_EQ(params.routing.engine, RoutingEngine::AdaptiveGlobal);
  EXPECT_EQ(params.links.timeout(), Duration{4'294'967'296});
}

TEST(NetworkParams, MistakesAreReportedWithTheirPosition) {
  struct Case {
    const char* text;
    const char* message;
  };
  for (const Case& c : {
           Case{"network: {level: flow, fabric: {radix: 33}}",
                "s.yaml:1:40: network.fabric.radix: must be even"},
           {"network: {level: flow, fabric: {levels: 1}}", "fabric.levels: must be 2, 3, or 0"},
           {"network: {level: flow, fabric: {bandwidth: 0Gbps}}", "fabric.bandwidth"},
           {"network: {level: flow, fabric: {oversubscription: 0.5}}", "oversubscription"},
           {"network: {level: flow, routing: {engine: dmodkk}}", "did you mean 'dmodk'?"},
           {"network: {level: flow, links: {ack_timeout: 1s, ib_timeout: 20}}",
            "links.ib_timeout: says the same as ack_timeout"},
           {"network: {level: flow, exchanges: [{latency: 1us}]}",
            "exchanges[0]: needs latency and bandwidth, or a sweep"},
           {"network: {level: flow, exchanges: [{latency: 1us, bandwidth: 0GBps}]}",
            "exchanges[0].bandwidth: must be more than 0"},
           {"network: {level: flow, exchanges: [{bandwidth: 1GBps, sweep: "
            "[{bytes: 1MB, bandwidth: 1GBps}]}]}",
            "exchanges[0].sweep: replaces latency and bandwidth"},
           {"network: {level: flow, exchanges: [{sweep: [{bytes: 2MB, bandwidth: 1GBps}, "
            "{bytes: 1MB, bandwidth: 1GBps}]}]}",
            "s.yaml:1:85: network.exchanges[0].sweep[1].bytes: must be more than in the entry "
            "before"},
           {"network: {level: flow, exchanges: [{sweep: [{bytes: 2MB, bandwidth: 0GBps}]}]}",
            "exchanges[0].sweep[0].bandwidth: must be more than 0"},
           {"network: {level: flow, exchanges: [{collective: push_pull, latency: 1us, "
            "bandwidth: 1GBps}]}",
            "exchanges[0].collective: the duration of push_pull cannot be given"},
       }) {
    Diagnostics diagnostics;
    static_cast<void>(read(c.text, diagnostics));
    EXPECT_THAT(diagnostics.text(), HasSubstr(c.message)) << c.text;
  }
}

TEST(NetworkParams, MistakesOfTheFabricPointAtItsFields) {
  Diagnostics diagnostics;
  const config::Document document = config::load_text(
      "network:\n  level: flow\n  fabric:\n    radix: 64\n    rails: 1", "s.yaml", diagnostics);
  const config::Node& section = document.root["network"];
  const auto params = read_params<NetworkParams>(section, "network", diagnostics);
  ASSERT_TRUE(diagnostics.ok()) << diagnostics.text();
  const BuiltFabric built = build_fabric(
      params.fabric, test::SmallFabric{.groups = 2, .nodes_per_group = 32, .nics = 8}.nodes());
  report_mistakes(built.mistakes, section["fabric"], "network.fabric", diagnostics);
  EXPECT_THAT(diagnostics.text(),
              HasSubstr("s.yaml:4:12: network.fabric.radix: leaf-0 has 256 NICs"));
}

}  // namespace
}  // namespace orrery

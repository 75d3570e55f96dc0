#include "models/control_plane/flow_schemas.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "models/control_plane/api_client_params.hpp"
#include "models/control_plane/api_server_params.hpp"
#include "sim/config/node.hpp"
#include "sim/config/reader.hpp"

namespace orrery {
namespace {

using testing::HasSubstr;

std::string level_of(ApiClientKind client, ApiResource resource) {
  const FlowControlParams params;
  return params.levels[classify(params, client, resource).level].name;
}

template <class Params>
std::string mistakes(const std::string& yaml) {
  Diagnostics diagnostics;
  const config::Document document = config::load_text(yaml, "api.yaml", diagnostics);
  static_cast<void>(read_params<Params>(document.root, "api", diagnostics));
  return diagnostics.text();
}

TEST(FlowSchemas, SendEachKindOfClientToItsLevel) {
  EXPECT_EQ(level_of(ApiClientKind::Masters, ApiResource::Pods), "exempt");
  EXPECT_EQ(level_of(ApiClientKind::Kubelet, ApiResource::Leases), "node-high");
  EXPECT_EQ(level_of(ApiClientKind::Kubelet, ApiResource::Nodes), "node-high");
  EXPECT_EQ(level_of(ApiClientKind::Kubelet, ApiResource::Pods), "system");
  EXPECT_EQ(level_of(ApiClientKind::Scheduler, ApiResource::Pods), "workload-high");
  EXPECT_EQ(level_of(ApiClientKind::Scheduler, ApiResource::Leases), "leader-election");
  EXPECT_EQ(level_of(ApiClientKind::EndpointController, ApiResource::EndpointSlices),
            "workload-high");
  EXPECT_EQ(level_of(ApiClientKind::KubeSystem, ApiResource::Pods), "workload-high");
  EXPECT_EQ(level_of(ApiClientKind::ServiceAccount, ApiResource::Pods), "workload-low");
  EXPECT_EQ(level_of(ApiClientKind::User, ApiResource::Pods), "global-default");
}

TEST(FlowSchemas, TheLowestPrecedenceDecidesAndThenTheName) {
  FlowControlParams params;
  params.schemas = {
      {.name = "b", .precedence = 5, .level = "system"},
      {.name = "a", .precedence = 5, .level = "workload-low"},
      {.name = "c", .precedence = 4, .resources = {ApiResource::Jobs}, .level = "catch-all"}};
  EXPECT_EQ(classify(params, ApiClientKind::User, ApiResource::Pods).level, 5);
  EXPECT_EQ(classify(params, ApiClientKind::User, ApiResource::Jobs).level, 7);
  params.schemas.clear();
  EXPECT_EQ(classify(params, ApiClientKind::User, ApiResource::Pods).level, 7) << "the last";
}

TEST(FlowSchemas, SeatsThatMayBeLentAndBorrowed) {
  FlowControlParams params;
  params.levels[4].borrowing_limit = 10;
  const FlowControlSetup setup = setup_of(params);
  EXPECT_EQ(setup.seats, 600);
  EXPECT_EQ(setup.levels[2].seats_min, 98 - 25);  // 24.5, rounded away from zero
  EXPECT_EQ(setup.levels[5].seats_min, 245 - 221);
  EXPECT_EQ(setup.levels[5].seats_max, INT32_MAX);
  EXPECT_EQ(setup.levels[4].seats_max, 98 + 10);
}

TEST(FlowSchemas, PlainLimitsTellReadsFromWritesAndSpareTheExempt) {
  FlowControlParams params;
  params.mode = FlowControlMode::MaxInflight;
  const FlowControlSetup setup = setup_of(params);
  const auto gate = [&](Verb verb, uint8_t level) {
    return setup.levels[gate_of(params, {.verb = verb, .level = level})];
  };
  EXPECT_EQ(gate(Verb::List, 3).seats, 400);
  EXPECT_EQ(gate(Verb::Patch, 3).seats, 200);
  EXPECT_EQ(gate(Verb::Patch, 0).kind, LevelKind::Exempt);
}

TEST(FlowControlParams, TheDefaultsAreInOrder) {
  EXPECT_EQ(mistakes<ApiServersParams>("{}"), "");
  EXPECT_EQ(mistakes<ApiClientsParams>("{}"), "");
}

TEST(FlowControlParams, AnUnknownLevelIsToldWithTheNameThatWasMeant) {
  const std::string text = mistakes<ApiServersParams>(
      "flow_control:\n  schemas:\n  - {name: mine, level: workload-lw}\n");
  EXPECT_THAT(text, HasSubstr("api.yaml:3:"));
  EXPECT_THAT(text, HasSubstr("no level of priority is called 'workload-lw'"));
  EXPECT_THAT(text, HasSubstr("did you mean 'workload-low'?"));
}

TEST(FlowControlParams, WhatCannotBeIsRefused) {
  const auto servers = mistakes<ApiServersParams>;
  EXPECT_THAT(servers("servers: 0\n"), HasSubstr("servers"));
  EXPECT_THAT(servers("server: {cores: 0}\n"), HasSubstr("cores"));
  EXPECT_THAT(servers("flow_control: {wait_limit: 2min}\n"), HasSubstr("request_timeout"));
  EXPECT_THAT(servers("flow_control: {levels: []}\n"), HasSubstr("at least one level"));
  const auto level = [&](const std::string& fields) {
    return servers("flow_control: {levels: [{name: a, " + fields +
                   "}], schemas: [{name: all, level: a}]}\n");
  };
  EXPECT_EQ(level("shares: 1"), "");
  EXPECT_THAT(level("shares: 0"), HasSubstr("must have shares"));
  EXPECT_THAT(level("queues: 4, hand_size: 5"), HasSubstr("must not exceed `queues`"));
  EXPECT_THAT(level("queues: 2000, hand_size: 8"), HasSubstr("60 bits"));
  EXPECT_THAT(level("kind: reject, queues: 4"), HasSubstr("do not wait"));
  EXPECT_THAT(level("lendable: 120"), HasSubstr("lendable"));
  EXPECT_THAT(servers("flow_control: {levels: [{name: a}, {name: a}], "
                      "schemas: [{name: all, level: a}]}\n"),
              HasSubstr("two levels are called 'a'"));
  EXPECT_THAT(servers("flow_control: {schemas: [{name: a, level: system, clients: [kubelt]}]}\n"),
              HasSubstr("did you mean 'kubelet'?"));
  EXPECT_THAT(mistakes<ApiClientsParams>("kubelet: {qps: 0}\n"), HasSubstr("qps"));
  EXPECT_THAT(mistakes<ApiClientsParams>("kubelet: {backoff: 40s}\n"), HasSubstr("backoff_max"));
}

}  // namespace
}  // namespace orrery

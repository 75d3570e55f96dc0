#include "models/control_plane/flow_control/flow_schemas.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "models/control_plane/api_server/api_server_params.hpp"
#include "models/control_plane/clients/pod_clients_params.hpp"
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

FlowClass class_of(ApiClientKind client, ApiResource resource) {
  return classify(FlowControlParams{}, client, resource);
}

// Default schemas of bootstrap/default.go in k8s.io/apiserver.
TEST(FlowSchemas, DefaultFlowsAreUsersOrNamespacesAsUpstream) {
  using Kind = ApiClientKind;
  const auto by = [](Kind client, ApiResource resource) {
    return class_of(client, resource).distinguisher;
  };
  const auto by_user = FlowDistinguisher::User, by_namespace = FlowDistinguisher::Namespace;
  EXPECT_EQ(by(Kind::Masters, ApiResource::Pods), FlowDistinguisher::None);
  EXPECT_EQ(by(Kind::Scheduler, ApiResource::Leases), by_user) << "system-leader-election";
  EXPECT_EQ(by(Kind::KubeSystem, ApiResource::Leases), by_user) << "workload-leader-election";
  EXPECT_EQ(by(Kind::EndpointController, ApiResource::Endpoints), by_user);
  EXPECT_EQ(by(Kind::EndpointController, ApiResource::EndpointSlices), by_namespace);
  EXPECT_EQ(by(Kind::Kubelet, ApiResource::Nodes), by_user) << "system-node-high";
  EXPECT_EQ(by(Kind::Kubelet, ApiResource::Events), by_user) << "system-nodes";
  EXPECT_EQ(by(Kind::ControllerManager, ApiResource::Pods), by_namespace);
  EXPECT_EQ(by(Kind::Scheduler, ApiResource::Events), by_namespace);
  EXPECT_EQ(by(Kind::KubeSystem, ApiResource::Pods), by_namespace);
  EXPECT_EQ(by(Kind::KubeProxy, ApiResource::Services), by_namespace);
  EXPECT_EQ(by(Kind::ServiceAccount, ApiResource::Pods), by_user);
  EXPECT_EQ(by(Kind::User, ApiResource::Pods), by_user) << "global-default";
}

TEST(FlowSchemas, WhatNoSchemaMatchesIsAFlowForEachUser) {
  FlowControlParams params;
  params.schemas.clear();
  const FlowClass none = classify(params, ApiClientKind::User, ApiResource::Pods);
  EXPECT_EQ(none.distinguisher, FlowDistinguisher::User) << "catch-all";
  EXPECT_NE(flow_of(none, {.number = 1}, 0), flow_of(none, {.number = 2}, 0));
}

TEST(FlowSchemas, TwoSchemasOfOneLevelAreTwoFlowsThoughTheirDistinguishersAreEqual) {
  const FlowClass scheduler = class_of(ApiClientKind::Scheduler, ApiResource::Pods);
  const FlowClass controllers = class_of(ApiClientKind::ControllerManager, ApiResource::Pods);
  EXPECT_EQ(scheduler.level, controllers.level);
  EXPECT_NE(flow_of(scheduler, {}, 7), flow_of(controllers, {}, 7));
  EXPECT_EQ(flow_of(scheduler, {.number = 1}, 7), flow_of(scheduler, {.number = 2}, 7));
  EXPECT_NE(flow_of(scheduler, {}, 7), flow_of(scheduler, {}, 8));
}

TEST(FlowSchemas, UsersOfTwoKindsAreTwoFlowsThoughTheirNumbersAreEqual) {
  const FlowClass leases = class_of(ApiClientKind::Scheduler, ApiResource::Leases);
  const ApiUser scheduler{ApiClientKind::Scheduler, 0};
  const ApiUser controllers{ApiClientKind::ControllerManager, 0};
  EXPECT_NE(flow_of(leases, scheduler, 1), flow_of(leases, controllers, 1));
  EXPECT_EQ(flow_of(leases, scheduler, 1), flow_of(leases, scheduler, 2));
}

TEST(FlowSchemas, AScenarioChoosesUsersNamespacesOrOneFlow) {
  for (const FlowDistinguisher distinguisher :
       {FlowDistinguisher::None, FlowDistinguisher::User, FlowDistinguisher::Namespace}) {
    FlowControlParams params;
    params.schemas = {{.name = "mine", .level = "system", .distinguisher = distinguisher}};
    const FlowClass mine = classify(params, ApiClientKind::User, ApiResource::Pods);
    const uint64_t flow = flow_of(mine, {.number = 1}, 1);
    EXPECT_EQ(flow != flow_of(mine, {.number = 2}, 1), distinguisher == FlowDistinguisher::User);
    EXPECT_EQ(flow != flow_of(mine, {.number = 1}, 2),
              distinguisher == FlowDistinguisher::Namespace);
  }
}

TEST(FlowSchemas, SeatsThatMayBeLentAndBorrowed) {
  FlowControlParams params;
  params.levels[4].borrowing_limit = 10;
  const FlowControlSetup setup = setup_of(params);
  EXPECT_EQ(setup.seats, 600);
  // 25 % of 98 seats may be lent: 24.5, rounded to 25.
  EXPECT_EQ(setup.levels[2].seats_min, 98 - 25);
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
  EXPECT_EQ(mistakes<PodClientsParams>("{}"), "");
}

TEST(FlowControlParams, AnUnknownLevelIsReportedWithTheNameThatWasMeant) {
  const std::string text = mistakes<ApiServersParams>(
      "flow_control:\n  schemas:\n  - {name: mine, level: workload-lw}\n");
  EXPECT_THAT(text, HasSubstr("api.yaml:3:"));
  EXPECT_THAT(text, HasSubstr("no priority level is called 'workload-lw'"));
  EXPECT_THAT(text, HasSubstr("did you mean 'workload-low'?"));
}

TEST(FlowControlParams, ImpossibleValuesAreRejected) {
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
  EXPECT_THAT(servers("flow_control: {schemas: [{name: a, level: system}, "
                      "{name: a, level: catch-all}]}\n"),
              HasSubstr("two schemas are called 'a'"));
  EXPECT_THAT(servers("flow_control: {schemas: [{name: a, level: system, clients: [kubelt]}]}\n"),
              HasSubstr("did you mean 'kubelet'?"));
  EXPECT_THAT(mistakes<PodClientsParams>("kubelet: {qps: 0}\n"), HasSubstr("qps"));
  EXPECT_THAT(mistakes<PodClientsParams>("kubelet: {backoff: 40s}\n"), HasSubstr("backoff_max"));
}

}  // namespace
}  // namespace orrery

#include "models/network/fabric/fabric_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/network/routing/routing.hpp"
#include "tests/support/fabrics.hpp"
#include "tests/unit/workload/trace_support.hpp"

namespace orrery {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kLingjun =
    "ip,DSW,PSW,ASW\n"
    "a,G6,P10,S1\n"
    "b,G6,P12,S1\n"
    "c,G6,P10,S2\n"
    "d,G6,P10,S1\n";

constexpr std::string_view kPorts =
    "portname,nicname,switchname,sysname\n"
    "1/0/1,eth0,leaf-a,host1\n"
    "1/0/2,eth0,leaf-a,host2\n"
    "1/0/1,eth0,leaf-c,host3\n"
    "1/0/1,eth1,leaf-b,host1\n"
    "1/0/2,eth1,leaf-b,host2\n";

TEST(FabricFile, HostsOfOneAswOfOnePswAreAGroup) {
  const FabricFile file = read_fabric_bytes(kLingjun, "topo.csv");
  EXPECT_THAT(file.errors, IsEmpty());
  EXPECT_THAT(file.hosts, ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(file.group_names, ElementsAre("P10/S1", "P10/S2", "P12/S1"));
  EXPECT_THAT(file.group_of, ElementsAre(0, 2, 1, 0));
  EXPECT_THAT(file.block_of_group, ElementsAre(0, 0, 1));
  EXPECT_FALSE(file.tells_nics());
  EXPECT_EQ(file.rows, 4);
}

TEST(FabricFile, BlocksOfTheFileAreBlocksOfTheTree) {
  const FabricFile file = read_fabric_bytes(kLingjun, "topo.csv");
  const auto nodes = test::SmallFabric{.groups = 4, .nics = 2}.nodes();
  const BuiltFabric built = build_fabric({}, file, nodes);
  ASSERT_TRUE(built.mistakes.empty()) << built.mistakes[0].message;
  const Fabric& fabric = built.fabric;
  EXPECT_EQ(fabric.tree().levels, 3U);
  EXPECT_EQ(fabric.tree().blocks(), 2U);
  EXPECT_EQ(fabric.name(fabric.leaf_of(fabric.nic({2}, 1))), "P10/S2-1");
  EXPECT_EQ(fabric.find_switch("P12/S1-0"), fabric.leaf_of(fabric.nic({1}, 0)));
  const LinkState state{fabric, {}};
  const Router router{fabric, state, {}, 1};
  EXPECT_EQ(router.route(fabric.nic({0}, 0), fabric.nic({3}, 0)).size(), 2U);
  EXPECT_EQ(router.route(fabric.nic({0}, 0), fabric.nic({2}, 0)).size(), 4U);
  EXPECT_EQ(router.route(fabric.nic({0}, 0), fabric.nic({1}, 0)).size(), 6U);
}

TEST(FabricFile, FewerNodesThanHostsLeaveTheRestOut) {
  const FabricFile file = read_fabric_bytes(kLingjun, "topo.csv");
  const auto nodes = test::SmallFabric{.groups = 1, .nics = 2}.nodes();
  const BuiltFabric built = build_fabric({}, file, nodes);
  ASSERT_TRUE(built.mistakes.empty());
  EXPECT_EQ(built.fabric.tree().blocks(), 1U);
  EXPECT_EQ(built.fabric.tree().levels, 2U);
}

TEST(FabricFile, ATableOfPortsTellsTheLeafOfEachNic) {
  const FabricFile file = read_fabric_bytes(kPorts, "ports.csv");
  EXPECT_THAT(file.errors, IsEmpty());
  EXPECT_THAT(file.hosts, ElementsAre("host1", "host2", "host3"));
  EXPECT_THAT(file.leaf_names, ElementsAre("leaf-a", "leaf-b", "leaf-c"));
  EXPECT_THAT(file.group_of, ElementsAre(0, 0, 1));
  EXPECT_THAT(file.group_begin, ElementsAre(0, 2, 3));
  EXPECT_THAT(file.nic_begin, ElementsAre(0, 2, 4, 5));
  EXPECT_THAT(file.leaf_of, ElementsAre(0, 1, 0, 1, 2));
  const auto nodes = test::SmallFabric{.groups = 3, .nics = 2}.nodes();
  const BuiltFabric built = build_fabric({}, file, nodes);
  ASSERT_TRUE(built.mistakes.empty());
  EXPECT_EQ(built.fabric.name(built.fabric.leaf_of({1})), "leaf-b");
  // Host `host3` has one cable, so both NICs of its node have the same leaf.
  EXPECT_EQ(built.fabric.name(built.fabric.leaf_of({5})), "leaf-c");
}

TEST(FabricFile, WhatDoesNotFitTheClusterIsAMistake) {
  const auto nodes = test::SmallFabric{.groups = 5}.nodes();
  const BuiltFabric many = build_fabric({}, read_fabric_bytes(kLingjun, "topo.csv"), nodes);
  ASSERT_EQ(many.mistakes.size(), 1U);
  EXPECT_EQ(many.mistakes[0].field, "file");
  EXPECT_EQ(many.mistakes[0].message, "the cluster has 5 nodes, but the file has only 4 hosts");
  FabricParams params;
  params.rails = 2;
  const BuiltFabric railed =
      build_fabric(params, read_fabric_bytes(kPorts, "ports.csv"), std::span{nodes}.first(3));
  ASSERT_EQ(railed.mistakes.size(), 1U);
  EXPECT_EQ(railed.mistakes[0].field, "rails");
  params = {};
  params.levels = 2;
  const BuiltFabric flat =
      build_fabric(params, read_fabric_bytes(kLingjun, "topo.csv"), std::span{nodes}.first(4));
  ASSERT_EQ(flat.mistakes.size(), 1U);
  EXPECT_EQ(flat.mistakes[0].field, "levels");
  params.levels = 0;
  params.radix = 2;
  const BuiltFabric small =
      build_fabric(params, read_fabric_bytes(kLingjun, "topo.csv"), std::span{nodes}.first(4));
  ASSERT_EQ(small.mistakes.size(), 1U);
  EXPECT_THAT(small.mistakes[0].message, HasSubstr("P10/S1 has 2 NICs"));
}

TEST(FabricFile, LeavesThatNamesCannotTellApartAreAMistake) {
  const auto nodes = test::SmallFabric{.groups = 2}.nodes();
  for (const auto& [text, message] :
       {std::pair{"ip,DSW,PSW,ASW\na,G,P/Q,S\nb,G,P,Q/S\n", "would be called 'P/Q/S'"},
        {"sysname,switchname\na,spine-0\nb,x\n", "a leaf switch is called 'spine-0'"}}) {
    const BuiltFabric built = build_fabric({}, read_fabric_bytes(text, "t.csv"), nodes);
    ASSERT_EQ(built.mistakes.size(), 1U);
    EXPECT_EQ(built.mistakes[0].field, "file");
    EXPECT_THAT(built.mistakes[0].message, HasSubstr(message));
  }
}

struct BadText {
  std::string_view text;
  const char* error;
};

TEST(FabricFile, MistakesAreReportedWithRowAndColumn) {
  for (const BadText& bad : {
           BadText{"", "t.csv:1: is no topology"},
           {"a,b\n1,2\n", "t.csv:1: is no topology: expected the columns ip, DSW"},
           {"ip,DSW,PSW,ASW\n", "t.csv:1: no host follows the header"},
           {"ip,DSW,PSW,ASW\na,G,P,S\nb,G,,S\n", "t.csv:3:3 (PSW): is empty"},
           {"ip,DSW,PSW,ASW\na,G,P\n", "t.csv:2:4 (ASW): is empty"},
           {"ip,DSW,PSW,ASW\na,G,P,S,x\n", "t.csv:2: found 5 fields, expected 4"},
           {"ip,DSW,PSW,ASW\na,G,P,S\n\na,G,P,S2\n",
            "t.csv:4:1 (ip): 'a' is a host of row 2 already"},
           {"ip,DSW,PSW,ASW\na,G,P,S\nb,H,Q,S\n",
            "t.csv:3:2 (DSW): 'H': hosts in earlier rows are below 'G', so the fabric is "
            "disconnected"},
           {"sysname,switchname,nicname\nh,s,e0\nh,t,e0\n",
            "t.csv:3:3 (nicname): 'e0' of 'h' has a cable in row 2 already"},
           {"sysname,switchname,portname\nh,s,1\ng,s,1\n",
            "t.csv:3:3 (portname): '1' of 's' has a cable in row 2 already"},
           {"sysname,switchname\n,s\n", "t.csv:2:1 (sysname): is empty"},
           {{"ip,DSW,PSW,ASW\n\0", 16}, "t.csv:2: a NUL byte"},
       }) {
    const FabricFile file = read_fabric_bytes(bad.text, "t.csv");
    EXPECT_THAT(file.errors, ElementsAre(HasSubstr(bad.error))) << bad.text;
  }
}

TEST(FabricFile, AllMistakesAreReportedTogetherUpToALimit) {
  std::string text = "ip,DSW,PSW,ASW\n";
  for (int i = 0; i < 100; ++i) text += "a,G,P,\n";
  const FabricFile file = read_fabric_bytes(text, "t.csv");
  EXPECT_EQ(file.errors.size(), FabricFile::kErrorsMax);
  EXPECT_THAT(file.errors.back(), HasSubstr("t.csv:21:4"));
}

TEST(FabricFile, AFileThatIsNotThereIsAMistake) {
  EXPECT_THAT(read_fabric_file("/nowhere/topo.csv").errors,
              ElementsAre("/nowhere/topo.csv: cannot be read"));
  EXPECT_THAT(read_fabric_file("/").errors, ElementsAre(HasSubstr("/: ")));
}

TEST(FabricFile, ByteOrderMarkAndCarriageReturnsAreNoPartOfTheCells) {
  const FabricFile file =
      read_fabric_bytes("\xEF\xBB\xBFip,DSW,PSW,ASW\r\na,G,P,S\r\n", "topo.csv");
  EXPECT_THAT(file.errors, IsEmpty());
  EXPECT_THAT(file.group_names, ElementsAre("P/S"));
}

TEST(FabricFile, AWorkbookIsRejectedWithTheAdviceToExportIt) {
  EXPECT_THAT(read_fabric_bytes("PK\x03\x04 and more", "ports.xlsx").errors,
              ElementsAre("ports.xlsx: is an archive or a workbook: export the sheet as CSV"));
}

// ---- real files

TEST(RealTopologies, LingjunHas847HostsIn119Groups) {
  const auto path = test::real_trace("alibaba-lingjun-2023/topo.csv");
  ORRERY_NEED_TRACE(path);
  const FabricFile file = read_fabric_file(path);
  EXPECT_THAT(file.errors, IsEmpty());
  EXPECT_EQ(file.hosts.size(), 847U);
  EXPECT_EQ(file.groups(), 119U);
  std::vector<int> sizes(file.groups(), 0);
  for (const uint32_t group : file.group_of) ++sizes[group];
  EXPECT_THAT(sizes, testing::Each(testing::Le(8)));
  FabricParams params;
  params.radix = 128;
  params.rails = 1;
  const BuiltFabric built = build_fabric(
      params, file, test::SmallFabric{.groups = 847, .nodes_per_group = 1, .nics = 8}.nodes());
  ASSERT_TRUE(built.mistakes.empty()) << built.mistakes[0].message;
  EXPECT_EQ(built.fabric.tree().blocks(), 3U);
  EXPECT_EQ(built.fabric.nics(), 847U * 8);
}

TEST(RealTopologies, ZhejiangHas253HostsOn20Leaves) {
  const auto path = test::real_trace("zhejiang-a100-2024/cluster_2000_A100.topology.csv");
  ORRERY_NEED_TRACE(path);
  const FabricFile file = read_fabric_file(path);
  EXPECT_THAT(file.errors, IsEmpty());
  EXPECT_EQ(file.rows, 1'012);
  EXPECT_EQ(file.hosts.size(), 253U);
  EXPECT_EQ(file.leaf_names.size(), 20U);
  EXPECT_EQ(file.groups(), 5U);
  EXPECT_EQ(file.leaf_of.size(), 1'012U);
}

}  // namespace
}  // namespace orrery

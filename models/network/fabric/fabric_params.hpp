// models/network/fabric/fabric_params.hpp -- switches and cables, as a scenario describes them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/facts/fact.hpp"
#include "sim/config/fields.hpp"
#include "sim/core/time.hpp"

namespace orrery {

struct FabricParams {
  static constexpr std::string_view kDoc = "Switches and cables: a fat tree over the leaf groups.";
  int32_t radix = 64;
  int32_t levels = 0;
  int32_t rails = 0;
  double oversubscription = 1.0;
  double spine_oversubscription = 1.0;
  std::optional<Bandwidth> bandwidth = {};
  std::string file = {};

  template <class V>
  void fields(V& v) {
    v("radix", radix, "Ports of a switch.", Range{2, 1024}, Unit{"ports"},
      Source{"64-port NDR switches of the DGX SuperPOD B200"});
    v("levels", levels,
      "Levels of switches: 2 or 3 (1 is an error); 0: chosen automatically. 0 gives 3 levels if "
      "`file` divides the hosts into several blocks (its column PSW), or if there are more leaves "
      "than a spine has ports. Otherwise it gives 2 levels.",
      Range{0, 3}, Heeded{Fact::Spines});
    v("rails", rails,
      "Number of leaf switches that a group of nodes shares (see nodes_per_leaf of the pools). NIC "
      "k of a node is connected to leaf k modulo this number. 0: as many leaves as a node has NICs "
      "(rail-optimised); 1: all NICs of a group share one leaf.",
      Range{0, 64}, Unit{"leaf switches per group"}, Source{"DGX SuperPOD: 8 rails"});
    v("oversubscription", oversubscription,
      "Down-ports divided by up-ports of a leaf; 1: full bisection. The down-ports are those of "
      "the fullest leaf. Each leaf has equally many cables to every spine, so leaves may get a few "
      "more up-ports than the ratio requires.",
      Range{1.0, 64.0}, Unit{"ratio"}, Source{"DGX SuperPOD and MegaScale: 1"},
      Heeded{Fact::Spines});
    v("spine_oversubscription", spine_oversubscription,
      "Down-ports divided by up-ports of a spine, in a tree of three levels.", Range{1.0, 64.0},
      Unit{"ratio"}, Source{"DGX SuperPOD and MegaScale: 1"}, Heeded{Fact::Spines},
      Heeded{levels != 2, "levels is 2"});
    v("bandwidth", bandwidth,
      "Rate of a switch port; a NIC's cable runs at the slower of port and NIC. Absent: the rate "
      "of the fastest NIC.");
    v("file", file,
      "A CSV file that says which hosts share leaf switches. It replaces nodes_per_leaf of the "
      "pools. Node i of the cluster takes the place of host i of the file. The file has either a "
      "row for each host, with the columns ip, DSW (core), PSW (block) and ASW (group of leaves); "
      "or a row for each NIC, with the columns sysname (host), switchname (leaf) and, optionally, "
      "nicname and portname. If the table is a sheet in a workbook (.xlsx), export the sheet "
      "to CSV first.",
      Example{"../shared/traces/alibaba-lingjun-2023/topo.csv"});
  }
  template <class C>
  void check(C& c) const {
    if (levels == 1) c.error("levels", "must be 2, 3, or 0 for an automatic choice");
    if (radix % 2 != 0) c.error("radix", "must be even");
    if (bandwidth && bandwidth->bits_per_s <= 0) c.error("bandwidth", "must be more than 0");
  }
};

}  // namespace orrery

// models/network/fabric/fabric_file.hpp -- which hosts share leaf switches, as recorded in real
// clusters.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

// Two layouts of comma-separated text, recognised by the names of the columns:
//   ip, DSW, PSW, ASW: a row for each host, with its core, block and leaf group (Lingjun)
//   sysname, switchname[, nicname][, portname]: a row for each NIC, with its leaf (Zhejiang)
// Hosts and blocks are numbered by first appearance, groups block by block, and leaves group by
// group.
struct FabricFile {
  static constexpr size_t kErrorsMax = 20;

  std::vector<std::string> hosts;
  std::vector<uint32_t> group_of;  // leaf group of each host
  std::vector<std::string> group_names;
  std::vector<uint32_t> block_of_group;  // ascending; empty if the file has no blocks
  // The next four fields are empty unless the file has the leaf of each NIC.
  std::vector<uint32_t> nic_begin;  // first NIC of each host, and the end
  std::vector<uint32_t> leaf_of;    // leaf of each NIC
  std::vector<std::string> leaf_names;
  std::vector<uint32_t> group_begin;  // the first leaf of each group, and the end

  int64_t rows = 0;  // number of rows without the header
  // Messages. If a message is about a cell, it begins with "FILE:ROW:COLUMN (NAME): ". If there are
  // errors, the other fields are invalid.
  std::vector<std::string> errors;

  bool tells_nics() const { return !leaf_names.empty(); }
  size_t groups() const { return group_names.size(); }
};

FabricFile read_fabric_file(const std::string& path);
// Reads a file from memory. Messages call it `name`.
FabricFile read_fabric_bytes(std::string_view bytes, const std::string& name);

}  // namespace orrery

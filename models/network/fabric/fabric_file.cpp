#include "models/network/fabric/fabric_file.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "models/network/fabric/table_file.hpp"
#include "sim/config/diagnostics.hpp"
#include "sim/core/shared_files.hpp"

namespace orrery {
namespace {

constexpr size_t kAbsent = SIZE_MAX;

// Gives each name a number, from 0, in the order of first use.
template <class Name>
struct Numbering {
  std::map<Name, uint32_t> known;
  std::pair<uint32_t, bool> number(const Name& name) {
    const auto [at, is_new] = known.try_emplace(name, static_cast<uint32_t>(known.size()));
    return {at->second, is_new};
  }
};

// The new index of each item after a stable sort of the items by `key`.
std::vector<uint32_t> renumbered(const std::vector<uint32_t>& key) {
  std::vector<uint32_t> order(key.size()), fresh(key.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](uint32_t i) { return key[i]; });
  for (uint32_t i = 0; i < order.size(); ++i) fresh[order[i]] = i;
  return fresh;
}

template <class T>
void reorder(std::vector<T>& items, const std::vector<uint32_t>& fresh) {
  std::vector<T> moved(items.size());
  for (size_t i = 0; i < items.size(); ++i) moved[fresh[i]] = std::move(items[i]);
  items = std::move(moved);
}

size_t column_of(const TableRow& header, std::string_view name) {
  const auto found = std::ranges::find(header.cells, name);
  return found == header.cells.end() ? kAbsent : static_cast<size_t>(found - header.cells.begin());
}

// Reads the table of a file, in either layout, into a FabricFile.
class Reader {
 public:
  Reader(const Table& table, FabricFile& file) : table_{table}, file_{file} {}

  static bool is_lingjun(const Table& table) {
    return has_columns(table, {"ip", "DSW", "PSW", "ASW"});
  }
  static bool is_ports(const Table& table) { return has_columns(table, {"sysname", "switchname"}); }

  void read_lingjun() {
    columns_ = {find("ip"), find("DSW"), find("PSW"), find("ASW")};
    Numbering<std::string> blocks;
    Numbering<std::pair<uint32_t, std::string>> groups;
    for (size_t i = 1; i < table_.rows.size(); ++i) {
      const TableRow& row = table_.rows[i];
      if (!has_all(row, columns_)) continue;
      add_host(row, columns_[0]);
      check_core(row);
      const auto block = blocks.number(std::string{row.cell(columns_[2])}).first;
      const std::string asw{row.cell(columns_[3])};
      const auto [group, is_new] = groups.number({block, asw});
      if (is_new) {
        file_.group_names.push_back(std::string{row.cell(columns_[2])} + "/" + asw);
        file_.block_of_group.push_back(block);
      }
      file_.group_of.push_back(group);
    }
    const std::vector<uint32_t> fresh = renumbered(file_.block_of_group);
    reorder(file_.group_names, fresh);
    reorder(file_.block_of_group, fresh);
    for (uint32_t& group : file_.group_of) group = fresh[group];
  }

  void read_ports() {
    const size_t host = find("sysname"), leaf = find("switchname");
    const size_t nic = find("nicname"), port = find("portname");
    Numbering<std::string> hosts, leaves;
    std::map<std::pair<std::string, std::string>, int64_t> nics, ports;
    std::vector<std::vector<uint32_t>> leaves_of;  // by host
    for (size_t i = 1; i < table_.rows.size(); ++i) {
      const TableRow& row = table_.rows[i];
      if (!has_all(row, {host, leaf})) continue;
      check_twice(row, host, nic, nics);
      check_twice(row, leaf, port, ports);
      const auto [h, is_new_host] = hosts.number(std::string{row.cell(host)});
      if (is_new_host) {
        file_.hosts.emplace_back(row.cell(host));
        leaves_of.emplace_back();
      }
      const auto [l, is_new_leaf] = leaves.number(std::string{row.cell(leaf)});
      if (is_new_leaf) file_.leaf_names.emplace_back(row.cell(leaf));
      leaves_of[h].push_back(l);
    }
    group_leaves(leaves_of);
  }

  void complain(const TableRow& row, size_t column, const std::string& what) {
    if (file_.errors.size() >= FabricFile::kErrorsMax) return;
    std::string place = table_.name + ":" + std::to_string(row.number);
    if (column != kAbsent) {
      place += ":" + std::to_string(column + 1) + " (" + table_.rows[0].cells[column] + ")";
    }
    file_.errors.push_back(place + ": " + what);
  }

 private:
  static bool has_columns(const Table& table, std::initializer_list<std::string_view> names) {
    return !table.rows.empty() && std::ranges::all_of(names, [&](std::string_view name) {
      return column_of(table.rows[0], name) != kAbsent;
    });
  }
  size_t find(std::string_view name) const { return column_of(table_.rows[0], name); }

  template <class Columns>
  bool has_all(const TableRow& row, const Columns& columns) {
    ++file_.rows;
    if (row.cells.size() > table_.rows[0].cells.size()) {
      complain(row, kAbsent,
               "found " + std::to_string(row.cells.size()) + " fields, expected " +
                   std::to_string(table_.rows[0].cells.size()));
      return false;
    }
    for (const size_t column : columns) {
      if (!row.cell(column).empty()) continue;
      complain(row, column, "is empty");
      return false;
    }
    return true;
  }
  bool has_all(const TableRow& row, std::initializer_list<size_t> columns) {
    return has_all<std::initializer_list<size_t>>(row, columns);
  }

  void add_host(const TableRow& row, size_t column) {
    const std::string name{row.cell(column)};
    const auto [first, is_new] = first_row_.try_emplace(name, row.number);
    if (!is_new) {
      complain(row, column,
               in_quotes(name) + " is a host of row " + std::to_string(first->second) + " already");
    }
    file_.hosts.push_back(name);
  }

  // Complains about a host whose core switch (DSW) is not that of the first host: no route would
  // join the two hosts.
  void check_core(const TableRow& row) {
    if (core_.empty()) core_ = row.cell(columns_[1]);
    if (core_ == row.cell(columns_[1])) return;
    complain(row, columns_[1],
             in_quotes(row.cell(columns_[1])) + ": hosts in earlier rows are below " +
                 in_quotes(core_) + ", so the fabric is disconnected");
  }

  // Complains if a NIC of a host, or a port of a switch, has a second cable. NICs and ports without
  // names are not checked.
  void check_twice(const TableRow& row, size_t owner, size_t part,
                   std::map<std::pair<std::string, std::string>, int64_t>& seen) {
    if (part == kAbsent || row.cell(part).empty()) return;
    const auto [first, is_new] =
        seen.try_emplace({std::string{row.cell(owner)}, std::string{row.cell(part)}}, row.number);
    if (is_new) return;
    complain(row, part,
             in_quotes(row.cell(part)) + " of " + in_quotes(row.cell(owner)) +
                 " has a cable in row " + std::to_string(first->second) + " already");
  }

  // Leaves of one host are in one group. Example: if one host is connected to leaves A and B, and
  // another host to B and C, then A, B and C are in one group.
  void group_leaves(const std::vector<std::vector<uint32_t>>& leaves_of) {
    std::vector<uint32_t> parent(file_.leaf_names.size());
    std::iota(parent.begin(), parent.end(), 0U);
    const auto root = [&](uint32_t leaf) {
      while (parent[leaf] != leaf) leaf = parent[leaf] = parent[parent[leaf]];
      return leaf;
    };
    for (const auto& leaves : leaves_of) {
      for (const uint32_t leaf : leaves) parent[root(leaf)] = root(leaves.front());
    }
    Numbering<uint32_t> groups;
    std::vector<uint32_t> group_of_leaf;
    for (uint32_t l = 0; l < parent.size(); ++l) {
      const auto [group, is_new] = groups.number(root(l));
      group_of_leaf.push_back(group);
      if (is_new) file_.group_names.push_back("group-" + std::to_string(group));
    }
    const std::vector<uint32_t> fresh = renumbered(group_of_leaf);
    reorder(file_.leaf_names, fresh);
    file_.group_begin.assign(file_.group_names.size() + 1, 0);
    for (const uint32_t group : group_of_leaf) ++file_.group_begin[group + 1];
    std::partial_sum(file_.group_begin.begin(), file_.group_begin.end(), file_.group_begin.begin());
    file_.nic_begin = {0};
    for (const auto& leaves : leaves_of) {
      file_.group_of.push_back(group_of_leaf[leaves.front()]);
      for (const uint32_t leaf : leaves) file_.leaf_of.push_back(fresh[leaf]);
      file_.nic_begin.push_back(static_cast<uint32_t>(file_.leaf_of.size()));
    }
  }

  const Table& table_;
  FabricFile& file_;
  std::array<size_t, 4> columns_{};
  std::map<std::string, int64_t> first_row_;  // first row of each host
  std::string core_;
};

FabricFile read(const Table& table) {
  FabricFile file;
  if (!table.error.empty()) {
    file.errors.push_back(table.error);
    return file;
  }
  Reader reader{table, file};
  if (Reader::is_lingjun(table)) {
    reader.read_lingjun();
  } else if (Reader::is_ports(table)) {
    reader.read_ports();
  } else {
    file.errors.push_back(table.name +
                          ":1: is no topology: expected the columns ip, DSW, PSW, ASW, or sysname "
                          "and switchname with a row for each NIC");
    return file;
  }
  if (file.hosts.empty() && file.errors.empty()) {
    reader.complain(table.rows[0], kAbsent, "no host follows the header");
  }
  return file;
}

}  // namespace

FabricFile read_fabric_file(const std::string& path) {
  static SharedFiles<FabricFile> files;
  InputFiles::note(path);
  return *files.get(path, [](const std::string& file) { return read(read_table_file(file)); });
}

FabricFile read_fabric_bytes(std::string_view bytes, const std::string& name) {
  return read(read_table(bytes, name));
}

}  // namespace orrery

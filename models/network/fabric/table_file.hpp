// models/network/fabric/table_file.hpp -- the cells of a small table of comma-separated text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

struct TableRow {
  int64_t number = 0;  // number of the line in the file, from 1
  std::vector<std::string> cells;
  std::string_view cell(size_t column) const {
    return column < cells.size() ? std::string_view{cells[column]} : std::string_view{};
  }
};

struct Table {
  std::string name;            // name of the file, for messages
  std::vector<TableRow> rows;  // without blank lines
  std::string error;           // "FILE: why", or "FILE:ROW: why"
};

// A file may have at most 64 MiB. Quotes in cells have no meaning; lines end with LF or CR LF.
Table read_table_file(const std::string& path);
Table read_table(std::string_view text, const std::string& name);

}  // namespace orrery

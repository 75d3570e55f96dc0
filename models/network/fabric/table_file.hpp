// models/network/fabric/table_file.hpp -- the cells of a small table: comma-separated text or a
// workbook.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

struct TableRow {
  int64_t number = 0;  // from 1, as editors and spreadsheets count
  std::vector<std::string> cells;
  std::string_view cell(size_t column) const {
    return column < cells.size() ? std::string_view{cells[column]} : std::string_view{};
  }
};

struct Table {
  std::string name;  // the file, and of a workbook the sheet: "ports.xlsx[cluster topology]"
  std::vector<TableRow> rows;  // without blank ones
};

struct TableFile {
  std::vector<Table> tables;  // one, or a workbook's sheets in their order
  std::string error;          // "FILE: why", or "FILE[SHEET]:ROW:COLUMN: why"
};

// For tables that are looked up, not streamed: read as a whole, at most 64 MiB. Workbooks (.xlsx)
// are recognised by their first bytes. Text has no quotes; its lines end with LF or CR LF.
TableFile read_table_file(const std::string& path);
TableFile read_table(std::string_view bytes, const std::string& name);  // either kind
TableFile read_workbook(std::string_view bytes, const std::string& name);

}  // namespace orrery

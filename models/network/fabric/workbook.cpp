// Workbooks (.xlsx, ECMA-376): a zip archive of XML parts. Read are the names of the sheets, their
// cells and the table of strings that cells refer to; formats and formulas are passed over.
#include <zip.h>

#include <charconv>
#include <map>
#include <memory>
#include <optional>
#include <pugixml.hpp>

#include "models/network/fabric/table_file.hpp"

namespace orrery {
namespace {

constexpr size_t kPartMax = size_t{64} << 20U;  // unpacked
constexpr size_t kColumnsMax = 256;
constexpr int64_t kRowsMax = 1'048'576;  // of the format

struct CloseArchive {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct ClosePart {
  void operator()(zip_file_t* part) const { zip_fclose(part); }
};

class Workbook {
 public:
  Workbook(std::string_view bytes, const std::string& name) : name_{name} {
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t* const source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
    if (source != nullptr) archive_.reset(zip_open_from_source(source, ZIP_RDONLY, &error));
    if (archive_ == nullptr) {
      fail(std::string{"is no readable zip archive: "} + zip_error_strerror(&error));
      if (source != nullptr) zip_source_free(source);
    }
    zip_error_fini(&error);
  }

  TableFile read() {
    TableFile file;
    read_strings();
    const auto sheets = failed() ? std::vector<Sheet>{} : list_sheets();
    for (const Sheet& sheet : sheets) {
      if (failed()) break;
      file.tables.push_back({.name = name_ + "[" + sheet.name + "]", .rows = {}});
      read_sheet(sheet.part, file.tables.back());
    }
    if (!failed() && file.tables.empty()) fail("has no sheets");
    file.error = error_;
    return file;
  }

 private:
  struct Sheet {
    std::string name, part;
  };

  bool failed() const { return !error_.empty(); }
  void fail(const std::string& why) {
    if (!failed()) error_ = name_ + ": " + why;
  }

  // False if the archive has no such part, or after an error.
  bool load(const std::string& part, pugi::xml_document& document) {
    zip_stat_t facts;
    zip_stat_init(&facts);
    if (zip_stat(archive_.get(), part.c_str(), 0, &facts) != 0) return false;
    if ((facts.valid & ZIP_STAT_SIZE) == 0 || facts.size > kPartMax) {
      fail(part + " is larger than 64 MiB");
      return false;
    }
    std::string text(facts.size, '\0');
    const std::unique_ptr<zip_file_t, ClosePart> opened{zip_fopen(archive_.get(), part.c_str(), 0)};
    const bool is_read = opened != nullptr && zip_fread(opened.get(), text.data(), text.size()) ==
                                                  static_cast<zip_int64_t>(text.size());
    if (!is_read) {
      fail(part + " is damaged");
      return false;
    }
    const pugi::xml_parse_result parsed = document.load_buffer(text.data(), text.size());
    if (!parsed) {
      fail(part + " is damaged at byte " + std::to_string(parsed.offset) + ": " +
           parsed.description());
    }
    return static_cast<bool>(parsed);
  }

  // Plain text, or runs of formatted text one after another.
  static std::string text_of(pugi::xml_node item) {
    std::string text = item.child("t").child_value();
    for (const pugi::xml_node run : item.children("r")) text += run.child("t").child_value();
    return text;
  }

  void read_strings() {
    pugi::xml_document document;
    if (failed() || !load("xl/sharedStrings.xml", document)) return;  // may be absent
    for (const pugi::xml_node item : document.child("sst").children("si")) {
      strings_.push_back(text_of(item));
    }
  }

  std::vector<Sheet> list_sheets() {
    pugi::xml_document book, relations;
    std::vector<Sheet> sheets;
    if (!load("xl/workbook.xml", book) || !load("xl/_rels/workbook.xml.rels", relations)) {
      fail("is no workbook: it lacks xl/workbook.xml or its relations");
      return sheets;
    }
    std::map<std::string, std::string> targets;
    for (const pugi::xml_node relation : relations.child("Relationships").children()) {
      targets[relation.attribute("Id").value()] = relation.attribute("Target").value();
    }
    for (const pugi::xml_node sheet : book.child("workbook").child("sheets").children("sheet")) {
      const std::string& target = targets[sheet.attribute("r:id").value()];
      sheets.push_back({.name = sheet.attribute("name").value(),
                        .part = target.starts_with('/') ? target.substr(1) : "xl/" + target});
    }
    return sheets;
  }

  void read_sheet(const std::string& part, Table& table) {
    pugi::xml_document document;
    if (!load(part, document)) {
      fail(part + ", a sheet, is missing");
      return;
    }
    int64_t number = 0;
    for (const pugi::xml_node row : document.child("worksheet").child("sheetData").children()) {
      number = row.attribute("r").as_llong(number + 1);
      if (number < 1 || number > kRowsMax) return fail(table.name + ": a row has a bad number");
      TableRow read{.number = number, .cells = {}};
      for (const pugi::xml_node cell : row.children("c")) {
        const size_t column = column_of(cell, read.cells.size());
        if (column >= kColumnsMax) {
          return fail(table.name + ":" + std::to_string(number) + ": more than " +
                      std::to_string(kColumnsMax) + " columns");
        }
        if (column >= read.cells.size()) read.cells.resize(column + 1);
        const std::optional<std::string> value = value_of(cell);
        if (!value) {
          return fail(table.name + ":" + std::to_string(number) + ":" + std::to_string(column + 1) +
                      ": refers to a string that is not there");
        }
        read.cells[column] = *value;
      }
      if (!read.cells.empty()) table.rows.push_back(std::move(read));
    }
  }

  // "C12" is in column 2; a cell without a reference follows the one before.
  static size_t column_of(pugi::xml_node cell, size_t next) {
    const std::string_view reference = cell.attribute("r").value();
    size_t column = 0;
    for (const char c : reference) {
      if (c < 'A' || c > 'Z' || column >= kColumnsMax) break;
      column = column * 26 + static_cast<size_t>(c - 'A' + 1);
    }
    return column == 0 ? next : column - 1;
  }

  std::optional<std::string> value_of(pugi::xml_node cell) const {
    const std::string_view type = cell.attribute("t").value();
    if (type == "inlineStr") return text_of(cell.child("is"));
    const std::string_view value = cell.child_value("v");
    if (type != "s" || value.empty()) return std::string{value};
    size_t index = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), index);
    if (error != std::errc{} || end != value.data() + value.size()) return std::nullopt;
    if (index >= strings_.size()) return std::nullopt;
    return strings_[index];
  }

  std::string name_;
  std::string error_;
  std::unique_ptr<zip_t, CloseArchive> archive_;
  std::vector<std::string> strings_;
};

}  // namespace

TableFile read_workbook(std::string_view bytes, const std::string& name) {
  return Workbook{bytes, name}.read();
}

}  // namespace orrery

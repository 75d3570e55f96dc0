#include "models/workload/traces/io/named_rows.hpp"

#include <algorithm>
#include <utility>

#include "models/workload/traces/io/csv.hpp"
#include "models/workload/traces/io/json_tokens.hpp"
#include "sim/config/diagnostics.hpp"

namespace orrery::traces {
namespace {

class CsvRows final : public NamedRows {
 public:
  CsvRows(TextSource source, Findings& findings, std::vector<WantedField> wanted,
          std::string_view hint)
      : NamedRows{findings, std::move(wanted)}, csv_{std::move(source), findings} {
    for (size_t field = 0; field < wanted_.size(); ++field) {
      if (!wanted_[field].is_needed && !csv_.has_column(wanted_[field].name)) continue;
      fields_.push_back(field);
      bound_.emplace_back(wanted_[field].name);
    }
    csv_.bind(bound_, std::string{hint} + header_text());
  }
  bool next() override {
    if (!csv_.next_row()) return false;
    for (size_t i = 0; i < fields_.size(); ++i) {
      cells_[fields_[i]] = {.text = std::string{csv_.text(i)}, .column = csv_.column(i)};
    }
    return true;
  }
  int64_t row() const override { return csv_.row(); }
  std::string place(size_t field) const override {
    const auto found = std::ranges::find(fields_, field);
    return found == fields_.end() ? "" : csv_.place(static_cast<size_t>(found - fields_.begin()));
  }
  TraceColumnUse use() const override { return csv_.use(bound_); }

 private:
  std::string header_text() const {
    std::string text;
    for (const std::string& name : csv_.header()) text += (text.empty() ? "" : ", ") + name;
    return "; its columns are " + text;
  }

  CsvReader csv_;
  std::vector<size_t> fields_;  // fields that have a column in the file
  std::vector<std::string_view> bound_;
};

class JsonRows final : public NamedRows {
 public:
  JsonRows(TextSource source, Findings& findings, std::vector<WantedField> wanted)
      : NamedRows{findings, std::move(wanted)}, tokens_{std::move(source), true} {}

  bool next() override {
    while (!findings_.is_stopped()) {
      const Kind kind = tokens_.next();
      if (kind == Kind::End) return false;
      row_ = tokens_.row();
      findings_.start_row(row_);
      if (kind == Kind::BeginObject) {
        read_object();
      } else if (kind != Kind::Error) {
        findings_.mistake(": expected an object");
        tokens_.skip(kind);
      }
      if (tokens_.error() && !go_on()) return false;
      if (findings_.row_ok()) return true;
    }
    return false;
  }
  int64_t row() const override { return row_; }
  std::string place(size_t field) const override { return " (" + wanted_[field].name + ")"; }
  TraceColumnUse use() const override { return use_; }

 private:
  using Kind = JsonTokens::Kind;
  static constexpr size_t kKeysMax = 100;  // limit of each list that use() returns

  // Reports a line that is no JSON as one malformed row. Returns false if no more lines can be
  // read.
  bool go_on() {
    if (!tokens_.is_readable()) {
      findings_.stop(*tokens_.error());
      return false;
    }
    findings_.mistake(tokens_.complaint());
    tokens_.resume();
    return true;
  }
  void read_object() {
    std::ranges::fill(cells_, Cell{});
    for (Kind kind = tokens_.next(); kind == Kind::Key; kind = tokens_.next()) {
      const std::string key{tokens_.text()};
      const Kind value = tokens_.next();
      bool is_wanted = false;
      for (size_t field = 0; field < wanted_.size(); ++field) {  // several fields may share a key
        if (wanted_[field].name != key) continue;
        is_wanted = true;
        take(value, cells_[field], key);
      }
      note(is_wanted ? use_.read : use_.passed_over, key);
      tokens_.skip(value);
    }
  }
  void take(Kind value, Cell& cell, const std::string& key) {
    cell = {.text = {}, .column = static_cast<size_t>(tokens_.column())};
    if (value == Kind::String || value == Kind::Number) cell.text = tokens_.text();
    const bool is_other = value == Kind::True || value == Kind::False ||
                          value == Kind::BeginObject || value == Kind::BeginArray;
    if (is_other) findings_.wrong_field(cell.column, key, "another value", "a number or a text");
  }
  static void note(std::vector<std::string>& keys, const std::string& key) {
    if (keys.size() < kKeysMax && std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
  }

  JsonTokens tokens_;
  int64_t row_ = 0;
  TraceColumnUse use_;
};

}  // namespace

bool NamedRows::has(size_t field) const { return !is_nothing(text(field)); }

void NamedRows::wrong(size_t field, std::string_view expected) {
  const Cell& cell = cells_[field];
  const std::string& name = wanted_[field].name;
  if (cell.column > 0) return findings_.wrong_field(cell.column, name, cell.text, expected);
  findings_.mistake(": missing " + in_quotes(name) + ", expected " + std::string{expected});
}

std::unique_ptr<NamedRows> open_named_csv(TextSource source, Findings& findings,
                                          std::vector<WantedField> wanted, std::string_view hint) {
  return std::make_unique<CsvRows>(std::move(source), findings, std::move(wanted), hint);
}

std::unique_ptr<NamedRows> open_json_lines(TextSource source, Findings& findings,
                                           std::vector<WantedField> wanted) {
  return std::make_unique<JsonRows>(std::move(source), findings, std::move(wanted));
}

}  // namespace orrery::traces

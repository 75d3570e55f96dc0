// sim/record/recorder.hpp -- destinations of rows: a file, memory (tests), or nothing.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/core/id.hpp"
#include "sim/core/time.hpp"
#include "sim/record/column.hpp"

namespace orrery {

using TableId = Id<struct TableTag>;
using AttributeValue = std::variant<bool, int64_t, uint64_t, double, std::string>;

// The output cannot be written. what() is the message for the user; the exit status is 74.
class RecordError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A headline figure of the run, stored as the scalar `/summary/<name>`.
struct SummaryValue {
  std::string name;
  std::variant<int64_t, double> value;
  std::string unit, doc;
};

// Whether `glob`, such as "/events/*", matches `path`, the path of a table.
bool is_meant(const std::string& glob, const std::string& path);

// Data that is known only when a run ends.
struct RunEnd {
  bool complete = false;
  uint64_t digest = 0;
  double wall_seconds = 0;
  Time simulated;
};

// A buffer of rows that its recorder can flush: every Channel is one.
class BufferedRows {
 public:
  virtual void flush() = 0;

 protected:
  ~BufferedRows() = default;
};

// The life of an output: open tables, write texts, `start`, append rows (`poll` now and then),
// `finish`. Nothing may be opened after `start`. A recorder must outlive its channels.
class Recorder {
 public:
  Recorder() = default;
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  virtual ~Recorder() = default;

  // Returns an invalid id if the table is off. The table's channel then drops every row.
  virtual TableId open(std::string_view path, std::string_view doc, std::span<const Column> columns,
                       size_t row_bytes) = 0;
  // Once recording has failed, drops the rows.
  virtual void append(TableId table, const void* rows, size_t count) = 0;
  // Sets an attribute of the whole run. May be called until finish() is called.
  virtual void set_attribute(std::string_view name, AttributeValue value) = 0;
  virtual void write_text(std::string_view path, std::string_view text) = 0;
  virtual void start() = 0;
  // The engine calls poll() periodically; poll() flushes when due. Returns false if recording
  // failed: the run must end, and `finish` throws the reason.
  [[nodiscard]] virtual bool poll(std::chrono::steady_clock::time_point now_host) = 0;
  virtual void finish(const RunEnd& end) = 0;

  void add_summary(std::string_view name, double value, std::string_view unit,
                   std::string_view doc);
  void add_summary(std::string_view name, int64_t value, std::string_view unit,
                   std::string_view doc);
  const std::vector<SummaryValue>& summary() const { return summary_; }

  // Writes the rows buffered in channels, in the order in which the channels were made.
  void flush_all();
  void attach(BufferedRows& rows) { buffers_.push_back(&rows); }
  void detach(BufferedRows& rows) { std::erase(buffers_, &rows); }

 private:
  void add_summary(SummaryValue value);
  std::vector<BufferedRows*> buffers_;
  std::vector<SummaryValue> summary_;
};

// Records nothing; a channel to it costs one branch per row.
class NullRecorder final : public Recorder {
 public:
  TableId open(std::string_view, std::string_view, std::span<const Column>, size_t) override {
    return {};
  }
  void append(TableId, const void*, size_t) override {}
  void set_attribute(std::string_view, AttributeValue) override {}
  void write_text(std::string_view, std::string_view) override {}
  void start() override {}
  bool poll(std::chrono::steady_clock::time_point) override { return true; }
  void finish(const RunEnd&) override {}
};

// Keeps everything, for tests: `recorder.rows<JobRow>("/jobs")`.
class MemoryRecorder final : public Recorder {
 public:
  struct Table {
    std::string path, doc;
    std::vector<Column> columns;
    size_t row_bytes = 0;
    std::vector<std::byte> bytes;
  };
  TableId open(std::string_view path, std::string_view doc, std::span<const Column> columns,
               size_t row_bytes) override;
  void append(TableId table, const void* rows, size_t count) override;
  void set_attribute(std::string_view name, AttributeValue value) override;
  void write_text(std::string_view path, std::string_view text) override;
  void start() override { started_ = true; }
  bool poll(std::chrono::steady_clock::time_point) override { return true; }
  void finish(const RunEnd& end) override;

  // All rows emitted so far, buffered ones included.
  template <class Row>
  std::vector<Row> rows(std::string_view path) {
    const std::vector<std::byte>& bytes = table(path, sizeof(Row)).bytes;
    std::vector<Row> rows(bytes.size() / sizeof(Row));
    if (!rows.empty()) std::memcpy(rows.data(), bytes.data(), bytes.size());
    return rows;
  }
  const std::vector<Table>& tables() const { return tables_; }
  const std::string& text(std::string_view path) const;
  const AttributeValue& attribute(std::string_view name) const;

 private:
  const Table& table(std::string_view path, size_t row_bytes);
  bool started_ = false;
  std::vector<Table> tables_;
  std::vector<std::pair<std::string, std::string>> texts_;
  std::vector<std::pair<std::string, AttributeValue>> attributes_;
};

}  // namespace orrery

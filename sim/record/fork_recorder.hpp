// sim/record/fork_recorder.hpp -- keeps what several outputs begin with, until it becomes one.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/record/recorder.hpp"

namespace orrery {

// Rows lie in memory until `become`, which gives another recorder all that came so far and then
// passes on what follows. A process that forks has one of these in each child.
class ForkRecorder final : public Recorder {
 public:
  explicit ForkRecorder(std::vector<std::string> off) : off_{std::move(off)} {}

  TableId open(std::string_view path, std::string_view doc, std::span<const Column> columns,
               size_t row_bytes) override;
  void append(TableId table, const void* rows, size_t count) override;
  void set_attribute(std::string_view name, AttributeValue value) override;  // replaces the former
  void write_text(std::string_view path, std::string_view text) override;    // likewise
  void start() override;
  bool poll(std::chrono::steady_clock::time_point now_host) override;
  void finish(const RunEnd& end) override;  // before `become`: all is dropped

  // After `start`. `target` is new, and switches off the same tables. Throws RecordError.
  void become(std::unique_ptr<Recorder> target);
  Recorder* target() { return target_.get(); }

 private:
  struct Table {
    std::string path, doc;
    std::vector<Column> columns;
    size_t row_bytes = 0;
    std::vector<std::byte> bytes = {};
    TableId of_target = {};
  };
  std::vector<std::string> off_;
  std::vector<Table> tables_;
  std::vector<std::pair<std::string, std::string>> texts_;
  std::vector<std::pair<std::string, AttributeValue>> attributes_;
  std::unique_ptr<Recorder> target_;
  bool has_started_ = false;
};

}  // namespace orrery

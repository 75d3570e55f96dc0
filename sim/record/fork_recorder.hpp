// sim/record/fork_recorder.hpp -- buffers the common beginning of several outputs.
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

// Keeps rows, attributes and texts in memory. `become` passes them to another recorder, the target.
// Later rows and attributes go directly to the target. After a fork each child has a copy of this
// recorder, with a target of its own.
class ForkRecorder final : public Recorder {
 public:
  explicit ForkRecorder(std::vector<std::string> off) : off_{std::move(off)} {}

  TableId open(std::string_view path, std::string_view doc, std::span<const Column> columns,
               size_t row_bytes) override;
  void append(TableId table, const void* rows, size_t count) override;
  // Replaces the former value.
  void set_attribute(std::string_view name, AttributeValue value) override;
  // Replaces the former text; not allowed after `become`.
  void write_text(std::string_view path, std::string_view text) override;
  void start() override;
  bool poll(std::chrono::steady_clock::time_point now_host) override;
  void finish(const RunEnd& end) override;  // before `become` it drops everything

  // To be called after `start`. `target` must be a new recorder that omits the same tables as this
  // one. Throws RecordError if the target cannot start.
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

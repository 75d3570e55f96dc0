// models/workload/traces/native/native_request_writer.hpp -- writes requests in Orrery's compact
// binary format.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/workload/traces/native/native_blocks.hpp"
#include "models/workload/traces/requests/request_row.hpp"

namespace orrery {

// The counterpart of NativeWriter for requests. Ids of prefix blocks are written as differences,
// because the ids of a request are mostly consecutive.
class NativeRequestWriter {
 public:
  NativeRequestWriter(std::string path,
                      const std::vector<traces::native::BlockWriter::Fact>& facts);

  void add(const RequestRow& request);  // arrivals must not decrease
  [[nodiscard]] bool finish() { return blocks_.finish(); }
  const std::string& error() const { return blocks_.error(); }
  int64_t requests() const { return blocks_.items(); }

 private:
  traces::native::BlockWriter blocks_;
  Time last_arrival_;
  int64_t last_row_ = 0;
};

}  // namespace orrery

// models/scheduling/cycle/attempt_log.hpp -- scheduling attempts, and what spoke against them, as
// rows.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "models/scheduling/cycle/scheduler_rows.hpp"
#include "models/scheduling/framework/framework.hpp"
#include "sim/record/channel.hpp"

namespace orrery {

// Of a profile's attempts, if they are recorded; else it has no tables and costs nothing.
class AttemptLog {
 public:
  AttemptLog(Recorder& recorder, bool is_on);

  bool is_on() const { return attempts_.has_value(); }
  uint64_t next() { return ++last_; }  // a number for an attempt that is written later
  void write(const AttemptRow& row) { attempts_->emit(row); }
  // One row for each reason for which nodes fell out, and one for each other plugin that rejected.
  void write_rejections(uint64_t attempt, const Framework& framework, const Candidates& diagnosis,
                        uint32_t plugins, std::string_view reason);

 private:
  uint64_t last_ = 0;
  std::optional<Channel<AttemptRow>> attempts_;
  std::optional<Channel<RejectionRow>> rejections_;
};

}  // namespace orrery

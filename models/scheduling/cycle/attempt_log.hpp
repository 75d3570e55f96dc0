// models/scheduling/cycle/attempt_log.hpp -- rows of scheduling attempts and of rejections.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "models/scheduling/cycle/active_profile.hpp"
#include "models/scheduling/cycle/scheduler_rows.hpp"
#include "models/workload/job/job_table.hpp"
#include "sim/record/channel.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

// Without record.attempts, the log has no tables and costs nothing.
class AttemptLog {
 public:
  // Columns of the row of the running attempt; see AttemptRow.
  struct Tried {
    int32_t pods = 1, placeable = -1;
    uint32_t domains = 1, victims = 0;
  };

  AttemptLog(Sim sim, const JobTable& jobs, const ActiveProfile& profile,
             const Nominations& nominations, bool is_on);

  bool is_on() const { return attempts_.has_value(); }
  Tried tried;

  uint64_t next() { return ++last_; }  // number of a new attempt, whose row is written later
  // Writes the row of an attempt and the rows of its rejections.
  void write(PodId pod, AttemptOutcome outcome, const Selection& why, std::string_view text);
  void write_attempt(uint64_t attempt, PodId pod, AttemptOutcome outcome, const Selection& why,
                     std::string_view text);
  // Writes one row for each reason for which a plugin rejected nodes. Each plugin of the set
  // `plugins` that rejected no nodes gets one row with `reason`.
  void write_rejections(uint64_t attempt, const Candidates& diagnosis, uint32_t plugins,
                        std::string_view reason);

 private:
  Sim sim_;
  const JobTable& jobs_;
  const ActiveProfile& profile_;
  const Nominations& nominations_;
  uint64_t last_ = 0;
  std::optional<Channel<AttemptRow>> attempts_;
  std::optional<Channel<RejectionRow>> rejections_;
};

}  // namespace orrery

// policies/jobs/remote/remote_messages.hpp -- messages between Orrery and a client. Each message is
// one line. README.md describes the protocol.
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "models/scheduling/contract/job_policy_api.hpp"

namespace orrery {

constexpr int64_t kRemoteVersion = 1;

// A line of the client violates the protocol.
class AnswerError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct RemoteDecision {
  enum class Kind : uint8_t { Start, Stop, Cancel, WakeAt };
  Kind kind = Kind::Start;
  uint64_t job = 0;                     // serial number of the job
  std::vector<std::string> nodes = {};  // nodes for a start; empty: any nodes
  Time when = {};                       // time of a WakeAt
};
constexpr std::array<std::string_view, 4> enum_names(RemoteDecision::Kind) {
  return {"start", "stop", "cancel", "wake_at"};
}
struct RemoteAnswer {
  std::vector<RemoteDecision> decisions;
  Duration took;  // simulated time until the decisions take effect
};

// check_greeting() and read_answer() throw AnswerError.
void check_greeting(const std::string& line);
RemoteAnswer read_answer(const std::string& line, Time now);

std::string hello_line(const JobBoard& board, const std::string& label);
std::string bye_line(Time now);
std::string error_line(Time now, std::string_view why);

// Collects events for the next line to the client.
class RemoteEvents {
 public:
  explicit RemoteEvents(const JobBoard& board) : board_{board} {}

  void planned(const PlanNews& news) {
    has_room_ |= news.has_room;
    has_longer_ |= news.has_longer;
  }
  void submitted(const QueuedJob& job);
  void waits(const QueuedJob& job);  // the job waits again
  void happened(std::string_view event, const QueuedJob& job);
  // An event with the job's expected end.
  void expected(std::string_view event, const QueuedJob& job);
  void node(std::string_view event, NodeId node);
  void refused(const RemoteDecision& decision, std::string_view why);
  void woke();
  bool are_none() const { return list_.empty() && !has_longer_; }
  std::string take_line();  // returns the collected line and starts a new one

 private:
  std::string& begin(std::string_view event);

  const JobBoard& board_;
  std::string list_;
  bool has_room_ = false, has_longer_ = false;
};

}  // namespace orrery

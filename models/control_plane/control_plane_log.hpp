// models/control_plane/control_plane_log.hpp -- events of API servers and etcd.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/control_plane/api_server/api_servers.hpp"
#include "models/control_plane/etcd/etcd_split.hpp"
#include "sim/record/channel.hpp"
#include "sim/record/column.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

enum class ControlPlaneEvent : uint8_t {
  ServerLost,
  ServerOutOfMemory,
  ServerBack,
  MemberLost,
  MemberBack,
  OutOfSpace,
  Defragmenting,
  Defragmented,
  SpaceBack
};
constexpr std::array<std::string_view, 9> enum_names(ControlPlaneEvent) {
  return {"server_lost",  "server_out_of_memory", "server_back",  "member_lost", "member_back",
          "out_of_space", "defragmenting",        "defragmented", "space_back"};
}

enum class ControlPlanePart : uint8_t { ApiServers, Etcd, EtcdOfEvents };
constexpr std::array<std::string_view, 3> enum_names(ControlPlanePart) {
  return {"api_servers", "etcd", "etcd_of_events"};
}

struct ControlPlaneEventRow {
  Time time;
  ControlPlanePart part = ControlPlanePart::ApiServers;
  ControlPlaneEvent event = ControlPlaneEvent::ServerLost;
  uint32_t number = 0;
  Bytes file{};

  static void columns(auto&& c) {
    c("time", &ControlPlaneEventRow::time, "when the event happened");
    c("part", &ControlPlaneEventRow::part,
      "the component; etcd_of_events: the second etcd, which stores only Events "
      "(control_plane.etcd.separate_events)");
    c("event", &ControlPlaneEventRow::event,
      "server_lost: a loss from control_plane.losses; server_out_of_memory: killed at its "
      "heap.limit; out_of_space: etcd raises its NOSPACE alarm; space_back: etcd clears this "
      "alarm; defragmenting: the defragmentation of a member of etcd begins; defragmented: the "
      "defragmentation ends");
    c("number", &ControlPlaneEventRow::number,
      "number of the API server or etcd member; for an alarm, of etcd's leader");
    c("file", &ControlPlaneEventRow::file,
      "size of the database file of etcd; 0 in rows of servers");
  }
};

// Writes /events/control_plane, and adds its counts to summary and notes.
class ControlPlaneLog {
 public:
  // `servers` and `etcd` must outlive the log.
  ControlPlaneLog(Sim sim, ApiServers& servers, EtcdSplit& etcd);
  ControlPlaneLog(const ControlPlaneLog&) = delete;
  ControlPlaneLog& operator=(const ControlPlaneLog&) = delete;

  void add_summary(Recorder& recorder) const;
  std::vector<std::string> notes() const;

 private:
  void watch(ControlPlanePart part, Etcd& etcd);
  uint64_t& count(ControlPlaneEvent event) { return counts_[static_cast<size_t>(event)]; }
  uint64_t count(ControlPlaneEvent event) const { return counts_[static_cast<size_t>(event)]; }

  Engine& engine_;
  std::vector<uint64_t> memory_kills_;  // kills recorded so far, by server
  std::array<uint64_t, 9> counts_ = {};
  uint32_t full_ = 0;  // etcds with an active NOSPACE alarm
  Channel<ControlPlaneEventRow> rows_;
};

}  // namespace orrery

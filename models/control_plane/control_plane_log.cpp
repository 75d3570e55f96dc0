#include "models/control_plane/control_plane_log.hpp"

#include <utility>

namespace orrery {
namespace {

ControlPlaneEvent event_of(EtcdNews news) {
  constexpr std::array kEvents{ControlPlaneEvent::MemberLost,   ControlPlaneEvent::MemberBack,
                               ControlPlaneEvent::OutOfSpace,   ControlPlaneEvent::Defragmenting,
                               ControlPlaneEvent::Defragmented, ControlPlaneEvent::SpaceBack};
  return kEvents[static_cast<size_t>(news)];
}

}  // namespace

ControlPlaneLog::ControlPlaneLog(Sim sim, ApiServers& servers, EtcdSplit& etcd)
    : engine_{sim.engine},
      memory_kills_(servers.size()),
      rows_{sim.recorder, "/events/control_plane", "What happened to API servers and to etcd."} {
  const auto note = [this](uint32_t server, ControlPlaneEvent event) {
    ++count(event);
    rows_.emit({.time = engine_.now(), .event = event, .number = server});
  };
  for (uint32_t s = 0; s < servers.size(); ++s) {
    ApiServer& server = servers.server(s);
    server.lost.connect([this, note, s, &server] {
      const uint64_t kills = server.memory_kills();
      const bool is_killed = std::exchange(memory_kills_[s], kills) != kills;
      note(s, is_killed ? ControlPlaneEvent::ServerOutOfMemory : ControlPlaneEvent::ServerLost);
    });
    server.recovered.connect([note, s] { note(s, ControlPlaneEvent::ServerBack); });
  }
  watch(ControlPlanePart::Etcd, etcd.objects());
  if (etcd.is_split()) watch(ControlPlanePart::EtcdOfEvents, etcd.events());
}

void ControlPlaneLog::watch(ControlPlanePart part, Etcd& etcd) {
  etcd.news.connect([this, part, &etcd](EtcdNews news, uint32_t member) {
    const ControlPlaneEvent event = event_of(news);
    ++count(event);
    if (news == EtcdNews::OutOfSpace) ++full_;
    if (news == EtcdNews::SpaceBack) --full_;
    rows_.emit({.time = engine_.now(),
                .part = part,
                .event = event,
                .number = member,
                .file = etcd.file()});
  });
}

void ControlPlaneLog::add_summary(Recorder& recorder) const {
  const auto add = [&](std::string_view name, ControlPlaneEvent event, std::string_view unit,
                       std::string_view doc) {
    recorder.add_summary(name, static_cast<int64_t>(count(event)), unit, doc);
  };
  add("api_servers_killed", ControlPlaneEvent::ServerOutOfMemory, "",
      "times that an API server ran out of memory and restarted");
  add("etcd_out_of_space", ControlPlaneEvent::OutOfSpace, "",
      "times that the database of etcd reached its quota");
  add("etcd_defragmented", ControlPlaneEvent::Defragmented, "",
      "times that a member of etcd was defragmented");
}

std::vector<std::string> ControlPlaneLog::notes() const {
  std::vector<std::string> notes;
  if (const uint64_t kills = count(ControlPlaneEvent::ServerOutOfMemory); kills > 0) {
    notes.push_back("control plane: API servers were killed for their memory " +
                    std::to_string(kills) + (kills == 1 ? " time" : " times") +
                    " (/events/control_plane)");
  }
  if (full_ > 0) {
    notes.push_back(
        "control plane: the database of etcd was full at the end: it took only "
        "deletions; control_plane.etcd.defragmentations makes room");
  }
  return notes;
}

}  // namespace orrery

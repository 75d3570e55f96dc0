// models/control_plane/control_plane_rows.hpp -- rows of /timeline/control_plane,
// /timeline/api_servers and /timeline/etcd.
#pragma once

#include <cstdint>

#include "models/control_plane/base/request.hpp"
#include "sim/core/time.hpp"
#include "sim/record/column.hpp"

namespace orrery {

struct ControlPlaneSample {
  Time time;
  FixedText<24> level = {};
  Verb verb = Verb::Get;
  double done = 0, too_many = 0, errors = 0, lost = 0;
  Duration p50, p90, p99;

  static void columns(auto&& c) {
    c("time", &ControlPlaneSample::time, "end of the interval; rates are means over it");
    c("level", &ControlPlaneSample::level, "of priority");
    c("verb", &ControlPlaneSample::verb, "what was asked");
    c("done", &ControlPlaneSample::done, "requests that succeeded", "1/s");
    c("too_many", &ControlPlaneSample::too_many, "rejected with 429", "1/s");
    c("errors", &ControlPlaneSample::errors, "refused or timed out, with 500 and above", "1/s");
    c("lost", &ControlPlaneSample::lost, "lost with their server", "1/s");
    c("p50", &ControlPlaneSample::p50, "from arrival at the server to the answer, of those done");
    c("p90", &ControlPlaneSample::p90, "likewise");
    c("p99", &ControlPlaneSample::p99, "likewise");
  }
};

struct ApiServerSample {
  Time time;
  uint32_t server = 0;
  bool is_up = true;
  double cores = 0, egress = 0;
  Bytes heap{};
  int64_t watches = 0;
  uint32_t requests = 0;
  double steady = 0;
  double gone = 0;

  static void columns(auto&& c) {
    c("time", &ApiServerSample::time, "end of the interval; rates are means over it");
    c("server", &ApiServerSample::server, "which one");
    c("is_up", &ApiServerSample::is_up, "it serves now");
    c("cores", &ApiServerSample::cores, "busy, heartbeats included", "cores");
    c("egress", &ApiServerSample::egress, "sent, without heartbeats", "bit/s");
    c("heap", &ApiServerSample::heap, "memory now");
    c("watches", &ApiServerSample::watches, "watches that it serves now", "watches");
    c("requests", &ApiServerSample::requests, "waiting or executing now", "requests");
    c("steady", &ApiServerSample::steady, "a rate now: heartbeats, crash loops and the like",
      "1/s");
    c("gone", &ApiServerSample::gone,
      "watches that it could not resume, because its watch cache lacked changes: 410, and they "
      "list again",
      "1/s");
  }
};

struct EtcdSample {
  Time time;
  double writes = 0, refused = 0, timed_out = 0;
  Bytes in_use{}, file{};
  uint64_t waiting = 0;
  double read = 0;
  Bytes events{};
  int64_t pods = 0;
  Bytes watcher_memory{}, index_memory{};
  uint64_t members_lost = 0;

  static void columns(auto&& c) {
    c("time", &EtcdSample::time, "end of the interval; rates are means over it");
    c("writes", &EtcdSample::writes, "committed, without heartbeats; of all etcds", "1/s");
    c("refused", &EtcdSample::refused, "rejected as too large, or for lack of space", "1/s");
    c("timed_out", &EtcdSample::timed_out,
      "writes that timed out without a leader, or while it defragmented", "1/s");
    c("in_use", &EtcdSample::in_use, "in use by objects and their old versions, now");
    c("file", &EtcdSample::file, "of the database on disk, now");
    c("waiting", &EtcdSample::waiting, "writes waiting now", "writes");
    c("read", &EtcdSample::read, "out of all etcds", "B/s");
    c("events", &EtcdSample::events, "Events that are kept now");
    c("pods", &EtcdSample::pods, "that are stored now", "pods");
    c("watcher_memory", &EtcdSample::watcher_memory,
      "memory for watches of API servers, now; sum over the leader of each etcd");
    c("index_memory", &EtcdSample::index_memory,
      "memory for keys and uncompacted versions, now; sum over one member of each etcd");
    c("members_lost", &EtcdSample::members_lost, "down now, of the etcd that stores pods",
      "members");
  }
};

}  // namespace orrery

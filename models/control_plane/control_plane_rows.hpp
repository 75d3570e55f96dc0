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
    c("level", &ControlPlaneSample::level, "priority level of API Priority and Fairness");
    c("verb", &ControlPlaneSample::verb, "verb of the requests");
    c("done", &ControlPlaneSample::done, "requests that succeeded", "1/s");
    c("too_many", &ControlPlaneSample::too_many, "requests rejected with 429", "1/s");
    c("errors", &ControlPlaneSample::errors,
      "requests that failed with a 5xx status, because etcd did not serve them or they timed out",
      "1/s");
    c("lost", &ControlPlaneSample::lost,
      "requests that failed because no API server was up, or their server went down", "1/s");
    c("p50", &ControlPlaneSample::p50,
      "median time from arrival at the server to the response, of requests that succeeded");
    c("p90", &ControlPlaneSample::p90,
      "90th percentile of the time from arrival to response, of requests that succeeded");
    c("p99", &ControlPlaneSample::p99,
      "99th percentile of the time from arrival to response, of requests that succeeded");
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
    c("time", &ApiServerSample::time,
      "end of the interval; rates are means over it, except `steady`");
    c("server", &ApiServerSample::server, "index of the server, from 0");
    c("is_up", &ApiServerSample::is_up, "whether the server serves requests now");
    c("cores", &ApiServerSample::cores, "busy cores, steady load such as heartbeats included",
      "cores");
    c("egress", &ApiServerSample::egress, "data sent, without steady load such as heartbeats",
      "bit/s");
    c("heap", &ApiServerSample::heap, "memory that the server uses now; 0 while it is down");
    c("watches", &ApiServerSample::watches, "watches that the server serves now", "watches");
    c("requests", &ApiServerSample::requests, "requests that wait or execute now", "requests");
    c("steady", &ApiServerSample::steady,
      "steady load now: requests of heartbeats, crash loops and the like, which are simulated as a "
      "rate, not one by one",
      "1/s");
    c("gone", &ApiServerSample::gone,
      "watches that the server rejected with 410 Gone, because its watch cache no longer had the "
      "changes since the last event of the watch; the client then lists again",
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
    c("writes", &EtcdSample::writes, "committed writes, without steady load such as heartbeats",
      "1/s");
    c("refused", &EtcdSample::refused, "writes rejected as too large, or for lack of space", "1/s");
    c("timed_out", &EtcdSample::timed_out,
      "writes that timed out without a leader, or during a defragmentation", "1/s");
    c("in_use", &EtcdSample::in_use, "size now of all objects and their uncompacted old versions");
    c("file", &EtcdSample::file, "size on disk of one member's database file now");
    c("waiting", &EtcdSample::waiting, "writes whose commit is still pending now", "writes");
    c("read", &EtcdSample::read, "bytes read from etcd", "B/s");
    c("events", &EtcdSample::events, "size of the stored Events that have not expired by now");
    c("pods", &EtcdSample::pods, "Pod objects that are stored now", "pods");
    c("watcher_memory", &EtcdSample::watcher_memory,
      "memory that etcd's leader now uses for the watches of API servers");
    c("index_memory", &EtcdSample::index_memory,
      "memory that one member now uses for its index of keys and uncompacted versions");
    c("members_lost", &EtcdSample::members_lost,
      "members that are down now; with separate_events, of the etcd that stores pods", "members");
  }
};

}  // namespace orrery

// models/control_plane/etcd/etcd_params.hpp -- parameters of the store behind the API servers.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "models/facts/fact.hpp"
#include "sim/config/fields.hpp"
#include "sim/core/time.hpp"

namespace orrery {

enum class EtcdDisk : uint8_t { LocalSsd, NetworkSsd, Hdd };
constexpr std::array<std::string_view, 3> enum_names(EtcdDisk) {
  return {"local_ssd", "network_ssd", "hdd"};
}

struct EtcdMemberLossParams {
  static constexpr std::string_view kDoc =
      "A member of etcd that is lost. Without a leader etcd commits nothing until another leader "
      "is elected. Without a quorum it commits nothing until a quorum is back. Writes fail after "
      "a wait of 5 s and two election timeouts.";
  int32_t member = 0;
  Duration at = {};
  std::optional<Duration> until = {};

  template <class V>
  void fields(V& v) {
    v("member", member, "Index of the member, from 0.", Range{0, 8});
    v("at", at, "Time of the loss, from the start of the run.", Required{}, Example{"10min"},
      IsInstant{});
    v("until", until, "When the member is back, from the start of the run; absent: never.");
  }
  void check(Checker& c) const {
    if (until && *until <= at) c.error("until", "must be after `at`");
  }
};

struct DefragmentationParams {
  static constexpr std::string_view kDoc =
      "An administrator frees space in etcd: `etcdctl compact` up to now, `defrag` of one member "
      "after another, the leader last, then `alarm disarm`. A defragmenting member does not "
      "respond; while the leader defragments, nothing is committed. Lost members are skipped. With "
      "separate_events both etcds are defragmented.";
  Duration at = {};

  template <class V>
  void fields(V& v) {
    v("at", at, "Time from the start of the run until the administrator begins.", Required{},
      Example{"10min"}, IsInstant{});
  }
};

struct EtcdParams {
  static constexpr std::string_view kDoc =
      "The members of etcd. Writes are committed in groups: a commit includes the waiting writes, "
      "at most as many as write_rate_max allows in the time of one commit.";
  int32_t members = 5;
  EtcdDisk disk = EtcdDisk::LocalSsd;
  std::optional<Duration> commit_latency = {};
  double write_rate_max = 44'341;
  Duration read_latency = {700'000};
  double read_rate_max = 47'193;
  Bandwidth read_bandwidth = 10_Gbps;
  double read_object = 8'000, read_byte = 5.2;
  bool blocking_reads = false;
  Duration election_timeout = 1_s;
  std::vector<EtcdMemberLossParams> losses = {};
  Bytes request_max = {1'572'864};
  Bytes quota = 2_GiB;
  Duration compaction_interval = 5_min;
  std::vector<DefragmentationParams> defragmentations = {};
  Bandwidth defragmentation_rate{2'200'000'000};
  Duration event_ttl = 1_h;
  bool separate_events = false;

  template <class V>
  void fields(V& v) {
    v("members", members, "Number of voting members. Each member serves reads.", Range{1, 9},
      Unit{"members"}, Source{"published: OpenAI at 7,500 nodes, 5"});
    v("disk", disk,
      "Disks of the members. A commit takes 0.2 ms (local_ssd), 2 ms (network_ssd) or 10 ms (hdd).",
      Source{"published: OpenAI at 2,500 nodes, 0.2 ms on local and 2 ms on network SSDs; etcd's "
             "documentation, 10 ms on hard disks"},
      Heeded{!commit_latency, "commit_latency is set"});
    v("commit_latency", commit_latency,
      "Duration of a commit without other load; replaces that of `disk`. 0: commits take no time.",
      Range{Duration{}, 10_s}, Example{"1.6ms"});
    v("write_rate_max", write_rate_max, "Writes a second that the leader can do.", Range{1.0, 1e7},
      Unit{"writes/s"},
      Source{"published: etcd's benchmark, 1,000 clients that write to the leader of 3 members"},
      Heeded{Fact::FullPlane});
    v("read_latency", read_latency,
      "Duration of a consistent read without other load; 0: reads take no time.",
      Range{Duration{}, 10_s}, Source{"published: etcd's benchmark, linearizable, 1 client"},
      Heeded{Fact::EtcdReads});
    v("read_rate_max", read_rate_max, "Reads a second that a member can do.", Range{1.0, 1e7},
      Unit{"reads/s"}, Source{"published: etcd's benchmark, 141,578 reads/s from 3 members"},
      Heeded{Fact::EtcdReads}, Heeded{read_latency > Duration{}, "read_latency is 0"});
    v("read_bandwidth", read_bandwidth, "Bandwidth of one member for reads.",
      Range{1_Gbps, 1000_Gbps}, Source{"estimate: the network of one virtual machine"},
      Heeded{Fact::EtcdReads}, Heeded{read_latency > Duration{}, "read_latency is 0"});
    v("read_object", read_object,
      "CPU time of a member for each object of a LIST. LISTs run in parallel.", Range{0.0, 1e9},
      Unit{"ns"}, Source{"KEP-2340: LISTs of 300,000 objects of 1 KB, less the cost of the bytes"},
      Heeded{Fact::EtcdReads}, Heeded{read_latency > Duration{}, "read_latency is 0"});
    v("read_byte", read_byte, "CPU time of a member for each byte of a LIST.", Range{0.0, 1e9},
      Unit{"ns"}, Source{"KEP-2340: LISTs of 300 objects of 1 MB"}, Heeded{Fact::EtcdReads},
      Heeded{read_latency > Duration{}, "read_latency is 0"});
    v("blocking_reads", blocking_reads,
      "true: reads lock the database, so a commit waits for earlier reads.",
      Source{"etcd 3.4: reads are concurrent; in older releases a long read blocked all writes"},
      Heeded{Fact::EtcdReads}, Heeded{read_latency > Duration{}, "read_latency is 0"});
    v("election_timeout", election_timeout,
      "After the leader is lost or a quorum is back, nothing is committed for this time.",
      Range{Duration{}, 1_min}, Source{"etcd 3.5: --election-timeout"}, Heeded{Fact::FullPlane},
      Heeded{elects(), "no loss takes the leader or the quorum"});
    v("losses", losses,
      "Members that are lost; with separate_events, members of the etcd that holds no Events. "
      "Member 0 leads at first. After an election, the lowest-numbered member that is up leads.",
      Heeded{Fact::FullPlane});
    v("request_max", request_max, "Size limit of a write; larger writes are rejected.",
      Range{1_B, 1_GiB}, Source{"etcd 3.5: --max-request-bytes, 1.5 MiB"}, Heeded{Fact::FullPlane});
    v("quota", quota, "Size limit of the database; beyond it only reads and deletions are served.",
      Range{1_MiB, 1024_GiB}, Source{"etcd 3.5: --quota-backend-bytes"}, Heeded{Fact::FullPlane});
    v("compaction_interval", compaction_interval,
      "Old versions are kept for one to two intervals; 0: for ever.", Range{Duration{}, 24_h},
      Source{"kube-apiserver: --etcd-compaction-interval"}, Heeded{Fact::FullPlane});
    v("defragmentations", defragmentations, "When an administrator frees space in etcd.",
      Heeded{Fact::FullPlane});
    v("defragmentation_rate", defragmentation_rate,
      "Rate at which a member rewrites its live data.", Range{Bandwidth{1'000'000}, 1000_Gbps},
      Source{"published: etcd issue 20952, a database of 4.1 GB takes 15 s"},
      Heeded{Fact::FullPlane}, Heeded{!defragmentations.empty(), "there are no defragmentations"});
    v("event_ttl", event_ttl, "How long Events are kept.", Range{1_min, 168_h},
      Source{"kube-apiserver: --event-ttl"}, Heeded{Fact::FullPlane}, Heeded{Fact::RecordedEvents});
    v("separate_events", separate_events, "Whether a second, identical etcd stores Events.",
      Source{"kube-apiserver: --etcd-servers-overrides is empty"}, Heeded{Fact::FullPlane},
      Heeded{Fact::RecordedEvents});
  }
  void check(Checker& c) const;
  bool elects() const;                                    // whether some loss leads to an election
  Duration commit_time() const;                           // without other load
  Duration request_timeout() const;                       // how long a write waits for a leader
  Duration list_cpu(int64_t objects, Bytes bytes) const;  // CPU time on one core of a member
};

}  // namespace orrery

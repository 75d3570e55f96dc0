#include "models/control_plane/etcd/etcd_params.hpp"

#include "models/control_plane/base/losses.hpp"
#include "sim/config/quantity.hpp"

namespace orrery {

void EtcdParams::check(Checker& c) const {
  if (request_max > quota) c.error("request_max", "must not be more than the quota");
  if (members % 2 == 0) {
    c.warning("members", "an even number survives no more losses than one member less");
  }
  check_losses(c, losses, &EtcdMemberLossParams::member, members, "member");
  for (size_t i = 1; i < defragmentations.size(); ++i) {
    if (defragmentations[i].at > defragmentations[i - 1].at) continue;
    c.error("defragmentations[" + std::to_string(i) + "].at",
            "must be later than the defragmentation before it, at " +
                format_quantity(defragmentations[i - 1].at));
  }
  if (compaction_interval > Duration{} && compaction_interval < 1_s) {
    c.error("compaction_interval", "must be 0 (never) or at least 1 s");
  }
}

// Member 0 is the first leader. The loss of member 0 or of the quorum causes an election.
bool EtcdParams::elects() const {
  for (const EtcdMemberLossParams& loss : losses) {
    int32_t up = members;
    for (const EtcdMemberLossParams& other : losses) {
      if (other.at <= loss.at && (!other.until || *other.until > loss.at)) --up;
    }
    if (loss.member == 0 || 2 * up <= members) return true;
  }
  return false;
}

Duration EtcdParams::commit_time() const {
  if (commit_latency) return *commit_latency;
  constexpr std::array<Duration, 3> kByDisk{200_us, 2_ms, 10_ms};
  return kByDisk[static_cast<size_t>(disk)];
}

// etcd 3.5, ServerConfig.ReqTimeout: 5 s to queue, compute and wait for disks, plus two elections.
Duration EtcdParams::request_timeout() const { return 5_s + election_timeout * 2; }

Duration EtcdParams::list_cpu(int64_t objects, Bytes bytes) const {
  return nearest_ns(1e-9 * (read_object * static_cast<double>(objects) +
                            read_byte * static_cast<double>(bytes.count)));
}

}  // namespace orrery

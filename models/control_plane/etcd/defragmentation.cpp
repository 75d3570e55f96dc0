#include "models/control_plane/etcd/defragmentation.hpp"

#include "sim/core/check.hpp"

namespace orrery {

Defragmentation::Defragmentation(Engine& engine, Etcd& etcd, Bandwidth rate)
    : etcd_{etcd}, rate_{rate}, rewriting_{engine, Label{"etcd.member_defragmented"}, [this] {
                                             end_member();
                                           }} {
  etcd.news.connect([this](EtcdNews news, uint32_t member) {
    if (news != EtcdNews::MemberLost || member_ != member) return;
    ORRERY_MARK("etcd.lost_while_defragmenting");
    rewriting_.arm({});
  });
}

void Defragmentation::start() {
  if (member_) return;
  is_done_.assign(etcd_.members().size(), false);
  has_shrunk_ = false;
  etcd_.compact();
  defragment_next();
}

std::optional<uint32_t> Defragmentation::next() const {
  std::optional<uint32_t> last;
  for (uint32_t m = 0; m < is_done_.size(); ++m) {
    if (is_done_[m] || !etcd_.members()[m]) continue;
    if (m != etcd_.leader()) return m;
    last = m;
  }
  return last;
}

void Defragmentation::defragment_next() {
  member_ = next();
  if (!member_) {
    if (has_shrunk_) etcd_.shrink();
    return;
  }
  rewriting_.arm(etcd_.in_use() / rate_);
  etcd_.set_defragmenting(member_);
}

// Called when the member is done or was lost.
void Defragmentation::end_member() {
  is_done_[*member_] = true;
  has_shrunk_ |= etcd_.members()[*member_];
  etcd_.set_defragmenting({});
  defragment_next();
}

}  // namespace orrery

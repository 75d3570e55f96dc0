#include "models/storage/storage.hpp"

#include <utility>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

// Disk links of one direction form a group, because their bytes are reported as one figure.
constexpr uint32_t group_of(Direction direction) { return 1 + static_cast<uint32_t>(direction); }

}  // namespace

Storage::Storage(Sim sim, const StorageParams& params, uint32_t nodes) : flows_{sim.engine} {
  for (const StoreParams& p : params.stores) {
    stores_.push_back(
        {p.name, p.latency, false, {flows_.add_link(p.write), flows_.add_link(p.read)}});
  }
  const auto add_links = [&](std::vector<LinkId>& links, Bandwidth write, Bandwidth read,
                             bool is_disk) {
    for (uint32_t n = 0; n < nodes; ++n) {
      links.push_back(flows_.add_link(write, is_disk ? group_of(Direction::Write) : 0));
      links.push_back(flows_.add_link(read, is_disk ? group_of(Direction::Read) : 0));
    }
  };
  if (!params.stores.empty()) add_links(node_links_, params.node.write, params.node.read, false);
  if (params.local) {
    stores_.push_back({std::string{kLocalStore}, {}, true, {}});
    add_links(disk_links_, params.local->write, params.local->read, true);
  }
}

StoreId Storage::find(std::string_view name) const {
  for (uint32_t s = 0; s < stores_.size(); ++s) {
    if (stores_[{s}].name == name) return {s};
  }
  return {};
}

void Storage::collect_uses(const Transfer& transfer) {
  const Store& store = stores_[transfer.store];
  const auto direction = static_cast<size_t>(transfer.direction);
  const std::vector<LinkId>& links = store.is_local ? disk_links_ : node_links_;
  uses_.clear();
  for (const NodeId node : transfer.nodes) {
    uses_.push_back({links[2 * node.index + direction]});
  }
  if (!store.is_local) {
    uses_.push_back({store.links[direction], static_cast<double>(transfer.nodes.size())});
  }
}

FlowId Storage::start(const Transfer& transfer, Callback done) {
  ORRERY_CHECK(!transfer.nodes.empty(), "somebody writes or reads");
  collect_uses(transfer);
  return flows_.start(
      {.size = transfer.each, .uses = uses_, .latency = stores_[transfer.store].latency},
      std::move(done));
}

FlowId Storage::open(const Transfer& transfer, double bits_per_s_max) {
  collect_uses(transfer);
  return flows_.open(uses_, bits_per_s_max);
}

double Storage::moved(StoreId store, Direction direction) const {
  if (stores_[store].is_local) return flows_.carried_by(group_of(direction));
  const LinkId link = stores_[store].links[static_cast<size_t>(direction)];
  return static_cast<double>(flows_.carried(link).count);
}

}  // namespace orrery

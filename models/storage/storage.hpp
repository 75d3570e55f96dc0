// models/storage/storage.hpp -- shared stores and local disks, with bandwidth shared by transfers.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "models/network/sharing/flow_network.hpp"
#include "models/storage/storage_params.hpp"
#include "sim/core/callback.hpp"
#include "sim/core/id.hpp"
#include "sim/core/time.hpp"
#include "sim/record/channel.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

using StoreId = Id<struct StoreTag>;
enum class Direction : uint8_t { Write, Read };
constexpr std::array<std::string_view, 2> enum_names(Direction) { return {"write", "read"}; }

// Every node of a transfer moves the same amount at the same rate, so the nodes of a checkpoint
// finish together. Example: 4 nodes, each with up to 8 GB/s, write 10 GB each to a store of 20
// GB/s. Each node gets 5 GB/s, so the transfer takes 2 s.
class Storage {
 public:
  struct Transfer {
    StoreId store;
    Direction direction = Direction::Write;
    std::span<const NodeId> nodes;  // each node once
    Bytes each{};                   // bytes that each node moves; unused by open()
  };

  Storage(Sim sim, const StorageParams& params, uint32_t nodes);
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  StoreId find(std::string_view name) const;  // invalid if there is no such store
  std::string_view name(StoreId store) const { return stores_[store].name; }
  size_t stores() const { return stores_.size(); }

  // Calls `done` when all bytes are moved.
  FlowId start(const Transfer& transfer, Callback done);
  bool cancel(FlowId transfer) { return flows_.end(transfer); }
  // Starts an endless transfer. flows().rate() is its present rate per node, and
  // flows().rate_changed reports changes.
  FlowId open(const Transfer& transfer, double bits_per_s_max);

  // Bytes that all nodes together have moved so far.
  double moved(StoreId store, Direction direction) const;
  FlowNetwork& flows() { return flows_; }
  const FlowNetwork& flows() const { return flows_; }

 private:
  struct Store {
    std::string name;
    Duration latency;
    bool is_local = false;
    LinkId links[2];  // by direction; invalid for local disks
  };
  void collect_uses(const Transfer& transfer);

  FlowNetwork flows_;
  IdVector<StoreId, Store> stores_;
  std::vector<LinkId> node_links_, disk_links_;  // indexed by 2 * node + direction
  std::vector<LinkUse> uses_;                    // scratch
};

}  // namespace orrery

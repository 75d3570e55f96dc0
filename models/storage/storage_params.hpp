// models/storage/storage_params.hpp -- the section `storage` of a scenario.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/facts/fact.hpp"
#include "sim/config/fields.hpp"
#include "sim/core/time.hpp"

namespace orrery {

struct StoreParams {
  static constexpr std::string_view kDoc =
      "A store that nodes share: a blob store or a network file system.";
  std::string name = {};
  Bandwidth write = {}, read = {};
  Duration latency = {};

  template <class V>
  void fields(V& v) {
    v("name", name, "Name by which jobs refer to the store.", Required{}, Example{"blob"});
    v("write", write,
      "Bandwidth of all writers together. For comparison, Llama 3's store, Tectonic, sustains 2 "
      "TB/s.",
      Required{}, Example{"100GBps"});
    v("read", read, "Bandwidth of all readers together.", Required{}, Example{"200GBps"});
    v("latency", latency, "Delay before the first byte of each write or read of a checkpoint.",
      Heeded{Fact::SharedWrites});
  }
  void check(Checker& c) const;
};

struct LocalDiskParams {
  static constexpr std::string_view kDoc =
      "NVMe disks of every node; their data are lost with the node.";
  Bandwidth write = {48'000'000'000};
  Bandwidth read = {96'000'000'000};

  template <class V>
  void fields(V& v) {
    v("write", write, "Write bandwidth of all disks of one node together.",
      Source{"an estimate, for four PCIe 3 drives of 1.5 GB/s each"}, Heeded{Fact::LocalWrites});
    v("read", read, "Read bandwidth of all disks of one node together.",
      Source{"an estimate, for four PCIe 3 drives of 3 GB/s each"});
  }
  void check(Checker& c) const;
};

struct NodeStorageParams {
  static constexpr std::string_view kDoc = "Bandwidth between one node and shared stores.";
  Bandwidth write = {200'000'000'000};
  Bandwidth read = {200'000'000'000};

  template <class V>
  void fields(V& v) {
    v("write", write, "Write bandwidth from one node to all shared stores together.",
      Source{"the storage NIC of a DGX A100, 200 Gb/s"}, Heeded{Fact::SharedWrites});
    v("read", read, "Read bandwidth from all shared stores together to one node.",
      Source{"the storage NIC of a DGX A100, 200 Gb/s"});
  }
  void check(Checker& c) const;
};

struct StorageParams {
  static constexpr std::string_view kDoc =
      "Stores of checkpoints and data. Bandwidth is shared max-min fairly among writers, and among "
      "readers.";
  std::vector<StoreParams> stores = {};
  NodeStorageParams node = {};
  std::optional<LocalDiskParams> local = {};

  template <class V>
  void fields(V& v) {
    v("stores", stores, "Stores that nodes share.", Heeded{Fact::SharedStores});
    v("node", node, "Bandwidth between one node and the stores that nodes share.",
      Heeded{Fact::SharedStores});
    v("local", local,
      "Local disks of each node. A job uses them as the store `local`. Absent: nodes have no local "
      "disks.",
      Heeded{Fact::LocalDisks});
  }
  void check(Checker& c) const;
  std::vector<std::string> names() const;  // all stores, `local` included
};

inline constexpr std::string_view kLocalStore = "local";

}  // namespace orrery

// models/workload/training/checkpoint_params.hpp -- checkpoints to a store, as a scenario describes
// them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "models/facts/fact.hpp"
#include "sim/config/options.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// Sync: compute stops until the checkpoint is in the store. Async: compute stops only while the
// state is copied to host memory. If an async checkpoint is due before the previous one is in the
// store, compute also stops until the previous one is in the store.
enum class CheckpointMode : uint8_t { Sync, Async };
constexpr std::array<std::string_view, 2> enum_names(CheckpointMode) { return {"sync", "async"}; }

struct CheckpointParams {
  static constexpr std::string_view kDoc =
      "Checkpoints are written to a store and read from it, and share its bandwidth with other "
      "transfers. This section replaces `checkpoint_write` and `restore`.";

  std::string store = {};
  Bytes bytes = {};
  CheckpointMode mode = CheckpointMode::Sync;
  bool sharded = true;
  Bandwidth host_copy = {160'000'000'000};

  template <class V>
  void fields(V& v) {
    v("store", store,
      "Name of a store in storage.stores, or `local` for the disks of the job's nodes.", Required{},
      Example{"blob"});
    v("bytes", bytes,
      "Size of a whole checkpoint. Megatron writes 14 bytes a parameter, which is 2.45 TB for 175 "
      "billion parameters.",
      Required{}, Example{"2.45TB"});
    v("mode", mode,
      "sync: compute stops until the checkpoint is written. async: compute stops only until the "
      "checkpoint is copied to host memory. If a checkpoint is due while the previous checkpoint "
      "is not yet written, compute stops until the previous checkpoint is written.");
    v("sharded", sharded,
      "true: each node writes an equal part, and reads it back. false: the node of rank 0 writes "
      "everything, and every node reads everything.",
      Heeded{store != "local", "the store is local (each node writes its own part)"},
      Heeded{Fact::GangsOfPods});
    v("host_copy", host_copy, "Rate at which one GPU copies its state to host memory.",
      Source{"PCIe 4 x16 minus overheads"},
      Heeded{mode == CheckpointMode::Async, "mode is not async"});
  }
  template <class C>
  void check(C& c) const {
    if (bytes <= Bytes{}) c.error("bytes", "must be more than 0");
    if (host_copy.bits_per_s <= 0) c.error("host_copy", "must be more than 0");
    if (store == "local" && !sharded) {
      c.error("sharded", "must be true for local disks: each node reads only its own disk");
    }
  }
};

}  // namespace orrery

// models/scheduling/contract/candidates.hpp -- the nodes still feasible for a pod, and why other
// nodes were rejected.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/hardware/node_set.hpp"
#include "models/scheduling/contract/status.hpp"

namespace orrery {

struct Rejection {
  // The plugin's bit: its index in the profile. For a check of the framework: kNodeReady or
  // kNominatedPods (framework/plugin_bits.hpp).
  uint8_t plugin = 0;
  std::string reason;
  bool is_unresolvable = false;
  uint32_t nodes = 0;
  bool is_noted = false;  // another rejection already counts these nodes
};

class ORRERY_API Candidates {
 public:
  explicit Candidates(NodeSet nodes = {}) : nodes_{std::move(nodes)} {}
  const NodeSet& nodes() const { return nodes_; }
  uint32_t removed() const { return removed_; }  // nodes removed since reset()

  // keep() removes all nodes that are not in `allowed`; drop() removes the nodes in `banned`.
  void keep(const NodeSet& allowed, Status why_not);
  void drop(const NodeSet& banned, Status why_not);
  // Keeps the nodes for which `fits(NodeId)` holds.
  template <class Fits>
  void keep_if(Fits&& fits, Status why_not) {
    begin(why_not);
    nodes_.keep_if([&](NodeId n) {
      const bool kept = fits(n);
      if (!kept) count(n);
      return kept;
    });
    end(why_not);
  }
  // Adds a reason for nodes that another rejection already counts. Only messages and the attempt
  // log use the added reason.
  void note(Status why_not, uint32_t nodes);

  void set_plugin(uint8_t plugin) { current_.plugin = plugin; }
  // Sets whether rejections are collected. By default they are.
  void keep_reasons(bool on) { keeps_reasons_ = on; }
  // Sets whether unresolvable() is collected: the nodes that were rejected as unresolvable. The
  // node set takes time and memory, so it is collected only when a failed attempt is diagnosed.
  void keep_unresolvable(bool on) { keeps_unresolvable_ = on; }
  // Sets whether rejected() is collected: the nodes of each rejection. Only the attempt log needs
  // it.
  void keep_rejected(bool on) { keeps_rejected_ = on; }
  std::span<const Rejection> rejections() const { return rejections_; }
  const NodeSet& unresolvable() const { return unresolvable_; }
  // The nodes of each rejection, in the order of rejections(). The set of a reason added by note()
  // is empty.
  std::span<const NodeSet> rejected() const { return rejected_; }
  void reset(const NodeSet& nodes);

 private:
  void begin(Status why_not);
  void count(NodeId n);
  void end(Status why_not);
  void remove(const NodeSet& set, uint64_t flip, Status why_not);

  NodeSet nodes_, unresolvable_, before_;
  std::vector<Rejection> rejections_;
  std::vector<NodeSet> rejected_;
  Rejection current_;
  uint32_t removed_ = 0;
  bool keeps_reasons_ = true, keeps_unresolvable_ = false, keeps_rejected_ = false;
};

// Why an attempt found no node.
struct Diagnosis {
  const Candidates& candidates;
  // Why the pod itself or its gang was rejected, for example by a PreFilter. Empty: each node was
  // rejected on its own, and `candidates` has the reasons.
  std::string_view pre_filter_reason;
  uint32_t plugins = 0;  // set of the plugins that rejected the pod or nodes
};

}  // namespace orrery

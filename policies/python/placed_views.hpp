// policies/python/placed_views.hpp -- placed pods and what-ifs as Python sees them.
#pragma once

#include <pybind11/stl.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "policies/python/pod_views.hpp"

namespace orrery::python {

// What-ifs that a policy has opened and not closed yet; the innermost is last.
class WhatIfs {
 public:
  struct One {
    std::unique_ptr<WhatIf> pods;  // either `pods` or `gang` is set
    std::unique_ptr<GangWhatIf> gang;
    std::set<uint32_t> out = {};  // pods evicted in this what-if and not restored
  };
  // Exists during a call of post_filter(). The destructor closes the what-ifs opened in the call.
  class Scope {
   public:
    explicit Scope(WhatIfs& all) : all_{all}, before_{all.open_.size()} { ++all.scopes_; }
    ~Scope() {
      --all_.scopes_;
      all_.close_down_to(before_);
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    WhatIfs& all_;
    const size_t before_;
  };

  std::shared_ptr<One> open(const Handle& handle, const Cycle& cycle);
  // Returns null if Preemption::gang_what_if() returns null.
  std::shared_ptr<One> open_for_gang(const Handle& handle, const Cycle& cycle);
  void close(const One& one);  // throws py::value_error unless `one` is the innermost

 private:
  void expect_post_filter() const;
  void close_down_to(size_t size);

  std::vector<std::shared_ptr<One>> open_;
  size_t scopes_ = 0;
};

// The number of placed pods on each node or, if `by_leaf`, below each leaf switch. Counts the pods
// that have all of `labels`. If `keeping_away`, counts instead the pods with an anti-affinity term
// that has exactly these labels and the topology key hostname (if `by_leaf`: leaf). If `team` is
// not empty, counts only pods of that team.
py::object counts_of(const Placements& placements, const std::map<std::string, std::string>& labels,
                     bool by_leaf, const std::string& team, bool keeping_away);

// Adds node_of(), pods_on() and count_pods() to a Python class.
template <class Ref>
void bind_ledger(py::class_<Ref>& ref, const ClusterState& (*cluster)(const Ref&),
                 const Placements& (*placements)(const Ref&)) {
  ref.def("node_of",
          [placements](const Ref& r, uint32_t pod) {
            return id_or_none(placements(r).node_of({pod}));
          })
      .def("pods_on",  // in order of ids
           [cluster, placements](const Ref& r, int64_t node) {
             std::vector<PodId> pods = placements(r).on_node(checked_node(cluster(r), node));
             std::ranges::sort(pods);
             return numbers_of(pods);
           })
      .def(
          "count_pods",
          [placements](const Ref& r, const std::map<std::string, std::string>& labels, bool by_leaf,
                       const std::string& team, bool keeping_away) {
            return counts_of(placements(r), labels, by_leaf, team, keeping_away);
          },
          py::arg("labels"), py::kw_only(), py::arg("by_leaf") = false, py::arg("team") = "",
          py::arg("keeping_away") = false);
}

}  // namespace orrery::python

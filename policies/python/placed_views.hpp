// policies/python/placed_views.hpp -- placed pods and what-ifs as Python sees them.
#pragma once

#include <memory>
#include <set>
#include <vector>

#include "policies/python/pod_views.hpp"

namespace orrery::python {

// What-ifs that a policy has opened and not closed yet; the innermost is last.
class WhatIfs {
 public:
  struct One {
    std::unique_ptr<WhatIf> pods;  // one of the two is set
    std::unique_ptr<GangWhatIf> gang;
    std::set<uint32_t> out = {};  // pods evicted in it
  };
  // Scope of post_filter(). Its end closes the what-ifs that it has opened.
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
  std::shared_ptr<One> open_for_gang(const Handle& handle, const Cycle& cycle);  // null: impossible
  void close(const One& one);  // throws py::value_error unless it is the innermost

 private:
  void expect_post_filter() const;
  void close_down_to(size_t size);

  std::vector<std::shared_ptr<One>> open_;
  size_t scopes_ = 0;
};

}  // namespace orrery::python

// models/scheduling/framework/plugins.hpp -- the policies of a profile and the extension points
// that they implement.
#pragma once

#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "models/scheduling/contract/points.hpp"
#include "models/scheduling/contract/policy_fault.hpp"
#include "models/scheduling/framework/profile.hpp"

namespace orrery {

// Plugins are stored in the order of the profile. The index of a plugin is its bit in sets of
// plugins.
class Plugins {
 public:
  Plugins(const SchedulerView& view, CommandSink& commands, const ProfileParams& profile);

  template <class P>
  std::span<const Bound<P>> at() const {
    return std::get<std::vector<Bound<P>>>(bound_);
  }
  // local_filters() are the Filters whose verdict depends only on the node and the pod's spec;
  // wide_filters() are all other Filters.
  std::span<const Bound<Filter>> local_filters() const { return local_filters_; }
  std::span<const Bound<Filter>> wide_filters() const { return wide_filters_; }
  size_t size() const { return plugins_.size(); }
  const std::string& name(uint8_t plugin) const { return plugins_[plugin].name; }
  int64_t weight(uint8_t plugin) const { return plugins_[plugin].weight; }
  // The EventHints of a plugin. If the plugin has no EventHints, the `plugin` pointer of the result
  // is null, and every event causes a retry.
  const Bound<EventHints>& hints(uint8_t plugin) const { return plugins_[plugin].hints; }
  // The plugin's implementation of extension point P; null if the plugin does not implement P.
  template <class P>
  const Bound<P>* also(uint8_t plugin) const {
    for (const Bound<P>& bound : at<P>()) {
      if (bound.index == plugin) return &bound;
    }
    return nullptr;
  }
  void gang_over(GangId gang);

 private:
  struct Plugin {  // its address never changes; its policy is destroyed before its handle
    std::string name;
    int64_t weight;
    std::unique_ptr<Handle> handle;
    std::unique_ptr<Policy> policy;
    Bound<EventHints> hints;
  };
  template <class P>
  using Serving = std::vector<Bound<P>>;

  std::deque<Plugin> plugins_;
  PodPoints::Each<Serving> bound_;
  Serving<Filter> local_filters_, wide_filters_;
};

}  // namespace orrery

// models/scheduling/contract/points.hpp -- the list of extension points; registry, framework and
// `orrery describe` are made from it.
#pragma once

#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "models/scheduling/contract/control/board.hpp"
#include "models/scheduling/contract/job_policy_api.hpp"
#include "models/scheduling/contract/policy_api.hpp"

namespace orrery {

template <class... P>
struct PointList {
  // A tuple with a Value<P> for each point P.
  template <template <class> class Value>
  using Each = std::tuple<Value<P>...>;
  // Calls f.operator()<P>() for each point, in the order of the list.
  template <class F>
  static void for_each(F&& f) {
    (f.template operator()<P>(), ...);
  }
};

// `orrery describe` lists the points in this order. An attempt calls them in roughly the same
// order.
using PodPoints = PointList<PreEnqueue, QueueSort, NextPod, PreFilter, Filter, PostFilter, PreScore,
                            Score, Domains, ScorePlacement, PickDevices, Charges, Reserve, Permit,
                            PreBind, Bind, PostBind, EventHints>;
using JobPoints = PointList<QueueOrder, Admit, Plan, JobWatcher>;
using ControllerPoints = PointList<Controller>;

// Names of the points that policy P implements.
template <class P>
std::vector<std::string> points_of() {
  std::vector<std::string> points;
  const auto add = [&]<class Q>() {
    if constexpr (std::is_base_of_v<Q, P>) points.emplace_back(Q::kPoint.name);
  };
  PodPoints::for_each(add);
  JobPoints::for_each(add);
  ControllerPoints::for_each(add);
  return points;
}

}  // namespace orrery

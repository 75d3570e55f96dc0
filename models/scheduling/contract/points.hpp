// models/scheduling/contract/points.hpp -- the list of points, from which the registry, the
// framework and `orrery describe` are made.
#pragma once

#include <tuple>
#include <type_traits>

#include "models/scheduling/contract/control_board.hpp"
#include "models/scheduling/contract/job_policy_api.hpp"
#include "models/scheduling/contract/policy_api.hpp"

namespace orrery {

template <class... P>
struct PointList {
  // Values by point: `Value<P>` for each.
  template <template <class> class Value>
  using Each = std::tuple<Value<P>...>;
  // Calls f.operator()<P>() for each point, in this order.
  template <class F>
  static void for_each(F&& f) {
    (f.template operator()<P>(), ...);
  }
};

// In the order in which an attempt passes them.
using PodPoints = PointList<PreEnqueue, QueueSort, NextPod, PreFilter, Filter, PostFilter, PreScore,
                            Score, Domains, ScorePlacement, PickDevices, Charges, Reserve, Permit,
                            PreBind, Bind, PostBind, EventHints>;
using JobPoints = PointList<QueueOrder, Admit, Plan, JobWatcher>;
using ControllerPoints = PointList<Controller>;

}  // namespace orrery

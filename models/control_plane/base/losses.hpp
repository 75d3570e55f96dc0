// models/control_plane/base/losses.hpp -- scheduled losses of API servers or etcd members.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/config/fields.hpp"
#include "sim/core/time.hpp"
#include "sim/engine/engine.hpp"

namespace orrery {

// Checks that losses name only items 0 to `count` - 1, and that losses of the same item do not
// overlap. A loss without `until` never ends. `which` is the member of `Loss` that holds the item's
// index.
template <class Loss>
void check_losses(Checker& c, const std::vector<Loss>& losses, int32_t Loss::*which, int32_t count,
                  std::string_view name) {
  for (size_t i = 0; i < losses.size(); ++i) {
    const std::string at = "losses[" + std::to_string(i) + "].";
    const std::string what{name};
    if (losses[i].*which >= count) {
      c.error(at + what, "there are " + what + "s 0 to " + std::to_string(count - 1));
    }
    for (size_t k = 0; k < i; ++k) {
      const Loss &a = losses[k], &b = losses[i];
      const bool are_apart = (a.until && *a.until <= b.at) || (b.until && *b.until <= a.at);
      if (a.*which != b.*which || are_apart) continue;
      c.error(at + "at",
              "the " + what + " is lost by losses[" + std::to_string(k) + "] at that time");
    }
  }
}

// Calls `set_up(item's index, is_up)` at the start of each loss, and at the end of each loss with
// an `until`. If an item's loss ends at the instant its next loss starts, the item stays lost.
template <class Loss, class SetUp>
void plan_losses(Engine& engine, const std::vector<Loss>& losses, int32_t Loss::*which, Label lost,
                 Label back, SetUp set_up) {
  const auto plan = [&](Duration at, Label label, const Loss& loss, bool is_up) {
    const auto number = static_cast<uint32_t>(loss.*which);
    engine.at(
        Time{} + at, label, [set_up, number, is_up] { set_up(number, is_up); }, Phase::Fault);
  };
  for (const Loss& loss : losses) {
    if (loss.until) plan(*loss.until, back, loss, true);
  }
  for (const Loss& loss : losses) plan(loss.at, lost, loss, false);
}

}  // namespace orrery

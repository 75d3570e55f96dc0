// models/workload/job/disruption_budget_params.hpp -- PodDisruptionBudgets of a workload.
#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "sim/config/fields.hpp"

namespace orrery {

// Kubernetes' IntOrString: "3" or "50%".
struct IntOrPercent {
  int32_t value = 0;
  bool is_percent = false;
  static std::optional<IntOrPercent> parse(std::string_view text) {
    const bool is_percent = text.ends_with('%');
    if (is_percent) text.remove_suffix(1);
    int32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_read = error == std::errc{} && end == text.data() + text.size() && value >= 0;
    if (!is_read || (is_percent && value > 100)) return std::nullopt;
    return IntOrPercent{value, is_percent};
  }
  // Percentages round up, for minAvailable and for maxUnavailable.
  int32_t of(int32_t expected) const {
    if (!is_percent) return value;
    return static_cast<int32_t>((int64_t{value} * expected + 99) / 100);
  }
};

enum class UnhealthyPodEviction : uint8_t { IfHealthyBudget, AlwaysAllow };
constexpr std::array<std::string_view, 2> enum_names(UnhealthyPodEviction) {
  return {"IfHealthyBudget", "AlwaysAllow"};
}

struct DisruptionBudgetParams {
  static constexpr std::string_view kDoc =
      "A PodDisruptionBudget limits how many of the pods that it selects may be evicted by "
      "controllers at a time. Preemption by the scheduler and forced drains ignore it.";
  std::string name = {};
  std::string team = {};
  std::map<std::string, std::string> labels = {};
  std::optional<std::string> min_available = {}, max_unavailable = {};
  UnhealthyPodEviction unhealthy = UnhealthyPodEviction::IfHealthyBudget;

  template <class V>
  void fields(V& v) {
    v("name", name, "Name of the budget in messages and in /events/actions.", Required{},
      Example{"web"});
    v("team", team,
      "The budget selects only pods of this team, which stands for a namespace; empty: pods of all "
      "teams.");
    v("labels", labels,
      "The budget selects only pods that have all these labels; empty: every pod.",
      Example{"{app: web}"});
    v("min_available", min_available,
      "Pods that must stay ready: a number, or a percentage of the desired replicas, rounded up. A "
      "number applies to pods of any owner. A percentage needs owners with a scale: ReplicaSets or "
      "StatefulSets. As in Kubernetes, a percentage allows no disruption of a Job's pods.",
      Source{"kubernetes pkg/controller/disruption/disruption.go@003e8629"}, Example{"50%"});
    v("max_unavailable", max_unavailable,
      "Pods that may be unready: a number or a percentage, rounded up. Both need owners with a "
      "scale, like a percentage in min_available.",
      Source{"kubernetes pkg/controller/disruption/disruption.go@003e8629"}, Example{"1"});
    v("unhealthy", unhealthy,
      "When unready pods may be evicted. IfHealthyBudget: while at least as many pods are ready as "
      "the budget requires; AlwaysAllow: always.",
      Source{"unhealthyPodEvictionPolicy of policy/v1"});
  }
  void check(Checker& c) const {
    if (min_available.has_value() == max_unavailable.has_value()) {
      c.error("", "needs one of min_available and max_unavailable");
    }
    const auto look = [&](std::string_view field, const std::optional<std::string>& text) {
      if (!text || IntOrPercent::parse(*text)) return;
      c.error(field,
              "must be a whole number, or a percentage from 0% to 100%, not '" + *text + "'");
    };
    look("min_available", min_available);
    look("max_unavailable", max_unavailable);
  }
};

}  // namespace orrery

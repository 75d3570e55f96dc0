#include "models/scheduling/framework/plugins.hpp"

#include <algorithm>

#include "models/scheduling/contract/policy_registry.hpp"
#include "models/scheduling/framework/plugin_bits.hpp"
#include "sim/core/check.hpp"

namespace orrery {

Plugins::Plugins(const SchedulerView& view, CommandSink& commands, const ProfileParams& profile) {
  const std::vector<PluginParams> resolved = resolve_plugins(profile);
  ORRERY_CHECK(resolved.size() <= kPluginsMax, "profiles are checked before the run");
  for (const PluginParams& params : resolved) {
    const PolicyRegistry::Entry* const entry = PolicyRegistry::instance().find(params.name);
    ORRERY_CHECK(entry != nullptr, "profiles are checked before the run");
    const auto index = static_cast<uint8_t>(plugins_.size());
    Plugin& plugin =
        plugins_.emplace_back(Plugin{.name = entry->label(params.name, params.args),
                                     .weight = params.weight.value_or(1),
                                     .handle = std::make_unique<Handle>(view, commands, index),
                                     .policy = nullptr,
                                     .hints = {}});
    ask(plugin.name, [&] { plugin.policy = entry->make(*plugin.handle, params.args); });
    const std::vector<std::string> points = entry->points_with(params.args);
    const auto bind = [&]<class P>() {
      if (std::is_same_v<P, Score> && !params.scores) return;
      auto* const served = dynamic_cast<P*>(plugin.policy.get());
      if (served == nullptr || std::ranges::count(points, P::kPoint.name) == 0) return;
      std::get<Serving<P>>(bound_).push_back({served, &plugin.name, index});
      if constexpr (std::is_same_v<P, EventHints>) plugin.hints = at<EventHints>().back();
    };
    PodPoints::for_each(bind);
  }
  for (const Bound<Filter>& filter : at<Filter>()) {
    (filter.call(&Filter::is_node_local) ? local_filters_ : wide_filters_).push_back(filter);
  }
  ORRERY_CHECK(!at<QueueSort>().empty() && !at<PickDevices>().empty(),
               "profiles are checked before the run");
}

void Plugins::gang_over(GangId gang) {
  for (Plugin& plugin : plugins_) plugin.handle->gang_over(gang);
}

}  // namespace orrery

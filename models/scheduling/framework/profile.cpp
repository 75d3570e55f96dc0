#include "models/scheduling/framework/profile.hpp"

#include <algorithm>

#include "models/scheduling/contract/policy_registry.hpp"
#include "models/scheduling/framework/plugin_bits.hpp"

namespace orrery {
namespace {

constexpr std::string_view kPreemption = "DefaultPreemption";

PluginParams plugin(std::string_view name, int64_t weight = 1) {
  return {.name = std::string{name}, .weight = weight, .scores = true, .args = {}};
}

// The plugins of Kubernetes v1.36 with their default weights, in their default order, but with
// DefaultPreemption after the others. Plugins for pod affinity, topology spread and images are left
// out: a scenario adds them where needed. Plugins for features that are not simulated, such as
// volumes, are left out, too. DefaultDevices is added, because upstream the kubelet chooses the
// devices on a node. A base for gangs ends with its gang plugin.
std::vector<PluginParams> base_plugins(const ProfileParams& profile) {
  const ProfileBase base = profile.base;
  if (base == ProfileBase::Empty) return {};
  std::vector<PluginParams> plugins;
  if (base != ProfileBase::Coscheduling) plugins.push_back(plugin("PrioritySort"));
  plugins.insert(plugins.end(),
                 {plugin("NodeUnschedulable"), plugin("NodeName"), plugin("TaintToleration", 3),
                  plugin("NodeAffinity", 2), plugin("NodeResourcesFit"),
                  plugin("NodeResourcesBalancedAllocation"), plugin("DefaultDevices")});
  // In a base for gangs, a gang that never fits would preempt other pods again and again. So such a
  // base has DefaultPreemption only if the scenario names it. Upstream puts default plugins before
  // added ones, so DefaultPreemption precedes the gang plugin.
  const bool is_named =
      std::ranges::find(profile.plugins, kPreemption, &PluginParams::name) != profile.plugins.end();
  if (resolve_driver(profile) == Driver::PerPod && (base == ProfileBase::Default || is_named)) {
    plugins.push_back(plugin(kPreemption));
  }
  if (base == ProfileBase::Coscheduling) plugins.push_back(plugin("Coscheduling"));
  if (base == ProfileBase::Koordinator) plugins.push_back(plugin("KoordinatorCoscheduling"));
  if (base == ProfileBase::StrictGang) plugins.push_back(plugin("StrictGang"));
  if (base == ProfileBase::NativeGang) plugins.push_back(plugin("GangScheduling"));
  return plugins;
}

// The preset kubernetes_1_15 also selects the old algorithm of InterPodAffinity, which took most of
// the time of a cycle. An algorithm in the plugin's arguments takes precedence.
void follow_preset(std::vector<PluginParams>& plugins, CostPreset preset) {
  if (preset == CostPreset::Current) return;
  const auto affinity = std::ranges::find(plugins, "InterPodAffinity", &PluginParams::name);
  if (affinity == plugins.end()) return;
  config::Node& args = affinity->args.node;
  if (args.find("algorithm") != nullptr) return;
  args.kind = config::Kind::Map;
  args.entries.push_back({"algorithm", args.position, config::make_scalar("before_1_18", false)});
}

}  // namespace

std::vector<PluginParams> resolve_plugins(const ProfileParams& profile) {
  std::vector<PluginParams> plugins = base_plugins(profile);
  std::erase_if(plugins, [&](const PluginParams& p) {
    return std::ranges::find(profile.disable, p.name) != profile.disable.end();
  });
  for (const PluginParams& given : profile.plugins) {
    const PolicyRegistry::Entry* const entry = PolicyRegistry::instance().find(given.name);
    const bool may_repeat =
        entry != nullptr && entry->points_of_code;  // Python: each listed item names its class
    const auto known = std::ranges::find(plugins, given.name, &PluginParams::name);
    if (known == plugins.end() || may_repeat) {
      plugins.push_back(given);
      plugins.back().weight = given.weight.value_or(1);
    } else {
      known->args = given.args;
      known->scores = given.scores;
      if (given.weight) known->weight = given.weight;
    }
  }
  follow_preset(plugins, profile.cost.preset);
  return plugins;
}

bool has_trait(const ProfileParams& profile, Trait trait) {
  return std::ranges::any_of(resolve_plugins(profile), [&](const PluginParams& plugin) {
    const PolicyRegistry::Entry* const entry = PolicyRegistry::instance().find(plugin.name);
    return entry != nullptr && has(entry->traits, trait);
  });
}

bool is_loaded_for(const std::string& policy, const RawParams& args, const PointName& point) {
  const PolicyRegistry::Entry* const entry = PolicyRegistry::instance().find(policy);
  return entry == nullptr || (!entry->is_built_in() && entry->serves(point, args));
}

bool has_loaded(const ProfileParams& profile) {
  return std::ranges::any_of(resolve_plugins(profile), [](const PluginParams& plugin) {
    const PolicyRegistry::Entry* const entry = PolicyRegistry::instance().find(plugin.name);
    return entry == nullptr || !entry->is_built_in();
  });
}

bool has_loaded_for(const ProfileParams& profile, const PointName& point) {
  return std::ranges::any_of(resolve_plugins(profile), [&](const PluginParams& plugin) {
    return is_loaded_for(plugin.name, plugin.args, point);
  });
}

Driver resolve_driver(const ProfileParams& profile) {
  if (profile.driver) return *profile.driver;
  const bool is_per_gang =
      profile.base == ProfileBase::StrictGang || profile.base == ProfileBase::NativeGang;
  return is_per_gang ? Driver::PerGang : Driver::PerPod;
}

namespace {

// A NextPod plugin replaces the order of the queue. So a profile has at most one NextPod plugin,
// and this plugin excludes `driver: per_gang` and `queue.head_of_line: block`.
void check_next_pod(const ProfileParams& profile, int64_t plugins, const std::string& path,
                    const config::Node& node, Diagnostics& diagnostics) {
  if (plugins == 0) return;
  if (plugins > 1) {
    diagnostics.error(node.position, path,
                      "at most one plugin may serve NextPod, found " + std::to_string(plugins));
  }
  if (resolve_driver(profile) == Driver::PerGang) {
    const config::Node& given = node["driver"];
    diagnostics.error(given.is_null() ? node.position : given.position, path + ".driver",
                      "must be per_pod with a plugin that serves NextPod");
  }
  if (profile.queue.head_of_line == HeadOfLine::Block) {
    diagnostics.error(node["queue"]["head_of_line"].position, path + ".queue.head_of_line",
                      "must not be block with a plugin that serves NextPod");
  }
}

// Only the per_gang driver calls Domains and ScorePlacement.
void check_gang_points(const ProfileParams& profile, const PluginParams& plugin,
                       const PolicyRegistry::Entry& entry, const std::string& where,
                       const Position& at, Diagnostics& diagnostics) {
  if (resolve_driver(profile) == Driver::PerGang) return;
  if (!entry.serves(Domains::kPoint, plugin.args) &&
      !entry.serves(ScorePlacement::kPoint, plugin.args)) {
    return;
  }
  diagnostics.error(at, where,
                    "'" + plugin.name +
                        "' places whole gangs and needs driver: per_gang, the driver of the " +
                        "bases strict_gang and native_gang");
}

void check_preemption(const ProfileParams& profile, const std::string& name,
                      const PolicyRegistry::Entry& entry, const std::string& where,
                      const Position& at, Diagnostics& diagnostics) {
  const Driver driver = resolve_driver(profile);
  if (has(entry.traits, Trait::PreemptsGangs) && driver != Driver::PerGang) {
    diagnostics.error(at, where,
                      "'" + name +
                          "' makes room for whole gangs and needs driver: per_gang, the driver of "
                          "the bases strict_gang and native_gang");
  }
  if (!has(entry.traits, Trait::Preempts) || driver == Driver::PerPod) return;
  diagnostics.error(at, where,
                    "'" + name +
                        "' makes room for single pods and needs driver: per_pod, the driver of "
                        "the bases default, coscheduling and koordinator");
}

// Only Score and ScorePlacement plugins have weights.
void check_weight(const PluginParams& plugin, const PolicyRegistry::Entry& entry,
                  const std::string& where, const Position& at, Diagnostics& diagnostics) {
  if (!plugin.weight || entry.serves(Score::kPoint, plugin.args) ||
      entry.serves(ScorePlacement::kPoint, plugin.args)) {
    return;
  }
  diagnostics.idle(at, where + ".weight",
                   "has no effect: '" + plugin.name + "' serves neither Score nor ScorePlacement");
}

void check_disabled(const ProfileParams& profile, const std::string& path, const config::Node& node,
                    Diagnostics& diagnostics) {
  std::vector<std::string> base_names;
  for (const PluginParams& p : base_plugins(profile)) base_names.push_back(p.name);
  for (size_t i = 0; i < profile.disable.size(); ++i) {
    const std::string& name = profile.disable[i];
    const config::Node& items = node["disable"];
    const Position at = i < items.items.size() ? items.items[i].position : node.position;
    const std::string where = path + ".disable[" + std::to_string(i) + "]";
    if (std::ranges::find(base_names, name) == base_names.end()) {
      diagnostics.error(
          at, where,
          "the base profile has no plugin '" + name + "'" + did_you_mean(name, base_names));
    } else if (std::ranges::find(profile.disable, name) - profile.disable.begin() !=
               static_cast<std::ptrdiff_t>(i)) {
      diagnostics.error(at, where, "plugin '" + name + "' is listed twice");
    }
  }
}

// Checks the plugins of a profile as a whole, for example that one of them serves QueueSort.
void check_points(const ProfileParams& profile, const std::string& path, const config::Node& node,
                  Diagnostics& diagnostics) {
  const PolicyRegistry& registry = PolicyRegistry::instance();
  const std::vector<PluginParams> plugins = resolve_plugins(profile);
  const auto count = [&](const PointName& point) {
    return std::ranges::count_if(plugins, [&](const PluginParams& p) {
      const PolicyRegistry::Entry* const entry = registry.find(p.name);
      return entry != nullptr && entry->serves(point, p.args);
    });
  };
  if (const auto n = count(QueueSort::kPoint); n != 1) {
    diagnostics.error(node.position, path,
                      "exactly one plugin must serve QueueSort, found " + std::to_string(n));
  }
  if (count(PickDevices::kPoint) == 0) {
    diagnostics.error(node.position, path, "a plugin must serve PickDevices");
  }
  if (!has_trait(profile, Trait::ChecksRoom) && !has_loaded_for(profile, Filter::kPoint)) {
    diagnostics.error(node.position, path,
                      "needs NodeResourcesFit, or a loaded plugin that serves Filter: pods would "
                      "go to nodes without room for them");
  }
  check_next_pod(profile, count(NextPod::kPoint), path, node, diagnostics);
  if (plugins.size() > kPluginsMax) {
    diagnostics.error(node.position, path,
                      "a profile has at most " + std::to_string(kPluginsMax) + " plugins");
  }
}

}  // namespace

void check_profile(const ProfileParams& profile, const std::string& path, const config::Node& node,
                   Diagnostics& diagnostics) {
  const PolicyRegistry& registry = PolicyRegistry::instance();
  const config::Node& listed = node["plugins"];
  for (size_t i = 0; i < profile.plugins.size(); ++i) {
    const PluginParams& p = profile.plugins[i];
    const std::string where = path + ".plugins[" + std::to_string(i) + "]";
    const Position at = i < listed.items.size() ? listed.items[i].position : node.position;
    const PolicyRegistry::Entry* const entry = registry.find(p.name);
    if (entry == nullptr) {
      diagnostics.error(i < listed.items.size() ? listed.items[i]["name"].position : at,
                        where + ".name", PolicyRegistry::instance().no_policy_called(p.name));
      continue;
    }
    const auto first = std::ranges::find(profile.plugins, p.name, &PluginParams::name);
    if (first != profile.plugins.begin() + static_cast<std::ptrdiff_t>(i) &&
        !entry->points_of_code) {
      diagnostics.error(at, where, "plugin '" + p.name + "' is listed twice");
    }
    if (!entry->make) {
      diagnostics.error(at, where + ".name", entry->misplaced(p.name, p.args));
      continue;
    }
    const size_t mistakes = diagnostics.count();
    entry->check(p.args, where + ".args", diagnostics);
    if (diagnostics.count() == mistakes && entry->points_of_code && !entry->serves_pods(p.args)) {
      diagnostics.error(at, where, entry->misplaced(p.name, p.args));
    }
    const Position& named =
        i < listed.items.size() ? listed.items[i]["name"].position : node.position;
    check_preemption(profile, p.name, *entry, where + ".name", named, diagnostics);
    if (entry->heeded) {
      diagnostics.unheeded(static_cast<int>(*entry->heeded),
                           {at, where, "has no effect: " + std::string{why_not(*entry->heeded)}});
    }
    check_gang_points(profile, p, *entry, where + ".name", named, diagnostics);
    const Position& weighted =
        i < listed.items.size() ? listed.items[i]["weight"].position : node.position;
    check_weight(p, *entry, where, weighted, diagnostics);
  }
  check_disabled(profile, path, node, diagnostics);
  check_points(profile, path, node, diagnostics);
}

}  // namespace orrery

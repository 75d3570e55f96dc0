// models/scenario/scenario_storage.cpp -- stores that jobs name exist, and what is said of stores
// is used.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/scenario/scenario_checks.hpp"
#include "sim/config/diagnostics.hpp"

namespace orrery {
namespace {

class StoreCheck {
 public:
  StoreCheck(const Scenario& scenario, Checker& c)
      : params_{scenario.storage},
        names_{params_.names()},
        uses_(names_.size()),
        is_counting_{scenario.policy.driver == Driver::Counting},
        c_{c} {}

  void look_at(const Training& training) {
    for (const auto& [name, is_given] : {std::pair{".checkpoint", !!training.params->checkpoint},
                                         std::pair{".dataset", !!training.params->dataset}}) {
      if (is_given && !training.has_gangs) c_.idle(training.path + name, no_gangs(training));
    }
    if (!training.has_gangs) return;
    if (const auto& dataset = training.params->dataset; dataset) {
      use(dataset->store, training.path + ".dataset.store", &Use::is_read);
      if (dataset->cache) {
        use(std::string{kLocalStore}, training.path + ".dataset.cache", &Use::is_read);
      }
    }
    if (const auto& checkpoint = training.params->checkpoint; checkpoint) {
      if (is_counting_) {
        c_.error(training.path + ".checkpoint", "has no effect with policy.driver: counting");
      } else {
        use(checkpoint->store, training.path + ".checkpoint.store", &Use::is_written);
      }
    }
  }

  void finish() {
    constexpr std::string_view kUnused =
        "has no effect: no job uses it (training.checkpoint or training.dataset)";
    bool shares = false, saves = false;
    for (size_t i = 0; i < names_.size(); ++i) {
      const Use& use = uses_[i];
      const bool is_local = names_[i] == kLocalStore;
      const std::string at =
          is_local ? "storage.local" : "storage.stores[" + std::to_string(i) + "]";
      shares = shares || (!is_local && (use.is_read || use.is_written));
      saves = saves || (!is_local && use.is_written);
      if (!use.is_read && !use.is_written) {
        c_.idle(at, std::string{kUnused});
      } else if (!use.is_written) {
        refuse(at + (is_local ? ".write" : ".latency"),
               "has no effect: no checkpoint goes there, and datasets are read ahead");
      }
    }
    if (!shares) {
      refuse("storage.node", "has no effect: no job uses a store that nodes share");
    } else if (!saves) {
      refuse("storage.node.write", "has no effect: no checkpoint goes to a store that nodes share");
    }
  }

 private:
  struct Use {
    bool is_read = false, is_written = false;  // by datasets; by checkpoints
  };
  void refuse(const std::string& field, std::string_view why) {
    if (c_.is_given(field)) c_.idle(field, std::string{why});
  }
  void use(const std::string& name, const std::string& field, bool Use::*how) {
    const auto found = std::ranges::find(names_, name);
    if (found == names_.end()) {
      c_.error(field, "storage has no store " + in_quotes(name) + did_you_mean(name, names_));
    } else {
      uses_[static_cast<size_t>(found - names_.begin())].*how = true;
    }
  }

  const StorageParams& params_;
  std::vector<std::string> names_;
  std::vector<Use> uses_;
  bool is_counting_;
  Checker& c_;
};

}  // namespace

void check_stores(const Scenario& scenario, const std::vector<Training>& all, Checker& c) {
  StoreCheck stores{scenario, c};
  for (const Training& training : all) stores.look_at(training);
  stores.finish();
}

}  // namespace orrery

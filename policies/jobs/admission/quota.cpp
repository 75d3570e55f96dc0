// Limits the units of the counted resource that all running jobs of a team, a user or an
// application have in total. Example: with a limit of 16 GPUs and running jobs of 8 and 4 GPUs, a
// job of 8 GPUs is held back until one of the two ends.
#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/scheduling/contract/policy_registry.hpp"
#include "models/scheduling/toolbox/named_in_vain.hpp"

namespace orrery {
namespace {

enum class QuotaOwner : uint8_t { Team, User, Application };
constexpr std::array<std::string_view, 3> enum_names(QuotaOwner) {
  return {"team", "user", "application"};
}

class Quota final : public Policy, public Admit, public JobWatcher {
 public:
  struct Params {
    QuotaOwner of = QuotaOwner::Team;
    std::map<std::string, int64_t> limits = {};
    std::optional<int64_t> others = {};

    template <class V>
    void fields(V& v) {
      v("of", of, "Who has a quota. A quota of an application can model its licences.");
      constexpr Range kUnits{int64_t{0}, int64_t{1} << 40U};
      v("limits", limits,
        "For each team, user or application, by name: the most units of the counted resource, such "
        "as GPUs, that its running jobs may have in total.",
        kUnits);
      v("others", others,
        "Limit of each team, user or application that `limits` does not name; absent: no limit.",
        kUnits);
    }
  };
  Quota(JobBoard& board, const Params& params) : board_{board}, params_{params} {}

  std::vector<std::string> named_in_vain() const override {
    const std::string_view owner = enum_names(params_.of)[static_cast<size_t>(params_.of)];
    return orrery::named_in_vain("limits", owner, params_.limits, [&](const std::string& name) {
      if (params_.of == QuotaOwner::Application) return board_.has_application(name);
      return params_.of == QuotaOwner::Team ? board_.has_team(name) : board_.has_user(name);
    });
  }
  bool admit(const QueuedJob& job) const override {
    const uint32_t owner = owner_of(job);
    const auto named = params_.limits.find(std::string{name_of(owner)});
    const std::optional<int64_t> limit =
        named == params_.limits.end() ? params_.others : named->second;
    if (!limit) return true;
    return (owner < held_.size() ? held_[owner] : 0) + job.ask.units <= *limit;
  }
  void job_starts(const QueuedJob& job) override {
    const uint32_t owner = owner_of(job);
    if (owner >= held_.size()) held_.resize(owner + size_t{1});
    held_[owner] += job.ask.units;
  }
  void job_stops(const QueuedJob& job) override { held_[owner_of(job)] -= job.ask.units; }
  void job_ends(const QueuedJob& job) override { held_[owner_of(job)] -= job.ask.units; }

 private:
  uint32_t owner_of(const QueuedJob& job) const {
    if (params_.of == QuotaOwner::Application) return job.application;
    return params_.of == QuotaOwner::Team ? job.team : job.user;
  }
  std::string_view name_of(uint32_t owner) const {
    if (params_.of == QuotaOwner::Application) return board_.application_name(owner);
    return params_.of == QuotaOwner::Team ? board_.team_name(owner) : board_.user_name(owner);
  }
  const JobBoard& board_;
  const Params params_;
  std::vector<int64_t> held_;  // units that running jobs hold, by owner
};
ORRERY_REGISTER_POLICY(Quota, "Quota",
                       "Holds a job back while its start would exceed the limit of its team, user "
                       "or application. All held jobs are checked again whenever a job ends.");

}  // namespace
}  // namespace orrery

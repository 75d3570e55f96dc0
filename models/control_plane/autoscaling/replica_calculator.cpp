#include "models/control_plane/autoscaling/replica_calculator.hpp"

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

// The ratio of CPU use to target, both in percent of the requests. As in Kubernetes, the use is
// rounded down to whole percent.
double use_ratio(int64_t use_milli, int32_t pods, int32_t target) {
  const int64_t percent = use_milli * 100 / (int64_t{pods} * 1000);
  return static_cast<double>(percent) / target;
}

}  // namespace

int32_t recommended_replicas(const HorizontalPodAutoscalerParams& params, int32_t replicas,
                             const ReplicaUse& use) {
  if (use.measured == 0) return replicas;
  const auto is_tolerated = [&](double ratio) {
    return ratio >= 1.0 - params.tolerance && ratio <= 1.0 + params.tolerance;
  };
  const auto needed = [](double ratio, int32_t pods) {
    return static_cast<int32_t>(std::ceil(ratio * pods));
  };
  const double ratio = use_ratio(use.use_milli, use.measured, params.target);
  const bool is_up = ratio > 1.0;
  const bool count_not_ready = is_up && use.not_ready > 0;
  if (!count_not_ready && use.not_found == 0) {
    return is_tolerated(ratio) ? replicas : needed(ratio, use.measured);
  }
  int32_t pods = use.measured;
  int64_t use_milli = use.use_milli;
  if (ratio != 1.0) {
    pods += use.not_found;
    use_milli += is_up ? 0 : int64_t{use.not_found} * 1000;
  }
  if (count_not_ready) pods += use.not_ready;
  const double with_all = use_ratio(use_milli, pods, params.target);
  const bool is_turned = (ratio < 1.0 && with_all > 1.0) || (is_up && with_all < 1.0);
  if (is_tolerated(with_all) || is_turned) return replicas;
  const int32_t wanted = needed(with_all, pods);
  const bool is_opposite =
      (with_all < 1.0 && wanted > replicas) || (with_all > 1.0 && wanted < replicas);
  return is_opposite ? replicas : wanted;
}

int32_t ReplicaLimits::within_period(const std::vector<Change>& changes, Time now,
                                     Duration period) const {
  int32_t sum = 0;
  for (const Change& change : changes) {
    if (change.at > now - period) sum += change.replicas;
  }
  return sum;
}

int32_t ReplicaLimits::stabilized(Time now, int32_t replicas, int32_t recommended) const {
  int32_t up = recommended, down = recommended;
  for (const Change& earlier : recommendations_) {
    if (earlier.at > now - params_.scale_up.stabilization) up = std::min(up, earlier.replicas);
    if (earlier.at > now - params_.scale_down.stabilization)
      down = std::max(down, earlier.replicas);
  }
  return std::min(std::max(replicas, up), down);
}

// The most replicas that the scale-up rules allow, counted from the replicas one period ago. Of the
// two rules, `percent` and `pods`, the one that allows more decides. A percentage is rounded up:
// with `percent` 50, a service of one replica may grow to two.
int32_t ReplicaLimits::most(Time now, int32_t replicas) const {
  const ScalingRulesParams& rules = params_.scale_up;
  const int32_t at_first = replicas - within_period(added_, now, rules.period) +
                           within_period(removed_, now, rules.period);
  const double by_percent = std::ceil(at_first * (1 + rules.percent / 100.0));
  const double allowed = std::max(by_percent, static_cast<double>(at_first) + rules.pods);
  return std::max(replicas, static_cast<int32_t>(std::min<double>(allowed, params_.replicas_max)));
}

int32_t ReplicaLimits::least(Time now, int32_t replicas) const {
  const ScalingRulesParams& rules = params_.scale_down;
  const int32_t at_first = replicas - within_period(added_, now, rules.period) +
                           within_period(removed_, now, rules.period);
  const auto by_percent = static_cast<int32_t>(at_first * (1 - rules.percent / 100.0));
  const int32_t allowed = std::min(by_percent, at_first - rules.pods);
  return std::min(replicas, std::max(allowed, params_.replicas_min));
}

int32_t ReplicaLimits::limit(Time now, int32_t replicas, int32_t recommended) {
  if (recommendations_.empty()) recommendations_.push_back({now, replicas});
  const int32_t stable = stabilized(now, replicas, recommended);
  const Duration memory =
      std::max(params_.scale_up.stabilization, params_.scale_down.stabilization);
  recommendations_.push_back({now, recommended});
  std::erase_if(recommendations_, [&](const Change& r) { return r.at < now - memory; });
  return std::clamp(stable, least(now, replicas), most(now, replicas));
}

void ReplicaLimits::changed(Time now, int32_t before, int32_t after) {
  const Duration memory = std::max(params_.scale_up.period, params_.scale_down.period);
  for (std::vector<Change>* list : {&added_, &removed_}) {
    std::erase_if(*list, [&](const Change& change) { return change.at < now - memory; });
  }
  (after > before ? added_ : removed_).push_back({now, std::abs(after - before)});
}

}  // namespace orrery

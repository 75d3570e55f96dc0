// models/scheduling/toolbox/scoring.hpp -- kube-scheduler's scores (v1.36) as functions.
//
// The ranking of nodes depends on rounding, so the functions round as upstream does. Most of them
// use integers, truncated towards zero at every step. Floating-point numbers are used only where
// upstream uses them.
#pragma once

#include <cstdint>
#include <span>

namespace orrery {

constexpr int64_t kNodeScoreMax = 100;

// Scores of a node by one resource. `requested` includes the request of the pod to place.
[[nodiscard]] int64_t least_requested_score(int64_t requested, int64_t allocatable);
[[nodiscard]] int64_t most_requested_score(int64_t requested, int64_t allocatable);

struct ShapePoint {
  int64_t utilization = 0;  // percent
  int64_t score = 0;
};
// The score is linear between the points of `shape`, and constant before the first and after the
// last point.
// `shape` must not be empty, and its utilizations must rise.
[[nodiscard]] int64_t shape_score(std::span<const ShapePoint> shape, int64_t utilization);
[[nodiscard]] int64_t requested_to_capacity_score(std::span<const ShapePoint> shape,
                                                  int64_t requested, int64_t allocatable);

// The weighted mean of the scores of several resources.
class WeightedScore {
 public:
  void add(int64_t score, int64_t weight) {
    sum_ += score * weight;
    weights_ += weight;
  }
  [[nodiscard]] int64_t truncated() const { return weights_ == 0 ? 0 : sum_ / weights_; }
  [[nodiscard]] int64_t rounded() const {  // rounds up from .5; scores are never negative
    return weights_ == 0 ? 0 : (2 * sum_ + weights_) / (2 * weights_);
  }

 private:
  int64_t sum_ = 0, weights_ = 0;
};

// 100 if all fractions are equal; the more they differ, the lower. `fractions` are the used shares
// of the resources, in 0..1.
[[nodiscard]] int64_t balance_score(std::span<const double> fractions);
// A score for the effect of a pod on the balance score of a node: 75 if the pod has no effect, more
// if the balance gets better.
[[nodiscard]] int64_t balance_delta_score(int64_t with_pod, int64_t without_pod);

// The image size, scaled by the share of nodes with the image.
[[nodiscard]] int64_t scaled_image_bytes(int64_t bytes, int64_t nodes_with_image, int64_t nodes);
// The score of a node for its sum of scaled image sizes: 0 up to kImageBytesMin, 100 from `sum_max`
// on.
[[nodiscard]] int64_t image_locality_score(int64_t scaled_sum, int64_t sum_max);
constexpr int64_t kImageBytesMin = int64_t{23} << 20;
constexpr int64_t kImageBytesMax = int64_t{1000} << 20;  // for each container

// What one topology spread constraint adds to the score of a node: pods_in_domain * ln(domains + 2)
// + skew_max - 1. `pods_in_domain` is the number of pods that the constraint counts in the node's
// domain. Lower is better.
[[nodiscard]] double spread_term(int64_t pods_in_domain, int64_t domains, int64_t skew_max);
// Rounds the sum over all constraints. Lower is better until normalize_spread() reverses the order.
[[nodiscard]] int64_t spread_score(double sum_of_terms);
void normalize_spread(std::span<int64_t> scores);

// Scales scores so that the highest becomes 100; if all scores are 0, they stay 0. Reversed: each
// result is then subtracted from 100.
enum class Normalization : uint8_t { Plain, Reversed };
void normalize_scores(std::span<int64_t> scores, Normalization direction);

}  // namespace orrery

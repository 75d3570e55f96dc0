// models/scheduling/toolbox/scoring.hpp -- kube-scheduler's scores (v1.36) as functions.
//
// Integers throughout, truncated towards zero at every step, because the ranking of nodes depends
// on it; floating point only where upstream uses it.
#pragma once

#include <cstdint>
#include <span>

namespace orrery {

constexpr int64_t kNodeScoreMax = 100;

// One resource of one node; `requested` includes the pod.
[[nodiscard]] int64_t least_requested_score(int64_t requested, int64_t allocatable);
[[nodiscard]] int64_t most_requested_score(int64_t requested, int64_t allocatable);

struct ShapePoint {
  int64_t utilization = 0;  // percent
  int64_t score = 0;
};
// Piecewise linear through the points, constant outside. `shape` must not be empty and must rise in
// utilization.
[[nodiscard]] int64_t shape_score(std::span<const ShapePoint> shape, int64_t utilization);
[[nodiscard]] int64_t requested_to_capacity_score(std::span<const ShapePoint> shape,
                                                  int64_t requested, int64_t allocatable);

// Averages of per-resource scores.
class WeightedScore {
 public:
  void add(int64_t score, int64_t weight) {
    sum_ += score * weight;
    weights_ += weight;
  }
  [[nodiscard]] int64_t truncated() const { return weights_ == 0 ? 0 : sum_ / weights_; }
  [[nodiscard]] int64_t rounded() const {  // half away from zero; scores are never negative
    return weights_ == 0 ? 0 : (2 * sum_ + weights_) / (2 * weights_);
  }

 private:
  int64_t sum_ = 0, weights_ = 0;
};

// 100 if all resources are equally used, less with their spread. `fractions` are in 0..1.
[[nodiscard]] int64_t balance_score(std::span<const double> fractions);
// The effect of a pod on the balance: 75 for no change.
[[nodiscard]] int64_t balance_delta_score(int64_t with_pod, int64_t without_pod);

// The image size, scaled by the share of nodes with the image.
[[nodiscard]] int64_t scaled_image_bytes(int64_t bytes, int64_t nodes_with_image, int64_t nodes);
// `sum_max` is the sum at which the score is 100: see kImageBytesMax.
[[nodiscard]] int64_t image_locality_score(int64_t scaled_sum, int64_t sum_max);
constexpr int64_t kImageBytesMin = int64_t{23} << 20;
constexpr int64_t kImageBytesMax = int64_t{1000} << 20;  // for each container

// Pods of the same group in a node's domain, weighted by the number of domains.
[[nodiscard]] double spread_term(int64_t pods_in_domain, int64_t domains, int64_t skew_max);
[[nodiscard]] int64_t spread_score(double sum_of_terms);  // fewer pods score higher
void normalize_spread(std::span<int64_t> scores);

// Scales scores so that the highest becomes 100; reversed, the highest becomes 0.
enum class Normalization : uint8_t { Plain, Reversed };
void normalize_scores(std::span<int64_t> scores, Normalization direction);

}  // namespace orrery

#include "models/scheduling/toolbox/fair_time.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "models/scheduling/toolbox/linear_program.hpp"
#include "sim/core/check.hpp"

namespace orrery {
namespace {

using Term = LinearProgram::Term;
constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kPrecision = 1e-4;  // relative precision of finish_time()

bool may_use(const FairTimeJob& job, double gpus, size_t model) {
  return job.gpus <= gpus && job.speed[model] > 0;
}

// The linear program with which max_min_time() and finish_time() begin. Its columns are the x_jk of
// fair_time.hpp. Its rows are the limits of jobs and models.
struct SharesProgram {
  LinearProgram program;
  std::vector<std::vector<int32_t>> columns;  // by job, by model

  SharesProgram(std::span<const FairTimeJob> jobs, std::span<const double> gpus) {
    std::vector<std::vector<Term>> by_model(gpus.size());
    for (const FairTimeJob& job : jobs) {
      std::vector<Term> own;
      auto& of_job = columns.emplace_back(gpus.size(), -1);
      for (size_t k = 0; k < gpus.size(); ++k) {
        if (!may_use(job, gpus[k], k)) continue;
        of_job[k] = program.add_column(0);
        own.push_back({of_job[k], 1});
        by_model[k].push_back({of_job[k], job.gpus});
      }
      program.add_row(own, {-kInfinite, 1});
    }
    for (size_t k = 0; k < gpus.size(); ++k) program.add_row(by_model[k], {-kInfinite, gpus[k]});
  }
  // The speed of job j is sum_k x_jk v_jk. Returns the terms of this sum, times `factor`.
  std::vector<Term> speed(const FairTimeJob& job, size_t j, double factor) const {
    std::vector<Term> terms;
    for (size_t k = 0; k < columns[j].size(); ++k) {
      if (columns[j][k] >= 0) terms.push_back({columns[j][k], job.speed[k] * factor});
    }
    return terms;
  }
  std::vector<std::vector<double>> shares(const LinearProgram::Solution& solution) const {
    std::vector<std::vector<double>> x;
    for (const auto& of_job : columns) {
      auto& row = x.emplace_back();
      for (const int32_t c : of_job) {
        row.push_back(c < 0 ? 0 : std::clamp(solution.x[static_cast<size_t>(c)], 0.0, 1.0));
      }
    }
    return x;
  }
};

double mean_speed(const FairTimeJob& job, std::span<const double> gpus) {
  const double all = std::accumulate(gpus.begin(), gpus.end(), 0.0);
  double sum = 0;
  for (size_t k = 0; k < gpus.size(); ++k) sum += job.speed[k] * gpus[k];
  return all > 0 ? sum / all : 0;
}

// The value of job j in max_min_time() is worth() times the speed of the job, sum_k x_jk v_jk.
double worth(const FairTimeJob& job, std::span<const double> gpus) {
  return job.gpus / (job.weight * mean_speed(job, gpus));
}

// max_min_time() for one GPU model. The mean number of GPUs of each job grows in proportion to the
// job's weight until the job runs all the time. Example: 8 GPUs, and jobs of 1 and 8 GPUs with
// equal weights. The first job runs all the time on 1 GPU. The second job runs 7/8 of the time on 8
// GPUs: 7 GPUs on average.
FairTime fill(std::span<const FairTimeJob> jobs, std::span<const double> gpus) {
  FairTime out{.value = kInfinite, .x = {jobs.size(), {0.0}}};
  std::vector<size_t> order;
  double slope = 0;  // GPUs that raise the value of each remaining job by 1
  // The value of job j if it runs all the time.
  const auto value_of_all = [&](size_t j) { return worth(jobs[j], gpus) * jobs[j].speed[0]; };
  for (size_t j = 0; j < jobs.size(); ++j) {
    if (!may_use(jobs[j], gpus[0], 0)) continue;
    order.push_back(j);
    slope += jobs[j].gpus / value_of_all(j);
  }
  if (order.size() < jobs.size()) out.value = 0;
  std::ranges::stable_sort(order, {}, value_of_all);
  double left = gpus[0];
  for (const size_t j : order) {
    const double need = jobs[j].gpus / value_of_all(j);
    const double level = std::min(value_of_all(j), left / slope);
    out.x[j][0] = level / value_of_all(j);
    left -= out.x[j][0] * jobs[j].gpus;
    slope -= need;
    out.value = std::min(out.value, level);
  }
  return out;
}

// Shares with which every job j has at least the speed least[j]; empty if no shares do this.
std::optional<FairTime> with_speeds(std::span<const FairTimeJob> jobs, std::span<const double> gpus,
                                    std::span<const double> least) {
  if (gpus.size() == 1) {
    FairTime out;
    double used = 0;
    for (size_t j = 0; j < jobs.size(); ++j) {
      const double x = may_use(jobs[j], gpus[0], 0) ? least[j] / jobs[j].speed[0] : 0;
      if (x > 1) return std::nullopt;
      used += x * jobs[j].gpus;
      out.x.push_back({x});
    }
    if (used > gpus[0]) return std::nullopt;
    return out;
  }
  SharesProgram shares{jobs, gpus};
  const int32_t scale = shares.program.add_column(1);
  // An upper bound for `scale`, which would be unbounded if all least speeds were 0.
  shares.program.add_row(std::vector<Term>{{scale, 1}}, {0, 2});
  for (size_t j = 0; j < jobs.size(); ++j) {
    auto terms = shares.speed(jobs[j], j, 1);
    if (terms.empty()) continue;
    terms.push_back({scale, -least[j]});
    shares.program.add_row(terms, {0, kInfinite});
  }
  const auto solution = shares.program.solve();
  if (!solution || solution->value < 1) return std::nullopt;
  return FairTime{.x = shares.shares(*solution)};
}

}  // namespace

FairTime max_min_time(std::span<const FairTimeJob> jobs, std::span<const double> gpus) {
  if (jobs.empty()) return {};
  if (gpus.size() == 1) return fill(jobs, gpus);
  SharesProgram shares{jobs, gpus};
  const int32_t least = shares.program.add_column(1);
  std::vector<std::vector<Term>> values;
  for (size_t j = 0; j < jobs.size(); ++j) {
    auto terms = shares.speed(jobs[j], j, worth(jobs[j], gpus));
    values.push_back(terms);
    if (terms.empty()) continue;  // no model can run the job, so it does not limit the least value
    terms.push_back({least, -1});
    shares.program.add_row(terms, {0, kInfinite});
  }
  if (std::ranges::all_of(values, &std::vector<Term>::empty)) {  // nothing bounds the objective
    return {.value = 0, .x = {jobs.size(), std::vector<double>(gpus.size())}};
  }
  const auto first = shares.program.solve();
  ORRERY_CHECK(first.has_value(), "zero shares for all jobs satisfy the limits of the cluster");
  constexpr double kSlack = 1e-9;  // for rounding errors, so that the second program has a solution
  shares.program.add_row(std::vector<Term>{{least, 1}}, {first->value * (1 - kSlack), kInfinite});
  shares.program.set_gain(least, 0);
  for (const auto& terms : values) {
    for (const Term& term : terms) shares.program.set_gain(term.column, term.factor);
  }
  const auto second = shares.program.solve();
  return {.value = first->value, .x = shares.shares(second ? *second : *first)};
}

double speed_alone(const FairTimeJob& job, std::span<const double> gpus, size_t jobs) {
  double time = 0, speed = 0;
  for (size_t k = 0; k < gpus.size(); ++k) {
    const double x = gpus[k] / static_cast<double>(jobs) / job.gpus;
    time += x;
    speed += x * job.speed[k];
  }
  return time > 1 ? speed / time : speed;
}

FairTime finish_time(std::span<const FairTimeJob> jobs, std::span<const double> gpus) {
  if (jobs.empty()) return {};
  std::vector<double> alone(jobs.size()), least(jobs.size());
  double low = 0;  // lower bound of rho, the objective
  for (size_t j = 0; j < jobs.size(); ++j) {
    const FairTimeJob& job = jobs[j];
    double fastest = 0;
    for (size_t k = 0; k < gpus.size(); ++k) {
      if (may_use(job, gpus[k], k)) fastest = std::max(fastest, job.speed[k]);
    }
    const double speed = speed_alone(job, gpus, jobs.size());
    alone[j] = speed > 0 ? job.isolated + job.left / speed : 0;
    if (fastest > 0) low = std::max(low, (job.elapsed + job.left / fastest) / alone[j]);
  }
  const auto try_rho = [&](double rho) {
    for (size_t j = 0; j < jobs.size(); ++j) {
      const double time = rho * alone[j] - jobs[j].elapsed;
      least[j] = time > 0 ? jobs[j].left / time : 0;
    }
    return with_speeds(jobs, gpus, least);
  };
  double high = low * (1 + kPrecision);
  std::optional<FairTime> best = try_rho(high);
  while (!best) {
    low = high;
    high *= 2;
    ORRERY_CHECK(high < 1e30, "with a large enough rho, the jobs need hardly any share");
    best = try_rho(high);
  }
  while (high > low * (1 + kPrecision)) {
    const double middle = (low + high) / 2;
    if (auto found = try_rho(middle)) {
      best = std::move(found);
      high = middle;
    } else {
      low = middle;
    }
  }
  best->value = high;
  return *best;
}

}  // namespace orrery

#include "sim/cli/study/study_runner.hpp"

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>

#include "models/run/simulation.hpp"
#include "models/scheduling/contract/policy_registry.hpp"
#include "sim/cli/failure.hpp"
#include "sim/cli/study/study_findings.hpp"
#include "sim/cli/study/study_fork.hpp"
#include "sim/core/shared_files.hpp"
#include "sim/record/hdf5_recorder.hpp"

namespace orrery {
namespace {

using Clock = std::chrono::steady_clock;
using End = SimulationResult::End;

bool is_by_cell_and_seed(const StudyRunResult& a, const StudyRunResult& b) {
  return std::pair{a.cell, a.seed} < std::pair{b.cell, b.seed};
}

double thread_cpu_seconds() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

class Pool {
 public:
  Pool(const StudyPlan& plan, const StudyFolder& folder, const StudyOptions& options)
      : plan_{plan}, folder_{folder}, options_{options}, are_apart_{any_needs_process()} {}

  void run(const std::vector<StudyRunId>& runs) {
    progress_.runs += runs.size();
    const std::vector<Group> groups = groups_of(runs);
    std::atomic<size_t> next{0};
    const int jobs =
        options_.jobs > 0 ? options_.jobs : oneapi::tbb::this_task_arena::max_concurrency();
    arms_at_once_ =
        std::max<size_t>(1, static_cast<size_t>(jobs) / std::max<size_t>(groups.size(), 1));
    oneapi::tbb::task_arena arena{jobs};
    arena.execute([&] {
      oneapi::tbb::parallel_for(
          0, jobs,
          [&](int) {
            for (size_t i = next++; i < groups.size() && !is_stopped(); i = next++) {
              are_apart_ || plan_.params().run.fork_at ? forked(groups[i]) : one(groups[i].front());
            }
          },
          oneapi::tbb::simple_partitioner{});
    });
  }

  std::vector<StudyRunResult> take() {
    std::ranges::sort(results_, is_by_cell_and_seed);
    return results_;
  }

 private:
  bool is_stopped() const { return options_.stop != nullptr && options_.stop->load(); }

  // Whether any run needs a process of its own. If so, every run gets one, because no thread may
  // simulate while another one forks.
  bool any_needs_process() const {
    const auto& known = PolicyRegistry::instance().entries();
    const auto needs = [](const auto& one) { return has(one.second.traits, Trait::NeedsProcess); };
    if (std::ranges::none_of(known, needs)) return false;
    for (size_t cell = 0; cell < plan_.cells(); ++cell) {
      const Scenario scenario = plan_.run(cell, plan_.params().seeds.first).scenario;
      if (needs_process(scenario.policy) ||
          std::ranges::any_of(scenario.run.changes, needs_process, &ChangeParams::policy)) {
        return true;
      }
    }
    return false;
  }

  // Runs that are equal up to the fork. Without a fork, each run is a group of its own.
  using Group = std::vector<StudyRunId>;
  std::vector<Group> groups_of(const std::vector<StudyRunId>& runs) const {
    std::map<StudyRunId, size_t> numbers;  // index of a group by trunk and seed
    std::vector<Group> groups;
    for (const StudyRunId& id : runs) {
      const size_t trunk = plan_.params().run.fork_at ? plan_.trunk_of(id.first) : id.first;
      const auto [at, is_new] = numbers.try_emplace({trunk, id.second}, groups.size());
      if (is_new) groups.emplace_back();
      groups[at->second].push_back(id);
    }
    return groups;
  }

  void forked(const Group& group) {
    std::unique_lock lock{mutex_};
    std::vector<StudyArm> arms;
    for (const auto& [cell, seed] : group) {
      StudyPlan::Run run = plan_.run(cell, seed);
      std::string key = study_key(run.scenario);
      if (std::optional<StudyRunResult> kept = folder_.find(cell, seed, key)) {
        add(std::move(*kept));
      } else {
        arms.push_back({cell, seed, std::move(run), std::move(key)});
      }
    }
    if (arms.empty()) return;
    for (const StudyArm& arm : arms) begin({arm.cell, arm.seed});
    const ForkOptions options{.keep_runs = plan_.params().keep_runs,
                              .at_once = arms_at_once_,
                              .inputs = options_.inputs,
                              .stop = options_.stop,
                              .is_from_start = !plan_.params().run.fork_at,
                              .on_progress =
                                  [this](const StudyArm& arm, const SimulationProgress& progress) {
                                    went_on({arm.cell, arm.seed}, progress);
                                  },
                              .placed =
                                  [this](size_t cell, const Diagnostics& diagnostics) {
                                    return plan_.placed(cell, diagnostics);
                                  }};
    try {
      for (auto& result : run_forked(arms, folder_, options, lock)) {
        if (result) add(std::move(*result));
      }
    } catch (...) {
      const Failure failure = current_failure();
      for (const StudyArm& arm : arms) {
        add({.cell = arm.cell, .seed = arm.seed, .failure = failure});
      }
    }
    for (const StudyArm& arm : arms) end({arm.cell, arm.seed});
    tell();
  }

  // Adds the result of one run, found in the folder or simulated. If the run fails, all other runs
  // go on.
  void one(const StudyRunId& id) {
    {
      const std::lock_guard lock{mutex_};
      begin(id);
    }
    std::optional<StudyRunResult> result;
    try {
      result = found_or_simulated(id);
    } catch (...) {
      result = {.cell = id.first, .seed = id.second, .failure = current_failure()};
    }
    const std::lock_guard lock{mutex_};
    end(id);
    result ? add(std::move(*result)) : tell();
  }

  // The result in the folder, or else that of a new simulation. Empty if the study was stopped
  // before the run's end.
  std::optional<StudyRunResult> found_or_simulated(const StudyRunId& id) {
    const auto [cell, seed] = id;
    const double began_cpu = thread_cpu_seconds();
    const StudyPlan::Run run = plan_.run(cell, seed);
    const std::string key = study_key(run.scenario);
    std::optional<StudyRunResult> result = folder_.find(cell, seed, key);
    if (result) return result;
    result = simulated(run, cell, seed);
    if (result) result->cpu_seconds = thread_cpu_seconds() - began_cpu;
    if (result && result->is_ok) folder_.keep(*result, key);
    return result;
  }

  std::optional<StudyRunResult> simulated(const StudyPlan::Run& run, size_t cell, uint64_t seed) {
    Diagnostics diagnostics;
    const InputFiles inputs;
    std::ranges::for_each(options_.inputs, InputFiles::note);
    SimulationResult found = recorded(run, cell, seed, diagnostics);
    if (found.end == End::Stopped) return {};
    if (found.end == End::RecordFailed) throw RecordError{"the output could not be written"};
    const std::string mistake =
        !diagnostics.ok() ? plan_.placed(cell, diagnostics) : found.input_error;
    if (mistake.empty()) return result_of(cell, seed, std::move(found), inputs);
    return StudyRunResult{
        .cell = cell, .seed = seed, .failure = {ExitStatus::UserMistake, mistake}};
  }

  SimulationResult recorded(const StudyPlan::Run& run, size_t cell, uint64_t seed,
                            Diagnostics& diagnostics) {
    Clock::time_point next = Clock::now();
    const auto on_progress = [&](const SimulationProgress& progress) {
      if (Clock::now() < next) return;
      next = Clock::now() + kProgressEvery;
      went_on({cell, seed}, progress);
    };
    const auto simulated = [&](Recorder& recorder) {
      const SimulationOptions how{.on_progress = on_progress, .stop = options_.stop};
      return simulate(run.scenario, run.document, recorder, how, diagnostics);
    };
    if (!plan_.params().keep_runs) {
      NullRecorder recorder;
      return simulated(recorder);
    }
    Hdf5Recorder recorder{folder_.recorder_options(cell, seed, run.scenario.record)};
    SimulationResult found = simulated(recorder);
    if (!diagnostics.ok() || found.end == End::BadInput || found.end == End::Stopped) {
      recorder.discard();
    }
    return found;
  }

  std::vector<StudyProgress::Running>::iterator running(const StudyRunId& id) {
    const auto at = std::ranges::find(running_, id);
    return progress_.running.begin() + (at - running_.begin());
  }
  void begin(const StudyRunId& id) {
    running_.push_back(id);
    progress_.running.push_back({plan_.label_of(id.first) + " seed " + std::to_string(id.second)});
    tell();
  }
  void went_on(const StudyRunId& id, const SimulationProgress& progress) {
    const std::lock_guard lock{mutex_};
    running(id)->run = progress;
    tell();
  }
  void end(const StudyRunId& id) {
    progress_.running.erase(running(id));
    std::erase(running_, id);
  }
  void tell() {
    progress_.elapsed_s = std::chrono::duration<double>(Clock::now() - began_).count();
    if (options_.on_progress) options_.on_progress(progress_);
  }
  void add(StudyRunResult result) {
    ++progress_.done;
    if (result.is_kept) ++progress_.kept;
    if (!result.is_kept) progress_.cpu_s += result.cpu_seconds;
    if (!result.is_ok) fail(result);
    results_.push_back(std::move(result));
    tell();
  }
  void fail(const StudyRunResult& result) {
    ++progress_.failed;
    if (!options_.on_failure) return;
    options_.on_failure(plan_.label_of(result.cell) + " seed " + std::to_string(result.seed) +
                        ": " + result.failure.text);
  }

  const StudyPlan& plan_;
  const StudyFolder& folder_;
  const StudyOptions& options_;
  const bool are_apart_;  // each run has its own process
  const Clock::time_point began_ = Clock::now();
  std::mutex mutex_;  // guards everything below
  StudyProgress progress_;
  std::vector<StudyRunId> running_;  // ids of the runs in progress_.running, in the same order
  std::vector<StudyRunResult> results_;
  size_t arms_at_once_ = 1;
};

// The runs of one part of the study: for part 2 of 5 the runs 2, 7, 12 and so on.
std::vector<StudyRunId> part_of(const std::vector<StudyRunId>& runs, const StudyOptions& options) {
  std::vector<StudyRunId> part;
  for (size_t i = options.part - 1; i < runs.size(); i += options.parts) part.push_back(runs[i]);
  return part;
}

int32_t seeds_most(const StudyPlan& plan) {
  const StudyParams& params = plan.params();
  return params.until ? params.until->seeds_max : params.seeds.count;
}

}  // namespace

std::vector<StudyRunId> runs_of(const StudyPlan& plan, int32_t seeds_from, int32_t seeds_to) {
  std::vector<StudyRunId> runs;
  for (int32_t i = seeds_from; i < seeds_to; ++i) {
    for (size_t cell = 0; cell < plan.cells(); ++cell) {
      runs.emplace_back(cell, plan.params().seeds.first + static_cast<uint64_t>(i));
    }
  }
  return runs;
}

std::vector<StudyRunResult> run_study(const StudyPlan& plan, const StudyFolder& folder,
                                      const StudyOptions& options) {
  folder.make();
  const FileSharing sharing;
  Pool pool{plan, folder, options};
  const StudyParams& params = plan.params();
  int32_t seeds = params.seeds.count;
  pool.run(part_of(runs_of(plan, 0, seeds), options));
  std::vector<StudyRunResult> results = pool.take();
  const auto is_stopped = [&] { return options.stop != nullptr && options.stop->load(); };
  const auto is_known = [&] { return !values_of(results, params.until->metric).empty(); };
  while (params.until && is_known() && options.is_all && !is_stopped() &&
         seeds < params.until->seeds_max && widest_half(plan, results) > half_asked(plan)) {
    const int32_t more = std::min(params.until->seeds_max, seeds + std::max(seeds / 4, 1));
    pool.run(runs_of(plan, seeds, more));
    seeds = more;
    results = pool.take();
  }
  return results;
}

std::vector<StudyRunResult> kept_runs(const StudyPlan& plan, const StudyFolder& folder) {
  const FileSharing sharing;
  std::vector<StudyRunResult> results;
  for (const auto& [cell, seed] : runs_of(plan, 0, seeds_most(plan))) {
    if (!folder.may_know(cell, seed)) continue;
    const std::string key = study_key(plan.run(cell, seed).scenario);
    if (auto kept = folder.find(cell, seed, key)) results.push_back(std::move(*kept));
  }
  std::ranges::sort(results, is_by_cell_and_seed);
  return results;
}

std::vector<std::string> damaged_files(const StudyPlan& plan, const StudyFolder& folder) {
  std::vector<std::string> damaged;
  for (const auto& [cell, seed] : runs_of(plan, 0, seeds_most(plan))) {
    if (!folder.may_know(cell, seed)) continue;
    if (std::string file = folder.damage(cell, seed); !file.empty()) damaged.push_back(file);
  }
  return damaged;
}

}  // namespace orrery

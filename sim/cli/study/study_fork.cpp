#include "sim/cli/study/study_fork.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "sim/cli/failure.hpp"
#include "sim/cli/study/shared_progress.hpp"
#include "sim/cli/study/study_progress.hpp"
#include "sim/core/shared_files.hpp"
#include "sim/record/fork_recorder.hpp"
#include "sim/record/hdf5_recorder.hpp"

namespace orrery {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// Exit statuses of a forked process. Results and failures are passed in files in the study's
// folder.
constexpr int kWell = 0, kFailed = 1, kStopped = 130;

// Waits for the process, and returns its exit status. When `stop` is set, sends one SIGTERM to the
// process. A process that is ended by a signal has no exit status. For such a process, returns
// kStopped if the SIGTERM was sent, else the negated signal number. If Ctrl-C in a terminal has
// already reached the process, the SIGTERM is the second signal and ends the process at once.
int wait_for(pid_t process, const std::atomic<bool>* stop,
             const std::function<void()>& meanwhile = {}) {
  constexpr std::chrono::milliseconds kPause{5};
  int status = 0;
  bool is_forwarded = false;
  while (::waitpid(process, &status, WNOHANG) == 0) {
    if (stop != nullptr && stop->load() && !std::exchange(is_forwarded, true)) {
      ::kill(process, SIGTERM);
    }
    if (meanwhile) meanwhile();
    std::this_thread::sleep_for(kPause);
  }
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  return is_forwarded ? kStopped : -WTERMSIG(status);
}

pid_t forked() {
  const pid_t process = ::fork();
  if (process < 0)
    throw std::system_error{errno, std::generic_category(), "no process can be made"};
  // The child dies with its parent, because no other process would wait for it.
  if (process == 0) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  return process;
}

fs::path error_path(const StudyFolder& folder, const StudyArm& arm) {
  return fs::path{folder.run_path(arm.cell, arm.seed)}.replace_extension(".error");
}

Failure ended_by_signal(int signal) {
  return {.text = "its process was ended by signal " + std::to_string(signal)};
}

// Simulates the common part of the arms in a process of its own. At run.fork_at, change() forks a
// child for each arm; each child simulates the rest of its arm. With `is_from_start` there is one
// arm and no child.
class Trunk {
 public:
  Trunk(const std::vector<StudyArm>& arms, const StudyFolder& folder, const ForkOptions& options,
        SharedProgress& shared)
      : arms_{arms},
        folder_{folder},
        options_{options},
        shared_{shared},
        recorder_{arms.front().run.scenario.record.off} {}

  // Returns the exit status of this process. After a fork, run() returns only in the children,
  // because the parent process exits in change().
  int run() {
    try {
      return simulated();
    } catch (...) {
      return failed(current_failure());
    }
  }

 private:
  int simulated() {
    const StudyPlan::Run& trunk = arms_.front().run;
    std::unique_ptr<Recorder> own;
    if (options_.is_from_start) {
      arm_ = &arms_.front();
      own = new_recorder(*arm_);
    }
    const InputFiles inputs;
    std::ranges::for_each(options_.inputs, InputFiles::note);
    Diagnostics diagnostics;
    SimulationOptions how{.on_progress = [this](const SimulationProgress& p) { went_on(p); },
                          .stop = options_.stop};
    if (!own) how.on_change = [this](size_t i) { return change(i); };
    SimulationResult found =
        simulate(trunk.scenario, trunk.document, own ? *own : recorder_, how, diagnostics);
    using End = SimulationResult::End;
    if (found.end == End::RecordFailed) throw RecordError{"the output could not be written"};
    const bool is_bad = !diagnostics.ok() || found.end == End::BadInput;
    if (auto* const file = dynamic_cast<Hdf5Recorder*>(own ? own.get() : recorder_.target());
        file != nullptr && (is_bad || found.end == End::Stopped)) {
      file->discard();
    }
    const auto is_mistake = [this](std::string text) {
      return failed({ExitStatus::UserMistake, std::move(text)});
    };
    if (is_bad) {
      return is_mistake(diagnostics.ok() ? found.input_error
                                         : options_.placed(arms_.front().cell, diagnostics));
    }
    if (found.end == End::Stopped) return kStopped;
    if (arm_ == nullptr) return is_mistake("the run was over before run.fork_at");
    StudyRunResult result = result_of(arm_->cell, arm_->seed, std::move(found), inputs);
    // The CPU time of this process, without that of its parent.
    result.cpu_seconds = static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
    folder_.keep(result, arm_->key);
    return kWell;
  }

  // Before the fork, the progress applies to every arm; after it, only to this process's arm.
  void went_on(const SimulationProgress& progress) {
    for (size_t i = 0; i < arms_.size(); ++i) {
      if (arm_ == nullptr || arm_ == &arms_[i]) shared_.write(i, progress);
    }
  }

  // The scheduler's profile after change `number`. The last change is the fork: there, change()
  // makes a child for each arm, and returns only in the children.
  PolicyParams change(size_t number) {
    const auto& changes = arms_.front().run.scenario.run.changes;
    if (number + 1 < changes.size()) return changes[number].policy;
    for (size_t i = 0; i < arms_.size(); ++i) {
      if (children_.size() == options_.at_once) reap();
      const pid_t child = forked();
      if (child == 0) {
        become(arms_[i]);
        return arms_[i].run.scenario.run.changes[number].policy;
      }
      children_.emplace_back(child, i);
    }
    while (!children_.empty()) reap();
    ::_exit(status_);
  }

  void become(const StudyArm& arm) {
    arm_ = &arm;
    describe_run(arm.run.scenario, arm.run.document, recorder_);
    recorder_.become(new_recorder(arm));
  }

  std::unique_ptr<Recorder> new_recorder(const StudyArm& arm) const {
    if (!options_.keep_runs) return std::make_unique<NullRecorder>();
    return std::make_unique<Hdf5Recorder>(
        folder_.recorder_options(arm.cell, arm.seed, arm.run.scenario.record));
  }

  // Waits for the oldest child.
  void reap() {
    const auto [child, arm] = children_.front();
    children_.erase(children_.begin());
    const int status = wait_for(child, options_.stop);
    if (status < 0) leave(arms_[arm], ended_by_signal(-status));
    if (status == kStopped) status_ = status;
  }

  // Writes the failure to the error file of this process's arm or, before the fork, to the error
  // files of all arms.
  int failed(const Failure& failure) {
    for (const StudyArm& arm : arms_) {
      if (arm_ == nullptr || arm_ == &arm) leave(arm, failure);
    }
    return kFailed;
  }
  void leave(const StudyArm& arm, const Failure& failure) {
    std::ofstream file{error_path(folder_, arm)};
    file << static_cast<int>(failure.status) << ' ' << failure.text;
  }

  const std::vector<StudyArm>& arms_;
  const StudyFolder& folder_;
  const ForkOptions& options_;
  SharedProgress& shared_;
  ForkRecorder recorder_;
  const StudyArm* arm_ = nullptr;  // the arm of this process; null before the fork
  std::vector<std::pair<pid_t, size_t>> children_;
  int status_ = kWell;
};

// Reads and removes the error file of an arm. Returns empty if there is no such file.
std::optional<Failure> take_failure(const StudyFolder& folder, const StudyArm& arm) {
  const fs::path path = error_path(folder, arm);
  std::ifstream file{path};
  int status = 0;
  const bool is_there = file >> status && file.ignore();
  std::string text{std::istreambuf_iterator<char>{file}, {}};
  std::error_code ignored;
  fs::remove(path, ignored);
  if (!is_there) return {};
  return Failure{static_cast<ExitStatus>(status), std::move(text)};
}

}  // namespace

std::vector<std::optional<StudyRunResult>> run_forked(const std::vector<StudyArm>& arms,
                                                      const StudyFolder& folder,
                                                      const ForkOptions& options,
                                                      std::unique_lock<std::mutex>& lock) {
  // Removes failures of an earlier invocation.
  for (const StudyArm& arm : arms) (void)take_failure(folder, arm);
  SharedProgress shared{arms.size()};
  const pid_t process = forked();
  if (process == 0) {
    const int left = [&] {
      return Trunk{arms, folder, options, shared}.run();
    }();  // the end of this scope closes the run's files, which _exit would not
    ::_exit(left);
  }
  lock.unlock();
  const int status = wait_for(process, options.stop, [&, next = Clock::now()]() mutable {
    if (!options.on_progress || Clock::now() < next) return;
    next = Clock::now() + kProgressEvery;
    for (size_t i = 0; i < arms.size(); ++i) options.on_progress(arms[i], shared.read(i));
  });
  lock.lock();
  std::vector<std::optional<StudyRunResult>> results;
  for (const StudyArm& arm : arms) {
    std::optional<Failure> failure = take_failure(folder, arm);
    auto found = failure ? std::nullopt : folder.find(arm.cell, arm.seed, arm.key);
    if (found) found->is_kept = false;
    if (!found && status != kStopped) {
      if (!failure)
        failure =
            status < 0 ? ended_by_signal(-status) : Failure{.text = "its process left no result"};
      found = StudyRunResult{.cell = arm.cell, .seed = arm.seed, .failure = std::move(*failure)};
    }
    results.push_back(std::move(found));
  }
  return results;
}

}  // namespace orrery

#include "models/workload/steps/rehearsal.hpp"

#include <algorithm>
#include <cmath>

#include "models/network/sharing/flow_network.hpp"
#include "models/workload/steps/step_tracer.hpp"
#include "sim/core/check.hpp"
#include "sim/engine/engine.hpp"

namespace orrery {
namespace {

constexpr int64_t kWarmUp = 2, kWindow = 8;  // steps of the slowest gang
constexpr size_t kWindowsMax = 6;
constexpr double kAgreement = 0.01;
// Maximum number of steps in a window, counted over all gangs. The count is estimated from the step
// durations that the gangs have alone.
constexpr double kStepsInWindow = 8192;
constexpr double kSlowestStep = 30 * 86400.0;  // seconds
constexpr Duration kForEver = 876'000_h;

struct Mark {
  int64_t steps = 0;
  Time end{};  // end of the last step
};
using Marks = std::vector<Mark>;  // by gang

double mean_step(const Mark& from, const Mark& to) {
  return static_cast<double>((to.end - from.end).ns) / static_cast<double>(to.steps - from.steps);
}

class Stage {
 public:
  Stage(std::span<const SharingGang> gangs, std::span<const double> capacities)
      : now_(gangs.size()) {
    for (const double capacity : capacities) flows_.add_link({std::llround(capacity)});
    tracer_.step_done.connect([this](JobId gang) { step_done(gang.index); });
    for (uint32_t i = 0; i < gangs.size(); ++i) begin({i}, gangs[i]);
  }
  // Simulates until each gang has done at least n + `steps` steps. n is the number of steps that
  // the slowest gang had done before this call.
  const Marks& play(int64_t steps) {
    goal_ = std::ranges::min(now_, {}, &Mark::steps).steps + steps;
    short_of_goal_ = std::ranges::count_if(now_, [this](const Mark& m) { return m.steps < goal_; });
    while (short_of_goal_ > 0)
      ORRERY_CHECK(engine_.step(), "gangs without an end always have a next event");
    return now_;
  }
  uint64_t played() const { return played_; }

 private:
  void begin(JobId id, const SharingGang& gang) {
    StepActivity activity;
    activity.bytes = gang.bytes;
    activity.rate_max = {std::llround(gang.rate_max)};
    activity.fabric.uses = gang.uses;
    activity.fabric.is_connected = true;
    // The gang may be in the middle of a step. `left` is the share of that step that is not done.
    // The gang first idles for `left` times the duration that a step has without other gangs. Then
    // the gang's first simulated step begins.
    const double left = gang.position > 0 ? 1 - gang.position : 0;
    tracer_.begin(id, gang.cycle, activity, Duration::max(),
                  nearest_ns(gang.cycle.length(gang.alone()).seconds() * left));
  }
  void step_done(uint32_t gang) {
    now_[gang] = {now_[gang].steps + 1, engine_.now()};
    short_of_goal_ -= now_[gang].steps == goal_ ? 1 : 0;
    ++played_;
  }

  Engine engine_;
  FlowNetwork flows_{engine_};
  StepTracer tracer_{engine_, &flows_};
  Marks now_;
  int64_t goal_ = 0, short_of_goal_ = 0;
  uint64_t played_ = 0;
};

bool agree(const Marks& a, const Marks& b, const Marks& c) {
  for (size_t i = 0; i < a.size(); ++i) {
    const double first = mean_step(a[i], b[i]), second = mean_step(b[i], c[i]);
    if (std::abs(second - first) > kAgreement * first) return false;
  }
  return true;
}

}  // namespace

Duration across_of(Bytes bytes, double bits_per_s) {
  const Duration across = bytes / Bandwidth{std::max(std::llround(bits_per_s), 1LL)};
  return across > kForEver ? Duration::max() : across;
}

Rehearsal rehearse(std::span<const SharingGang> gangs, std::span<const double> capacities) {
  Stage stage{gangs, capacities};
  std::vector<Marks> ends{stage.play(kWarmUp)};
  size_t n = 0;  // windows
  do {
    ends.push_back(stage.play(kWindow));
    ++n;
  } while (n < 2 || (n < kWindowsMax && !agree(ends[n - 2], ends[n - 1], ends[n])));
  Rehearsal rehearsal{.steps = {}, .played = stage.played()};
  for (size_t i = 0; i < gangs.size(); ++i) {
    const Duration mean{std::llround(mean_step(ends[n - 2][i], ends[n][i]))};
    rehearsal.steps.push_back(std::max(mean, gangs[i].cycle.length(gangs[i].alone())));
  }
  return rehearsal;
}

bool is_worth_rehearsing(std::span<const SharingGang* const> gangs) {
  const auto alone = [](const SharingGang* gang) {
    return gang->cycle.length(gang->alone()).seconds();
  };
  const double slowest = alone(*std::ranges::max_element(gangs, {}, alone));
  double steps = 0;
  for (const SharingGang* const gang : gangs) steps += kWindow * slowest / alone(gang);
  return steps <= kStepsInWindow && slowest <= kSlowestStep;
}

}  // namespace orrery

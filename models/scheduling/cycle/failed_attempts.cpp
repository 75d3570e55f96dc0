#include "models/scheduling/cycle/failed_attempts.hpp"

#include "sim/core/check.hpp"

namespace orrery {

bool FailedAttempts::needs_diagnosis(const Cycle& cycle, const Selection& why) const {
  const Framework& framework = *context_.profile.framework;
  const bool has_none = why.reason.empty();
  if (has_none && framework.reads_candidates(cycle.pod)) return true;
  const bool is_by_filters = (why.plugins & framework.filter_plugins()) != 0;
  return context_.log.is_on() && (has_none || is_by_filters);
}

Candidates FailedAttempts::diagnose(const Cycle& cycle) const {
  return context_.profile.framework->diagnose(cycle, nullptr, context_.log.is_on());
}

Duration FailedAttempts::fail(PodId unit, const Cycle& cycle, const Selection& why,
                              const Candidates* diagnosis) {
  static const Candidates kNone{};
  Framework& framework = *context_.profile.framework;
  const PodId pod = cycle.pod.id;
  const Candidates& found = diagnosis != nullptr ? *diagnosis : kNone;
  const bool has_none = why.reason.empty();
  const bool is_logged = context_.log.is_on();
  const std::string message = is_logged && has_none ? framework.message(found) : why.reason;
  const uint64_t attempt = context_.log.next();
  if (is_logged) context_.log.write_rejections(attempt, found, why.plugins, why.reason);

  const uint64_t victims = context_.evictions.victims();
  const Duration cost =
      framework.run_post_filter(cycle, {has_none ? found : kNone, why.reason, why.plugins});
  context_.log.tried.victims = static_cast<uint32_t>(context_.evictions.victims() - victims);
  back_to_queue(unit, pod, cycle.now, why);
  const bool is_error = why.code == Code::Error;
  context_.log.write_attempt(
      attempt, pod, is_error ? AttemptOutcome::Error : AttemptOutcome::Unschedulable, why, message);
  tell(unit);
  // A nominated pod gets the resources of its victims, so an autoscaler need not add a node for it.
  const bool is_nominated = context_.preemptions.nominated_node(pod).is_valid();
  if (!is_error && !is_nominated) context_.news.no_node_found.emit(unit);
  return cost;
}

void FailedAttempts::back_to_queue(PodId unit, PodId pod, Time now, const Selection& why) {
  if (context_.profile.head_of_line == HeadOfLine::Block && why.code != Code::Error) {
    context_.line.block(unit);
    return;
  }
  SchedulingQueue& queue = context_.line.queue();
  queue.fail(unit, now, why.plugins, why.code == Code::Pending ? why.plugins : 0);
  if (context_.evictions.is_asking(pod)) queue.hold(unit);
}

void FailedAttempts::reject(PodId pod, Time now, const Selection& why) {
  const uint32_t pending = why.code == Code::Pending ? why.plugins : 0;
  context_.line.queue().fail(pod, now, why.plugins, pending);
  context_.log.write(pod, why.plugins == 0 ? AttemptOutcome::Error : AttemptOutcome::Rejected, why,
                     why.reason);
  tell(pod);
  if (why.code != Code::Error) context_.news.no_node_found.emit(pod);
}

// Reports that the unit's pods could not be scheduled. If the unit is a gang, each member without a
// node is reported, as upstream.
void FailedAttempts::tell(PodId unit) {
  if (api_ == nullptr) return;
  const auto look = [this](PodId pod) {
    if (context_.tracks.stage(pod) == PodStage::Queued) api_->scheduling_failed(pod);
  };
  if (!context_.line.is_gang_unit(unit)) return look(unit);
  const Gang& gang = context_.jobs.gang(context_.jobs.pod(unit).gang);
  JobTable::for_each_pod(gang.first, gang.pods, look);
}

}  // namespace orrery

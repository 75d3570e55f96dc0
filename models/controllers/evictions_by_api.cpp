#include "models/controllers/evictions_by_api.hpp"

#include <algorithm>
#include <utility>

namespace orrery {

uint64_t EvictionsByApi::begin(const Order& order, Done done) {
  const uint64_t number = ++last_;
  open_[number] = {
      .order = order, .life = jobs_.pod(order.pod).generation, .done = std::move(done)};
  attempt(number);
  return number;
}

void EvictionsByApi::delete_now(uint32_t controller, PodId pod, Done done) {
  begin({.controller = controller,
         .pod = pod,
         .retry_until = engine_.now(),
         .force_at = engine_.now()},
        std::move(done));
}

void EvictionsByApi::cancel(uint64_t eviction) {
  const auto at = open_.find(eviction);
  if (at == open_.end()) return;
  engine_.cancel(at->second.retry);
  open_.erase(at);
}

bool EvictionsByApi::is_there(PodId id, uint64_t life) const {
  const Pod& pod = jobs_.pod(id);
  return pod.generation == life && pod.state != PodState::Absent && pod.state != PodState::Done;
}

void EvictionsByApi::attempt(uint64_t number) {
  Open& open = open_.at(number);
  const PodId pod = open.order.pod;
  const uint64_t life = open.life;
  if (!is_there(pod, life)) return finish(number, Result::GoneAlready, {});
  ++tries_;
  tried.emit(open.order.action);
  const bool is_forced = engine_.now() >= open.order.force_at;
  const auto may = [this, number, pod, life] { return may_evict(number, pod, life); };
  if (api_ != nullptr) {
    return api_->delete_pod(open.order.controller, pod,
                            is_forced ? ControllerApi::MayEvict{} : ControllerApi::MayEvict{may},
                            [this, number, pod, life](ControllerApi::Answer answer) {
                              answered(number, pod, life, answer);
                            });
  }
  if (!is_forced && !may()) return answered(number, pod, life, ControllerApi::Answer::Forbidden);
  answered(number, pod, life, ControllerApi::Answer::Stored);
  answered(number, pod, life, ControllerApi::Answer::Observed);
}

// The API server's decision on an eviction. If an eviction was cancelled while its request was
// under way, the request is forbidden.
bool EvictionsByApi::may_evict(uint64_t number, PodId pod, uint64_t life) {
  const auto at = open_.find(number);
  if (at == open_.end()) return false;
  if (!is_there(pod, life)) return true;
  const DisruptionBudgets::Answer answer = budgets_.evict(pod, engine_.now());
  at->second.forbidden_by =
      answer.verdict == DisruptionBudgets::Verdict::TooManyRequests
          ? "429: disruption budget " + answer.budget + " allows no disruption"
      : answer.verdict == DisruptionBudgets::Verdict::SeveralBudgets
          ? "500: several disruption budgets select the pod, " + answer.budget + " first"
          : "";
  return answer.verdict == DisruptionBudgets::Verdict::Allowed;
}

void EvictionsByApi::answered(uint64_t number, PodId pod, uint64_t life,
                              ControllerApi::Answer answer) {
  using Answer = ControllerApi::Answer;
  if (answer == Answer::Observed) {
    if (is_there(pod, life)) controller_.evict(pod);
    return;
  }
  if (!open_.contains(number)) return;
  if (answer == Answer::Stored) return finish(number, Result::Deleted, {});
  if (answer == Answer::Forbidden) ++forbidden_;
  if (answer == Answer::Failed) open_.at(number).forbidden_by = "the API servers did not answer";
  retry(number);
}

void EvictionsByApi::retry(uint64_t number) {
  Open& open = open_.at(number);
  const Time now = engine_.now();
  const Order& order = open.order;
  Time next = now + kRetryEvery;
  if (now < order.force_at) next = std::min(next, order.force_at);
  if (next > order.retry_until) {
    const bool is_forbidden =
        open.forbidden_by.starts_with("429") || open.forbidden_by.starts_with("500");
    return finish(number, is_forbidden ? Result::Forbidden : Result::ApiFailed,
                  std::string{open.forbidden_by});
  }
  open.retry = engine_.at(
      next, Label{"controllers.evicts_again"}, [this, number] { attempt(number); }, Phase::Control);
}

void EvictionsByApi::finish(uint64_t number, Result result, const std::string& reason) {
  const auto at = open_.find(number);
  const Done done = std::move(at->second.done);
  open_.erase(at);
  done(result, reason);
}

}  // namespace orrery

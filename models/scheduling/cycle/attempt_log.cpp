#include "models/scheduling/cycle/attempt_log.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "models/scheduling/framework/plugin_bits.hpp"

namespace orrery {
namespace {

struct NodeRange {
  uint32_t first = 0, last = 0;
};

std::string text_of(const std::vector<NodeRange>& ranges) {
  std::string text;
  for (const NodeRange& range : ranges) {
    if (!text.empty()) text += ",";
    text += std::to_string(range.first);
    if (range.last > range.first) text += "-" + std::to_string(range.last);
  }
  return text;
}

// The ids in `nodes` as text, such as "0-7,12,40-55". If the text is longer than length_max,
// neighbouring ranges are joined, those with the narrowest gap first.
std::string ranges_of(const NodeSet& nodes, size_t length_max) {
  std::vector<NodeRange> ranges;
  nodes.for_each([&](NodeId n) {
    if (ranges.empty() || ranges.back().last + 1 < n.index) ranges.push_back({n.index, n.index});
    ranges.back().last = n.index;
  });
  std::string text = text_of(ranges);
  if (text.size() <= length_max) return text;
  const size_t digits = std::to_string(nodes.universe()).size();
  // The longest text of a range is "first-last,", with two numbers of `digits` digits.
  const size_t most = (length_max + 1) / (2 * digits + 2);
  std::vector<uint32_t> gaps;
  for (size_t i = 1; i < ranges.size(); ++i) gaps.push_back(ranges[i].first - ranges[i - 1].last);
  // The text has room for `most` ranges with `most` - 1 gaps between them. The widest gaps are
  // kept. `least` is the width of the narrowest gap that is kept, and `spare` is how many gaps of
  // exactly this width are kept.
  std::ranges::sort(gaps, std::greater{});
  const uint32_t least = gaps[most - 2];
  auto spare = static_cast<size_t>(std::ranges::count(std::span{gaps}.first(most - 1), least));
  std::vector<NodeRange> joined{ranges.front()};
  for (size_t i = 1; i < ranges.size(); ++i) {
    const uint32_t gap = ranges[i].first - ranges[i - 1].last;
    const bool is_kept = gap > least || (gap == least && spare > 0);
    if (gap == least && spare > 0) --spare;
    if (is_kept) joined.push_back(ranges[i]);
    joined.back().last = ranges[i].last;
  }
  return text_of(joined);
}

}  // namespace

AttemptLog::AttemptLog(Sim sim, const JobTable& jobs, const ActiveProfile& profile,
                       const Nominations& nominations, bool is_on)
    : sim_{sim}, jobs_{jobs}, profile_{profile}, nominations_{nominations} {
  if (!is_on) return;
  attempts_.emplace(sim_.recorder, "/events/attempts", "One row per scheduling attempt.");
  rejections_.emplace(sim_.recorder, "/events/rejections",
                      "Why plugins rejected nodes or pods in failed scheduling attempts; one row "
                      "per attempt and reason.");
}

void AttemptLog::write(PodId pod, AttemptOutcome outcome, const Selection& why,
                       std::string_view text) {
  if (!is_on()) return;
  const uint64_t attempt = next();
  write_rejections(attempt, Candidates{}, why.plugins, text);
  write_attempt(attempt, pod, outcome, why, text);
}

void AttemptLog::write_attempt(uint64_t attempt, PodId pod, AttemptOutcome outcome,
                               const Selection& why, std::string_view text) {
  if (!is_on()) return;
  const Pod& p = jobs_.pod(pod);
  attempts_->emit({.attempt = attempt,
                   .at = sim_.engine.now(),
                   .job = jobs_.job(p.job).serial,
                   .rank = p.rank,
                   .outcome = outcome,
                   .node = outcome == AttemptOutcome::Unschedulable ? NodeId{} : why.node,
                   .visited = why.visited,
                   .feasible = why.feasible,
                   .pods = tried.pods,
                   .placeable = tried.placeable,
                   .domains = tried.domains,
                   .nominated = nominations_.node_of(pod),
                   .victims = tried.victims,
                   .message = text});
}

void AttemptLog::write_rejections(uint64_t attempt, const Candidates& diagnosis, uint32_t plugins,
                                  std::string_view reason) {
  if (!is_on() || !rejections_->is_on()) return;
  const Framework& framework = *profile_.framework;
  const std::span<const Rejection> found = diagnosis.rejections();
  for (size_t i = 0; i < found.size(); ++i) {
    const Rejection& r = found[i];
    plugins &= ~(uint32_t{1} << r.plugin);
    const std::string which = ranges_of(diagnosis.rejected()[i], kWhichMax);
    rejections_->emit({.attempt = attempt,
                       .plugin = framework.name(r.plugin),
                       .reason = std::string_view{r.reason},
                       .nodes = r.nodes,
                       .is_noted = r.is_noted,
                       .is_unresolvable = r.is_unresolvable,
                       .which = FixedText<kWhichMax>{which}});
  }
  for (uint8_t plugin = 0; plugin < kPluginBits; ++plugin) {
    if ((plugins >> plugin & 1) == 0) continue;
    rejections_->emit(
        {.attempt = attempt, .plugin = framework.name(plugin), .reason = reason, .which = {}});
  }
}

}  // namespace orrery

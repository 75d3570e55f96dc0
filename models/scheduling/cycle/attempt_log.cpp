#include "models/scheduling/cycle/attempt_log.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

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

// As "0-7,12,40-55". Where that is too long, ranges become one across the narrowest gaps.
std::string ranges_of(const NodeSet& nodes, size_t length_max) {
  std::vector<NodeRange> ranges;
  nodes.for_each([&](NodeId n) {
    if (ranges.empty() || ranges.back().last + 1 < n.index) ranges.push_back({n.index, n.index});
    ranges.back().last = n.index;
  });
  std::string text = text_of(ranges);
  if (text.size() <= length_max) return text;
  const size_t digits = std::to_string(nodes.universe()).size();
  const size_t most = (length_max + 1) / (2 * digits + 2);  // "first-last,"
  std::vector<uint32_t> gaps;
  for (size_t i = 1; i < ranges.size(); ++i) gaps.push_back(ranges[i].first - ranges[i - 1].last);
  // `most` ranges have one gap less between them; of the gaps as wide as the least of these, only
  // so many as are still to be kept.
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

AttemptLog::AttemptLog(Recorder& recorder, bool is_on) {
  if (!is_on) return;
  attempts_.emplace(recorder, "/events/attempts", "one row per scheduling attempt");
  rejections_.emplace(recorder, "/events/rejections",
                      "what plugins had against the pods of attempts that failed");
}

void AttemptLog::write_rejections(uint64_t attempt, const Framework& framework,
                                  const Candidates& diagnosis, uint32_t plugins,
                                  std::string_view reason) {
  if (!rejections_->is_on()) return;
  const std::span<const Rejection> found = diagnosis.rejections();
  for (size_t i = 0; i < found.size(); ++i) {
    const Rejection& r = found[i];
    plugins &= ~(uint32_t{1} << r.plugin);
    const std::string which = ranges_of(diagnosis.rejected()[i], kWhichMax);
    rejections_->emit({.attempt = attempt,
                       .plugin = framework.name(r.plugin),
                       .reason = r.reason,
                       .nodes = r.nodes,
                       .is_noted = r.is_noted,
                       .is_unresolvable = r.is_unresolvable,
                       .which = FixedText<kWhichMax>{which}});
  }
  for (uint8_t plugin = 0; plugins >> plugin != 0; ++plugin) {
    if ((plugins >> plugin & 1) == 0) continue;
    rejections_->emit(
        {.attempt = attempt, .plugin = framework.name(plugin), .reason = reason, .which = {}});
    if (plugin == Framework::kNodeReady) break;
  }
}

}  // namespace orrery

// plan_kueue(): Kueue's topology-aware scheduling.
#include <algorithm>
#include <optional>
#include <tuple>

#include "models/scheduling/toolbox/placement_plan.hpp"

namespace orrery {
namespace {

struct Domain {
  uint32_t id = 0;
  int64_t slices = 0, rest = 0;  // rest: pods that fit beyond whole slices
  int64_t given = 0;             // slices that the plan gives to this domain
};

// Chooses the smallest domain of the requested level that has room for all slices. If there is
// none:
// - Required: finds no plan.
// - Preferred: tries each higher level. If no block has room, chooses several blocks.
// - Unconstrained: chooses several domains of the requested level.
// The slices are then distributed level by level down to the nodes. Domains without room for a
// slice are left out, because they would get no pods.
class TasSearch {
 public:
  TasSearch(const RoomOn& room, const TasRequest& request)
      : room_{room},
        topology_{room.topology()},
        is_ascending_{request.order == TasOrder::LeastFreeCapacity},
        request_{request} {}

  TasPlan run() const {
    const int64_t wanted = request_.pods / room_.slice();
    TopologyLevel level = request_.level;
    std::vector<Domain> chosen;
    int64_t fits = 0;
    while (true) {
      if (const std::optional<Domain> one = smallest(level, wanted)) {
        chosen = {*one};
        chosen[0].given = wanted;
        break;
      }
      fits = std::max(fits, most_slices(level));
      if (request_.mode == TasMode::Required) return {{}, fits * room_.slice()};
      if (level == TopologyLevel::Block || request_.mode == TasMode::Unconstrained) {
        fits = room_.anywhere().slices;
        if (fits < wanted) return {{}, fits * room_.slice()};
        chosen = level == TopologyLevel::Node ? spread_over_nodes(wanted)
                                              : spread(domains_of(level), wanted);
        break;
      }
      level = static_cast<TopologyLevel>(static_cast<int>(level) - 1);
    }
    for (; level != TopologyLevel::Node; level = below(level)) {
      chosen = spread(children_of(level, chosen), wanted);
    }
    TasPlan result{{}, request_.pods};
    for (const Domain& d : chosen) result.plan.push_back({d.id, d.given * room_.slice()});
    return result;
  }

 private:
  static TopologyLevel below(TopologyLevel level) {
    return static_cast<TopologyLevel>(static_cast<int>(level) + 1);
  }
  Domain domain_of(uint32_t id, RoomOn::Sum room) const {
    return {.id = id, .slices = room.slices, .rest = room.pods - room.slices * room_.slice()};
  }
  Domain node(uint32_t id, int64_t pods) const {
    return domain_of(id, {pods, pods / room_.slice()});
  }
  static void add(const Domain& domain, std::vector<Domain>& domains) {
    if (domain.slices > 0) domains.push_back(domain);
  }
  // All blocks or all leaves with room for a slice. Never called for TopologyLevel::Node, because
  // nodes with room are found through room_.order().
  std::vector<Domain> domains_of(TopologyLevel level) const {
    std::vector<Domain> domains;
    if (level == TopologyLevel::Block) {
      for (uint32_t b = 0; b < topology_.blocks(); ++b) {
        add(domain_of(b, room_.in_block(b)), domains);
      }
    } else {
      for (uint32_t l = 0; l < topology_.leaves(); ++l) {
        add(domain_of(l, room_.in_leaf(l)), domains);
      }
    }
    return domains;
  }
  std::vector<Domain> children_of(TopologyLevel level, std::span<const Domain> parents) const {
    std::vector<Domain> children;
    for (const Domain& parent : parents) {
      if (level == TopologyLevel::Block) {
        for (const uint32_t l : topology_.leaves_of(parent.id)) {
          add(domain_of(l, room_.in_leaf(l)), children);
        }
      } else {
        for (const uint32_t n : topology_.nodes_of(parent.id)) {
          add(node(n, room_.on_node(n)), children);
        }
      }
    }
    return children;
  }

  // Order of domains that can hold all wanted slices: the one with least room is first, whatever
  // the TasOrder.
  static bool is_smaller(const Domain& a, const Domain& b) {
    return std::tie(a.slices, a.rest, a.id) < std::tie(b.slices, b.rest, b.id);
  }
  static const Domain* smallest_of(std::span<const Domain> domains, int64_t wanted) {
    const Domain* best = nullptr;
    for (const Domain& d : domains) {
      if (d.slices >= wanted && (best == nullptr || is_smaller(d, *best))) best = &d;
    }
    return best;
  }
  std::optional<Domain> smallest(TopologyLevel level, int64_t wanted) const {
    if (level == TopologyLevel::Node) {
      const auto tightest = room_.order().lower_bound({wanted * room_.slice(), 0});
      if (tightest == room_.order().end()) return std::nullopt;
      return node(tightest->second, tightest->first);
    }
    const std::vector<Domain> domains = domains_of(level);
    const Domain* const best = smallest_of(domains, wanted);
    return best == nullptr ? std::nullopt : std::optional{*best};
  }
  int64_t most_slices(TopologyLevel level) const {
    if (level == TopologyLevel::Node) {
      return room_.order().empty() ? 0 : room_.order().rbegin()->first / room_.slice();
    }
    int64_t most = 0;
    for (const Domain& d : domains_of(level)) most = std::max(most, d.slices);
    return most;
  }

  // Fills domains one after the other. The last domain is the one that fits the remaining slices
  // most tightly.
  std::vector<Domain> spread(std::vector<Domain> domains, int64_t wanted) const {
    const auto comes_later = [this](const Domain& a, const Domain& b) {
      if (a.slices != b.slices) return is_ascending_ ? a.slices > b.slices : a.slices < b.slices;
      return std::tie(a.rest, a.id) > std::tie(b.rest, b.id);
    };
    std::ranges::make_heap(domains, comes_later);
    std::vector<Domain> chosen;
    while (wanted > 0 && !domains.empty()) {
      const bool is_last = domains.front().slices >= wanted;
      chosen.push_back(is_last ? *smallest_of(domains, wanted) : domains.front());
      chosen.back().given = std::min(chosen.back().slices, wanted);
      wanted -= chosen.back().given;
      std::ranges::pop_heap(domains, comes_later);
      domains.pop_back();
    }
    return chosen;
  }
  // Like spread() for all nodes, but visits only as many nodes as it chooses.
  std::vector<Domain> spread_over_nodes(int64_t wanted) const {
    std::vector<Domain> chosen;
    const auto take = [&](uint32_t id, int64_t pods) {
      Domain next = node(id, pods);
      if (next.slices >= wanted && !is_ascending_) {
        // No node may be chosen twice. If `tightest` is in `chosen` already, it has as many slices
        // as `next`, so `next` is taken.
        const std::optional<Domain> tightest = smallest(TopologyLevel::Node, wanted);
        if (tightest->slices < next.slices) next = *tightest;
      }
      next.given = std::min(next.slices, wanted);
      wanted -= next.given;
      chosen.push_back(next);
      return wanted > 0;
    };
    if (!is_ascending_) {
      room_.for_each_fullest_first(take);
      return chosen;
    }
    for (auto at = room_.order().lower_bound({room_.slice(), 0}); take(at->second, at->first);) {
      ++at;
    }
    return chosen;
  }

  const RoomOn& room_;
  const Topology& topology_;
  const bool is_ascending_;
  const TasRequest& request_;
};

}  // namespace

TasPlan plan_kueue(const RoomOn& room, const TasRequest& request) {
  return TasSearch{room, request}.run();
}

}  // namespace orrery

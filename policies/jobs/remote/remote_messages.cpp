#include "policies/jobs/remote/remote_messages.hpp"

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/core/enum_names.hpp"

namespace orrery {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;
constexpr Duration kSpanMax = 24_h * 3660;  // the maximum of durations in scenarios
constexpr size_t kShownMax = 60;

// Names in traces may have bytes that are not UTF-8. Such bytes are replaced.
std::string line_of(const OrderedJson& json) {
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

std::string json_text(std::string_view text) { return line_of(OrderedJson(std::string{text})); }

std::string shown(const Json& value) {
  std::string text = value.dump();
  if (text.size() > kShownMax) text = text.substr(0, kShownMax) + "...";
  return text;
}

Json object_of(const std::string& line) {
  Json json = Json::parse(line, nullptr, false);
  if (json.is_discarded()) throw AnswerError{"the line is no JSON"};
  if (!json.is_object()) throw AnswerError{"expected an object, got " + shown(json)};
  return json;
}

void allow_only(const Json& object, std::initializer_list<std::string_view> keys) {
  for (const auto& item : object.items()) {
    if (std::ranges::find(keys, item.key()) == keys.end()) {
      throw AnswerError{"unknown key " + json_text(item.key())};
    }
  }
}

int64_t whole_number(const Json& value, const std::string& key, int64_t min, int64_t max) {
  const bool is_whole = value.is_number_integer() && (!value.is_number_unsigned() ||
                                                      value.get<uint64_t>() <= uint64_t{INT64_MAX});
  if (!is_whole || value.get<int64_t>() < min || value.get<int64_t>() > max) {
    throw AnswerError{json_text(key) + " must be a whole number from " + std::to_string(min) +
                      " to " + std::to_string(max) + ", got " + shown(value)};
  }
  return value.get<int64_t>();
}

std::vector<std::string> names_of(const Json& list) {
  std::vector<std::string> names;
  if (list.is_array()) {
    for (const Json& name : list) {
      if (name.is_string()) names.push_back(name.get<std::string>());
    }
  }
  if (names.empty() || names.size() != list.size()) {
    throw AnswerError{"\"nodes\" must be a list of one or more names of nodes, got " + shown(list)};
  }
  return names;
}

RemoteDecision decision_of(const Json& given, Time now) {
  using Kind = RemoteDecision::Kind;
  if (given.is_object()) {
    allow_only(given, {"start", "nodes", "stop", "cancel", "wake_at"});
    const bool has_nodes = given.contains("nodes");
    for (const Kind kind : {Kind::Start, Kind::Stop, Kind::Cancel, Kind::WakeAt}) {
      const std::string key{name_of(kind)};
      if (!given.contains(key)) continue;
      const bool may_have_nodes = kind == Kind::Start && has_nodes;
      if (given.size() != (may_have_nodes ? 2U : 1U)) break;
      RemoteDecision decision{.kind = kind};
      if (kind == Kind::WakeAt) {
        decision.when = Time{whole_number(given[key], key, now.ns + 1, (now + kSpanMax).ns)};
      } else {
        decision.job = static_cast<uint64_t>(whole_number(given[key], key, 0, INT64_MAX));
      }
      if (may_have_nodes) decision.nodes = names_of(given["nodes"]);
      return decision;
    }
  }
  throw AnswerError{
      "a decision has one of \"start\" (with \"nodes\", if need be), \"stop\", \"cancel\" and "
      "\"wake_at\", got " +
      shown(given)};
}

// Amounts of the counted resources, in the order of JobBoard::counts().
OrderedJson amounts(const JobBoard& board, const Resources& of) {
  OrderedJson list = OrderedJson::array();
  for (const Counted counted : board.counts()) list.push_back(of[static_cast<Resource>(counted)]);
  return list;
}

}  // namespace

void check_greeting(const std::string& line) {
  const Json json = object_of(line);
  allow_only(json, {"version"});
  if (json.contains("version") && json["version"] == kRemoteVersion) return;
  throw AnswerError{"the client must answer hello with {\"version\": " +
                    std::to_string(kRemoteVersion) + "}, which is what this program speaks"};
}

RemoteAnswer read_answer(const std::string& line, Time now) {
  const Json json = object_of(line);
  allow_only(json, {"decisions", "took"});
  if (!json.contains("decisions") || !json["decisions"].is_array()) {
    throw AnswerError{"an answer has a list of \"decisions\""};
  }
  RemoteAnswer answer;
  if (json.contains("took")) {
    answer.took = Duration{whole_number(json["took"], "took", 0, kSpanMax.ns)};
  }
  for (const Json& given : json["decisions"]) answer.decisions.push_back(decision_of(given, now));
  return answer;
}

std::string hello_line(const JobBoard& board, const std::string& label) {
  const ClusterState& cluster = board.cluster();
  OrderedJson counts = OrderedJson::array();
  for (const Counted counted : board.counts()) counts.push_back(name_of(counted));
  OrderedJson nodes = OrderedJson::array();
  for (uint32_t n = 0; n < cluster.nodes(); ++n) {
    const NodeId id{n};
    nodes.push_back({{"name", cluster.name(id)},
                     {"gpus", cluster.allocatable(id, Resource::Gpu)},
                     {"cpus", cluster.allocatable(id, Resource::Cpu)},
                     {"memory", cluster.allocatable(id, Resource::Memory)},
                     {"leaf", cluster.leaf(id)},
                     {"is_up", cluster.up().contains(id)}});
  }
  return line_of({{"type", "hello"},
                  {"version", kRemoteVersion},
                  {"label", label},
                  {"seed", board.seed()},
                  {"now", board.now().ns},
                  {"counts", std::move(counts)},
                  {"unit", board.unit()},
                  {"chooses_nodes", board.chooses_nodes()},
                  {"nodes", std::move(nodes)}});
}

std::string bye_line(Time now) { return line_of({{"type", "bye"}, {"now", now.ns}}); }

std::string error_line(Time now, std::string_view why) {
  return line_of({{"type", "error"}, {"now", now.ns}, {"why", why}});
}

// ---- events

std::string& RemoteEvents::begin(std::string_view event) {
  if (!list_.empty()) list_ += ',';
  list_ += "{\"event\":\"";
  list_ += event;
  return list_ += '"';
}

void RemoteEvents::submitted(const QueuedJob& job) {
  const OrderedJson json{{"event", "submitted"},
                         {"job", job.serial},
                         {"submitted", job.submitted.ns},
                         {"user", board_.user_name(job.user)},
                         {"team", board_.team_name(job.team)},
                         {"application", board_.application_name(job.application)},
                         {"priority", job.priority},
                         {"asks", amounts(board_, job.ask.request)},
                         {"estimate", job.left(board_.now()).ns},
                         {"setup", board_.setup(job.slot).ns}};
  if (!list_.empty()) list_ += ',';
  list_ += line_of(json);
}

void RemoteEvents::waits(const QueuedJob& job) {
  happened("waits", job);
  list_.back() = ',';
  list_ += "\"estimate\":" + std::to_string(job.left(board_.now()).ns);
  list_ += ",\"setup\":" + std::to_string(board_.setup(job.slot).ns) + "}";
}

void RemoteEvents::happened(std::string_view event, const QueuedJob& job) {
  begin(event) += ",\"job\":" + std::to_string(job.serial) + "}";
}

void RemoteEvents::expected(std::string_view event, const QueuedJob& job) {
  happened(event, job);
  list_.back() = ',';
  list_ += "\"expected_end\":" + std::to_string(job.progress.expected_end.ns) + "}";
}

void RemoteEvents::node(std::string_view event, NodeId node) {
  begin(event) += ",\"node\":" + json_text(board_.cluster().name(node)) + "}";
}

void RemoteEvents::refused(const RemoteDecision& decision, std::string_view why) {
  begin("refused") += ",\"decision\":" + json_text(name_of(decision.kind));
  list_ += ",\"job\":" + std::to_string(decision.job) + ",\"why\":" + json_text(why) + "}";
}

void RemoteEvents::woke() { begin("wake") += '}'; }

std::string RemoteEvents::take_line() {
  Resources free = board_.capacities();
  free -= board_.used();
  std::string line = "{\"type\":\"events\",\"now\":" + std::to_string(board_.now().ns);
  line += std::exchange(has_room_, false) ? ",\"room\":true" : ",\"room\":false";
  line += std::exchange(has_longer_, false) ? ",\"longer\":true" : ",\"longer\":false";
  line += ",\"free\":" + line_of(amounts(board_, free));
  return line += ",\"events\":[" + std::exchange(list_, {}) + "]}";
}

}  // namespace orrery

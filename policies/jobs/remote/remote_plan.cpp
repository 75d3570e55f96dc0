// Another process decides which jobs start. README.md describes the protocol.
#include <algorithm>
#include <exception>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "models/scheduling/contract/policy_fault.hpp"
#include "models/scheduling/contract/policy_registry.hpp"
#include "policies/jobs/remote/line_socket.hpp"
#include "policies/jobs/remote/remote_messages.hpp"
#include "sim/core/check.hpp"

namespace orrery {
namespace {

constexpr int kAsksMax = 1000;  // requests to the client within one plan()
constexpr size_t kLineShownMax = 200;

std::string printable(std::string_view line) {
  std::string text{line.substr(0, kLineShownMax)};
  std::ranges::replace_if(
      text, [](char c) { return c < ' ' || c > '~'; }, '?');
  return line.size() > kLineShownMax ? text + "..." : text;
}

// Orrery connects to the client just before the first request for decisions. Simulated time stands
// still until the client has answered. Decisions take effect once the time that the client reports
// (`took`) has passed in the simulation; until then the client gets no request.
class Remote final : public Policy, public QueueOrder, public Plan, public JobWatcher {
 public:
  struct Params {
    std::string address;
    Duration timeout = 10_s;
    std::string label;

    template <class V>
    void fields(V& v) {
      v("address", address,
        "Where the client listens: unix:PATH, or tcp:127.0.0.1:PORT on this machine.", Required{},
        Example{"unix:/tmp/orrery.sock"});
      v("timeout", timeout,
        "Limit on the host time that Orrery waits for the connection to the client, and for each "
        "answer of the client.",
        Range{1_ms, 100_h});
      v("label", label, "Text for the client, such as a name for this run.");
    }
    void check(Checker& c) const {
      const std::string why = LineSocket::why_bad(address);
      if (!why.empty()) c.error("address", why + ", got '" + address + "'");
    }
  };
  static constexpr Traits kTraits = Trait::StopsJobs;
  Remote(JobBoard& board, const Params& params)
      : board_{board},
        label_{params.label},
        socket_{params.address, params.timeout},
        events_{board} {}
  Remote(const Remote&) = delete;
  Remote& operator=(const Remote&) = delete;
  ~Remote() override {  // if sending fails, the client has gone and needs no message
    if (!socket_.is_connected()) return;
    try {
      if (std::uncaught_exceptions() == exceptions_) socket_.send(bye_line(board_.now()));
    } catch (const std::exception&) {
    }
  }

  int64_t rank(const QueuedJob& /*job*/) override { return 0; }
  bool plans_without_waiting() const override { return true; }

  void plan(const PlanNews& news) override {
    events_.planned(news);
    if (is_busy_ && board_.now() < busy_until_) return board_.wake_at(busy_until_);
    bool must_ask = !is_busy_;
    if (std::exchange(is_busy_, false)) carry_out(std::exchange(decisions_, {}));
    if (take_due_wakes()) events_.woke();
    must_ask |= !events_.are_none();
    for (int asked = 0; must_ask; ++asked) {
      if (asked == kAsksMax) fail("the client's decisions were refused 1,000 times in a row");
      RemoteAnswer answer = ask_client();
      if (answer.took > Duration{}) {
        is_busy_ = true;
        busy_until_ = board_.now() + answer.took;
        decisions_ = std::move(answer.decisions);
        return board_.wake_at(busy_until_);
      }
      must_ask = carry_out(answer.decisions);
    }
    if (!wakes_.empty()) board_.wake_at(*wakes_.begin());
  }

  // ---- news
  void job_waits(const QueuedJob& job) override {
    if (slots_.try_emplace(job.serial, job.slot).second) return events_.submitted(job);
    events_.waits(job);
  }
  void job_leaves(const QueuedJob& job) override {
    if (job.state != QueuedState::Held) return;
    events_.happened("held", job);
    is_held_ = true;
  }
  void job_starts(const QueuedJob& job) override { events_.expected("started", job); }
  void job_end_moves(const QueuedJob& job) override { events_.expected("expected_end", job); }
  void job_stops(const QueuedJob& job) override { events_.happened("stopped", job); }
  void job_ends(const QueuedJob& job) override {
    slots_.erase(job.serial);
    events_.happened("ended", job);
  }
  void job_cancelled(const QueuedJob& job) override {
    slots_.erase(job.serial);
    events_.happened("cancelled", job);
  }
  void node_goes(NodeId node) override { events_.node("node_down", node); }
  void node_comes(NodeId node) override { events_.node("node_up", node); }

 private:
  using Kind = RemoteDecision::Kind;

  [[noreturn]] void fail(const std::string& why) {
    std::string text = "policy 'Remote', client at " + socket_.address() + ": " + why;
    if (!line_.empty()) text += "\n  the client's latest line: " + printable(line_);
    const std::string where = check_context_text();
    if (!where.empty()) text += "\n  " + where;
    try {
      if (socket_.is_connected()) socket_.send(error_line(board_.now(), why));
    } catch (const SocketFault&) {  // the client has gone
    }
    socket_.close();
    throw PolicyFault{text};
  }
  std::string exchange_lines(const std::string& line) {
    try {
      socket_.send(line);
      line_.clear();
      return line_ = socket_.receive();
    } catch (const SocketFault& fault) {
      line_ = socket_.unfinished();
      fail(fault.what());
    }
  }
  void greet() {
    for (uint32_t n = 0; n < board_.cluster().nodes(); ++n) {
      nodes_.emplace(board_.cluster().name({n}), NodeId{n});
    }
    try {
      socket_.connect();
    } catch (const SocketFault& fault) {
      fail(fault.what());
    }
    try {
      check_greeting(exchange_lines(hello_line(board_, label_)));
    } catch (const AnswerError& error) {
      fail(error.what());
    }
  }
  RemoteAnswer ask_client() {
    if (!socket_.is_connected()) greet();
    const std::string line = exchange_lines(events_.take_line());
    try {
      RemoteAnswer answer = read_answer(line, board_.now());
      check(answer);
      return answer;
    } catch (const AnswerError& error) {
      fail(error.what());
    }
  }

  // Throws on a mistake that the client could have avoided. Other impossible decisions are refused,
  // see why_refused().
  void check(const RemoteAnswer& answer) const {
    std::set<uint64_t> named;
    for (const RemoteDecision& decision : answer.decisions) {
      if (decision.kind == Kind::WakeAt) continue;
      const std::string job = "job " + std::to_string(decision.job);
      const auto slot = slots_.find(decision.job);
      if (slot == slots_.end()) throw AnswerError{job + " was not submitted, or is over"};
      if (!named.insert(decision.job).second) throw AnswerError{"two decisions about " + job};
      const QueuedState state = board_.job(slot->second).state;
      const bool waits = state == QueuedState::Waiting || state == QueuedState::Held;
      if (decision.kind == Kind::Start && !waits) throw AnswerError{job + " has been started"};
      if (decision.kind == Kind::Stop && state != QueuedState::Running) {
        throw AnswerError{job + " does not run"};
      }
      check_nodes(decision);
    }
  }
  void check_nodes(const RemoteDecision& decision) const {
    if (!decision.nodes.empty() && !board_.chooses_nodes()) {
      throw AnswerError{
          "\"nodes\" need jobs with pods (a driver other than counting) and the plugin "
          "NodeAffinity"};
    }
    for (const std::string& name : decision.nodes) {
      if (!nodes_.contains(name)) throw AnswerError{"no node is called '" + printable(name) + "'"};
    }
  }

  // Returns true if a decision was refused or a job was held, so the client must decide again.
  bool carry_out(const std::vector<RemoteDecision>& decisions) {
    bool is_refused = false;
    is_held_ = false;
    for (const RemoteDecision& decision : decisions) {
      if (decision.kind == Kind::WakeAt) {
        wakes_.insert(decision.when);
        continue;
      }
      const std::string_view why = why_refused(decision);
      if (why.empty()) continue;
      is_refused = true;
      events_.refused(decision, why);
    }
    return is_refused || is_held_;
  }
  // Carries out the decision. Returns why it was refused, or an empty text.
  std::string_view why_refused(const RemoteDecision& decision) {
    const auto known = slots_.find(decision.job);
    if (known == slots_.end()) return "the job is over";
    const JobSlot slot = known->second;
    if (decision.kind == Kind::Stop) return board_.stop(slot) ? "" : "it cannot be stopped now";
    if (decision.kind == Kind::Cancel) return board_.cancel(slot) ? "" : "it has started";
    const QueuedJob& job = board_.job(slot);
    if (job.state == QueuedState::Held) return "it is held";
    if (job.state != QueuedState::Waiting) return "it does not wait";
    if (!board_.fits(job)) return "it does not fit";
    if (decision.nodes.empty()) {
      board_.start(slot);
    } else {
      NodeSet nodes{board_.cluster().nodes()};
      for (const std::string& name : decision.nodes) nodes.insert(nodes_.find(name)->second);
      board_.start_on(slot, nodes);
    }
    return {};
  }

  bool take_due_wakes() {
    const auto due = wakes_.upper_bound(board_.now());
    const bool is_any = due != wakes_.begin();
    wakes_.erase(wakes_.begin(), due);
    return is_any;
  }

  JobBoard& board_;
  const std::string label_;
  const int exceptions_ = std::uncaught_exceptions();
  LineSocket socket_;
  RemoteEvents events_;
  std::unordered_map<uint64_t, JobSlot> slots_;  // jobs known to the client, by serial number
  std::map<std::string_view, NodeId> nodes_;     // by name
  std::vector<RemoteDecision> decisions_;        // decisions that take effect at `busy_until_`
  Time busy_until_;
  std::set<Time> wakes_;
  std::string line_;      // the latest line of the client
  bool is_busy_ = false;  // the time that the client reported has not passed yet
  bool is_held_ = false;  // an Admit policy held a job that the client started
};
ORRERY_REGISTER_POLICY(Remote, "Remote",
                       "A program of the user, called the client, decides which jobs start and on "
                       "which nodes, and which jobs are stopped or cancelled. Orrery connects to a "
                       "local socket of the client. policies/jobs/remote/README.md describes the "
                       "protocol. Jobs wait in the order of submission.");

}  // namespace
}  // namespace orrery

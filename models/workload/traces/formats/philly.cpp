// The job log of Philly: one JSON array with an object for each job. The object lists the attempts
// of the job, and the GPUs of each attempt.
#include <algorithm>

#include "models/workload/traces/formats/format.hpp"
#include "models/workload/traces/io/json_tokens.hpp"

namespace orrery::traces::philly {
namespace {

using Kind = JsonTokens::Kind;

constexpr size_t kTextMax = 256;
constexpr int64_t kGpusPerPodMax = 16;
constexpr size_t kPodsMax = 100'000;

constexpr Word<TraceStatus> kStates[] = {{"Pass", TraceStatus::Completed},
                                         {"Killed", TraceStatus::Cancelled},
                                         {"Failed", TraceStatus::Failed}};

struct Attempt {
  std::optional<Time> start, end;
  std::vector<int64_t> gpus;  // GPUs on each machine
};

// A job gets the GPUs of its last attempt that held any, and one pod for each machine of this
// attempt. The duration of the job is the sum of its attempts, because the job waited between them.
// The recorded wait ends when the first attempt starts. Times are local time, which was put back by
// an hour on 2017-11-05. So an attempt across that night may seem to end before it starts; the sum
// then leaves out this attempt.
class PhillyParser final : public RowParser {
 public:
  explicit PhillyParser(ParserInput input)
      : tokens_{std::move(input.source)}, findings_{input.findings}, pool_{input.pool} {}

  const TraceRow* next() override {
    while (!findings_.is_stopped()) {
      const Kind kind = tokens_.next();
      if (kind == Kind::End) return nullptr;
      if (kind == Kind::Error) {
        findings_.stop(*tokens_.error());
        return nullptr;
      }
      const bool is_outer_array =
          tokens_.depth() <= 1 && (kind == Kind::BeginArray || kind == Kind::EndArray);
      if (is_outer_array) continue;
      findings_.start_row(tokens_.row());
      if (kind != Kind::BeginObject) {
        wrong("the object of a job");
        tokens_.skip(kind);
        continue;
      }
      read_job();
      if (tokens_.error()) continue;
      if (findings_.row_ok()) finish_job();
      if (findings_.row_ok()) return &row_;
    }
    return nullptr;
  }

 private:
  void read_job();
  void read_field(std::string_view key);
  void read_attempts();
  void read_attempt();
  void read_detail(Attempt& attempt);
  int64_t read_machine();
  void finish_job();
  std::string_view text();
  std::string_view name();
  std::optional<Time> instant();
  void wrong(std::string_view expected) {
    findings_.wrong_field(static_cast<size_t>(tokens_.column()), key_, tokens_.text(), expected);
  }
  // Calls `each` for every key of the object whose bracket was just read; `each` reads the value.
  template <class F>
  void for_each_key(F&& each) {
    for (Kind kind = tokens_.next(); kind == Kind::Key; kind = tokens_.next()) {
      key_ = tokens_.text();
      each(std::string{key_});
    }
  }
  // Reads an array: calls `each` for every object in it; `each` reads the object.
  template <class F>
  void for_each_object(F&& each) {
    const Kind first = tokens_.next();
    if (first == Kind::Null) return;
    if (first != Kind::BeginArray) {
      wrong("a list");
      tokens_.skip(first);
      return;
    }
    for (Kind kind = tokens_.next(); kind != Kind::EndArray && kind != Kind::Error;
         kind = tokens_.next()) {
      if (kind == Kind::BeginObject) {
        each();
      } else {
        wrong("an object");
        tokens_.skip(kind);
      }
    }
  }

  JsonTokens tokens_;
  Findings& findings_;
  StringPool& pool_;
  std::string key_ = "job";
  std::vector<Attempt> attempts_;
  bool has_submit_ = false;
  TraceRow row_;
};

// The next string; empty after a mistake.
std::string_view PhillyParser::text() {
  const Kind kind = tokens_.next();
  if (kind == Kind::String && tokens_.text().size() <= kTextMax) return tokens_.text();
  if (kind != Kind::Error) wrong("a string of at most 256 bytes");
  tokens_.skip(kind);
  return {};
}

std::string_view PhillyParser::name() {
  const auto pooled = pool_.intern(text());
  if (!pooled) wrong("fewer different names in a file");
  return pooled.value_or(std::string_view{});
}

std::optional<Time> PhillyParser::instant() {
  const Kind kind = tokens_.next();
  if (kind == Kind::Null) return {};
  if (kind == Kind::String) {
    if (is_nothing(tokens_.text())) return {};
    if (const auto time = parse_stamp(tokens_.text())) return time;
  }
  if (kind != Kind::Error) wrong("a date and time, or None");
  tokens_.skip(kind);
  return {};
}

void PhillyParser::read_job() {
  row_ = {};
  attempts_.clear();
  has_submit_ = false;
  row_.job.row = tokens_.row();
  for_each_key([this](const std::string& key) { read_field(key); });
}

void PhillyParser::read_field(std::string_view key) {
  TraceJob& job = row_.job;
  if (key == "status") {
    const std::string_view found = text();
    const auto* const word = std::find_if(std::begin(kStates), std::end(kStates),
                                          [&](const auto& state) { return state.text == found; });
    if (word == std::end(kStates)) {
      wrong("one of Pass Killed Failed");
    } else {
      job.status = word->value;
    }
  } else if (key == "vc") {
    job.queue = name();
  } else if (key == "user") {
    job.user = name();
  } else if (key == "jobid") {
    const std::string_view id = text();
    if (id.empty() || id.size() > TraceName::kMax) wrong("a name of at most 63 bytes");
    job.name = TraceName{id};
    job.id = id_of(id);
  } else if (key == "submitted_time") {
    if (const auto time = instant()) {
      job.submit = *time;
      has_submit_ = true;
    }
  } else if (key == "attempts") {
    read_attempts();
  } else {
    tokens_.skip(tokens_.next());
  }
}

void PhillyParser::read_attempts() {
  for_each_object([this] { read_attempt(); });
}

void PhillyParser::read_attempt() {
  Attempt attempt;
  for_each_key([&](const std::string& key) {
    if (key == "start_time") {
      attempt.start = instant();
    } else if (key == "end_time") {
      attempt.end = instant();
    } else if (key == "detail") {
      read_detail(attempt);
    } else {
      tokens_.skip(tokens_.next());
    }
  });
  attempts_.push_back(std::move(attempt));
}

void PhillyParser::read_detail(Attempt& attempt) {
  for_each_object([&] {
    const int64_t gpus = read_machine();
    if (attempt.gpus.size() >= kPodsMax) {
      wrong("at most 100000 machines");
    } else if (gpus > 0) {
      attempt.gpus.push_back(gpus);
    }
  });
}

int64_t PhillyParser::read_machine() {
  int64_t gpus = 0;
  for_each_key([&](const std::string& key) {
    const Kind first = tokens_.next();
    if (key != "gpus" || first != Kind::BeginArray) {
      tokens_.skip(first);
      return;
    }
    for (Kind kind = tokens_.next(); kind != Kind::EndArray && kind != Kind::Error;
         kind = tokens_.next()) {
      tokens_.skip(kind);
      ++gpus;
    }
  });
  if (gpus > kGpusPerPodMax) wrong("at most 16 GPUs on a machine");
  return gpus;
}

void PhillyParser::finish_job() {
  TraceJob& job = row_.job;
  if (job.name.view().empty()) findings_.mistake(": the job has no jobid");
  if (!has_submit_) findings_.leave_out("its submission is unknown");
  const Attempt* shape = nullptr;
  std::optional<Time> started;
  bool is_running = false;
  for (const Attempt& attempt : attempts_) {
    if (!attempt.gpus.empty()) shape = &attempt;
    if (!attempt.start) {
      findings_.remark("an attempt has no start and is not counted");
      continue;
    }
    if (!started) started = attempt.start;
    if (!attempt.end) {
      is_running = &attempt == &attempts_.back();
      if (!is_running) findings_.remark("an attempt has no end and is not counted");
    } else if (*attempt.end < *attempt.start) {
      findings_.remark("an attempt ends before it starts and is not counted");
    } else {
      job.duration += *attempt.end - *attempt.start;
    }
  }
  if (attempts_.empty() || !started) {
    findings_.leave_out("never started");
  } else if (shape == nullptr) {
    findings_.leave_out("the GPUs it held are unknown");
  }
  if (!findings_.row_ok()) return;
  if (*started < job.submit) {
    findings_.remark("started before it was submitted");
    started = job.submit;
  }
  if (is_running) row_.lacks_duration = "still running when the recording stopped";
  row_.start = *started;
  job.wait_recorded = *started - job.submit;
  // All pods but the last are equal: they get the mean number of GPUs, rounded up. The last pod
  // gets the remaining GPUs, but at least one GPU.
  int64_t gpus = 0;
  for (const int64_t count : shape->gpus) gpus += count;
  const auto pods = static_cast<int64_t>(shape->gpus.size());
  const int64_t each = (gpus + pods - 1) / pods;
  job.pods = static_cast<int32_t>(pods);
  job.gpus_per_pod = static_cast<int32_t>(each);
  job.gpus_last_pod = static_cast<int32_t>(std::max<int64_t>(gpus - each * (pods - 1), 1));
}

double likeness(std::string_view beginning) {
  const size_t bracket = beginning.find_first_not_of(" \t\r\n");
  if (bracket == std::string_view::npos) return 0;
  if (beginning[bracket] != '[' && beginning[bracket] != '{') return 0;
  int found = 0;
  for (const std::string_view key : {"\"attempts\"", "\"jobid\"", "\"submitted_time\"", "\"vc\""}) {
    found += beginning.find(key) != std::string_view::npos ? 1 : 0;
  }
  return found / 4.0;
}

}  // namespace

const Format kFormat{.id = TraceFormat::Philly,
                     .open = [](ParserInput input) -> std::unique_ptr<RowParser> {
                       return std::make_unique<PhillyParser>(std::move(input));
                     },
                     .likeness = likeness,
                     .durations = Durations::InMostRows,
                     .has_queues = true,
                     .has_statuses = true,
                     .has_starts = true,
                     .has_dates = true,
                     .is_unsorted = true};

}  // namespace orrery::traces::philly

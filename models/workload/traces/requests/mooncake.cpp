// The Mooncake request traces: JSON Lines, with the ids of the 512-token blocks of each prompt.
#include "models/workload/traces/io/cell.hpp"
#include "models/workload/traces/io/json_tokens.hpp"
#include "models/workload/traces/requests/request_format.hpp"

namespace orrery::traces::mooncake {
namespace {

using Kind = JsonTokens::Kind;

constexpr int64_t kMillisMax = 9'000'000'000'000;
constexpr int64_t kTokensMax = 1'000'000'000;

class MooncakeParser final : public RequestParser {
 public:
  explicit MooncakeParser(RequestInput input)
      : tokens_{std::move(input.source), true}, findings_{input.findings} {}

  RequestRow* next() override {
    while (!findings_.is_stopped()) {
      const Kind kind = tokens_.next();
      if (kind == Kind::End) return nullptr;
      findings_.start_row(tokens_.row());
      if (kind == Kind::BeginObject) {
        read_request();
      } else if (kind != Kind::Error) {
        findings_.mistake(": expected an object with a request");
        tokens_.skip(kind);
      }
      if (tokens_.error() && !go_on()) return nullptr;
      if (findings_.row_ok()) return &row_;
    }
    return nullptr;
  }

 private:
  // Reports a line that is no JSON as one malformed row. Returns false if no more lines can be
  // read.
  bool go_on() {
    if (!tokens_.is_readable()) {
      findings_.stop(*tokens_.error());
      return false;
    }
    findings_.mistake(tokens_.complaint());
    tokens_.resume();
    return true;
  }
  void read_request() {
    row_ = {};
    row_.row = tokens_.row();
    blocks_.clear();
    int found = 0;
    for (Kind kind = tokens_.next(); kind == Kind::Key; kind = tokens_.next()) {
      key_ = tokens_.text();
      if (key_ == "timestamp") {
        row_.arrival = Time{integer(kMillisMax) * 1'000'000};
        found |= 1;
      } else if (key_ == "input_length") {
        row_.input_tokens = integer(kTokensMax);
        found |= 2;
      } else if (key_ == "output_length") {
        row_.output_tokens = integer(kTokensMax);
        found |= 4;
      } else if (key_ == "hash_ids") {
        read_blocks();
      } else {
        tokens_.skip(tokens_.next());
      }
    }
    if (!tokens_.error() && found != 7) {
      findings_.mistake(": the request lacks a timestamp, an input_length or an output_length");
    }
    row_.prefix_blocks = blocks_;
  }
  int64_t integer(int64_t high) {
    const Kind kind = tokens_.next();
    return integer_of(kind, high);
  }
  int64_t integer_of(Kind kind, int64_t high) {
    const auto value = kind == Kind::Number ? parse_whole(tokens_.text()) : std::nullopt;
    if (value && *value >= 0 && *value <= high) return *value;
    if (kind != Kind::Error) {
      findings_.wrong_field(static_cast<size_t>(tokens_.column()), key_, tokens_.text(),
                            "a whole number from 0 to " + std::to_string(high));
      tokens_.skip(kind);
    }
    return 0;
  }
  void read_blocks() {
    const Kind first = tokens_.next();
    if (first != Kind::BeginArray) {
      findings_.mistake(": expected a list of hash_ids");
      tokens_.skip(first);
      return;
    }
    for (Kind kind = tokens_.next(); kind != Kind::EndArray && kind != Kind::Error;
         kind = tokens_.next()) {
      const int64_t id = integer_of(kind, std::numeric_limits<int64_t>::max());
      if (blocks_.size() < size_t{kPrefixBlocksMax}) {
        blocks_.push_back(id);
      } else {
        findings_.mistake(": more than 1000000 hash_ids");
      }
    }
  }

  JsonTokens tokens_;
  Findings& findings_;
  std::string key_;
  std::vector<int64_t> blocks_;
  RequestRow row_;
};

bool looks_like_mooncake(std::string_view beginning) {
  const std::string_view line = beginning.substr(0, beginning.find('\n'));
  return line.starts_with('{') && line.find("\"input_length\"") != std::string_view::npos &&
         line.find("\"output_length\"") != std::string_view::npos;
}

}  // namespace

const RequestLayout kLayout{.id = RequestFormat::Mooncake,
                            .open = [](RequestInput input) -> std::unique_ptr<RequestParser> {
                              return std::make_unique<MooncakeParser>(std::move(input));
                            },
                            .looks_like = looks_like_mooncake};

}  // namespace orrery::traces::mooncake

// The rates of the Alibaba GenAI set of 2026: requests per second of each container, one value for
// each 57 s of the set's clock. The parser converts each rate to requests that are spread evenly
// over the 57 s. A fraction of a request is carried to the container's next rate. Example: at 0.1
// requests per second, 57 s make 5.7 requests. A container gets 5 requests in the first 57 s, and
// in the next 57 s it gets 6, because 0.7 + 5.7 = 6.4.
#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "models/workload/traces/formats/format.hpp"
#include "models/workload/traces/io/csv.hpp"
#include "models/workload/traces/requests/request_format.hpp"

namespace orrery::traces::genai_rates {
namespace {

constexpr std::string_view kColumns[] = {"timestamp_anon", "value", "container_ip", "request_type"};
enum Column : size_t { kStamp, kRate, kContainer, kType };
constexpr Duration kStep{57'000'000'000};
constexpr double kRateMax = 10'000;
constexpr size_t kWaitingMax = 1'000'000;

class RatesParser final : public RequestParser {
 public:
  explicit RatesParser(RequestInput input)
      : pool_{input.pool}, csv_{std::move(input.source), input.findings} {
    csv_.bind(kColumns);
  }

  // Rows with the same timestamp yield requests that interleave in time, so these rows are read
  // together.
  RequestRow* next() override {
    while (given_ == waiting_.size()) {
      if (is_over_) return nullptr;
      waiting_.clear();
      given_ = 0;
      read_step();
    }
    return &waiting_[given_++];
  }

 private:
  struct Rate {
    Time at;
    double per_second = 0;
    std::string_view container, type;
    int64_t row = 0;
  };

  void check_stamp(Time at);
  bool read_rate();
  void read_step();
  void spread(const Rate& rate);

  StringPool& pool_;
  CsvReader csv_;
  Rate rate_;
  std::optional<Time> first_;
  bool has_rate_ = false;  // rate_ is the first rate of the next step
  bool is_over_ = false;
  // By container: fraction of a request left over from the last step.
  std::map<std::string_view, double> carried_;
  std::vector<RequestRow> waiting_;
  size_t given_ = 0;
};

// Times must be whole steps apart: requests of overlapping steps would not be in order of time.
void RatesParser::check_stamp(Time at) {
  if (at < rate_.at) {
    csv_.wrong(kStamp, "a time not before the row above");
  } else if (first_ && (at - *first_).ns % kStep.ns != 0) {
    csv_.wrong(kStamp, "a time that is a multiple of 57 s after the first");
  }
}

// Reads the next rate. Returns false at the end. A row that names no container counts the requests
// at the service's entrance. Such rows are left out, because the rows of the containers count the
// same requests.
bool RatesParser::read_rate() {
  while (csv_.next_row()) {
    Rate rate;
    rate.at = Time{} + csv_.seconds(kStamp);
    rate.per_second = csv_.number(kRate, 0, kRateMax);
    rate.container = interned(csv_, kContainer, pool_);
    rate.type = interned(csv_, kType, pool_);
    rate.row = csv_.row();
    if (rate.container.empty()) {
      csv_.findings().leave_out(
          "requests at the service's entrance: the rows of its containers "
          "count them too");
    }
    if (csv_.row_ok()) check_stamp(rate.at);
    if (!csv_.row_ok()) continue;
    if (!first_) first_ = rate.at;
    rate_ = rate;
    return true;
  }
  return false;
}

void RatesParser::read_step() {
  if (!has_rate_ && !read_rate()) {
    is_over_ = true;
    return;
  }
  const Time step = rate_.at;
  do {
    spread(rate_);
    has_rate_ = read_rate();
  } while (has_rate_ && rate_.at == step);
  is_over_ = !has_rate_;
  std::ranges::stable_sort(waiting_, {}, &RequestRow::arrival);
}

void RatesParser::spread(const Rate& rate) {
  double& carried = carried_[rate.container];
  carried += rate.per_second * kStep.seconds();
  // Rounding errors must not lose a request: ten times 57 s at 0.3 per second are 171, not 170.
  const auto requests = static_cast<int64_t>(carried + 1e-9);
  carried -= static_cast<double>(requests);
  if (waiting_.size() + static_cast<size_t>(requests) > kWaitingMax) {
    csv_.wrong(kRate, "fewer requests at one time");
    return;
  }
  for (int64_t i = 0; i < requests; ++i) {
    RequestRow row;
    row.row = rate.row;
    row.arrival = rate.at + Duration{kStep.ns / requests * i};
    row.kind = RequestKind::Image;
    row.group = rate.container;
    row.application = rate.type;
    waiting_.push_back(row);
  }
}

bool looks_like(std::string_view beginning) {
  const auto fields = first_fields(beginning, ',');
  return std::ranges::all_of(kColumns, [&](std::string_view column) {
    return std::ranges::find(fields, column) != fields.end();
  });
}

}  // namespace

const RequestLayout kLayout{.id = RequestFormat::GenAiRates,
                            .open = [](RequestInput input) -> std::unique_ptr<RequestParser> {
                              return std::make_unique<RatesParser>(std::move(input));
                            },
                            .looks_like = looks_like,
                            .has_dates = true,
                            .has_groups = true};

}  // namespace orrery::traces::genai_rates

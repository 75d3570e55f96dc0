// The log of Titan's GPUs: one row for each stay of a GPU in a slot, with the event that ended the
// stay. A node of Titan held one GPU, so a slot is a node.
#include <array>
#include <utility>

#include "models/faults/logs/failure_rows.hpp"
#include "models/workload/traces/io/csv.hpp"

namespace orrery::faults {
namespace {

using traces::CsvReader;
using traces::Findings;
using traces::TextSource;

constexpr std::string_view kColumns[] = {"location", "insert", "remove", "event"};
enum TitanColumn : size_t { kLocation, kInsert, kRemove, kEvent };
constexpr traces::Word<std::string_view> kEvents[] = {
    {"", ""}, {"NA", ""}, {"DBE", "DBE"}, {"OTB", "OTB"}};

class TitanRows final : public FailureRows {
 public:
  TitanRows(TextSource source, Findings& findings) : csv_{std::move(source), findings} {
    csv_.bind(kColumns);
  }

  const FailureRow* next() override {
    while (csv_.next_row()) {
      parse();
      if (csv_.row_ok()) return &row_;
    }
    return nullptr;
  }

 private:
  void parse() {
    row_.node = csv_.short_text(kLocation, kNodeNameMax);
    if (row_.node.empty()) csv_.wrong(kLocation, "a slot such as c9-3c1s2n0");
    row_.start = csv_.date_time(kRemove);
    row_.cause = csv_.word<std::string_view>(kEvent, kEvents);
    row_.is_outage = !row_.cause.empty();
    row_.seen = csv_.is_nothing(kInsert) ? row_.start : csv_.date_time(kInsert);
    if (row_.seen > row_.start) csv_.wrong(kRemove, "a time not before insert");
  }

  CsvReader csv_;
  FailureRow row_;
};

}  // namespace

std::unique_ptr<FailureRows> open_titan(TextSource source, Findings& findings) {
  return std::make_unique<TitanRows>(std::move(source), findings);
}

}  // namespace orrery::faults

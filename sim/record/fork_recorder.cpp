#include "sim/record/fork_recorder.hpp"

#include <algorithm>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

template <class Value, class Given>
void put(std::vector<std::pair<std::string, Value>>& list, std::string_view name, Given&& value) {
  const auto known = std::ranges::find(list, name, &std::pair<std::string, Value>::first);
  if (known == list.end())
    list.emplace_back(std::string{name}, std::forward<Given>(value));
  else
    known->second = std::forward<Given>(value);
}

}  // namespace

TableId ForkRecorder::open(std::string_view path, std::string_view doc,
                           std::span<const Column> columns, size_t row_bytes) {
  const std::string name{path};
  if (std::ranges::any_of(off_, [&](const std::string& glob) { return is_meant(glob, name); })) {
    return {};
  }
  tables_.push_back({.path = name,
                     .doc = std::string{doc},
                     .columns = {columns.begin(), columns.end()},
                     .row_bytes = row_bytes});
  return TableId{static_cast<uint32_t>(tables_.size() - 1)};
}

void ForkRecorder::append(TableId table, const void* rows, size_t count) {
  Table& t = tables_[table.index];
  if (target_) return target_->append(t.of_target, rows, count);
  const auto* const bytes = static_cast<const std::byte*>(rows);
  t.bytes.insert(t.bytes.end(), bytes, bytes + count * t.row_bytes);
}

void ForkRecorder::set_attribute(std::string_view name, AttributeValue value) {
  if (target_) return target_->set_attribute(name, std::move(value));
  put(attributes_, name, std::move(value));
}

void ForkRecorder::write_text(std::string_view path, std::string_view text) {
  ORRERY_CHECK(!target_, "texts are written before the fork");
  put(texts_, path, std::string{text});
}

void ForkRecorder::start() { has_started_ = true; }

bool ForkRecorder::poll(std::chrono::steady_clock::time_point now_host) {
  return !target_ || target_->poll(now_host);
}

void ForkRecorder::become(std::unique_ptr<Recorder> target) {
  ORRERY_CHECK(has_started_ && !target_, "one recorder takes over, after the start");
  target_ = std::move(target);
  for (Table& t : tables_) t.of_target = target_->open(t.path, t.doc, t.columns, t.row_bytes);
  for (const auto& [name, value] : attributes_) target_->set_attribute(name, value);
  for (const auto& [path, text] : texts_) target_->write_text(path, text);
  target_->start();
  for (Table& t : tables_) {
    target_->append(t.of_target, t.bytes.data(), t.bytes.size() / t.row_bytes);
    t.bytes = {};
  }
}

void ForkRecorder::finish(const RunEnd& end) {
  if (!target_) return;
  flush_all();
  for (const SummaryValue& value : summary()) {
    std::visit(
        [&](auto number) { target_->add_summary(value.name, number, value.unit, value.doc); },
        value.value);
  }
  target_->finish(end);
}

}  // namespace orrery

#include "sim/core/check.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <string_view>

namespace orrery {
namespace {

// The path of a source file from the root of the sources. `file` is absolute or, with some compiler
// caches, relative to the build folder.
const char* within_sources(const char* file) {
  constexpr std::string_view kSources{ORRERY_SOURCES};
  if (std::string_view{file}.starts_with(kSources)) file += kSources.size();
  while (std::string_view{file}.starts_with("../")) file += 3;
  return file;
}

thread_local const CheckContext* context_of_thread = nullptr;
std::atomic<Mark*> marks{nullptr};

}  // namespace

const CheckContext* exchange_check_context(const CheckContext* context) noexcept {
  const CheckContext* const former = context_of_thread;
  context_of_thread = context;
  return former;
}

std::string check_context_text() {
  const CheckContext* const c = context_of_thread;
  if (c == nullptr) return {};
  std::array<char, 256> text{};
  std::snprintf(text.data(), text.size(), "at simulated time %.9f s in event '%.*s', seed %llu",
                static_cast<double>(c->now_ns) * 1e-9, c->label_length, c->label,
                static_cast<unsigned long long>(c->seed));
  return text.data();
}

void check_failed(const char* file, int line, const char* cond, const char* why) {
  CheckFailed failure;
  const std::string where = check_context_text();
  std::snprintf(failure.text_, sizeof failure.text_, "%s:%d: check failed: %s: %s%s%s",
                within_sources(file), line, cond, why, where.empty() ? "" : "\n  ", where.c_str());
  throw failure;
}

Mark::Mark(const char* name) noexcept : name_{name}, next_{marks.load()} {
  while (!marks.compare_exchange_weak(next_, this)) {
  }
}

void Mark::hit() noexcept {
  std::atomic_ref<uint64_t>{hits_}.fetch_add(1, std::memory_order_relaxed);
}

uint64_t mark_count(const char* name) noexcept {
  uint64_t hits = 0;
  for (Mark* mark = marks.load(); mark != nullptr; mark = mark->next_) {
    if (std::strcmp(mark->name_, name) == 0) {
      hits += std::atomic_ref<uint64_t>{mark->hits_}.load(std::memory_order_relaxed);
    }
  }
  return hits;
}

}  // namespace orrery

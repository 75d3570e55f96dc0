#include "sim/cli/log.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/ostream_sink.h>

#include <string_view>

#include "sim/core/printable.hpp"

namespace orrery {
namespace {

// Makes each line of the text printable. The logger puts time and level before the first line only.
std::string shown(std::string_view text) {
  std::string lines;
  for (size_t end = 0; end != std::string_view::npos;) {
    end = text.find('\n');
    lines += (lines.empty() ? "" : "\n") + printable(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

}  // namespace

struct Log::Parts {
  explicit Parts(std::ostream& stream)
      : logger{"orrery", std::make_shared<spdlog::sinks::ostream_sink_st>(stream, true)} {}
  spdlog::logger logger;  // not in spdlog's registry, because many runs may live in one process
};

Log::Log(std::ostream& stream, bool is_quiet) : parts_{std::make_unique<Parts>(stream)} {
  parts_->logger.set_pattern("%H:%M:%S %l: %v");
  parts_->logger.set_level(is_quiet ? spdlog::level::err : spdlog::level::info);
}

Log::~Log() = default;

// The lines contain user text, so they are never used as format strings.
void Log::info(const std::string& line) { parts_->logger.log(spdlog::level::info, shown(line)); }
void Log::warning(const std::string& line) { parts_->logger.log(spdlog::level::warn, shown(line)); }
void Log::error(const std::string& line) { parts_->logger.log(spdlog::level::err, shown(line)); }

}  // namespace orrery

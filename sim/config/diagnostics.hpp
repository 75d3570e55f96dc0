// sim/config/diagnostics.hpp -- mistakes of the user and their positions; collected, never thrown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/time.hpp"

namespace orrery {

// A file name shared by all positions in the file, so a position holds no string.
class FileName {
 public:
  FileName() = default;
  FileName(std::string name) : name_{std::make_shared<const std::string>(std::move(name))} {}
  FileName(const char* name) : FileName{std::string{name}} {}
  const std::string& text() const;
  bool empty() const { return text().empty(); }

 private:
  std::shared_ptr<const std::string> name_;
};

struct Position {
  FileName file;
  int line = 0;  // from 1; 0 means the file as a whole
  int column = 0;
};
std::string to_string(const Position& position);

// What to do with given parameters that have no effect.
enum class Idle : uint8_t { Warned, Refused };

// Collects every mistake of a file, so one run of the program shows them all. A warning is about
// something that is probably intended, or does no harm: the scenario may still be run.
class Diagnostics {
 public:
  static constexpr size_t kKeptMax = 100;  // limit of kept mistakes; warnings have the same limit

  // A remark on a parameter, with its place and name.
  struct Entry {
    Position position;
    std::string path, message;
  };

  Diagnostics() = default;
  explicit Diagnostics(Idle idle) : idle_parameters_{idle} {}

  void error(const Position& position, std::string_view path, std::string message);
  void warning(const Position& position, std::string_view path, std::string message);
  // Reports that a parameter has no effect: as a warning or, with Idle::Refused, as a mistake.
  void idle(const Position& position, std::string_view path, std::string message);

  // Stores a parameter that the file sets, and that has an effect only if the `facts` of settle()
  // have facts[fact] = true (see Heeded). With a negative `fact`, the parameter has no effect.
  void unheeded(int fact, Entry entry);
  // Stores a parameter that the file sets, and that is an instant of the run. It has no effect
  // after the run's end.
  void instant(Duration at, Entry entry);
  // Reports the stored parameters that have no effect. `end` is the end of the run, if it is known.
  // A parameter whose facts[fact] has no value stays stored.
  void settle(std::span<const std::optional<bool>> facts, std::optional<Duration> end);

  bool ok() const { return count_ == 0; }
  size_t count() const { return count_; }
  // Whether further mistakes are only counted, so their messages need not be composed.
  bool full() const { return kept_.size() >= kKeptMax; }
  // The mistakes, sorted by file, line and column. The last text says how many mistakes were
  // dropped, if any.
  std::vector<std::string> messages() const;
  size_t warning_count() const { return warning_count_; }
  std::vector<std::string> warnings() const;  // sorted as messages() are
  std::string text() const;                   // one message a line, without the warnings

  // Mistakes and warnings, each in the order in which they were reported.
  const std::vector<Entry>& mistake_entries() const { return kept_; }
  const std::vector<Entry>& warning_entries() const { return warnings_; }

 private:
  static void keep(std::vector<Entry>& kept, const Position& position, std::string_view path,
                   std::string message);
  static std::vector<std::string> sorted(const std::vector<Entry>& kept, size_t count,
                                         std::string_view level);

  struct Open {
    int fact = -1;
    std::optional<Duration> at{};  // an instant of the run, which depends on no fact
    Entry entry;
  };

  Idle idle_parameters_ = Idle::Warned;
  std::vector<Entry> kept_, warnings_;
  std::vector<Open> open_;
  size_t count_ = 0, warning_count_ = 0;
};

// "; did you mean 'permit_timeout'?", or an empty text if no known name is near.
std::string did_you_mean(std::string_view wrong, const std::vector<std::string>& known);

// The user's text between quotes, shortened, with control characters made visible.
std::string in_quotes(std::string_view text);

}  // namespace orrery

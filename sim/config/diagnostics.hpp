// sim/config/diagnostics.hpp -- what the user did wrong, and where; collected, never thrown.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

// A file name shared by every position in that file, so that a position costs no string.
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
  int line = 0;  // from 1; 0: somewhere in the file
  int column = 0;
};
std::string to_string(const Position& position);

// Collects every mistake of a file, so that one run of the program shows them all. A warning is
// about what is probably no mistake, or would do no harm: the scenario may still be run.
class Diagnostics {
 public:
  static constexpr size_t kKeptMax = 100;  // of each kind

  void error(const Position& position, std::string_view path, std::string message);
  void warning(const Position& position, std::string_view path, std::string message);

  bool ok() const { return count_ == 0; }
  size_t count() const { return count_; }
  // Once full, messages are only counted: a caller may skip the work of composing one.
  bool full() const { return kept_.size() >= kKeptMax; }
  // Sorted by file, line and column; the last one tells how many more there were.
  std::vector<std::string> messages() const;
  size_t warning_count() const { return warning_count_; }
  std::vector<std::string> warnings() const;  // in the same order
  std::string text() const;                   // one message a line, without the warnings

 private:
  struct Entry {
    Position position;
    std::string message;
  };
  static void keep(std::vector<Entry>& kept, const Position& position, std::string_view path,
                   std::string_view level, const std::string& message);
  static std::vector<std::string> sorted(const std::vector<Entry>& kept, size_t count);

  std::vector<Entry> kept_, warnings_;
  size_t count_ = 0, warning_count_ = 0;
};

// "; did you mean 'permit_timeout'?", or nothing when no known name is near.
std::string did_you_mean(std::string_view wrong, const std::vector<std::string>& known);

// The user's text between quotes, shortened, with control characters made visible.
std::string in_quotes(std::string_view text);

}  // namespace orrery

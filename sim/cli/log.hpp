// sim/cli/log.hpp -- log lines for people, on the error stream.
#pragma once

#include <memory>
#include <ostream>
#include <string>

namespace orrery {

class Log {
 public:
  // If `is_quiet`, only errors are written. `stream` must outlive the log.
  Log(std::ostream& stream, bool is_quiet);
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  void info(const std::string& line);
  void warning(const std::string& line);
  void error(const std::string& line);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace orrery

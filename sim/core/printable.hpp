// sim/core/printable.hpp -- text from outside, made safe for a terminal.
#pragma once

#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>

namespace orrery {

// Escapes control characters (C0, DEL, C1), characters that reorder text, line separators and bytes
// that are not UTF-8, as \n, \x1b or \u202e. So names from files can neither control a terminal nor
// forge lines.
std::string printable(std::string_view text);

// While an instance exists, everything written to the stream is made printable, except line breaks,
// tabs and carriage returns (progress lines need these).
class PrintableStream : private std::streambuf {
 public:
  explicit PrintableStream(std::ostream& stream) : stream_{stream}, target_{stream.rdbuf(this)} {}
  PrintableStream(const PrintableStream&) = delete;
  PrintableStream& operator=(const PrintableStream&) = delete;
  ~PrintableStream() override;

 private:
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int_type overflow(int_type c) override;
  int sync() override;

  std::ostream& stream_;
  std::streambuf* target_;
  std::string cut_off_;  // the first bytes of an incomplete character
};

}  // namespace orrery

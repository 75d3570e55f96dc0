#include "sim/core/printable.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace orrery {
namespace {

TEST(Printable, PlainTextStaysAsItIs) {
  EXPECT_EQ(printable("gpu-0 \\ é 漢 😀"), "gpu-0 \\ é 漢 😀");
  EXPECT_EQ(printable(""), "");
}

TEST(Printable, ControlCharactersAreEscaped) {
  EXPECT_EQ(printable("\x1b]0;owned\x07"), "\\x1b]0;owned\\x07");
  EXPECT_EQ(printable(std::string_view{"a\0b\r\x7f", 5}), "a\\x00b\\x0d\\x7f");
  EXPECT_EQ(printable("one\ntwo\tthree"), "one\\ntwo\\tthree");
  // U+009B, the control sequence introducer in one character.
  EXPECT_EQ(printable("\u009b2J"), "\\u009b2J");
}

TEST(Printable, CharactersThatReorderTextAreEscaped) {
  EXPECT_EQ(printable("a\u202eb\u2066c\u200fd\u061ce"), "a\\u202eb\\u2066c\\u200fd\\u061ce");
  EXPECT_EQ(printable("a\u2028b"), "a\\u2028b");
}

TEST(Printable, BytesThatAreNotUtf8AreEscapedOneByOne) {
  EXPECT_EQ(printable("\x9b\xff"), "\\x9b\\xff");
  EXPECT_EQ(printable("\xc0\x9b"), "\\xc0\\x9b");           // ESC in two bytes instead of one
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // the first half of a surrogate pair
  // A code above U+10FFFF, the last character.
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(printable("\xe2\x80"), "\\xe2\\x80");  // the third byte is missing
  EXPECT_EQ(printable("\xe2\x1b"), "\\xe2\\x1b");
}

TEST(PrintableStream, KeepsLinesAndEscapesTheRest) {
  std::ostringstream out;
  {
    const PrintableStream guard{out};
    out << "\ta line\r\n"
        << "\x1b[2J" << 'x' << '\x07' << std::flush;
  }
  EXPECT_EQ(out.str(), "\ta line\r\n\\x1b[2Jx\\x07");
}

TEST(PrintableStream, CharactersMayComeInPieces) {
  std::ostringstream out;
  {
    const PrintableStream guard{out};
    for (const char byte : std::string{"é\u202e😀\xe2"}) out << byte << std::flush;
  }
  EXPECT_EQ(out.str(), "é\\u202e😀\\xe2");
}

TEST(PrintableStream, LeavesTheStreamAsItWas) {
  std::ostringstream out;
  {
    const PrintableStream guard{out};
    out.setstate(std::ios::failbit);
  }
  EXPECT_TRUE(out.fail());
  out.clear();
  out << "\x1b";
  EXPECT_EQ(out.str(), "\x1b");
}

}  // namespace
}  // namespace orrery

#include "sim/core/shared_files.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/support/temporary_folder.hpp"

namespace orrery {
namespace {

TEST(Fingerprint, IsAnotherAfterAnyChangeOfAByteAndForAnyLength) {
  std::set<std::string> seen;
  size_t texts = 0;
  for (size_t length = 0; length <= 24; ++length) {
    const std::string zeros(length, '\0');
    seen.insert(fingerprint_of(zeros));
    ++texts;
    for (size_t i = 0; i < length; ++i) {
      for (int byte = 1; byte < 256; ++byte) {
        std::string text = zeros;
        text[i] = static_cast<char>(byte);
        seen.insert(fingerprint_of(text));
        ++texts;
      }
    }
  }
  EXPECT_EQ(seen.size(), texts);
}

TEST(Fingerprint, OfAFileIsThatOfItsText) {
  const test::TemporaryFolder folder;
  for (const size_t length : {0U, 5U, 64U << 10U, (64U << 10U) + 3, 1U << 20U}) {
    const std::string text(length, 'x');
    folder.write("file", text);
    EXPECT_EQ(fingerprint_of_file_now(folder / "file"), fingerprint_of(text)) << length;
  }
  EXPECT_EQ(fingerprint_of_file_now(folder / "none"), "");
  EXPECT_EQ(fingerprint_of_file_now(folder.path()), "") << "a folder";
}

}  // namespace
}  // namespace orrery

// tests/support/temporary_folder.hpp -- a folder for one test's files.
#pragma once

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

namespace orrery::test {

// A folder with a unique name, so tests may run at the same time. The destructor removes it with
// its files.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(
      const std::filesystem::path& beneath = std::filesystem::temp_directory_path()) {
    std::string name = beneath / "orrery_XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) {
      throw std::system_error{errno, std::generic_category(), name};
    }
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
  void write(std::string_view name, std::string_view content) const {
    std::ofstream{path_ / name, std::ios::binary} << content;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace orrery::test

#include "sim/core/installation.hpp"

#include <cstdlib>
#include <system_error>

namespace orrery {
namespace {

namespace fs = std::filesystem;

// PREFIX, if the running program is PREFIX/bin/orrery; empty where /proc is not mounted.
fs::path prefix() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).parent_path().parent_path();
}

}  // namespace

fs::path python_folder() {
  const char* const given = std::getenv("ORRERY_ANALYSIS");
  if (given != nullptr && *given != '\0') return given;
  return prefix() / "lib" / "python3" / "dist-packages";
}

fs::path library_folder() { return prefix() / "lib" / "orrery"; }

}  // namespace orrery

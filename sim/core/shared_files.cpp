#include "sim/core/shared_files.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>

namespace orrery {
namespace {

std::atomic<int> sharers{0};
std::atomic<uint64_t> sharings{0};
thread_local InputFiles* inputs_of_thread = nullptr;

std::string fingerprint(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::fopen(path.c_str(), "rb"),
                                                             std::fclose};
  if (!file) return "";
  uint64_t hash = 0xcbf29ce484222325;
  std::array<unsigned char, size_t{64} << 10U> block{};
  for (size_t got = 0; (got = std::fread(block.data(), 1, block.size(), file.get())) > 0;) {
    for (size_t i = 0; i < got; ++i) hash = (hash ^ block[i]) * 0x100000001b3;
  }
  if (std::ferror(file.get()) != 0) return "";
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(hash));
  return text.data();
}

}  // namespace

FileSharing::FileSharing() {
  if (sharers++ == 0) ++sharings;
}
FileSharing::~FileSharing() { --sharers; }
bool FileSharing::is_on() { return sharers > 0; }
uint64_t FileSharing::generation() { return sharings; }

InputFiles::InputFiles() : former_{std::exchange(inputs_of_thread, this)} {}
InputFiles::~InputFiles() { inputs_of_thread = former_; }

void InputFiles::note(const std::string& path) {
  if (inputs_of_thread == nullptr) return;
  std::vector<std::string>& paths = inputs_of_thread->paths_;
  if (std::ranges::find(paths, path) == paths.end()) paths.push_back(path);
}

std::string fingerprint_of_file(const std::string& path) {
  static SharedFiles<std::string> known;
  return *known.get(path, fingerprint);
}

}  // namespace orrery

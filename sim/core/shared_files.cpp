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

class Fnv1a {
 public:
  void add(std::string_view bytes) {
    for (const char c : bytes) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  std::string text() const {
    std::array<char, 17> text{};
    std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(hash_));
    return text.data();
  }

 private:
  uint64_t hash_ = 0xcbf29ce484222325;
};

std::string fingerprint_of_bytes_in(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::fopen(path.c_str(), "rb"),
                                                             std::fclose};
  if (!file) return "";
  Fnv1a hash;
  std::array<char, size_t{64} << 10U> block{};
  for (size_t got = 0; (got = std::fread(block.data(), 1, block.size(), file.get())) > 0;) {
    hash.add({block.data(), got});
  }
  return std::ferror(file.get()) != 0 ? "" : hash.text();
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

std::string fingerprint_of(std::string_view text) {
  Fnv1a hash;
  hash.add(text);
  return hash.text();
}

std::string fingerprint_of_file(const std::string& path) {
  static SharedFiles<std::string> known;
  return *known.get(path, fingerprint_of_bytes_in);
}

}  // namespace orrery

#include "sim/core/shared_files.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>

namespace orrery {
namespace {

std::atomic<int> sharers{0};
std::atomic<uint64_t> sharings{0};
thread_local InputFiles* inputs_of_thread = nullptr;

// Like FNV-1a, but on words of eight bytes. Each step maps different states to different states, so
// a change within one word always changes the result.
class Hash {
 public:
  // Only the last piece of a text may have a length that is no multiple of eight.
  void add(std::string_view bytes) {
    for (; bytes.size() >= kWord; bytes.remove_prefix(kWord)) add_word(bytes);
    if (!bytes.empty()) add_word(bytes);
    rest_ = bytes.size();
  }
  std::string text() const {
    std::array<char, 17> text{};
    std::snprintf(text.data(), text.size(), "%016llx",
                  static_cast<unsigned long long>(hash_ ^ rest_));
    return text.data();
  }

 private:
  static constexpr size_t kWord = sizeof(uint64_t);

  void add_word(std::string_view bytes) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), std::min(bytes.size(), kWord));
    hash_ = (hash_ ^ word) * 0x9e3779b97f4a7c15;
    hash_ ^= hash_ >> 32U;
  }

  uint64_t hash_ = 0xcbf29ce484222325;
  size_t rest_ = 0;  // bytes in the incomplete last word; 0 if all words are complete
};

}  // namespace

std::string fingerprint_of_file_now(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::fopen(path.c_str(), "rb"),
                                                             std::fclose};
  if (!file) return "";
  Hash hash;
  std::array<char, size_t{64} << 10U> block{};
  for (size_t got = 0; (got = std::fread(block.data(), 1, block.size(), file.get())) > 0;) {
    hash.add({block.data(), got});
  }
  return std::ferror(file.get()) != 0 ? "" : hash.text();
}

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
  Hash hash;
  hash.add(text);
  return hash.text();
}

std::string fingerprint_of_file(const std::string& path) {
  static SharedFiles<std::string> known;
  return *known.get(path, fingerprint_of_file_now);
}

}  // namespace orrery

// sim/core/shared_files.hpp -- input files: shared by the runs of a process, listed and hashed.
#pragma once

#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace orrery {

// While an instance exists, every SharedFiles keeps what it reads, for all threads. Files are
// assumed not to change meanwhile.
class FileSharing {
 public:
  FileSharing();
  ~FileSharing();
  FileSharing(const FileSharing&) = delete;
  FileSharing& operator=(const FileSharing&) = delete;
  static bool is_on();
  static uint64_t generation();  // changes whenever sharing begins
};

// Parsed contents of files of one kind, by path. Thread-safe: during FileSharing, a thread waits
// while another one reads the same file.
template <class T>
class SharedFiles {
 public:
  // Returns the T that `read(path)` makes. During FileSharing, only the first get() for a path
  // calls `read`; without FileSharing, each get() does.
  template <class F>
  std::shared_ptr<const T> get(const std::string& path, F&& read) {
    if (!FileSharing::is_on()) return std::make_shared<const T>(read(path));
    std::promise<std::shared_ptr<const T>> promise;
    std::unique_lock lock{mutex_};
    if (std::exchange(generation_, FileSharing::generation()) != generation_) known_.clear();
    const auto [at, is_new] = known_.try_emplace(path);
    if (!is_new) {
      const std::shared_future<std::shared_ptr<const T>> found = at->second;
      lock.unlock();
      return found.get();
    }
    at->second = promise.get_future().share();
    const std::shared_future<std::shared_ptr<const T>> own = at->second;
    lock.unlock();
    try {
      promise.set_value(std::make_shared<const T>(read(path)));
    } catch (...) {
      promise.set_exception(std::current_exception());
    }
    return own.get();
  }

 private:
  std::mutex mutex_;
  uint64_t generation_ = 0;
  std::map<std::string, std::shared_future<std::shared_ptr<const T>>> known_;
};

// While an instance exists, it lists the input files that this thread reads, but not the scenario.
// Each path is listed once, in order of first use.
class InputFiles {
 public:
  InputFiles();
  ~InputFiles();
  InputFiles(const InputFiles&) = delete;
  InputFiles& operator=(const InputFiles&) = delete;
  const std::vector<std::string>& paths() const { return paths_; }
  static void note(const std::string& path);  // called by each reader that opens a file

 private:
  std::vector<std::string> paths_;
  InputFiles* former_;
};

// A 64-bit hash of a text, in hexadecimal.
std::string fingerprint_of(std::string_view text);
// A hash of the file's bytes; empty if the file is unreadable. While a FileSharing exists, each
// file is hashed only once.
std::string fingerprint_of_file(const std::string& path);
// Like fingerprint_of_file(), but always reads the file.
std::string fingerprint_of_file_now(const std::string& path);

}  // namespace orrery

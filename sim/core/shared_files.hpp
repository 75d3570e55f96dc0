// sim/core/shared_files.hpp -- files that runs of one process read: once for all, and noted down.
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

// While one lives, every SharedFiles keeps what it reads, for all threads: the files are taken not
// to change meanwhile.
class FileSharing {
 public:
  FileSharing();
  ~FileSharing();
  FileSharing(const FileSharing&) = delete;
  FileSharing& operator=(const FileSharing&) = delete;
  static bool is_on();
  static uint64_t generation();  // another one, whenever sharing begins
};

// What files of one kind hold, by path. Safe to use from many threads; who comes while another
// reads the same file waits for it.
template <class T>
class SharedFiles {
 public:
  // `read(path)` makes a T. Without FileSharing it is called each time.
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

// The paths that the running thread reads while this lives: what a run depends on beside its
// scenario. Each once, in the order of the first reading.
class InputFiles {
 public:
  InputFiles();
  ~InputFiles();
  InputFiles(const InputFiles&) = delete;
  InputFiles& operator=(const InputFiles&) = delete;
  const std::vector<std::string>& paths() const { return paths_; }
  static void note(const std::string& path);  // by each reader that opens a file

 private:
  std::vector<std::string> paths_;
  InputFiles* former_;
};

// A hash of 64 bits over the bytes of a text, in hexadecimal.
std::string fingerprint_of(std::string_view text);
// The same over those of a file; empty if it cannot be read. Known files are not
// read again while FileSharing lasts.
std::string fingerprint_of_file(const std::string& path);
// Always reads it.
std::string fingerprint_of_file_now(const std::string& path);

}  // namespace orrery

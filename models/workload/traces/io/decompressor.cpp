#include "models/workload/traces/io/decompressor.hpp"

#include <lzma.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "sim/core/check.hpp"

namespace orrery::traces {
namespace {

class Gunzip final : public Decompressor {
 public:
  Gunzip() {
    // 15 + 16: the largest window, gzip framing only.
    ORRERY_CHECK(inflateInit2(&stream_, 15 + 16) == Z_OK, "zlib must have memory for its state");
  }
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;
  ~Gunzip() override { inflateEnd(&stream_); }

  size_t read(StoredBytes& input, std::span<char> out) override {
    while (complaint_.empty()) {
      const std::string_view block = input.peek();
      if (block.empty()) {
        if (!is_between_members_ && input.complaint().empty()) {
          complaint_ = "the gzip data ends too early";
        }
        return 0;
      }
      if (is_between_members_ && static_cast<unsigned char>(block.front()) != 0x1F) {
        complaint_ = "the gzip data is followed by something else";
        return 0;
      }
      if (const size_t got = inflate_some(input, block, out); got > 0) return got;
    }
    return 0;
  }

 private:
  size_t inflate_some(StoredBytes& input, std::string_view block, std::span<char> out) {
    // zlib takes its input without const, and does not write to it.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(block.data()));
    stream_.avail_in = static_cast<uInt>(std::min(block.size(), StoredBytes::kBlock));
    const uInt offered = stream_.avail_in;
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(out.size());
    const int status = inflate(&stream_, Z_NO_FLUSH);
    input.take(offered - stream_.avail_in);
    is_between_members_ = status == Z_STREAM_END;
    if (is_between_members_) {
      inflateReset(&stream_);
    } else if (status != Z_OK) {
      complaint_ = "the gzip data is damaged";
      if (stream_.msg != nullptr) complaint_ += std::string{" ("} + stream_.msg + ")";
    }
    return out.size() - stream_.avail_out;
  }

  z_stream stream_{};
  bool is_between_members_ = false;
};

class Unxz final : public Decompressor {
 public:
  // Unpacking a file written by `xz -9` takes 65 MiB of memory. A file whose header asks for more
  // than kMemoryMax is rejected.
  static constexpr uint64_t kMemoryMax = uint64_t{256} << 20U;

  Unxz() {
    ORRERY_CHECK(lzma_stream_decoder(&stream_, kMemoryMax, LZMA_CONCATENATED) == LZMA_OK,
                 "liblzma must have memory for its state");
  }
  Unxz(const Unxz&) = delete;
  Unxz& operator=(const Unxz&) = delete;
  ~Unxz() override { lzma_end(&stream_); }

  size_t read(StoredBytes& input, std::span<char> out) override {
    stream_.next_out = reinterpret_cast<uint8_t*>(out.data());
    stream_.avail_out = out.size();
    while (!is_over_ && complaint_.empty() && stream_.avail_out == out.size()) {
      const std::string_view block = input.peek();
      if (block.empty() && !input.complaint().empty()) return 0;
      stream_.next_in = reinterpret_cast<const uint8_t*>(block.data());
      stream_.avail_in = block.size();
      const lzma_ret status = lzma_code(&stream_, block.empty() ? LZMA_FINISH : LZMA_RUN);
      input.take(block.size() - stream_.avail_in);
      is_over_ = status == LZMA_STREAM_END;
      if (status != LZMA_OK && !is_over_) complaint_ = complaint_of(status);
    }
    return out.size() - stream_.avail_out;
  }

 private:
  static const char* complaint_of(lzma_ret status) {
    switch (status) {
      case LZMA_BUF_ERROR:
        return "the xz data ends too early";
      case LZMA_MEMLIMIT_ERROR:
        return "the xz data needs more than 256 MiB to unpack";
      default:
        return "the xz data is damaged";
    }
  }

  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool is_over_ = false;
};

}  // namespace

StoredBytes::StoredBytes(const std::string& path) : file_{std::fopen(path.c_str(), "rb")} {
  if (!file_) {
    complaint_ = "cannot open the file: " + std::generic_category().message(errno);
    return;
  }
  storage_ = std::make_unique_for_overwrite<char[]>(kBlock);
}

std::string_view StoredBytes::peek() {
  if (block_.empty() && file_ && complaint_.empty()) {
    const size_t got = std::fread(storage_.get(), 1, kBlock, file_.get());
    if (got == 0 && std::ferror(file_.get()) != 0) {
      complaint_ = "cannot read the file: " + std::generic_category().message(errno);
    }
    block_ = {storage_.get(), got};
  }
  return block_;
}

std::unique_ptr<Decompressor> decompressor_for(std::string_view head) {
  if (head.starts_with("\x1F\x8B")) return std::make_unique<Gunzip>();
  if (head.starts_with(std::string_view{"\xFD"
                                        "7zXZ\0",
                                        6})) {
    return std::make_unique<Unxz>();
  }
  return nullptr;
}

}  // namespace orrery::traces

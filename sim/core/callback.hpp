// sim/core/callback.hpp -- a move-only void() that lives in 40 inline bytes and never allocates.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace orrery {

class Callback {
 public:
  // Room to capture `this` and four words. A slot of the event queue is then one cache line.
  static constexpr size_t kInlineBytes = 40;

  Callback() = default;
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, Callback> && std::is_invocable_r_v<void, F&>)
      Callback(F&& fn) {  // NOLINT(google-explicit-constructor): lambdas convert
    using Fn = std::remove_cvref_t<F>;
    static_assert(sizeof(Fn) <= kInlineBytes, "capture less: at most 40 bytes");
    static_assert(alignof(Fn) <= alignof(void*));
    new (bytes_) Fn(std::forward<F>(fn));
    ops_ = &kOps<Fn>;
  }
  Callback(Callback&& other) noexcept { take(other); }
  Callback& operator=(Callback&& other) noexcept {
    if (this != &other) {
      reset();
      take(other);
    }
    return *this;
  }
  ~Callback() { reset(); }

  void operator()() { ops_->call(bytes_); }
  explicit operator bool() const { return ops_ != nullptr; }
  // Prefetches what the first two captured words point to: two cache lines for the first word, one
  // for the second. Words that are no pointers do no harm. Valid on any callback, even an empty
  // one.
  void prefetch() const {
    std::array<uintptr_t, 2> addresses;  // numbers, because pointer arithmetic needs real pointers
    std::memcpy(&addresses, bytes_, sizeof(addresses));
    for (const uintptr_t address : {addresses[0], addresses[0] + 64, addresses[1]}) {
      __builtin_prefetch(reinterpret_cast<const void*>(address), 1);
    }
  }
  void reset() {
    if (ops_ != nullptr && ops_->relocate != nullptr) ops_->relocate(nullptr, bytes_);
    ops_ = nullptr;
  }

 private:
  struct Ops {
    void (*call)(void* self);
    // Moves the callable from `from` to `to`. If `to` is null, destroys the callable at `from`.
    // `relocate` itself is null for a callable that is moved by copying its bytes.
    void (*relocate)(void* to, void* from);
  };
  template <class Fn>
  static void relocate(void* to, void* from) {
    auto* source = static_cast<Fn*>(from);
    if (to != nullptr) new (to) Fn(std::move(*source));
    source->~Fn();
  }
  template <class Fn>
  static constexpr Ops kOps{[](void* self) { (*static_cast<Fn*>(self))(); },
                            std::is_trivially_copyable_v<Fn> ? nullptr : &relocate<Fn>};
  void take(Callback& other) {
    ops_ = std::exchange(other.ops_, nullptr);
    if (ops_ != nullptr && ops_->relocate != nullptr)
      ops_->relocate(bytes_, other.bytes_);
    else
      std::memcpy(bytes_, other.bytes_, kInlineBytes);
  }
  const Ops* ops_ = nullptr;
  alignas(void*) std::byte bytes_[kInlineBytes];
};
static_assert(sizeof(Callback) == 48);

}  // namespace orrery

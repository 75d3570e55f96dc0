// tests/support/sanitized.hpp -- whether the program runs under sanitizers, which slow it down many
// times.
#pragma once

namespace orrery::test {

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr bool kIsSanitized = true;
#else
inline constexpr bool kIsSanitized = false;
#endif
#elif defined(__SANITIZE_ADDRESS__)
inline constexpr bool kIsSanitized = true;
#else
inline constexpr bool kIsSanitized = false;
#endif

}  // namespace orrery::test

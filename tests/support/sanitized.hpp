// tests/support/sanitized.hpp -- whether the program was built with AddressSanitizer, which makes
// it several times slower.
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

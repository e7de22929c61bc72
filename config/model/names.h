// The characters of names in a configuration, and the maximum length of a name.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace satrelay::config {

inline constexpr std::size_t kMostNameCharacters = 32;

constexpr bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

constexpr bool is_hex_digit(char c) {
  return (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || (c >= '0' && c <= '9');
}

// A key of the configuration is much shorter. A secret is 64 hexadecimal digits.
inline constexpr std::size_t kFewestSecretDigits = 32;

// Whether the text may be a secret, or has a part that may be one. No message shows such a text.
constexpr bool may_be_secret(std::string_view text) {
  std::size_t digits = 0;
  return std::ranges::any_of(text, [&](char c) {
    digits = is_hex_digit(c) ? digits + 1 : 0;
    return digits == kFewestSecretDigits;
  });
}

// Whether the text looks like the name of a key. Another text may be a value, or a secret.
constexpr bool is_key_name(std::string_view text) {
  return !text.empty() && text.size() <= kMostNameCharacters && !may_be_secret(text) &&
         std::ranges::all_of(text, [](char c) { return is_name_character(c) || c == '.'; });
}

}  // namespace satrelay::config

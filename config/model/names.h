// The characters of names in a configuration, and the maximum length of a name.
#pragma once

#include <cstddef>

namespace satrelay::config {

inline constexpr std::size_t kMostNameCharacters = 32;

constexpr bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

}  // namespace satrelay::config

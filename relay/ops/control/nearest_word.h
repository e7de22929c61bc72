// Finds the known word that the user probably meant to type.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace satrelay::ops {

// Returns the known word that differs from `typed` by the fewest slips. A slip is a wrong, extra or
// missing letter, or two adjacent letters in the wrong order. Returns nullopt if all known words
// differ by more than one slip for each three letters. `typed` may contain any bytes.
std::optional<std::string_view> nearest_word(std::string_view typed,
                                             std::span<const std::string_view> known);

}  // namespace satrelay::ops

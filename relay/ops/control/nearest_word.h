// Finds the word that a mistyped word was probably meant to be.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace satrelay::ops {

// The known word that differs from `typed` by the fewest slips: a letter wrong, too many or
// missing, or two letters exchanged. nullopt if no word is near, that is, with at most one slip for
// each three letters. Any bytes are safe.
std::optional<std::string_view> nearest_word(std::string_view typed,
                                             std::span<const std::string_view> known);

}  // namespace satrelay::ops

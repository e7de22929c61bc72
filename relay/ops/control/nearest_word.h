// Which word was meant by one that is mistyped.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace satrelay::ops {

// The known word that `typed` becomes with the fewest slips: a letter wrong, too many or missing,
// or two exchanged. nullopt if none is near: more than one slip for each three letters. Any bytes
// are safe.
std::optional<std::string_view> nearest_word(std::string_view typed,
                                             std::span<const std::string_view> known);

}  // namespace satrelay::ops

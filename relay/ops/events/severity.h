// The severity of an event, and the words for it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace satrelay::ops {

enum class Severity : std::uint8_t { kError, kWarning, kInfo };

// The words in the order of the enumeration's values: the worst severity first.
inline constexpr std::array<std::string_view, 3> kSeverityWords{"error", "warning", "info"};

constexpr std::string_view to_string(Severity severity) {
  return kSeverityWords[static_cast<std::size_t>(severity)];
}

}  // namespace satrelay::ops

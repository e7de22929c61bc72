// The kinds of things for which a gateway keeps a history, and the words for them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace satrelay::ops {

// If there are more series than the gateway can keep, kinds that are listed first take precedence.
enum class HistoryOf : std::uint8_t { kGateway, kLink, kClass, kPeer };

inline constexpr std::array<std::string_view, 4> kHistoryWords = {"gateway", "link", "class",
                                                                  "peer"};

constexpr std::string_view to_word(HistoryOf of) {
  return kHistoryWords[static_cast<std::size_t>(of)];
}
constexpr std::optional<HistoryOf> history_of(std::string_view word) {
  for (std::size_t i = 0; i < kHistoryWords.size(); ++i) {
    if (kHistoryWords[i] == word) return static_cast<HistoryOf>(i);
  }
  return std::nullopt;
}

}  // namespace satrelay::ops

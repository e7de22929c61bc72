#include "relay/ops/control/nearest_word.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace satrelay::ops {
namespace {

// Computes the optimal string alignment distance. Unlike the Damerau-Levenshtein distance, it never
// counts a letter in two slips.
std::size_t slips_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t wrong = a[i - 1] == b[j - 1] ? 0 : 1;
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + wrong});
      const bool exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (exchanged) now[j] = std::min(now[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, now);
  }
  return last[b.size()];
}

}  // namespace

std::optional<std::string_view> nearest_word(std::string_view typed,
                                             std::span<const std::string_view> known) {
  constexpr std::size_t kLongest = 64;  // all commands are shorter
  if (typed.size() > kLongest) return std::nullopt;
  std::size_t fewest = (typed.size() + 2) / 3 + 1;
  std::optional<std::string_view> nearest;
  for (const std::string_view word : known) {
    const std::size_t slips = slips_between(typed, word);
    if (slips >= fewest) continue;
    fewest = slips;
    nearest = word;
  }
  return nearest;
}

}  // namespace satrelay::ops

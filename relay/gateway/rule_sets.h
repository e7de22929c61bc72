// Sets of rules by their number, of which there are many, and most small; and the first rule that
// stands in one set of each kind. A set's words of 64 rules are kept only where they are not empty,
// behind bits that say which are there (as in Baboescu and Varghese, "Scalable Packet
// Classification", SIGCOMM 2001).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace satrelay::gateway {

class RuleSets {
 public:
  using SetId = std::uint32_t;
  static constexpr SetId kEmpty = 0;

  explicit RuleSets(std::size_t rule_count);

  // A set of all its words, rule 0 in the lowest bit of the first; equal ones are the same.
  SetId add(std::span<const std::uint64_t> words);
  std::size_t word_count() const { return word_count_; }
  // No more sets come: frees what only add() needs.
  void seal();

  // The lowest rule that stands, for every pair, in either of its sets.
  struct Either {
    SetId one;
    SetId other;
  };
  std::optional<std::size_t> first_in_all(std::span<const Either> pairs) const {
    for (std::size_t s = 0; s < summary_count_; ++s) {
      std::uint64_t candidates = ~std::uint64_t{0};
      for (const Either& pair : pairs) {
        candidates &= words_[pair.one + s] | words_[pair.other + s];
      }
      for (; candidates != 0; candidates &= candidates - 1) {
        const auto bit = static_cast<std::size_t>(std::countr_zero(candidates));
        std::uint64_t rules = ~std::uint64_t{0};
        for (const Either& pair : pairs) {
          rules &= word(pair.one, s, bit) | word(pair.other, s, bit);
        }
        if (rules != 0) {
          return (s * 64 + bit) * 64 + static_cast<std::size_t>(std::countr_zero(rules));
        }
      }
    }
    return std::nullopt;
  }

 private:
  std::uint64_t word(SetId set, std::size_t s, std::size_t bit) const {
    const std::uint64_t* summary = &words_[set];
    if ((summary[s] >> bit & 1) == 0) return 0;
    auto at = static_cast<std::size_t>(std::popcount(summary[s] & ((std::uint64_t{1} << bit) - 1)));
    for (std::size_t i = 0; i < s; ++i) at += static_cast<std::size_t>(std::popcount(summary[i]));
    return summary[summary_count_ + at];
  }

  std::size_t word_count_;
  std::size_t summary_count_;
  // Set after set, each at its id: which words are there, then these.
  std::vector<std::uint64_t> words_;
  std::map<std::vector<std::uint64_t>, SetId> ids_;  // by what stands in words_
};

}  // namespace satrelay::gateway

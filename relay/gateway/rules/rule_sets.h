// Stores many sets of rule numbers, most of them small. A search gets pairs of sets, and finds the
// first rule that is in at least one set of every pair. A set is a bitmap, in words of 64 rules.
// A summary bitmap says which words are not empty, and only these words are stored (as in Baboescu
// and Varghese, "Scalable Packet Classification", SIGCOMM 2001). A set with many rules stores all
// words. If many words may contain the answer, the search handles 64 words in one loop.
#pragma once

#include <array>
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

  // Adds a set that is given by all its words, with rule 0 in the lowest bit of the first word.
  // Equal sets have the same id.
  SetId add(std::span<const std::uint64_t> words);
  std::size_t word_count() const { return word_count_; }
  // Call this after the last add(): it frees memory that only add() needs.
  void seal();

  // Returns the lowest rule that is in at least one set of every pair.
  struct Either {
    SetId one;
    SetId other;
  };
  std::optional<std::size_t> first_in_all(std::span<const Either> pairs) const {
    for (std::size_t s = 0; s < summary_count_; ++s) {
      std::uint64_t candidates = ~std::uint64_t{0};
      for (const Either& pair : pairs) {
        candidates &= summary(pair.one)[s] | summary(pair.other)[s];
      }
      const auto found = std::popcount(candidates) > kFewWords ? sweep(pairs, s, candidates)
                                                               : try_each(pairs, s, candidates);
      if (found) return found;
    }
    return std::nullopt;
  }

 private:
  using Block = std::array<std::uint64_t, 64>;  // 64 words of a set
  // Up to this number of words, looking them up one by one takes less time than sweep().
  static constexpr int kFewWords = 8;

  const std::uint64_t* summary(SetId set) const { return &words_[set + 1]; }
  bool is_dense(SetId set) const { return words_[set] != 0; }
  // The stored words of a set. A dense set stores all words of its blocks.
  const std::uint64_t* kept(SetId set) const { return summary(set) + summary_count_; }

  std::uint64_t word(SetId set, std::size_t s, std::size_t bit) const {
    if (is_dense(set)) return kept(set)[s * 64 + bit];
    const std::uint64_t* bits = summary(set);
    if ((bits[s] >> bit & 1) == 0) return 0;
    auto at = static_cast<std::size_t>(std::popcount(bits[s] & ((std::uint64_t{1} << bit) - 1)));
    for (std::size_t i = 0; i < s; ++i) at += static_cast<std::size_t>(std::popcount(bits[i]));
    return kept(set)[at];
  }
  static std::size_t rule_in(std::size_t s, std::size_t bit, std::uint64_t rules) {
    return (s * 64 + bit) * 64 + static_cast<std::size_t>(std::countr_zero(rules));
  }

  std::optional<std::size_t> try_each(std::span<const Either> pairs, std::size_t s,
                                      std::uint64_t candidates) const {
    for (; candidates != 0; candidates &= candidates - 1) {
      const auto bit = static_cast<std::size_t>(std::countr_zero(candidates));
      std::uint64_t rules = ~std::uint64_t{0};
      for (const Either& pair : pairs) {
        rules &= word(pair.one, s, bit) | word(pair.other, s, bit);
      }
      if (rules != 0) return rule_in(s, bit, rules);
    }
    return std::nullopt;
  }

  // Returns all words of block `s` of a set. They are copied to `scratch` if they are not
  // contiguous in the set.
  const std::uint64_t* block(SetId set, std::size_t s, Block& scratch) const {
    if (is_dense(set)) return kept(set) + s * 64;
    scratch = {};
    for (std::uint64_t bits = summary(set)[s]; bits != 0; bits &= bits - 1) {
      const auto bit = static_cast<std::size_t>(std::countr_zero(bits));
      scratch[bit] = word(set, s, bit);
    }
    return scratch.data();
  }
  std::optional<std::size_t> sweep(std::span<const Either> pairs, std::size_t s,
                                   std::uint64_t candidates) const {
    Block rules, of_one, of_other;
    rules.fill(~std::uint64_t{0});
    for (const Either& pair : pairs) {
      const bool both = summary(pair.one)[s] != 0 && summary(pair.other)[s] != 0;
      const SetId some = summary(pair.one)[s] != 0 ? pair.one : pair.other;
      const std::uint64_t* one = block(some, s, of_one);
      if (!both) {
        for (std::size_t i = 0; i < rules.size(); ++i) rules[i] &= one[i];
        continue;
      }
      const std::uint64_t* other = block(pair.other, s, of_other);
      for (std::size_t i = 0; i < rules.size(); ++i) rules[i] &= one[i] | other[i];
    }
    for (; candidates != 0; candidates &= candidates - 1) {
      const auto bit = static_cast<std::size_t>(std::countr_zero(candidates));
      if (rules[bit] != 0) return rule_in(s, bit, rules[bit]);
    }
    return std::nullopt;
  }

  std::size_t word_count_;
  std::size_t summary_count_;
  // All sets. The id of a set is its index here. A set has a flag that it is dense, its summary
  // bitmap, and its stored words.
  std::vector<std::uint64_t> words_;
  // Finds the id of a set by its content in words_.
  std::map<std::vector<std::uint64_t>, SetId> ids_;
};

}  // namespace satrelay::gateway

// The first rule that several sets have in common, however the sets are stored and searched.
#include "relay/gateway/rules/rule_sets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "pep/base/random.h"

namespace satrelay::gateway::rule_sets_test {
namespace {

using Words = std::vector<std::uint64_t>;

// A set that has each rule with this probability.
Words draw(Random& random, std::size_t rules, double probability) {
  Words words((rules + 63) / 64);
  for (std::size_t rule = 0; rule < rules; ++rule) {
    if (random.chance(probability)) words[rule / 64] |= std::uint64_t{1} << rule % 64;
  }
  return words;
}

std::optional<std::size_t> by_looking_at_all(std::span<const std::array<Words, 2>> pairs,
                                             std::size_t rules) {
  for (std::size_t rule = 0; rule < rules; ++rule) {
    const bool in_all = std::ranges::all_of(pairs, [&](const auto& pair) {
      return ((pair[0][rule / 64] | pair[1][rule / 64]) >> rule % 64 & 1) != 0;
    });
    if (in_all) return rule;
  }
  return std::nullopt;
}

TEST(RuleSets, FindTheFirstRuleInAll) {
  Random random(11);
  constexpr double kProbabilities[] = {0, 0.0002, 0.003, 0.02, 0.3, 0.9};
  for (int round = 0; round < 2'000; ++round) {
    const std::size_t rules = 1 + random.below(round % 2 == 0 ? 300 : 10'000);
    RuleSets sets(rules);
    std::vector<std::array<Words, 2>> words(1 + random.below(4));
    std::vector<RuleSets::Either> ids;
    for (auto& pair : words) {
      for (Words& one : pair) one = draw(random, rules, kProbabilities[random.below(6)]);
      ids.push_back({sets.add(pair[0]), sets.add(pair[1])});
    }
    sets.seal();
    ASSERT_EQ(sets.first_in_all(ids), by_looking_at_all(words, rules)) << "round " << round;
  }
}

TEST(RuleSets, EqualOnesAreKeptOnce) {
  Random random(12);
  RuleSets sets(5'000);
  const Words full = draw(random, 5'000, 0.8);
  const Words few = draw(random, 5'000, 0.0005);
  EXPECT_EQ(sets.add(full), sets.add(full));
  EXPECT_EQ(sets.add(few), sets.add(few));
  EXPECT_NE(sets.add(few), sets.add(full));
  EXPECT_EQ(sets.add(Words(sets.word_count())), RuleSets::kEmpty);
}

}  // namespace
}  // namespace satrelay::gateway::rule_sets_test

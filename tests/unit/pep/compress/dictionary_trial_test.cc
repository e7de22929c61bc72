#include "pep/compress/dictionary_trial.h"

#include <gtest/gtest.h>

namespace satrelay::compress::dictionary_trial_test {
namespace {

// How many of `blocks` blocks were tried.
int tried(DictionaryTrial& trial, int blocks, std::size_t with, std::size_t without) {
  int tries = 0;
  for (int i = 0; i < blocks; ++i) {
    if (!trial.is_due()) continue;
    trial.note(with, without);
    ++tries;
  }
  return tries;
}

TEST(DictionaryTrial, TriesTheFirstBlocksAndFewMore) {
  DictionaryTrial trial;
  EXPECT_TRUE(trial.pays()) << "as configured";
  EXPECT_EQ(tried(trial, 4, 100, 200), 4);
  EXPECT_EQ(tried(trial, 13, 100, 200), 0);
  EXPECT_EQ(tried(trial, 170, 100, 200), 10);
  EXPECT_TRUE(trial.pays());
}

TEST(DictionaryTrial, GivesUpWhatLosesAndTakesItUpAgain) {
  DictionaryTrial trial;
  tried(trial, 1, 300, 200);
  EXPECT_FALSE(trial.pays());
  tried(trial, 17 * 1000, 300, 200);
  EXPECT_FALSE(trial.pays());
  tried(trial, 17 * 200, 100, 200);  // old results lose weight
  EXPECT_TRUE(trial.pays());
}

TEST(DictionaryTrials, LongBlocksDoNotSpeakForShortOnes) {
  DictionaryTrials trials;
  trials.of(200).note(60, 200);
  trials.of(60'000).note(30'000, 20'000);
  EXPECT_TRUE(trials.of(300).pays());
  EXPECT_FALSE(trials.of(20'000).pays());
  EXPECT_TRUE(trials.of(3'000).pays());
}

}  // namespace
}  // namespace satrelay::compress::dictionary_trial_test

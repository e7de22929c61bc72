#include "pep/stp/connection/hello_memory.h"

#include <gtest/gtest.h>

namespace satrelay::stp::hello_memory_test {
namespace {

TEST(HelloMemory, KnowsWhatHasComeOfABoot) {
  HelloMemory memory;
  EXPECT_TRUE(memory.take(1'000, 3));
  EXPECT_FALSE(memory.take(1'000, 3));
  EXPECT_FALSE(memory.take(1'000, 2));
  EXPECT_TRUE(memory.take(1'000, 4));
}

// The peer's clock may have been set back. Then the boot with the lower epoch is the present one.
TEST(HelloMemory, KnowsSeveralBootsWhateverTheirOrder) {
  HelloMemory memory;
  EXPECT_TRUE(memory.take(2'000, 1));
  EXPECT_TRUE(memory.take(1'000, 1));
  EXPECT_TRUE(memory.take(3'000, 1));
  for (const std::uint64_t epoch : {1'000U, 2'000U, 3'000U}) {
    EXPECT_FALSE(memory.take(epoch, 1)) << epoch;
    EXPECT_TRUE(memory.take(epoch, 2)) << epoch;
  }
}

TEST(HelloMemory, NeverForgetsTheLatestBoot) {
  HelloMemory memory;
  EXPECT_TRUE(memory.take(1'000'000, 5));
  for (std::uint64_t round = 0; round < 3; ++round) {
    for (std::uint64_t epoch = 1; epoch <= 100; ++epoch) memory.take(epoch, 1);
    EXPECT_FALSE(memory.take(1'000'000, 5));
  }
  EXPECT_TRUE(memory.take(1'000'001, 1));
  for (std::uint64_t epoch = 1; epoch <= 100; ++epoch) memory.take(epoch, 1);
  EXPECT_FALSE(memory.take(1'000'001, 1));
}

}  // namespace
}  // namespace satrelay::stp::hello_memory_test

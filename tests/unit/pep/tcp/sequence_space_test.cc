// Sequence numbers as positions in the stream.
#include "pep/tcp/sequence_space.h"

#include <gtest/gtest.h>

namespace satrelay::tcp::test::sequence_space_test {
namespace {

TEST(SequenceSpace, UnwrapsNearAnyReference) {
  const SequenceSpace space(0xffff'fff0U);
  EXPECT_EQ(space.to_sequence(0), 0xffff'fff1U);
  EXPECT_EQ(space.to_position(0xffff'fff0U, 0), -1);  // the SYN
  EXPECT_EQ(space.to_position(5, 0), 20);
  for (const std::uint64_t far :
       {std::uint64_t{0}, std::uint64_t{1} << 31, (std::uint64_t{1} << 32) - 1,
        (std::uint64_t{1} << 40) + 12'345}) {
    for (const std::int64_t step : {-1'000'000, -1, 0, 1, 1'000'000'000}) {
      const std::int64_t position = static_cast<std::int64_t>(far) + step;
      const std::uint32_t sequence = space.to_sequence(static_cast<std::uint64_t>(position));
      EXPECT_EQ(space.to_position(sequence, far), position);
    }
  }
}

}  // namespace
}  // namespace satrelay::tcp::test::sequence_space_test

// The ranges that the peer has reported, checked against a naive model.
#include "pep/tcp/sending/scoreboard.h"

#include <gtest/gtest.h>

#include "pep/base/random.h"

namespace satrelay::tcp::test::scoreboard_test {
namespace {

// The model marks the bytes one by one.
TEST(Scoreboard, AgreesWithANaiveModel) {
  enum Condition : char { kFlight, kSacked, kLost };
  constexpr std::uint64_t kSegment = 10;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    Scoreboard board;
    std::vector<char> model;  // by position; places below una are unused
    std::uint64_t una = 0;
    const auto check = [&] {
      ASSERT_TRUE(board.is_consistent());
      std::uint64_t flight = 0;
      for (std::uint64_t i = una; i < model.size(); ++i) flight += model[i] == kFlight ? 1 : 0;
      ASSERT_EQ(board.pipe(), flight) << "seed " << seed;
      ASSERT_EQ(board.una(), una);
    };
    for (int step = 0; step < 200; ++step) {
      const std::uint64_t next = model.size();
      const double dice = random.unit();
      if (dice < 0.35) {
        model.resize(next + kSegment, kFlight);
        board.on_sent(next + kSegment);
      } else if (dice < 0.60 && next > una) {
        const std::uint64_t begin = una + random.below(next - una);
        const std::uint64_t end = begin + random.below(next - begin) / 4 + 1;
        std::uint64_t reported = 0;
        const std::uint64_t fresh = board.sack({begin, end}, [&](Range range) {
          for (std::uint64_t i = range.begin; i < range.end; ++i) {
            ASSERT_NE(model[i], kSacked) << "seed " << seed;
          }
          reported += range.size();
        });
        std::uint64_t expected = 0;
        for (std::uint64_t i = begin; i < end; ++i) {
          expected += model[i] != kSacked ? 1 : 0;
          model[i] = kSacked;
        }
        ASSERT_EQ(fresh, expected);
        ASSERT_EQ(reported, expected);
      } else if (dice < 0.70 && next > una) {
        const std::uint64_t begin = una + random.below(next - una);
        const std::uint64_t end = begin + random.below(next - begin) / 4 + 1;
        board.take_for_lost({begin, end});
        for (std::uint64_t i = begin; i < end; ++i) {
          if (model[i] == kFlight) model[i] = kLost;
        }
      } else if (dice < 0.85 && board.has_lost()) {
        const Range lost = board.first_lost();
        const Range part{lost.begin, std::min(lost.end, lost.begin + kSegment)};
        board.on_retransmitted(part);
        for (std::uint64_t i = part.begin; i < part.end; ++i) {
          ASSERT_EQ(model[i], kLost) << "seed " << seed << " position " << i;
          model[i] = kFlight;
        }
      } else if (next > una) {
        const std::uint64_t ack = una + 1 + random.below(next - una);
        if (ack < next && model[ack] == kSacked)
          continue;  // a receiver would have acknowledged
                     // more
        board.acknowledge(ack);
        una = ack;
      } else {
        board = Scoreboard();
        model.clear();
        una = 0;
      }
      check();
    }
    board.mark_all_lost();
    EXPECT_EQ(board.pipe(), 0u);
  }
}

}  // namespace
}  // namespace satrelay::tcp::test::scoreboard_test

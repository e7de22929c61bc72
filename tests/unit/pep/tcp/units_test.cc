// The parts of an endpoint, each alone.
#include "pep/base/random.h"
#include "pep/tcp/ack_policy.h"
#include "pep/tcp/challenge_limit.h"
#include "pep/tcp/receive_window.h"
#include "pep/tcp/rtt_estimator.h"
#include "pep/tcp/sack_report.h"
#include "pep/tcp/scoreboard.h"
#include "pep/tcp/sequence_space.h"
#include "pep/tcp/timestamps.h"
#include "tests/unit/pep/tcp/script.h"

namespace satrelay::tcp::test {
namespace {

// --- SequenceSpace -------------------------------------------------------------------------------

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

// --- RttEstimator --------------------------------------------------------------------------------

TEST(RttEstimator, FollowsRfc6298) {
  RttEstimator rtt({ms(200), Duration::seconds(60), Duration::seconds(1)});
  EXPECT_EQ(rtt.rto(), Duration::seconds(1));
  rtt.sample(ms(100));  // SRTT 100, RTTVAR 50
  EXPECT_EQ(rtt.rto(), ms(300));
  rtt.sample(ms(500));  // RTTVAR (3 * 50 + 400) / 4 = 137.5, SRTT 150
  EXPECT_EQ(rtt.smoothed(), ms(150));
  EXPECT_EQ(rtt.rto(), ms(700));
  rtt.back_off();
  EXPECT_EQ(rtt.rto(), ms(1400));
  for (int i = 0; i < 10; ++i) rtt.back_off();
  EXPECT_EQ(rtt.rto(), Duration::seconds(60));
  for (int i = 0; i < 100; ++i) rtt.sample(ms(1));
  EXPECT_GE(rtt.rto(), ms(201));
  EXPECT_LT(rtt.rto(), ms(203));
}

// --- Timestamps, ChallengeLimit ------------------------------------------------------------------

TEST(Timestamps, AgeOfAnEcho) {
  const Timestamps clock(0xffff'ff00U);
  const Instant now = Instant::from_nanoseconds(1'000'000'000);
  EXPECT_EQ(clock.age(clock.value(now), now + ms(42)), ms(42));
  EXPECT_EQ(clock.age(clock.value(now), now), ms(1));  // the tick is the granularity
  EXPECT_EQ(clock.age(clock.value(now) + 1, now), Duration::zero());
  EXPECT_EQ(clock.age(0, now), Duration::zero());
}

TEST(ChallengeLimit, TenASecond) {
  ChallengeLimit limit;
  Instant now;
  int allowed = 0;
  for (int i = 0; i < 3000; ++i, now += ms(1)) allowed += limit.allow(now) ? 1 : 0;
  EXPECT_EQ(allowed, 30);
}

// --- ReceiveWindow -------------------------------------------------------------------------------

TEST(ReceiveWindow, NeverRetreatsByMoreThanRoundingAndNeverCreeps) {
  Random random(7);
  for (int round = 0; round < 2000; ++round) {
    const std::uint64_t limit = 1 + random.below(200'000);
    const auto scale = static_cast<std::uint8_t>(random.below(15));
    const std::uint64_t unit = std::uint64_t{1} << scale;
    ReceiveWindow window(limit);
    window.set_scale(scale);
    window.set_segment_size(1460);
    ReceiveWindow::Memory memory{0, 0, 1U << 30};
    std::uint64_t highest = 0;
    for (int step = 0; step < 100; ++step) {
      const std::uint64_t edge = memory.next + (std::uint64_t{window.advertise(memory)} << scale);
      ASSERT_GT(edge + unit, highest);
      if (scale == 0) {
        ASSERT_GE(edge, highest);
      }
      ASSERT_LT(edge, memory.consumed + limit + unit);
      ASSERT_LE(edge, window.edge());
      highest = std::max(highest, edge);
      if (random.chance(0.7)) {
        memory.next += random.below(std::min<std::uint64_t>(window.edge() - memory.next, 3000) + 1);
      }
      if (random.chance(0.5)) memory.consumed += random.below(memory.next - memory.consumed + 1);
    }
    // Whatever happened before: with everything consumed the window is open.
    memory.consumed = memory.next;
    EXPECT_TRUE(window.advertise(memory) > 0);
  }
}

TEST(ReceiveWindow, UpdateIsDueExactlyWhenAClosedWindowReopens) {
  ReceiveWindow window(10'000);
  window.set_segment_size(1460);
  ASSERT_EQ(window.advertise({0, 0, 1U << 30}), 10'000);
  ASSERT_EQ(window.advertise({10'000, 0, 1U << 30}), 0);
  EXPECT_FALSE(window.update_due({10'000, 1459, 1U << 30}));
  EXPECT_TRUE(window.update_due({10'000, 1460, 1U << 30}));
}

TEST(ReceiveWindow, ScarceMemoryShrinksIt) {
  ReceiveWindow window(100'000);
  window.set_segment_size(1460);
  EXPECT_EQ(window.advertise({0, 0, 8000}), 8000);
  EXPECT_EQ(window.advertise({8000, 8000, 0}), 0);
  EXPECT_EQ(window.advertise({8000, 8000, 4000}), 4000);
}

// --- SackReport ----------------------------------------------------------------------------------

TEST(SackReport, DropsWhatIsDeliveredAndReportsADuplicateOnce) {
  SackReport report;
  RangeSet held;
  held.insert(100, 200);
  report.on_stored(100);
  held.insert(300, 400);
  report.on_stored(300);
  report.on_duplicate({120, 150});
  std::array<Range, 4> out;
  ASSERT_EQ(report.write(held, out), 3u);
  EXPECT_EQ(out[0], (Range{120, 150}));
  EXPECT_EQ(out[1], (Range{300, 400}));
  EXPECT_EQ(out[2], (Range{100, 200}));
  held.erase_below(250);
  ASSERT_EQ(report.write(held, out), 1u);
  EXPECT_EQ(out[0], (Range{300, 400}));
}

// --- Scoreboard ----------------------------------------------------------------------------------

// Against bytes marked one by one.
TEST(Scoreboard, AgreesWithANaiveModel) {
  enum Condition : char { kFlight, kSacked, kLost };
  constexpr std::uint64_t kSegment = 10;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    Scoreboard board;
    std::vector<char> model;  // by position; below una unused
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
        if (ack < next && model[ack] == kSacked) continue;  // a receiver would have said more
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
}  // namespace satrelay::tcp::test

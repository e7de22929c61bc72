// The times at which segments were sent, checked against a naive model.
#include "pep/tcp/sending/sent_segments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "pep/base/random.h"

namespace satrelay::tcp::test::sent_segments_test {
namespace {

Instant at(std::int64_t milliseconds) {
  return Instant::from_nanoseconds(1'000'000'000 + milliseconds * 1'000'000);
}

using Ranges = std::vector<Range>;

TEST(SentSegments, AgreesWithANaiveModel) {
  struct Naive {
    Range range;
    Instant sent_at;
    std::uint64_t order = 0;
    bool in_flight = true;
    bool sacked = false;
  };
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    SentSegments segments;
    std::vector<Naive> model;
    std::uint64_t end = 0;
    std::uint64_t order = 0;
    Instant now = at(0);
    for (int step = 0; step < 300; ++step) {
      now += Duration::microseconds(static_cast<std::int64_t>(random.below(1000)));
      const double dice = random.unit();
      if (dice < 0.4 || model.empty()) {
        const Range range{end, end + 1 + random.below(20)};
        segments.on_sent(range, now);
        model.push_back({range, now, ++order});
        end = range.end;
      } else if (dice < 0.6) {
        const Range range = {model.front().range.begin, end};
        const std::uint64_t first = range.begin + random.below(range.size());
        const Range part{first, std::min(end, first + random.below(40) + 1)};
        std::vector<Range> seen;
        segments.deliver(part, [&](const SentSegments::Segment& s) { seen.push_back(s.range); });
        std::vector<Range> expected;
        for (Naive& n : model) {
          if (n.sacked || n.range.end <= part.begin || n.range.end > part.end) continue;
          expected.push_back(n.range);
          if (n.range.begin < part.begin) continue;
          n.sacked = true;
          n.in_flight = false;
        }
        ASSERT_EQ(seen, expected) << "seed " << seed;
      } else if (dice < 0.7) {
        const Naive& some = model[random.below(model.size())];
        segments.on_retransmitted(some.range, now);
        for (Naive& n : model) {
          if (n.sacked || n.range != some.range) continue;
          n.sent_at = now;
          n.order = ++order;
          n.in_flight = true;
        }
      } else if (dice < 0.8 && segments.has_in_flight()) {
        const Range taken = segments.oldest().range;
        segments.take_oldest();
        std::find_if(model.begin(), model.end(), [&](const Naive& n) {
          return n.range == taken;
        })->in_flight = false;
      } else {
        const std::uint64_t below = model.front().range.begin + random.below(60);
        segments.release_below(below);
        std::erase_if(model, [&](const Naive& n) { return n.range.end <= below; });
        ASSERT_EQ(model.empty(), segments.empty());
      }
      ASSERT_TRUE(segments.is_consistent()) << "seed " << seed << " step " << step;
      ASSERT_EQ(segments.size(), model.size());
      const Naive* oldest = nullptr;
      for (const Naive& n : model) {
        if (n.in_flight && (oldest == nullptr || n.order < oldest->order)) oldest = &n;
      }
      ASSERT_EQ(segments.has_in_flight(), oldest != nullptr);
      if (oldest != nullptr) {
        ASSERT_EQ(segments.oldest().range, oldest->range) << "seed " << seed;
        ASSERT_EQ(segments.oldest().sent_at, oldest->sent_at);
      }
    }
  }
}

TEST(SentSegments, OfUsualSizeMayBeMoreThanTinyOnes) {
  for (const auto& [octets, most] :
       {std::pair{48U, SentSegments::kMostTiny}, std::pair{1448U, SentSegments::kMost}}) {
    SentSegments segments;
    std::uint64_t end = 0;
    for (; segments.room() > 0; end += octets) segments.on_sent({end, end + octets}, at(0));
    EXPECT_EQ(segments.size(), most);
    segments.release_below(end / 2);
    EXPECT_GT(segments.room(), 0U);
  }
  // Even if the flight also had large segments, tiny ones may be left of it.
  SentSegments segments;
  segments.on_sent({0, 10'000'000}, at(0));
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    segments.on_sent({10'000'000 + i, 10'000'001 + i}, at(0));
  }
  segments.release_below(10'000'000);
  EXPECT_EQ(segments.room(), 0U);
}

TEST(SentSegments, AreBounded) {
  SentSegments segments;
  for (std::uint64_t i = 0; i < 70'000; ++i) segments.on_sent({i, i + 1}, at(0));
  EXPECT_EQ(segments.size(), SentSegments::kMost);
  EXPECT_EQ(segments.room(), 0U);
  EXPECT_EQ(segments.last(), (Range{SentSegments::kMost - 1, 70'000}));
  segments.release_below(70'000);
  EXPECT_TRUE(segments.empty());
  EXPECT_TRUE(segments.is_consistent());
}

TEST(SentSegments, AnImageThatContradictsItselfIsRefused) {
  SentSegments segments;
  for (std::uint64_t i = 0; i < 12; ++i) {
    segments.on_sent({i * 10, i * 10 + 10}, at(static_cast<std::int64_t>(i)));
  }
  segments.on_retransmitted({30, 40}, at(20));
  segments.deliver({70, 90}, [](const SentSegments::Segment&) {});
  segments.release_below(20);
  std::vector<std::byte> octets;
  Image::writer(octets, at(30))(segments);
  int refused = 0;
  for (std::size_t place = 0; place < octets.size(); ++place) {
    for (unsigned bit = 1; bit < 0x100; bit <<= 1U) {
      std::vector<std::byte> changed = octets;
      changed[place] ^= static_cast<std::byte>(bit);
      SentSegments other;
      Image image = Image::reader(changed, at(30));
      image(other);
      ASSERT_TRUE(other.is_consistent()) << place;
      if (!image.failed()) continue;
      ASSERT_TRUE(other.empty()) << place;
      ++refused;
    }
  }
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace satrelay::tcp::test::sent_segments_test

// The content of each packet in flight.
#include "pep/stp/numbers/sent_ledger.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "pep/stp/streams/lost_ranges.h"

namespace satrelay::stp::sent_ledger_test {
namespace {

constexpr Instant at(std::int64_t ms) { return Instant::from_nanoseconds(ms * 1'000'000); }

TEST(SentItemTest, KindLossesAndGenerationShareAField) {
  const SentItem item =
      SentItem::make(ItemKind::kConfirm, 5, 0xffff, 1'000, 65'535, SentItem::kMaxLosses - 1);
  EXPECT_EQ(item.losses(), SentItem::kMaxLosses - 1);
  EXPECT_EQ(item.kind(), ItemKind::kConfirm);
  EXPECT_EQ(item.generation(), SentItem::kGenerationMask);
  EXPECT_EQ(item.length, 65'535U);
  static_assert(LostRanges::kMaxLosses <= SentItem::kMaxLosses);
}

TEST(SentLedgerTest, KeepsItemsThroughGrowthAndOverflow) {
  SentLedger ledger(4096);
  std::vector<SentItem> items;
  for (std::uint16_t i = 0; i < SentLedger::kMaxItems; ++i) {
    items.push_back(SentItem::make(ItemKind::kData, i, 7, 1000U * i, 10));
  }
  for (std::size_t n = 0; n < 3000; ++n) {
    ledger.append(at(static_cast<std::int64_t>(n)), n % 1400, true,
                  std::span(items).first(n % (items.size() + 1)), 0);
  }
  for (std::uint64_t n = 0; n < 3000; ++n) {
    const SentPacket* packet = ledger.find(n);
    ASSERT_NE(packet, nullptr);
    EXPECT_EQ(packet->sent, at(static_cast<std::int64_t>(n)));
    std::uint32_t expected = 0;
    ledger.for_each_item(*packet, [&](const SentItem& item) {
      EXPECT_EQ(item.stream, expected);
      EXPECT_EQ(item.offset, 1000U * expected);
      EXPECT_EQ(item.generation(), 7);
      ++expected;
    });
    EXPECT_EQ(expected, n % (items.size() + 1));
    ledger.settle(n);
  }
  EXPECT_EQ(ledger.find(3000), nullptr);
}

// The value is exact to 2.1 ms. It does not come from the packet that had the place before.
TEST(SentLedgerTest, KnowsWhatTheCarrierHadBooked) {
  SentLedger ledger(1);
  for (std::uint64_t n = 0; n < 512; ++n) {
    SentPacket& packet = ledger.append(at(0), 100, true, {}, n);
    EXPECT_EQ(packet.booked_before(), Duration::zero());
    packet.set_booked_before(Duration::milliseconds(static_cast<std::int64_t>(n) * 20 - 5));
  }
  const auto booked = [&](std::uint64_t n) { return ledger.find(n)->booked_before(); };
  for (std::uint64_t n = 257; n < 512; ++n) {
    const Duration exact = std::min(Duration::milliseconds(static_cast<std::int64_t>(n) * 20 - 5),
                                    Duration::nanoseconds(std::int64_t{2047} << 21));
    EXPECT_LE(booked(n), exact);
    EXPECT_GT(booked(n), exact - Duration::milliseconds(3));
  }
  SentPacket packet;
  packet.set_booked_before(Duration::zero() - Duration::seconds(1));
  EXPECT_EQ(packet.booked_before(), Duration::zero());
  packet.set_booked_before(Duration::seconds(3600));
  EXPECT_EQ(packet.booked_before(), Duration::nanoseconds(std::int64_t{2047} << 21));
}

}  // namespace
}  // namespace satrelay::stp::sent_ledger_test

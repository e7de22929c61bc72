#include "relay/ops/events/event_ring.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <limits>

namespace satrelay::ops::event_ring_test {
namespace {

NumberedEvent event(const std::string& subject) {
  return {.time_ms = 5, .event = {EventKind::kPortUp, subject, ""}};
}

TEST(EventRing, HasNothingAtFirst) {
  const EventRing ring(77);
  EXPECT_EQ(ring.numbers().boot_epoch, 77U);
  EXPECT_EQ(ring.numbers().oldest, 1U);
  EXPECT_EQ(ring.numbers().latest, 0U);
  EXPECT_TRUE(ring.from(0, 10).empty());
}

TEST(EventRing, GivesThemOnFromANumber) {
  EventRing ring(77);
  for (const char* subject : {"a", "b", "c", "d"}) ring.add(event(subject));
  EXPECT_EQ(ring.from(0, 10).size(), 4U);
  const auto some = ring.from(2, 2);
  ASSERT_EQ(some.size(), 2U);
  EXPECT_EQ(some[0].number, 2U);
  EXPECT_EQ(some[0].event.subject, "b");
  EXPECT_EQ(some[1].number, 3U);
  EXPECT_EQ(ring.from(4, 10).size(), 1U);
  EXPECT_TRUE(ring.from(4, 0).empty());
  EXPECT_TRUE(ring.from(5, 10).empty()) << "of the future";
  EXPECT_TRUE(ring.from(std::numeric_limits<std::uint64_t>::max(), 10).empty());
}

TEST(EventRing, ForgetsTheOldest) {
  EventRing ring(77);
  for (std::size_t i = 0; i < EventRing::kMostEvents + 5; ++i) ring.add(event("port lan"));
  EXPECT_EQ(ring.numbers().oldest, 6U);
  EXPECT_EQ(ring.numbers().latest, EventRing::kMostEvents + 5);
  EXPECT_EQ(ring.from(1, 1).at(0).number, 6U);
  EXPECT_EQ(ring.from(0, 1 << 20).size(), EventRing::kMostEvents);
}

TEST(EventRing, KeepsShortPrintableTexts) {
  EventRing ring(77);
  NumberedEvent long_one{.event = {.kind = EventKind::kRuleSet,
                                   .subject = std::string(1000, 's'),
                                   .detail = "a\nb\x1b[2J\xc3\xa9 \"quoted\" \x7f",
                                   .caller = Caller{.user = 5, .on_behalf_of = "x"},
                                   .before = std::string(127, 'o'),
                                   .after = std::string(128, 'n')},
                         .user = std::string(65, 'u')};
  ring.add(long_one);
  const NumberedEvent kept = ring.from(1, 1).at(0);
  EXPECT_EQ(kept.event.subject, std::string(61, 's') + "...");
  EXPECT_EQ(kept.event.detail, "a?b?[2J?? \"quoted\" ?");
  EXPECT_EQ(kept.event.before, std::string(127, 'o'));
  EXPECT_EQ(kept.event.after, std::string(124, 'n') + "...");
  EXPECT_EQ(kept.user, std::string(61, 'u') + "...");
  EXPECT_FALSE(kept.event.caller);
}

// The bound from the header, with the longest texts.
TEST(EventRing, ItsMemoryIsBounded) {
  const std::size_t before = ::mallinfo2().uordblks;
  EventRing ring(77);
  const std::string text(500, 'x');
  Event fault{.kind = EventKind::kFault, .subject = text, .detail = text};
  fault.fault = Fault{.check = "check", .cause = text, .cure = text, .page = "page"};
  for (std::size_t i = 0; i < EventRing::kMostEvents + 1; ++i) {
    ring.add({.event = {.kind = EventKind::kRuleSet,
                        .subject = text,
                        .detail = text,
                        .before = text,
                        .after = text},
              .user = text});
  }
  EXPECT_LT(::mallinfo2().uordblks - before, 11'000'000U);
  for (std::size_t i = 0; i < EventRing::kMostEvents + 1; ++i) ring.add({.event = fault});
  EXPECT_LT(::mallinfo2().uordblks - before, 11'000'000U);
  EXPECT_EQ(ring.from(2 * EventRing::kMostEvents, 1).at(0).event.fault->cure,
            std::string(kMostEventText - 3, 'x') + "...");
}

}  // namespace
}  // namespace satrelay::ops::event_ring_test

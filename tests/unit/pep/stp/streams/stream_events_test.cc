#include "pep/stp/streams/stream_events.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "pep/base/arena.h"

namespace satrelay::stp::stream_events_test {
namespace {

using Kind = Event::Kind;

class StreamEventsTest : public ::testing::Test {
 protected:
  StreamEventsTest() : memory_(16 * 4096), arena_(memory_, 4096), one_(arena_), two_(arena_) {
    one_.id = 2;
    one_.context = 20;
    two_.id = 4;
  }
  std::vector<Kind> rest() {
    std::vector<Kind> kinds;
    while (const auto event = events_.poll()) kinds.push_back(event->kind);
    return kinds;
  }
  std::vector<std::byte> memory_;
  Arena arena_;
  Stream one_;
  Stream two_;
  WorkCount work_;
  StreamEvents events_{work_};
};

TEST_F(StreamEventsTest, EachKindComesOnceAndStreamByStream) {
  events_.notify(one_, &Stream::Pending::writable);
  events_.notify(two_, &Stream::Pending::readable);
  events_.notify(one_, &Stream::Pending::readable);
  events_.notify(one_, &Stream::Pending::readable);
  const auto first = events_.poll();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->stream, StreamId{2});
  EXPECT_EQ(first->context, 20U);
  EXPECT_EQ(first->kind, Kind::kReadable);
  EXPECT_EQ(events_.poll()->kind, Kind::kWritable);
  EXPECT_EQ(events_.poll()->stream, StreamId{4});
  EXPECT_TRUE(events_.empty());
  EXPECT_FALSE(events_.poll());
}

TEST_F(StreamEventsTest, AResetTellsItsReason) {
  one_.heat().event_reason = ResetReason::kRefused;
  events_.notify(one_, &Stream::Pending::reset);
  const auto event = events_.poll();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->kind, Kind::kReset);
  EXPECT_EQ(event->reason, ResetReason::kRefused);
  EXPECT_TRUE(events_.empty());
}

TEST_F(StreamEventsTest, TheRelayGetsNoneOfAStreamThatItHasReleased) {
  events_.notify(one_, &Stream::Pending::readable);
  one_.released = true;
  events_.forget(one_);
  events_.notify(one_, &Stream::Pending::writable);
  EXPECT_EQ(rest(), std::vector<Kind>());
  EXPECT_FALSE(one_.hot().pending.any());
}

}  // namespace
}  // namespace satrelay::stp::stream_events_test

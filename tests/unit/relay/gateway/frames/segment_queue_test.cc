// Segments that wait leave in order, each to its own host.
#include "relay/gateway/frames/segment_queue.h"

#include <gtest/gtest.h>

#include <optional>
#include <string_view>

#include "relay/gateway/frames/frame.h"
#include "relay/gateway/frames/frame_faults.h"
#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::gateway::segment_queue_test {
namespace {

struct Polled {
  Frame frame;
  wire::TcpHeader tcp;
};

FlowKey key(std::uint16_t port, std::string_view local = "203.0.113.5",
            std::string_view remote = "198.51.100.5") {
  return {ip_of(local), ip_of(remote), port, 80, {}};
}

wire::EthernetHeader to_host(wire::EtherType type = wire::EtherType::kIpv4) {
  wire::EthernetHeader ethernet = host_to_server().reversed();
  ethernet.type = type;
  return ethernet;
}

wire::TcpHeader acknowledging(std::uint32_t number) {
  wire::TcpHeader header;
  header.sequence = 500;
  header.acknowledgment = number;
  header.flags = wire::TcpFlags::kAck;
  header.window = 1'234;
  return header;
}

class SegmentQueueTest : public testing::Test {
 protected:
  std::optional<Polled> poll() {
    const std::size_t size = queue_.poll_frame(bytes_);
    if (size == 0) return std::nullopt;
    const Frame frame = look_at(ConstBytes(bytes_).first(size));
    EXPECT_EQ(frame.kind, FrameKind::kTcp);
    EXPECT_EQ(checksum_fault(frame), std::nullopt);
    return Polled{frame, wire::parse_tcp(frame.payload)->header};
  }
  SegmentQueue queue_{3};
  FrameBytes bytes_ = FrameBytes(128);
};

TEST_F(SegmentQueueTest, AnEmptyOneHasNothingToSend) {
  EXPECT_TRUE(queue_.empty());
  EXPECT_FALSE(queue_.full());
  EXPECT_FALSE(poll());
}

TEST_F(SegmentQueueTest, TheFirstInIsTheFirstOutAndOnlyOnce) {
  queue_.push(to_host(), key(1), acknowledging(10));
  queue_.push(to_host(), key(2), acknowledging(20));
  EXPECT_EQ(poll()->tcp.acknowledgment, 10U);
  queue_.push(to_host(), key(3), acknowledging(30));
  EXPECT_EQ(poll()->tcp.acknowledgment, 20U);
  EXPECT_FALSE(queue_.empty());
  EXPECT_EQ(poll()->tcp.acknowledgment, 30U);
  EXPECT_TRUE(queue_.empty());
  EXPECT_FALSE(poll());
}

TEST_F(SegmentQueueTest, ItIsFullWithAsManyAsItMayHoldUntilOneLeaves) {
  for (std::uint16_t i = 1; i <= 3; ++i) {
    EXPECT_FALSE(queue_.full()) << i;
    queue_.push(to_host(), key(i), acknowledging(i));
  }
  EXPECT_TRUE(queue_.full());
  EXPECT_TRUE(poll());
  EXPECT_FALSE(queue_.full());
}

TEST_F(SegmentQueueTest, ASegmentGoesToItsHostInTheNameOfTheFarOne) {
  wire::EthernetHeader tagged = to_host();
  tagged.tag_count = 1;
  tagged.tags[0] = {0x8100, 0x2007};
  queue_.push(tagged, key(40'000), acknowledging(10));
  const auto polled = poll();
  ASSERT_TRUE(polled);
  EXPECT_EQ(polled->frame.ethernet, tagged);
  EXPECT_EQ(polled->frame.ip.source, ip_of("198.51.100.5"));
  EXPECT_EQ(polled->frame.ip.destination, ip_of("203.0.113.5"));
  EXPECT_EQ(polled->tcp.source_port, 80);
  EXPECT_EQ(polled->tcp.destination_port, 40'000);
}

TEST_F(SegmentQueueTest, ASegmentSaysWhatItWasGiven) {
  wire::TcpHeader header = acknowledging(10);
  header.options.mss = 1400;
  header.options.timestamps = {.value = 7, .echo_reply = 8};
  queue_.push(to_host(), key(1), header);
  const auto polled = poll();
  ASSERT_TRUE(polled);
  EXPECT_EQ(polled->tcp.sequence, 500U);
  EXPECT_EQ(polled->tcp.flags, wire::TcpFlags::kAck);
  EXPECT_EQ(polled->tcp.window, 1'234);
  EXPECT_EQ(polled->tcp.options, header.options);
}

TEST_F(SegmentQueueTest, AResetHasTheNumberThatItsHostExpectsAndNoAcknowledgment) {
  queue_.push_reset(to_host(wire::EtherType::kIpv6), key(1, "2001:db8::5", "2001:db8:b::5"), 4'711);
  const auto polled = poll();
  ASSERT_TRUE(polled);
  EXPECT_EQ(polled->tcp.flags, wire::TcpFlags::kRst);
  EXPECT_EQ(polled->tcp.sequence, 4'711U);
  EXPECT_EQ(polled->tcp.acknowledgment, 0U);
  EXPECT_EQ(polled->tcp.options, wire::TcpOptions());
  EXPECT_EQ(polled->frame.ip.destination, ip_of("2001:db8::5"));
}

}  // namespace
}  // namespace satrelay::gateway::segment_queue_test

// A forger wants to end a connection that no gateway relays. Gateways that know nothing of the
// connection must not reset it for him. A connection with hosts that do disagree ends.
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string_view>

#include "pep/base/random.h"
#include "tests/unit/relay/gateway/gateway_fixture.h"

namespace satrelay::gateway::forged_reset_test {
namespace {

using Flags = wire::TcpFlags;

// One end of an established connection, by the rules of RFC 9293 section 3.10.7.4.
struct End {
  std::string_view own;
  std::string_view other;
  wire::EthernetHeader ethernet;
  std::uint16_t own_port = 0;
  std::uint16_t other_port = 0;
  std::uint32_t next = 0;
  std::uint32_t expects = 0;
  unsigned resets = 0;  // that arrived, with any number
  bool is_over = false;
  unsigned answers_left = ~0U;

  FrameBytes segment(std::string_view payload = {}) const {
    return segment(next, expects, payload);
  }
  FrameBytes segment(std::uint32_t sequence, std::uint32_t acknowledgment,
                     std::string_view payload) const {
    wire::TcpHeader tcp;
    tcp.source_port = own_port;
    tcp.destination_port = other_port;
    tcp.sequence = sequence;
    tcp.acknowledgment = acknowledgment;
    tcp.flags = Flags::kAck;
    tcp.window = 60'000;
    return tcp_frame(own, other, tcp, ethernet, payload);
  }
  // Handles a segment. Returns the segment that it sends back, if any.
  std::optional<FrameBytes> hear(ConstBytes bytes) {
    const Frame frame = look_at(bytes);
    const auto tcp = wire::parse_tcp(frame.payload);
    if (!tcp || is_over) return std::nullopt;
    const auto size = static_cast<std::uint32_t>(frame.payload.size() - tcp->header_size);
    const std::uint32_t ahead = tcp->header.sequence - expects;
    if (tcp->header.has(Flags::kRst)) {
      ++resets;
      is_over = ahead == 0;
      return std::nullopt;
    }
    const bool acceptable = ahead < 60'000;
    if (acceptable && ahead == 0) expects += size;
    if ((acceptable && size == 0) || answers_left == 0) return std::nullopt;
    --answers_left;
    return segment();
  }
};

class ForgedReset : public GatewayTest {
 protected:
  enum Side : std::uint8_t { kA, kB };
  static Side other(Side side) { return side == kA ? kB : kA; }

  void SetUp() override {
    start_peer();
    wire::EthernetHeader back = host_to_server().reversed();
    ends_ = {End{kClient, kServer, host_to_server(), 40'000, 443, 1'000'000'000, 3'000'000'000},
             End{kServer, kClient, back, 443, 40'000, 3'000'000'000, 1'000'000'000}};
    from_lan(kA, ends_[kA].segment());  // each has sent once
    from_lan(kB, ends_[kB].segment());
  }
  Gateway& gateway(Side side) { return side == kA ? *a_ : *b_; }
  void from_lan(Side side, const FrameBytes& frame) {
    const Verdict verdict = gateway(side).handle_frame(PortId::kLan, frame, now_);
    if (verdict == Verdict::kBridge) from_wan(other(side), frame);
  }
  void from_wan(Side side, const FrameBytes& frame) {
    if (gateway(side).handle_frame(PortId::kWan, frame, now_) != Verdict::kBridge) return;
    if (const auto answer = ends_[side].hear(frame)) from_lan(side, *answer);
  }
  // 100 ms pass, and the frames of the gateways reach the hosts.
  void pass() {
    step();
    for (const Side side : {kA, kB}) {
      FrameBytes room(gateway(side).max_frame_size());
      while (const std::size_t size = gateway(side).poll_frame(PortId::kLan, room, now_).size) {
        if (const auto answer = ends_[side].hear(ConstBytes(room).first(size))) {
          from_lan(side, *answer);
        }
      }
    }
  }
  std::uint64_t counted(Counter counter) const {
    return a_->counters()[counter] + b_->counters()[counter];
  }
  void exchange(std::string_view payload) {
    for (const Side side : {kA, kB}) {
      const FrameBytes frame = ends_[side].segment(payload);
      ends_[side].next += static_cast<std::uint32_t>(payload.size());
      from_lan(side, frame);
    }
  }
  // Each forged segment comes four times, as if its host repeated itself.
  template <typename Deliver>
  void forge(unsigned segments, bool busy, const Deliver& deliver) {
    for (unsigned i = 0; i < segments; i += 4) {
      const Side victim = random_.chance(0.5) ? kA : kB;
      const FrameBytes forged =
          ends_[other(victim)].segment(static_cast<std::uint32_t>(random_.next()),
                                       static_cast<std::uint32_t>(random_.next()), "x");
      for (int n = 0; n < 4; ++n) {
        now_ += Duration::microseconds(100);
        deliver(victim, forged);
      }
      if (busy && i % 40 == 0) exchange("twenty octets of data");
      if (i % 1'000 == 0) pass();
    }
    for (int i = 0; i < 50; ++i) pass();
  }
  void expect_alive() {
    EXPECT_EQ(ends_[kA].resets + ends_[kB].resets, 0U);
    EXPECT_EQ(counted(Counter::kMisfitsReset), 0U);
    const std::uint32_t expected = ends_[kB].expects;
    from_lan(kA, ends_[kA].segment("still"));
    ends_[kA].next += 5;
    EXPECT_EQ(ends_[kB].expects, expected + 5);
  }
  std::array<End, 2> ends_;
  Random random_{7};
};

TEST_F(ForgedReset, AMillionSegmentsFromTheWanEndNoConnection) {
  for (const bool busy : {false, true}) {
    forge(500'000, busy, [&](Side victim, const FrameBytes& forged) { from_wan(victim, forged); });
    expect_alive();
  }
  EXPECT_EQ(counted(Counter::kEvidenceTold), 0U);
}

TEST_F(ForgedReset, NeitherDoSegmentsFromTheLanOfEitherHost) {
  for (const bool busy : {false, true}) {
    forge(40'000, busy,
          [&](Side victim, const FrameBytes& forged) { from_lan(other(victim), forged); });
    expect_alive();
  }
  EXPECT_GT(counted(Counter::kMisfitsUnproved), 0U) << "they were looked into";
}

// This happens after a restart of both gateways without a journal.
TEST_F(ForgedReset, HostsThatDisagreeAreBothReset) {
  ends_[kB].next = 500'000'000;
  ends_[kB].expects = 2'000'000'000;
  for (int i = 0; i < 100 && !(ends_[kA].is_over && ends_[kB].is_over); ++i) {
    for (End& end : ends_) end.answers_left = 1;
    if (i % 10 == 0 && !ends_[kB].is_over) from_lan(kB, ends_[kB].segment("the same data"));
    pass();
  }
  EXPECT_TRUE(ends_[kA].is_over);
  EXPECT_TRUE(ends_[kB].is_over);
  EXPECT_EQ(counted(Counter::kMisfitsReset), 2U);
  EXPECT_EQ(counted(Counter::kEvidenceTold), 2U);
}

// One direction of the link is dead for bridged frames. So the host repeats itself, for good
// reason.
TEST_F(ForgedReset, HostsThatAgreeAreLeftAloneWhateverIsLost) {
  for (int i = 0; i < 100; ++i) {
    ends_[kB].next += i == 0 ? 100'000'000 : 0;  // bytes without an acknowledgment so far
    ends_[kA].expects = ends_[kB].next;
    a_->handle_frame(PortId::kLan, ends_[kA].segment(), now_);
    b_->handle_frame(PortId::kLan,
                     ends_[kB].segment(3'000'000'000, ends_[kB].expects, "the same data"), now_);
    pass();
  }
  EXPECT_EQ(ends_[kA].resets + ends_[kB].resets, 0U);
  EXPECT_EQ(counted(Counter::kMisfitsReset), 0U);
}

}  // namespace
}  // namespace satrelay::gateway::forged_reset_test

// Bridged connections with hosts that disagree. Both LANs must show it, and nothing else counts.
#include "relay/gateway/opening/desync_detector.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "relay/gateway/frames/frame.h"
#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::gateway::desync_detector_test {
namespace {

using Flags = wire::TcpFlags;
constexpr std::uint32_t kSends = 1'000, kExpects = 5'000;
constexpr std::uint32_t kTheirSends = 1'000'000'000, kTheirExpects = 3'000'000'000;

class DesyncDetectorTest : public testing::Test, protected DesyncDetector::SessionPeers {
 protected:
  bool is_alive(LaneId) const override { return alive; }
  bool understands_evidence(LaneId) const override { return understands; }
  bool tell(LaneId lane, const HostEvidence& evidence, Instant) override {
    if (may_tell) told.emplace_back(lane, evidence);
    return may_tell;
  }

  static FlowKey connection(std::uint16_t port = 40'000) {
    return {ip_of("203.0.113.5"), ip_of("198.51.100.5"), port, 80, {}};
  }
  void lan(const SegmentNumbers& segment, std::uint16_t port = 40'000) {
    desync_detector.look_from_lan(connection(port), from_host(), segment, kLane, now);
    // A segment of the far host is bridged meanwhile. It acknowledges nothing new.
    wan(segment.sequence + (1U << 31), port);
  }
  void host_says(std::uint32_t sends, std::uint32_t expects, std::uint32_t payload = 0,
                 std::uint16_t port = 40'000) {
    lan({.flags = Flags::kAck, .sequence = sends, .acknowledgment = expects, .payload = payload},
        port);
  }
  void repeats_itself(int times = 3, std::uint16_t port = 40'000) {
    for (int i = 0; i < times; ++i) host_says(kSends, kExpects, 100, port);
  }
  void wan(std::uint32_t acknowledgment, std::uint16_t port = 40'000) {
    desync_detector.look_from_wan(connection(port), from_host().reversed(),
                                  {.flags = Flags::kAck, .acknowledgment = acknowledgment});
  }
  static HostEvidence theirs(std::uint32_t sends = kTheirSends,
                             std::uint32_t expects = kTheirExpects, std::uint16_t port = 40'000) {
    return {.near = ip_of("198.51.100.5"),
            .far = ip_of("203.0.113.5"),
            .near_port = 80,
            .far_port = port,
            .sends = sends,
            .expects = expects};
  }
  void peer_says(const HostEvidence& evidence,
                 DesyncDetector::SessionPeer session_peer = {kLane, kPeer}) {
    desync_detector.hear(session_peer, evidence, now);
  }
  void wait(Duration duration) {
    const Instant end = now + duration;
    for (Instant next = desync_detector.next_timeout(); next <= end;
         next = desync_detector.next_timeout()) {
      if (next > now) now = next;
      desync_detector.handle_timeout(now);
      if (desync_detector.next_timeout() == Instant()) break;  // a frame waits to be polled
    }
    now = end;
  }
  std::optional<wire::TcpHeader> poll() {
    std::array<std::byte, 128> buffer{};
    const std::size_t size = desync_detector.poll_frame(buffer);
    if (size == 0) return std::nullopt;
    const Frame frame = look_at(ConstBytes(buffer).first(size));
    EXPECT_EQ(frame.ethernet.destination, kHostMac);
    const auto tcp = wire::parse_tcp(frame.payload);
    if (frame.kind != FrameKind::kTcp || !tcp) return std::nullopt;
    return tcp->header;
  }
  // The number with which the host was reset meanwhile, if it was. The host answers questions.
  std::optional<std::uint32_t> reset(Duration within = Duration::seconds(2),
                                     std::uint16_t port = 40'000) {
    std::optional<std::uint32_t> reset;
    for (const Instant end = now + within; now < end; wait(Duration::milliseconds(50))) {
      while (const auto heard = poll()) {
        if (heard->has(Flags::kRst)) {
          reset = heard->sequence;
        } else if (answers) {
          host_says(at.first, at.second, 0, port);
        }
      }
    }
    return reset;
  }
  std::uint64_t count(Counter counter) const { return counters[counter]; }

  static wire::EthernetHeader from_host() {
    wire::EthernetHeader ethernet = host_to_server();
    ethernet.type = wire::EtherType::kIpv4;
    return ethernet;
  }
  static constexpr LaneId kLane{3};
  static constexpr FarGatewayId kPeer{};
  bool alive = true, understands = true, may_tell = true, answers = true;
  std::pair<std::uint32_t, std::uint32_t> at{kSends + 100, kExpects};  // the host's own numbers
  std::vector<std::pair<LaneId, HostEvidence>> told;
  Counters counters;
  DesyncDetector desync_detector{HashKey{1, 2}, *this, counters};
  Instant now = Instant::from_nanoseconds(1);
};

TEST_F(DesyncDetectorTest, AHostThatRepeatsItselfIsAskedAndItsPeerTold) {
  repeats_itself(2);
  EXPECT_FALSE(poll());
  repeats_itself(1);
  const auto question = poll();
  ASSERT_TRUE(question);
  EXPECT_EQ(question->flags, Flags::kAck);
  EXPECT_EQ(question->acknowledgment, kSends);
  EXPECT_GT(question->sequence - kExpects, 1U << 30) << "in no window";
  host_says(kSends + 100, kExpects);
  EXPECT_TRUE(told.empty()) << "as long as somebody may contradict";
  EXPECT_FALSE(reset());
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].first, kLane);
  const HostEvidence expected{.near = ip_of("203.0.113.5"),
                              .far = ip_of("198.51.100.5"),
                              .near_port = 40'000,
                              .far_port = 80,
                              .sends = kSends + 100,
                              .expects = kExpects};
  EXPECT_EQ(told[0].second, expected);
  EXPECT_EQ(count(Counter::kEvidenceTold), 1U);
  peer_says(theirs());
  EXPECT_EQ(reset(), kExpects) << "with the number that the host expects";
  EXPECT_EQ(count(Counter::kMisfitsReset), 1U);
  EXPECT_TRUE(desync_detector.next_timeout().is_never());
}

// The neighbour sends all segments with its own MAC, and the host sends none. Only the host is
// asked.
TEST_F(DesyncDetectorTest, ANeighbourWithAMacOfItsOwnProvesNothing) {
  host_says(kSends, kExpects);
  wire::EthernetHeader forged = from_host();
  forged.source = MacAddress({2, 0, 0, 0, 0, 0x66});
  const SegmentNumbers segment{
      .flags = Flags::kAck, .sequence = 77, .acknowledgment = 2'000'000'000, .payload = 1};
  for (int i = 0; i < 10; ++i) {
    desync_detector.look_from_lan(connection(), forged, segment, kLane, now);
    EXPECT_FALSE(reset(Duration::milliseconds(300)));
  }
  EXPECT_TRUE(told.empty());
  EXPECT_EQ(count(Counter::kMisfitsUnproved), 1U);
}

TEST_F(DesyncDetectorTest, OneHostLeavesRoomForTheOthers) {
  for (std::uint16_t port = 1'000; port < 1'010; ++port) repeats_itself(3, port);
  EXPECT_EQ(count(Counter::kMisfitsUntold), 10 - DesyncDetector::kMostOfOneHost);
}

// Nothing was bridged to the host, so its segments may come from another machine.
TEST_F(DesyncDetectorTest, AHostThatNothingIsBridgedToIsNotAsked) {
  const SegmentNumbers segment{
      .flags = Flags::kAck, .sequence = kSends, .acknowledgment = kExpects, .payload = 1};
  for (int i = 0; i < 10; ++i) {
    desync_detector.look_from_lan(connection(), from_host(), segment, kLane, now);
  }
  EXPECT_FALSE(poll());
  peer_says(theirs());
  EXPECT_EQ(count(Counter::kEvidenceRefused), 1U);
}

TEST_F(DesyncDetectorTest, ThePeersGatewayAsksItsHostAndTellsWhatDiffers) {
  host_says(kSends, kExpects);
  peer_says(theirs());
  EXPECT_EQ(reset(), kExpects);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].second.expects, kExpects);
}

TEST_F(DesyncDetectorTest, BothMayHaveNoticed) {
  repeats_itself();
  peer_says(theirs());
  EXPECT_EQ(reset(), kExpects);
  EXPECT_EQ(told.size(), 1U);
}

TEST_F(DesyncDetectorTest, HostsThatAgreeInOneDirectionAreLeftAlone) {
  repeats_itself();
  peer_says(theirs(kExpects + 20'000, kTheirExpects));
  EXPECT_FALSE(reset());
  wait(DesyncDetector::kQuiet);
  repeats_itself();
  peer_says(theirs(kTheirSends, at.first - (1U << 24)));
  EXPECT_FALSE(reset());
  EXPECT_EQ(count(Counter::kMisfitsUnproved), 2U);
  EXPECT_EQ(count(Counter::kMisfitsReset), 0U);
}

TEST_F(DesyncDetectorTest, AnyAnswerNearTheDataCounts) {
  for (int i = 0; i < 20; ++i) {
    repeats_itself(1);
    wan(kTheirExpects);
    wan(kSends + (1U << 24));
  }
  EXPECT_TRUE(desync_detector.next_timeout().is_never());
  repeats_itself(2);
  EXPECT_FALSE(desync_detector.next_timeout().is_never());
}

TEST_F(DesyncDetectorTest, NewDataIsNoRepetition) {
  std::uint32_t sequence = 0xffff'0000;
  for (int i = 0; i < 1'000; ++i) host_says(sequence += 100, kExpects, 100);
  for (int i = 0; i < 1'000; ++i) host_says(sequence, kExpects);  // acknowledgments
  EXPECT_TRUE(desync_detector.next_timeout().is_never());
  // Bytes are sent again behind bytes that were sent after them.
  for (int i = 0; i < 2; ++i) host_says(sequence - 50'000, kExpects, 100);
  EXPECT_FALSE(desync_detector.next_timeout().is_never());
}

// A machine on the LAN repeats bytes that the host has never sent. The host answers the question.
TEST_F(DesyncDetectorTest, WhatTheHostContradictsIsNotTold) {
  at = {2'000'000'000, 2'500'000'000};
  repeats_itself();
  EXPECT_FALSE(reset());
  EXPECT_TRUE(told.empty());
  EXPECT_EQ(count(Counter::kMisfitsUnproved), 1U);
}

TEST_F(DesyncDetectorTest, WhatIsContradictedLaterIsNoEvidence) {
  repeats_itself();
  EXPECT_FALSE(reset());
  ASSERT_EQ(told.size(), 1U);
  host_says(2'000'000'000, 2'500'000'000);
  peer_says(theirs(), {kLane, kPeer});
  EXPECT_FALSE(reset());
  EXPECT_EQ(count(Counter::kMisfitsReset), 0U);
}

TEST_F(DesyncDetectorTest, AHostThatDoesNotAnswerIsNotSpokenFor) {
  answers = false;
  repeats_itself();
  peer_says(theirs());
  EXPECT_FALSE(reset());
  EXPECT_TRUE(told.empty());
  EXPECT_EQ(count(Counter::kMisfitsUnproved), 1U);
}

TEST_F(DesyncDetectorTest, AConnectionThatBeginsOrEndsIsNotTheOldOne) {
  for (const std::uint8_t flags : {Flags::kSyn, Flags::kRst}) {
    repeats_itself(2);
    lan({.flags = flags, .sequence = 1});
    repeats_itself(2);
    EXPECT_TRUE(desync_detector.next_timeout().is_never());
    repeats_itself(1);
    lan({.flags = flags, .sequence = 1});
    poll();
    peer_says(theirs());
    EXPECT_FALSE(reset());
    now += DesyncDetector::kQuiet;
  }
}

TEST_F(DesyncDetectorTest, APeerThatDoesNotUnderstandIsNotTold) {
  understands = false;
  repeats_itself(100);
  EXPECT_FALSE(reset());
  EXPECT_TRUE(told.empty());
  EXPECT_EQ(count(Counter::kMisfitsUntold), 1U);
  now += DesyncDetector::kQuiet;
  alive = false;
  repeats_itself(100);
  EXPECT_EQ(count(Counter::kMisfitsUntold), 1U) << "there is nobody to be told";
}

TEST_F(DesyncDetectorTest, WhatCannotLeaveNowLeavesLater) {
  may_tell = false;
  host_says(kSends, kExpects);
  peer_says(theirs());
  EXPECT_FALSE(reset());
  may_tell = true;
  EXPECT_EQ(reset(), kExpects);
}

TEST_F(DesyncDetectorTest, WhatIsNeverAnsweredIsForgotten) {
  repeats_itself();
  EXPECT_FALSE(reset());
  wait(DesyncDetector::kPatience);
  EXPECT_TRUE(desync_detector.next_timeout().is_never());
  EXPECT_EQ(count(Counter::kMisfitsUnproved), 1U);
}

TEST_F(DesyncDetectorTest, AConnectionIsLookedIntoOnceInAWhile) {
  repeats_itself();
  peer_says(theirs(kExpects, kSends));
  EXPECT_FALSE(reset());
  peer_says(theirs());
  EXPECT_EQ(count(Counter::kEvidenceRefused), 1U);
  repeats_itself(100);
  EXPECT_TRUE(desync_detector.next_timeout().is_never());
  now += DesyncDetector::kQuiet;
  repeats_itself(1);
  EXPECT_FALSE(desync_detector.next_timeout().is_never());
}

TEST_F(DesyncDetectorTest, APeersWordIsAboutWhatIsKnownAndItsOwn) {
  peer_says(theirs());
  EXPECT_EQ(count(Counter::kEvidenceRefused), 1U) << "no such host has spoken";
  repeats_itself();
  peer_says(theirs(), {kLane.next(), kPeer.next()});
  EXPECT_EQ(count(Counter::kEvidenceRefused), 2U) << "another one was asked";
  EXPECT_FALSE(reset());
}

TEST_F(DesyncDetectorTest, OnePeerLeavesRoomForOthersAndAllHaveALimit) {
  constexpr std::uint16_t kMany = 200;
  for (std::uint16_t i = 0; i < kMany; ++i) host_says(kSends, kExpects, 0, i);
  for (std::uint16_t i = 0; i < kMany; ++i) {
    peer_says(theirs(kTheirSends, kTheirExpects, i), {kLane, kPeer});
  }
  const auto opened = [&] { return kMany - count(Counter::kEvidenceRefused); };
  EXPECT_EQ(opened(), DesyncDetector::kMostToldByOne);
  for (std::uint16_t i = kMany; i < 2 * kMany; ++i) {
    host_says(kSends, kExpects, 0, i);
    peer_says(theirs(kTheirSends, kTheirExpects, i), {kLane, FarGatewayId(i)});
  }
  EXPECT_EQ(opened() + kMany, DesyncDetector::kMostTold);
  for (std::uint8_t i = 0; i < kMany; ++i) {
    FlowKey other = connection();
    other.local = IpAddress::v4({203, 0, 113, i});
    for (int times = 0; times < 3; ++times) {
      desync_detector.look_from_lan(other, from_host(), {.flags = Flags::kAck, .payload = 1}, kLane,
                                    now);
      desync_detector.look_from_wan(other, from_host().reversed(),
                                    {.flags = Flags::kAck, .acknowledgment = 1U << 31});
    }
  }
  EXPECT_EQ(count(Counter::kMisfitsUntold), kMany - DesyncDetector::kMostOwn);
  int questions = 0;
  while (poll()) ++questions;
  EXPECT_EQ(static_cast<std::size_t>(questions),
            DesyncDetector::kMostTold + DesyncDetector::kMostOwn);
}

}  // namespace
}  // namespace satrelay::gateway::desync_detector_test

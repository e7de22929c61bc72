// Which frame is sent next over the WAN, and whether a bridged frame leaves, waits or is dropped.
#include "relay/gateway/uplink/uplink.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/unit/relay/gateway/devices/live_peer.h"

namespace satrelay::gateway::uplink_test {
namespace {

using BridgeOutcome = Uplink::BridgeOutcome;
constexpr auto kId = TrafficClasses::kBridged;
constexpr std::size_t kHeader = 42;
constexpr std::size_t kSize = 1'000;

BitRate mbit(std::uint64_t rate) { return BitRate::bits_per_second(rate * 1'000'000); }

config::Gateway one_link() {
  config::Gateway config;
  config.links = {link_of(mbit(10))};
  config.peers.resize(1);
  config.classes = {{.name = "gold", .weight = 4}};
  config.limits.flows = 16;
  return config;
}

class UplinkTest : public testing::Test, public SessionPort {
 protected:
  UplinkTest() : uplink_(one_link(), 1, HashKey{1, 2}, released_, *this, now_) {}

  bool is_reachable(LaneId) const override { return reachable_; }
  Written write_packets(LaneId, const schedule::Turn& turn, std::span<const MutableBytes> rooms,
                        std::span<stp::PolledPacket> packets, Instant now) override {
    ++polls_;
    if (turn.streams) is_alone_ = turn.alone;
    if (uplink_.carrier(LinkId()).pacer.can_send(now)) ++polls_with_room_;
    if (peer_ == nullptr) return {};
    if (is_talkative_) {
      control::Pacer& pacer = uplink_.carrier(LinkId()).pacer;
      if (!pacer.can_send(now)) return {};
      pacer.on_sent(kSize, now);
      packets.front() = {.size = kSize};
      return {.count = 1, .frame_header = kHeader};
    }
    return {.count = peer_->session().poll_packets(rooms, kHeader, packets, now, turn),
            .frame_header = kHeader};
  }

  // The session of the peer has bytes of one stream to send.
  void add_busy_peer() {
    add_peer(stp::FecMode::kOff);
    const auto stream = peer_->session().streams().open({}, 0, now_);
    ASSERT_TRUE(stream);
    const std::vector<std::byte> bytes(100'000);
    ASSERT_EQ(peer_->session().streams().write(*stream, bytes, now_), bytes.size());
  }
  void add_peer(stp::FecMode fec = stp::FecMode::kAuto) {
    Carrier& carrier = uplink_.carrier(LinkId());
    peer_ = std::make_unique<LivePeer>(carrier, now_, fec);
    Lane& lane = *peer_->lanes.front();
    uplink_.add_lane(lane.peer.links, lane.session, lane.datagram_overhead);
  }
  BridgeOutcome admit(std::string_view from = "203.0.113.5", std::uint16_t port = 7) {
    const FrameBytes frame = udp_frame(from, "198.51.100.5", port, FrameBytes(kSize - 28));
    return uplink_.admit(kId, look_at(frame), kSize, now_);
  }
  // Admits frames until one has to wait. Returns the slot of that frame.
  std::size_t fill() {
    while (admit() == BridgeOutcome::kLeaves) {
    }
    return uplink_.held_slot();
  }
  Polled poll() {
    const MutableBytes out = out_;
    Polled polled;
    uplink_.poll({&out, 1}, {&polled, 1}, now_);
    return polled;
  }

  Instant now_ = Instant::from_nanoseconds(1);
  Counters counters_;
  Reassembly reassembly_{HashKey{1, 2}, 1'600, counters_};
  ReleasedFragments released_{reassembly_, kMostHeldFrames};
  Uplink uplink_;
  std::unique_ptr<LivePeer> peer_;
  bool reachable_ = true;
  bool is_alone_ = false;  // from the last turn of a session for streams
  int polls_ = 0;
  int polls_with_room_ = 0;
  bool is_talkative_ = false;  // the session always writes a packet that is not stream data
  FrameBytes out_ = FrameBytes(2'000);
};

TEST_F(UplinkTest, AFrameLeavesAtOnceWhileTheCarrierHasRoom) {
  EXPECT_EQ(admit(), BridgeOutcome::kLeaves);
  EXPECT_EQ(uplink_.held().frames(), 0U);
  EXPECT_EQ(uplink_.classes()[kId].use.bridged_frames, 1U);
  EXPECT_TRUE(uplink_.next_turn(now_).is_never());
}

TEST_F(UplinkTest, AFrameThatFindsNoneWaitsUntilTheCarrierHasSomeAgain) {
  const std::size_t slot = fill();
  EXPECT_EQ(uplink_.classes()[kId].use.waited_frames, 1U);
  EXPECT_EQ(poll().kind, Polled::Kind::kNothing);
  const Instant next = uplink_.next_turn(now_);
  EXPECT_GT(next, now_);
  now_ = next;
  const Polled polled = poll();
  EXPECT_EQ(polled.kind, Polled::Kind::kHeld);
  EXPECT_EQ(polled.slot, slot);
  EXPECT_TRUE(uplink_.next_turn(now_).is_never());
}

TEST_F(UplinkTest, HowLongAFrameHasWaitedIsCounted) {
  fill();
  const Histogram& waits = uplink_.classes()[kId].bridged_waits;
  EXPECT_EQ(waits.count(), 0U) << "it waits yet";
  now_ += Duration::milliseconds(7);
  ASSERT_EQ(poll().kind, Polled::Kind::kHeld);
  EXPECT_EQ(waits.count(), 1U);
  EXPECT_EQ(waits.sum(), 7'000U);
}

TEST_F(UplinkTest, NoFrameOvertakesThoseOfItsClassThatWait) {
  fill();
  now_ += Duration::seconds(1);
  EXPECT_EQ(admit(), BridgeOutcome::kWaits);
}

TEST_F(UplinkTest, OfAFlowForWhichThereIsNoRoomTheOldestIsDropped) {
  const std::size_t oldest = fill();
  while (!uplink_.held().any_dropped()) ASSERT_EQ(admit(), BridgeOutcome::kWaits);
  EXPECT_EQ(uplink_.next_turn(now_), now_) << "its keeper is to throw it away at once";
  const Polled polled = poll();
  EXPECT_EQ(polled.kind, Polled::Kind::kDropped);
  EXPECT_EQ(polled.slot, oldest);
  EXPECT_EQ(uplink_.classes()[kId].use.dropped_frames, 1U);
  EXPECT_EQ(uplink_.take_drops().crowded, 1U);
  EXPECT_EQ(uplink_.take_drops().crowded, 0U) << "once";
}

// Every host holds one frame, so no host has more frames than the new host would have.
TEST_F(UplinkTest, WhatFindsNoRoomToWaitIsDropped) {
  fill();
  BridgeOutcome last = BridgeOutcome::kWaits;
  for (std::uint16_t i = 1; i < 4'000 && last != BridgeOutcome::kNoRoom; ++i) {
    last = admit("203.0." + std::to_string(i / 250) + "." + std::to_string(i % 250 + 1));
  }
  EXPECT_EQ(last, BridgeOutcome::kNoRoom);
  EXPECT_EQ(uplink_.classes()[kId].use.dropped_frames, 1U);
}

// By default bridged frames and relayed bytes share a class. Their counters are separate.
TEST_F(UplinkTest, WithoutAShareBridgedFramesHaveTheTurnsOfRelayedBytes) {
  fill();
  EXPECT_EQ(uplink_.held().classes(), schedule::class_bit(TrafficClasses::kRelayed));
  EXPECT_EQ(uplink_.turns().held_frames(kId), 1U);
  EXPECT_EQ(uplink_.turns().held_bytes(kId), kSize);
  EXPECT_EQ(uplink_.turns().waiting_hosts(kId), 1U);
  EXPECT_EQ(uplink_.turns().held_frames(TrafficClasses::kRelayed), 0U);
  EXPECT_EQ(uplink_.turns().waiting_hosts(TrafficClasses::kRelayed), 0U);
  EXPECT_EQ(uplink_.classes()[TrafficClasses::kRelayed].use.bridged_frames, 0U);
}

TEST_F(UplinkTest, WithAShareBridgedFramesAreAClassOfTheirOwn) {
  config::Gateway config = one_link();
  config.links[0].bridged_share = 0.2;
  Uplink uplink(config, 1, HashKey{1, 2}, released_, *this, now_);
  const FrameBytes frame = udp_frame("203.0.113.5", "198.51.100.5", 7, FrameBytes(kSize - 28));
  while (uplink.admit(kId, look_at(frame), kSize, now_) == BridgeOutcome::kLeaves) continue;
  EXPECT_EQ(uplink.held().classes(), schedule::class_bit(kId));
  EXPECT_EQ(uplink.turns().held_frames(kId), 1U);
}

// The budget is a hundredth of 10 Mbit/s.
TEST_F(UplinkTest, ControlFramesHaveABudgetAndAreBookedInFull) {
  std::uint64_t passed = 0;
  for (int ms = 0; ms < 10'000; ++ms) {
    now_ += Duration::milliseconds(1);
    while (uplink_.pass_control(46, now_)) ++passed;
  }
  const auto octets = static_cast<double>(passed * (46 + 38));
  EXPECT_NEAR(octets, 1.25e6 / 100 * 10, 1.25e6 / 100 * 0.26);
  EXPECT_EQ(uplink_.classes()[kId].use.bridged_frames, passed);
  EXPECT_EQ(uplink_.carrier(LinkId()).sent, passed * (46 + 38));
}

TEST_F(UplinkTest, ControlFramesLeaveBesideAQueueUntilTwoLongPacketsAreBooked) {
  fill();
  int passed = 0;
  while (passed < 1'000 && uplink_.pass_control(46, now_)) ++passed;
  EXPECT_GE(passed, 10);
  const control::Pacer& pacer = uplink_.carrier(LinkId()).pacer;
  EXPECT_LE(pacer.free_at() - now_,
            Duration::milliseconds(4) + pacer.rate().time_for(ByteCount(2 * 1'538)));
  EXPECT_EQ(admit(), BridgeOutcome::kWaits);
}

TEST_F(UplinkTest, WhatTheGatewayItselfSendsIsBooked) {
  uplink_.book_own(14 + kSize, now_);
  EXPECT_EQ(uplink_.carrier(LinkId()).sent, kSize + 38);
  EXPECT_EQ(uplink_.carrier(LinkId()).pacer.free_at() - now_,
            uplink_.carrier(LinkId()).pacer.rate().time_for(ByteCount(kSize + 38)));
  EXPECT_EQ(uplink_.classes()[kId].use.bridged_frames, 0U);
}

// The budget of each kind is 100 kbit/s of 10 Mbit/s: 12,500 octets a second.
TEST_F(UplinkTest, EachKindOfOwnFramesHasItsBudget) {
  for (const OwnFrame kind : {OwnFrame::kEcho, OwnFrame::kNeighbour, OwnFrame::kReset}) {
    std::uint64_t taken = 0;
    for (int ms = 0; ms < 10'000; ++ms) {
      now_ += Duration::milliseconds(1);
      for (int i = 0; i < 10; ++i) taken += uplink_.take(kind, false, 98, now_) ? 98 - 14 + 38 : 0;
    }
    EXPECT_NEAR(static_cast<double>(taken), 125'000, 125'000 * 0.02);
  }
}

TEST_F(UplinkTest, StrangersLeaveOwnFramesToThoseThatAreKnown) {
  while (uplink_.take(OwnFrame::kEcho, false, 98, now_)) continue;
  EXPECT_TRUE(uplink_.take(OwnFrame::kEcho, true, 98, now_));
  while (uplink_.take(OwnFrame::kEcho, true, 98, now_)) continue;
  EXPECT_TRUE(uplink_.take(OwnFrame::kNeighbour, false, 42, now_)) << "of another kind";
}

TEST_F(UplinkTest, OnASlowLinkOneSmallFrameLeavesAtATimeAndNoLongOne) {
  config::Gateway slow = one_link();
  slow.links = {link_of(BitRate::bits_per_second(64'000))};
  Uplink uplink(slow, 1, HashKey{1, 2}, released_, *this, now_);
  EXPECT_FALSE(uplink.take(OwnFrame::kEcho, true, 1'014, now_))
      << "more than the budget of a second";
  EXPECT_TRUE(uplink.take(OwnFrame::kEcho, false, 128, now_));
  EXPECT_FALSE(uplink.take(OwnFrame::kEcho, false, 128, now_));
  EXPECT_TRUE(uplink.take(OwnFrame::kEcho, true, 128, now_)) << "and one for a peer";
  now_ += Duration::seconds(3);
  EXPECT_TRUE(uplink.take(OwnFrame::kEcho, false, 128, now_)) << "one in a second and a third";
  std::uint64_t octets = 0;
  for (int ms = 0; ms < 60'000; ++ms) {
    const Instant when = now_ + Duration::milliseconds(ms);
    for (const OwnFrame kind :
         {OwnFrame::kEcho, OwnFrame::kNeighbour, OwnFrame::kNeighbourRequest, OwnFrame::kReset}) {
      octets += uplink.take(kind, true, 128, when) ? 152 : 0;
    }
  }
  EXPECT_LE(static_cast<double>(octets) * 8 / 60, 6'400) << "a tenth, all kinds together";
}

TEST_F(UplinkTest, ASessionAndBridgedFramesShareTheCarrier) {
  add_peer();
  const auto stream = peer_->session().streams().open({}, 0, now_);
  ASSERT_TRUE(stream);
  const std::vector<std::byte> bytes(100'000);
  ASSERT_EQ(peer_->session().streams().write(*stream, bytes, now_), bytes.size());
  fill();
  for (int i = 0; i < 30; ++i) admit();
  std::size_t held = 0, written = 0;
  for (int i = 0; i < 20; ++i) {
    now_ += Duration::milliseconds(2);
    while (true) {
      const Polled polled = poll();
      if (polled.kind == Polled::Kind::kNothing) break;
      (polled.kind == Polled::Kind::kHeld ? held : written) += 1;
    }
  }
  EXPECT_GT(held, 3U);
  EXPECT_GT(written, 3U);
  EXPECT_GT(uplink_.classes()[TrafficClasses::kRelayed].use.relayed_bytes, 0U);
}

TEST_F(UplinkTest, ASessionIsToldWhetherItHasTheCarrierToItself) {
  add_busy_peer();
  for (int i = 0; i < 4; ++i) poll();
  EXPECT_TRUE(is_alone_);
  fill();
  for (int i = 0; i < 30; ++i) admit();
  for (int i = 0; i < 5; ++i) {
    now_ += Duration::milliseconds(2);
    while (poll().kind != Polled::Kind::kNothing) {
    }
  }
  EXPECT_FALSE(is_alone_);
}

// The class is charged for each packet of a burst as for a single packet.
TEST_F(UplinkTest, APeerThatIsAloneSendsInBurstsAndEachPacketIsBooked) {
  add_busy_peer();
  std::vector<FrameBytes> rooms(32, FrameBytes(2'000));
  const std::vector<MutableBytes> spans(rooms.begin(), rooms.end());
  std::array<Polled, 32> polled;
  std::uint64_t accounted = 0;
  std::size_t behind_first = 0;
  std::uint64_t turn_of_a_byte = 0;  // how far a byte moves the peer on in its class
  const Carrier& carrier = uplink_.carrier(LinkId());
  const auto count = [&](const Polled& each) {
    ASSERT_EQ(each.kind, Polled::Kind::kWritten);
    accounted += carrier.pacer.overhead().accounted(each.size - kHeader + 28).value();
  };
  for (int i = 0; i < 40; ++i) {
    now_ += Duration::milliseconds(10);
    while (const std::size_t sent = uplink_.poll(spans, polled, now_)) {
      for (std::size_t k = 0; k < sent; ++k) count(polled[k]);
      if (turn_of_a_byte == 0) {
        turn_of_a_byte = carrier.classes.start(TrafficClasses::kRelayed, 1) / accounted;
      }
      behind_first += sent - 1;
    }
  }
  EXPECT_GT(behind_first, 10U);
  EXPECT_EQ(uplink_.classes()[TrafficClasses::kRelayed].use.relayed_bytes,
            carrier.sent_of[TrafficClasses::kRelayed]);
  EXPECT_EQ(carrier.sent, accounted);
  EXPECT_EQ(carrier.classes.start(TrafficClasses::kRelayed, 1), turn_of_a_byte * accounted);
}

TEST_F(UplinkTest, NobodySendsInBurstsWhileABridgedFrameWaits) {
  add_busy_peer();
  fill();
  for (int i = 0; i < 30; ++i) admit();
  std::vector<FrameBytes> rooms(8, FrameBytes(2'000));
  const std::vector<MutableBytes> spans(rooms.begin(), rooms.end());
  std::array<Polled, 8> polled;
  for (int i = 0; i < 5; ++i) {
    now_ += Duration::milliseconds(2);
    while (const std::size_t sent = uplink_.poll(spans, polled, now_)) EXPECT_EQ(sent, 1U);
  }
}

TEST_F(UplinkTest, WhatASessionMustSayWaitsForOneFrameAtMost) {
  add_peer();
  fill();
  for (int i = 0; i < 5; ++i) admit();
  now_ += Duration::seconds(1);
  polls_ = 0;
  EXPECT_EQ(poll().kind, Polled::Kind::kHeld);
  EXPECT_EQ(polls_, 0);
  poll();
  EXPECT_GT(polls_, 0) << "the session is asked before the next frame";
}

// The driver calls poll() until it returns kNothing, even if the carrier has no room.
TEST_F(UplinkTest, WhatWaitsForRoomHasItsTurnAmongFramesThatNeverEnd) {
  add_peer();
  fill();
  int frames = 0;
  for (int opening = 0; opening < 100; ++opening) {
    admit();
    now_ = later(now_, uplink_.next_turn(now_));
    for (Polled polled = poll(); polled.kind != Polled::Kind::kNothing; polled = poll()) {
      if (polled.kind == Polled::Kind::kHeld) ++frames;
    }
  }
  EXPECT_GE(frames, 90);
  EXPECT_GE(polls_with_room_, frames / 3);
}

TEST_F(UplinkTest, FramesHaveTheirTurnAmongWhatSessionsMustSay) {
  add_peer();
  fill();
  is_talkative_ = true;
  int frames = 0, written = 0;
  for (int opening = 0; opening < 100; ++opening) {
    admit();
    now_ = later(now_ + Duration::microseconds(1), uplink_.carrier(LinkId()).pacer.next_send());
    for (Polled polled = poll(); polled.kind != Polled::Kind::kNothing; polled = poll()) {
      ++(polled.kind == Polled::Kind::kHeld ? frames : written);
    }
  }
  EXPECT_GE(frames, 45);
  EXPECT_GE(written, 45);
}

// At its small share the session has named a distant time for its next packet.
TEST_F(UplinkTest, WhoRestsAtASmallShareIsWokenWhenItRises) {
  add_busy_peer();
  Shares shares(1, 1);
  const auto take = [&](BitRate rate) {
    ++shares.links[LinkId()].serial;
    shares.links[LinkId()].until = now_ + Duration::seconds(600);
    shares.links[LinkId()].rate = shares.links[LinkId()].reports = rate;
    uplink_.shares().take(shares, now_);
  };
  const auto drain = [&] {
    std::size_t frames = 0;
    while (poll().kind != Polled::Kind::kNothing) ++frames;
    uplink_.ready_set().rest(LaneId(0), now_ + Duration::seconds(60));
    return frames;
  };
  take(mbit(1));
  ASSERT_GT(drain(), 0U);
  now_ += Duration::milliseconds(20);
  take(mbit(1));
  EXPECT_EQ(drain(), 0U) << "it rests: the same share is none that has risen";
  take(mbit(10));
  EXPECT_GT(drain(), 0U);
}

TEST_F(UplinkTest, APeerOutOfReachIsNotAsked) {
  add_peer();
  reachable_ = false;
  polls_ = 0;
  now_ += Duration::seconds(1);
  EXPECT_EQ(poll().kind, Polled::Kind::kNothing);
  EXPECT_EQ(polls_, 0);
}

TEST_F(UplinkTest, ACapacityIsThatOfALinkThatIsUsed) {
  EXPECT_EQ(uplink_.rates().set_capacity("other", LinkWay::kSend, mbit(1), now_),
            CapacityResult::kUnknownLink);
  EXPECT_EQ(uplink_.rates().set_capacity("sat", LinkWay::kSend, mbit(1), now_),
            CapacityResult::kUnusedLink);
  add_peer();
  EXPECT_EQ(uplink_.rates().set_capacity("sat", LinkWay::kSend, mbit(11), now_),
            CapacityResult::kAboveConfigured);
  EXPECT_EQ(uplink_.rates().set_capacity("sat", LinkWay::kSend, mbit(1), now_),
            CapacityResult::kSet);
  EXPECT_EQ(uplink_.rates().commanded(LaneId(0)), mbit(1));
  EXPECT_EQ(uplink_.carrier(LinkId()).pacer.rate(), mbit(1).scaled(995, 1000));
  EXPECT_EQ(uplink_.rates().set_capacity("sat", LinkWay::kSend, BitRate(), now_),
            CapacityResult::kSet);
  EXPECT_TRUE(uplink_.rates().commanded(LaneId(0)).is_zero()) << "as configured";
}

TEST_F(UplinkTest, ThePeersOwnRateHoldsBesideThatOfTheLink) {
  add_peer();
  uplink_.rates().set_most_rate(LaneId(0), mbit(2), now_);
  EXPECT_EQ(uplink_.rates().commanded(LaneId(0)), mbit(2));
  EXPECT_EQ(uplink_.carrier(LinkId()).pacer.rate(), mbit(2).scaled(995, 1000));
  uplink_.rates().set_most_rate(LaneId(0), BitRate::bits_per_second(1), now_);
  EXPECT_EQ(uplink_.rates().commanded(LaneId(0)), kLeastCapacity);
  uplink_.rates().set_most_rate(LaneId(0), BitRate(), now_);
  EXPECT_TRUE(uplink_.rates().commanded(LaneId(0)).is_zero());
}

// Any packet from a peer may announce another capacity. There may be a thousand other peers.
TEST(UplinkOfMany, OnePeersCapacityWakesNoOther) {
  constexpr std::size_t kPeers = 4;
  Counters counters;
  Reassembly reassembly(HashKey{1, 2}, 1'600, counters);
  ReleasedFragments released(reassembly, kMostHeldFrames);
  struct NoPort final : SessionPort {
    bool is_reachable(LaneId) const override { return true; }
    Written write_packets(LaneId, const schedule::Turn&, std::span<const MutableBytes>,
                          std::span<stp::PolledPacket>, Instant) override {
      return {};
    }
  } port;
  Instant now = Instant::from_nanoseconds(1);
  config::Gateway config = one_link();
  config.peers.resize(kPeers);
  Uplink uplink(config, kPeers, HashKey{1, 2}, released, port, now);
  Carrier& carrier = uplink.carrier(LinkId());
  std::vector<std::unique_ptr<LivePeer>> live;
  for (std::size_t i = 0; i < kPeers; ++i) {
    live.push_back(std::make_unique<LivePeer>(carrier, now));
    Lane& lane = *live.back()->lanes.front();
    uplink.add_lane(lane.peer.links, lane.session, lane.datagram_overhead);
  }
  uplink.rates().handle_capacity(LaneId(0), now);  // the first call wakes all sessions
  for (std::size_t i = 0; i < kPeers; ++i) uplink.ready_set().rest(LaneId(i), Instant::never());
  uplink.rates().handle_capacity(LaneId(2), now);
  for (std::size_t i = 0; i < kPeers; ++i)
    EXPECT_EQ(uplink.ready_set().is_awake(LaneId(i)), i == 2) << i;
  EXPECT_EQ(carrier.in_force(), mbit(10));
  // A limit for one peer changes neither the limits of the other peers nor the rate of the link.
  uplink.rates().set_most_rate(LaneId(1), mbit(3), now);
  EXPECT_EQ(carrier.in_force(), mbit(10));
  EXPECT_EQ(uplink.rates().commanded(LaneId(1)), mbit(3));
  for (std::size_t i = 0; i < kPeers; ++i) uplink.rates().set_most_rate(LaneId(i), mbit(3), now);
  EXPECT_EQ(carrier.in_force(), mbit(3));
  uplink.rates().set_most_rate(LaneId(3), BitRate(), now);
  EXPECT_EQ(carrier.in_force(), mbit(10));
}

TEST_F(UplinkTest, AClassIsSetIfItsRatesMakeSense) {
  EXPECT_EQ(uplink_.turns().set("silver", {}, now_), ClassResult::kUnknownClass);
  EXPECT_EQ(uplink_.turns().set("bridged", {}, now_), ClassResult::kUnknownClass);
  EXPECT_EQ(uplink_.turns().set("gold", {.guaranteed = mbit(2), .maximum = mbit(1)}, now_),
            ClassResult::kContradiction);
  EXPECT_EQ(uplink_.turns().set("gold", {.guaranteed = mbit(9)}, now_), ClassResult::kAboveLink);
  EXPECT_EQ(uplink_.turns().set("gold", {.weight = 7}, now_), ClassResult::kSet);
  EXPECT_EQ(uplink_.classes()[*uplink_.classes().find("gold")].in_force.weight, 7);
}

TEST_F(UplinkTest, WhatWaitsInAClassThatIsNoMoreLeavesAllTheSame) {
  const auto gold = uplink_.classes().find("gold");
  const FrameBytes frame = udp_frame("203.0.113.5", "198.51.100.5", 7, FrameBytes(kSize - 28));
  while (uplink_.admit(*gold, look_at(frame), kSize, now_) == BridgeOutcome::kLeaves) {
  }
  config::Gateway next = one_link();
  next.classes.clear();
  uplink_.reconfigure(next, {}, now_);
  now_ += Duration::seconds(1);
  EXPECT_EQ(poll().kind, Polled::Kind::kHeld);
}

}  // namespace
}  // namespace satrelay::gateway::uplink_test

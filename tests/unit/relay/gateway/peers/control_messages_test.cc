// Messages of a peer about its dictionaries, well-formed or not.
#include "relay/gateway/peers/control_messages.h"

#include <gtest/gtest.h>

#include <array>
#include <initializer_list>
#include <optional>
#include <vector>

#include "relay/gateway/flows/flow_record.h"
#include "tests/fuzz/fuzz_peer.h"
#include "tests/unit/relay/gateway/hub_fixture.h"

namespace satrelay::gateway::control_messages_test {
namespace {

class ControlMessagesTest : public ::testing::Test, public LanReportReader {
 public:
  void handle_report(LaneId, const LanReport&) override {}

 protected:
  ControlMessagesTest() {
    for (int i = 0; i < 10; ++i) exchange();
    EXPECT_EQ(near_.session().peer_state(), stp::PeerState::kAlive);
  }

  void exchange() {
    now_ += Duration::milliseconds(20);
    for (FuzzPeer* from : {&near_, &far_}) {
      stp::Session& to = (from == &near_ ? far_ : near_).session();
      if (from->session().next_timeout() <= now_) from->session().handle_timeout(now_);
      std::array<std::byte, 1472> packet{};
      while (const std::size_t size = from->session().poll_packet(packet, now_, {})) {
        to.handle_packet(ConstBytes(packet).first(size), now_);
      }
    }
  }
  // Sends a message to ControlMessages at the other end. Returns the reason of the RESET that comes
  // back.
  std::optional<stp::ResetReason> say(std::initializer_list<unsigned> octets) {
    std::vector<std::byte> message;
    for (const unsigned octet : octets) message.push_back(static_cast<std::byte>(octet));
    const auto stream = far_.session().streams().open(message, 0, now_);
    EXPECT_TRUE(stream);
    exchange();
    exchange();
    while (const auto event = near_.session().poll_event()) {
      if (event->kind == stp::Event::Kind::kOpened) {
        EXPECT_TRUE(control_messages_.handle_opened(event->stream, now_));
      }
    }
    exchange();
    exchange();
    std::optional<stp::ResetReason> reason;
    while (const auto event = far_.session().poll_event()) {
      if (event->kind == stp::Event::Kind::kReset && event->stream == *stream) {
        reason = event->reason;
      }
    }
    return reason;
  }
  std::vector<unsigned> numbers() const {
    std::vector<unsigned> list;
    for (const DictionaryOffer& each : control_messages_.peer_dictionaries())
      list.push_back(each.number);
    return list;
  }

  Instant now_ = Instant::from_nanoseconds(1'000'000'000);
  FuzzPeer near_{1, BitRate::bits_per_second(10'000'000), now_, FuzzPeer::Streams::kEven};
  FuzzPeer far_{2, BitRate::bits_per_second(10'000'000), now_};
  const std::vector<IpPrefix> prefixes_;
  ControlMessages control_messages_{near_.session(), LaneId(), LaneAddress{}, prefixes_, 8, *this};
};

constexpr auto kTaken = stp::ResetReason::kNone;
constexpr auto kMalformed = stp::ResetReason::kProtocolError;

constexpr auto kEvidence = {0xc7U, 4U,    198U,  51U, 100U, 5U, 203U, 0U,    113U, 5U, 0U,
                            80U,   0x9cU, 0x40U, 0U,  0U,   1U, 0U,   0x80U, 0U,   0U, 0U};

TEST_F(ControlMessagesTest, TakesTheEvidenceOfAPeer) {
  EXPECT_EQ(say(kEvidence), kTaken);
  const HostEvidence expected{.near = ip_of("198.51.100.5"),
                              .far = ip_of("203.0.113.5"),
                              .near_port = 80,
                              .far_port = 40'000,
                              .sends = 256,
                              .expects = 0x8000'0000};
  EXPECT_EQ(control_messages_.take_evidence(), expected);
  EXPECT_FALSE(control_messages_.take_evidence());
  EXPECT_EQ(say({0xc7, 4, 198, 51}), kMalformed);
  EXPECT_FALSE(control_messages_.take_evidence());
}

TEST_F(ControlMessagesTest, TellsEvidenceAtMostTenTimesASecond) {
  int told = 0;
  const Instant end = now_ + Duration::seconds(2);
  for (; now_ < end; exchange()) told += control_messages_.tell({}, now_) ? 1 : 0;
  EXPECT_EQ(told, 20);
}

// The peer has the right keys, and acknowledges all packets.
TEST_F(ControlMessagesTest, APeerThatTakesNoMessageIsSentAFewOnly) {
  std::size_t told = 0;
  for (const Instant end = now_ + Duration::seconds(20); now_ < end; exchange()) {
    told += control_messages_.tell({}, now_) ? 1 : 0;
  }
  EXPECT_EQ(told, Messages::kMost);
  EXPECT_EQ(near_.session().streams().count(), Messages::kMost);
}

constexpr auto kDestination = {0xc8U, 4U,   0U, 0U,   0U, 0U, 0U, 0U, 0U, 9U, 198U, 51U, 100U,
                               5U,    203U, 0U, 113U, 5U, 0U, 2U, 0U, 0U, 0U, 1U,   2U};

TEST_F(ControlMessagesTest, TakesTheDestinationsOfAPeer) {
  EXPECT_EQ(say(kDestination), kTaken);
  LanDestination expected{.stream = stp::StreamId{9},
                          .near = ip_of("198.51.100.5"),
                          .far = ip_of("203.0.113.5"),
                          .ethernet = {}};
  expected.ethernet.destination = {{2, 0, 0, 0, 1, 2}};
  EXPECT_EQ(control_messages_.destinations().take(), expected);
  EXPECT_FALSE(control_messages_.destinations().take());
  EXPECT_EQ(say({0xc8, 4, 198, 51}), kMalformed);
  EXPECT_FALSE(control_messages_.destinations().take());
}

// Very many hosts behind a router may change at once.
TEST_F(ControlMessagesTest, TellsTenDestinationsASecondAndKeepsAFewThatWait) {
  const auto told = [](unsigned host) {
    return LanDestination{.stream = {},
                          .near = ip_of("198.51.100.5"),
                          .far = IpAddress::v4({203, 0, 113, static_cast<std::uint8_t>(host)}),
                          .ethernet = {}};
  };
  unsigned taken = 0;
  for (unsigned i = 1; i <= 250; ++i)
    taken += control_messages_.destinations().tell(told(i), now_) ? 1 : 0;
  EXPECT_EQ(taken, LanDestinations::kMostWaiting + 1) << "one has left";
  EXPECT_TRUE(control_messages_.destinations().tell(told(taken), now_))
      << "a later word of one that waits";
  unsigned heard = 0;
  for (const Instant end = now_ + Duration::seconds(2); now_ < end;) {
    EXPECT_LE(control_messages_.next_timeout(), now_ + Duration::milliseconds(100));
    control_messages_.destinations().handle_timeout(now_);
    exchange();
    while (const auto event = far_.session().poll_event()) {
      if (event->kind != stp::Event::Kind::kOpened) continue;
      ++heard;
      far_.session().streams().reset(event->stream, kTaken, now_);
    }
  }
  EXPECT_GE(heard, 19U);
  EXPECT_LE(heard, 22U);
}

TEST(ControlMessagesWithAnOlderPeer, NeitherTellsNorTakesEvidence) {
  class Reader final : public LanReportReader {
    void handle_report(LaneId, const LanReport&) override {}
  } reader;
  Instant now = Instant::from_nanoseconds(1'000'000'000);
  const BitRate rate = BitRate::bits_per_second(10'000'000);
  FuzzPeer near(1, rate, now, FuzzPeer::Streams::kEven);
  FuzzPeer far(2, rate, now, FuzzPeer::Streams::kOdd, {}, FuzzPeer::LanReports::kUnknown);
  const std::vector<IpPrefix> prefixes;
  ControlMessages control_messages(near.session(), LaneId(), LaneAddress{}, prefixes, 8, reader);
  for (int i = 0; i < 10; ++i) {
    now += Duration::milliseconds(20);
    for (FuzzPeer* from : {&near, &far}) {
      stp::Session& to = (from == &near ? far : near).session();
      if (from->session().next_timeout() <= now) from->session().handle_timeout(now);
      std::array<std::byte, 1472> packet{};
      while (const std::size_t size = from->session().poll_packet(packet, now, {})) {
        to.handle_packet(ConstBytes(packet).first(size), now);
      }
    }
  }
  ASSERT_EQ(near.session().peer_state(), stp::PeerState::kAlive);
  EXPECT_FALSE(control_messages.understands_evidence());
  EXPECT_FALSE(control_messages.tell({}, now));
  EXPECT_FALSE(control_messages.destinations().tell({}, now));
}

TEST_F(ControlMessagesTest, TheNewestListOfDictionariesHolds) {
  EXPECT_EQ(say({0xc4, 0, 0, 0, 5, 2, 7, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 1, 1, 1, 1, 1, 1, 1}),
            kTaken);
  EXPECT_EQ(numbers(), (std::vector<unsigned>{7, 9}));
  EXPECT_EQ(control_messages_.peer_dictionaries()[0].fingerprint, 0x0102'0304'0506'0708U);
  EXPECT_EQ(say({0xc4, 0, 0, 0, 5, 1, 1, 1, 2, 3, 4, 5, 6, 7, 8}), kTaken) << "as new as that";
  EXPECT_EQ(say({0xc4, 0, 0, 0, 4, 0}), kTaken) << "older";
  EXPECT_EQ(numbers(), (std::vector<unsigned>{7, 9}));
  EXPECT_EQ(say({0xc4, 0, 0, 0, 6, 1, 3, 1, 2, 3, 4, 5, 6, 7, 8, 99, 99}), kTaken) << "more behind";
  EXPECT_EQ(numbers(), std::vector<unsigned>{3});
  EXPECT_EQ(say({0xc4, 0, 0, 0, 7, 0}), kTaken);
  EXPECT_TRUE(numbers().empty());
}

TEST_F(ControlMessagesTest, WhatIsNoListOfDictionariesChangesNothing) {
  EXPECT_EQ(say({0xc4, 0, 0, 0, 5, 1, 7, 1, 2, 3, 4, 5, 6, 7, 8}), kTaken);
  EXPECT_EQ(say({0xc4, 0, 0, 0, 0, 0}), kMalformed) << "sequence 0";
  EXPECT_EQ(say({0xc4, 0, 0, 0, 6}), kMalformed);
  EXPECT_EQ(say({0xc4, 0, 0, 0, 6, 1, 3, 1, 2, 3, 4, 5, 6, 7}), kMalformed) << "cut short";
  EXPECT_EQ(say({0xc4, 0, 0, 0, 6, 16}), kMalformed) << "more than classes";
  EXPECT_EQ(numbers(), std::vector<unsigned>{7});
}

using ControlMessagesOfAHub = HubTest;

TEST_F(ControlMessagesOfAHub, SaysAgainWhatThePeerHadNoRoomFor) {
  hub_->set_admission(Admission::kDraining, now_);
  for (int i = 0; i < 3; ++i) step();
  ASSERT_EQ(streams_[0].size(), 1U);
  terminals_[0].session().streams().reset(streams_[0][0], stp::ResetReason::kNoResources, now_);
  for (int i = 0; i < 15; ++i) step();
  ASSERT_EQ(streams_[0].size(), 2U) << "a second later";
  terminals_[0].session().streams().reset(streams_[0][1], stp::ResetReason::kNone, now_);
  for (int i = 0; i < 30; ++i) step();
  EXPECT_EQ(streams_[0].size(), 2U) << "it has been heard";
}

TEST_F(ControlMessagesOfAHub, WithdrawsWhatThePeerNeverTakes) {
  constexpr std::size_t kChanges = Messages::kMost + 6;
  for (std::size_t i = 0; i < kChanges; ++i) {
    hub_->set_admission(i % 2 == 0 ? Admission::kDraining : Admission::kOpen, now_);
    step();
  }
  EXPECT_EQ(hub_->peers()[0].streams, Messages::kMost);
  EXPECT_EQ(hub_->counters()[Counter::kMessagesUntaken], 0U);
  // From now on the peer takes the messages.
  const std::size_t before = streams_[0].size();
  const auto take_those_that_come = [&] {
    for (std::size_t i = before; i < streams_[0].size(); ++i) {
      terminals_[0].session().streams().reset(streams_[0][i], stp::ResetReason::kNone, now_);
    }
  };
  const Instant end = now_ + Messages::kPatience + Duration::seconds(5);
  for (; now_ < end; step()) take_those_that_come();
  EXPECT_EQ(hub_->counters()[Counter::kMessagesUntaken], 2 * Messages::kMost) << "of both";
  EXPECT_EQ(streams_[0].size(), before + 1) << "the newest word finds a place";
  EXPECT_EQ(hub_->peers()[0].streams, 0U);
}

TEST_F(ControlMessagesOfAHub, SaysNothingAgainButTheReportsThatThePeerHadNoRoomFor) {
  class Nobody final : public FlowRecorder {
    void handle_end(const FlowRecord&) override {}
  } nobody;
  hub_->record_flows(&nobody);
  for (int i = 0; i < 3; ++i) step();
  ASSERT_EQ(streams_[0].size(), 1U) << "the hub's own wish";
  terminals_[0].session().streams().reset(streams_[0][0], stp::ResetReason::kNone, now_);
  constexpr std::array kWish{std::byte{LanReports::kWishMessage}};
  terminals_[0].open(kWish, now_);
  open(0, open_of("10.1.0.5", "10.9.0.1"));
  terminals_[0].end(*terminals_[0].last(), true, stp::ResetReason::kHostReset, now_);
  for (int i = 0; i < 5; ++i) step();
  ASSERT_EQ(streams_[0].size(), 2U) << "its reports";
  terminals_[0].session().streams().reset(streams_[0][1], stp::ResetReason::kNoResources, now_);
  for (int i = 0; i < 15; ++i) step();
  ASSERT_EQ(streams_[0].size(), 3U);
  const ConstBytes again = terminals_[0].session().streams().metadata(streams_[0][2]);
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(load_u8(again.data()), LanReports::kReportsMessage);
}

}  // namespace
}  // namespace satrelay::gateway::control_messages_test

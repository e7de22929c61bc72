// Two gateways report to each other about their LANs, and reports may be lost or late.
#include "relay/gateway/peers/lan_reports.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <array>
#include <initializer_list>
#include <vector>

#include "pep/control/fixed_rate.h"
#include "pep/control/pacer.h"

namespace satrelay::gateway::lan_reports_test {
namespace {

// One end: a session, and the reports that it carries.
class End final : public stp::StreamSource, public LanReportReader {
 public:
  End(std::uint64_t epoch, Instant now, const stp::Config& config)
      : memory_(1U << 20),
        arena_(memory_, 4096),
        pacer_(kRate, control::LinkOverhead{}, Duration::milliseconds(4)),
        controller_(kRate),
        session_(with(config, epoch), arena_, pacer_, controller_, *this, now),
        messages_(session_, 9),
        reports_(session_, LaneId(5), messages_, *this) {}

  stp::Session& session() { return session_; }
  LanReports& reports() { return reports_; }
  void produce(stp::StreamId stream, std::uint32_t, Instant now) override {
    EXPECT_TRUE(reports_.produce(stream, now));
  }
  void handle_report(LaneId lane, const LanReport& report) override {
    EXPECT_EQ(lane, LaneId(5));
    heard.push_back(report);
  }
  // Handles the events as ControlMessages does.
  void take_events(Instant now) {
    while (const auto event = session_.poll_event()) {
      using Kind = stp::Event::Kind;
      if (event->kind == Kind::kOpened) {
        ++opened;
        if (refuses) {
          session_.streams().reset(event->stream, stp::ResetReason::kNoResources, now);
        } else {
          reports_.handle_opened(event->stream, now);
        }
      }
      if (event->kind == Kind::kReadable) reports_.handle_readable(event->stream, now);
      if (event->kind == Kind::kReset) {
        reasons.push_back(event->reason);
        messages_.forget(event->stream);
        reports_.handle_reset(event->stream, event->reason, now);
      }
    }
    if (reports_.next_timeout() <= now) reports_.handle_timeout(now);
  }

  std::vector<LanReport> heard;
  std::vector<stp::ResetReason> reasons;
  int opened = 0;
  bool refuses = false;

 private:
  static constexpr BitRate kRate = BitRate::bits_per_second(10'000'000);
  static stp::Config with(stp::Config config, std::uint64_t epoch) {
    config.boot_epoch = epoch;
    config.opens_even_streams = epoch == 1;
    config.streams.max_streams = 32;
    config.streams.lane_receive_limit = config.streams.receive_limit = config.streams.send_limit =
        1 << 18;
    return config;
  }
  std::vector<std::byte> memory_;
  Arena arena_;
  control::Pacer pacer_;
  control::FixedRate controller_;
  stp::Session session_;
  Messages messages_;
  LanReports reports_;
};

stp::Config with_reports() {
  stp::Config config;
  config.relay_capabilities = stp::kCapabilityLanReports;
  return config;
}

class LanReportsTest : public ::testing::Test {
 protected:
  explicit LanReportsTest(const stp::Config& far = with_reports()) : far_(2, now_, far) {
    run(10);
    EXPECT_EQ(near_.session().peer_state(), stp::PeerState::kAlive);
  }
  void run(int rounds) {
    for (; rounds > 0; --rounds) {
      now_ += Duration::milliseconds(20);
      for (End* from : {&near_, &far_}) {
        End& to = from == &near_ ? far_ : near_;
        if (from->session().next_timeout() <= now_) from->session().handle_timeout(now_);
        from->take_events(now_);
        std::array<std::byte, 1472> packet{};
        while (const std::size_t size = from->session().poll_packet(packet, now_, {})) {
          to.session().handle_packet(ConstBytes(packet).first(size), now_);
        }
      }
    }
  }
  static LanReport report(std::uint64_t stream, LanFigures figures) {
    return {static_cast<stp::StreamId>(stream), figures};
  }
  // Sends `octets` from the far end as a message, well-formed or not.
  void send(std::initializer_list<unsigned> octets) {
    std::vector<std::byte> bytes;
    for (const unsigned octet : octets) bytes.push_back(static_cast<std::byte>(octet));
    constexpr std::array<std::byte, 1> kKind{std::byte{LanReports::kReportsMessage}};
    const auto stream = far_.session().streams().open(kKind, 9, now_);
    ASSERT_TRUE(stream);
    EXPECT_EQ(far_.session().streams().write(*stream, bytes, now_), bytes.size());
    far_.session().streams().finish(*stream);
    run(4);
  }

  Instant now_ = Instant::from_nanoseconds(1'000'000'000);
  End near_{1, now_, with_reports()};
  End far_;
};

TEST_F(LanReportsTest, WhoHasNotAskedIsNotTold) {
  EXPECT_FALSE(far_.reports().tell(report(4, {1, 2}), now_));
  EXPECT_EQ(far_.reports().next_timeout(), Instant::never());
  run(10);
  EXPECT_EQ(near_.opened, 0);
}

TEST_F(LanReportsTest, WhoHasNotAskedTakesNone) {
  send({4, 1, 2});
  EXPECT_TRUE(near_.heard.empty());
  EXPECT_EQ(far_.reasons, std::vector{stp::ResetReason::kPolicy});
}

TEST_F(LanReportsTest, WhoHasAskedIsTold) {
  near_.reports().ask();
  EXPECT_TRUE(near_.reports().awaits());
  far_.reports().handle_wish();
  EXPECT_TRUE(far_.reports().tell(report(4, {1, 2}), now_));
  far_.reports().tell(report(std::uint64_t{1} << 40, {70'000, ~0U}), now_);
  run(10);
  ASSERT_EQ(near_.heard.size(), 2U);
  EXPECT_EQ(near_.heard[0].stream, stp::StreamId{4});
  EXPECT_EQ(near_.heard[0].figures, (LanFigures{1, 2}));
  EXPECT_EQ(near_.heard[1].stream, stp::StreamId{std::uint64_t{1} << 40});
  EXPECT_EQ(near_.heard[1].figures, (LanFigures{70'000, ~0U}));
  EXPECT_EQ(near_.opened, 1) << "in one message";
  EXPECT_EQ(far_.reasons, std::vector{stp::ResetReason::kNone});
}

TEST_F(LanReportsTest, AMessageGathersWhatEndsSoonAfterItsFirst) {
  near_.reports().ask();
  far_.reports().handle_wish();
  far_.reports().tell(report(4, {1, 2}), now_);
  const Instant due = now_ + Duration::milliseconds(100);
  EXPECT_EQ(far_.reports().next_timeout(), due);
  run(3);
  far_.reports().tell(report(6, {1, 2}), now_);
  EXPECT_EQ(far_.reports().next_timeout(), due) << "the first does not wait any longer";
  run(10);
  EXPECT_EQ(near_.heard.size(), 2U);
  EXPECT_EQ(near_.opened, 1);
  EXPECT_EQ(far_.reports().next_timeout(), Instant::never());
}

TEST_F(LanReportsTest, MuchInOneMessageIsReadInSteps) {
  near_.reports().ask();
  far_.reports().handle_wish();
  for (unsigned i = 0; i < 10'000; ++i) far_.reports().tell(report(2 * i, {i, 0}), now_);
  run(300);
  // Each report takes at least three of 32 KiB.
  EXPECT_GT(near_.heard.size(), 3'000U);
  EXPECT_LT(near_.heard.size(), 10'000U) << "what has no room is left out";
  for (unsigned i = 0; i < near_.heard.size(); ++i) {
    ASSERT_EQ(near_.heard[i].stream, stp::StreamId{2 * i});
    ASSERT_EQ(near_.heard[i].figures.retransmitted, i);
  }
  const std::size_t before = near_.heard.size();
  far_.reports().tell(report(1, {}), now_);
  run(10);
  EXPECT_EQ(near_.heard.size(), before + 1) << "there is room again";
}

TEST_F(LanReportsTest, TakesMemoryForReportsThatThereAre) {
  const auto heap_now = [] {
    const struct mallinfo2 heap = mallinfo2();
    return heap.uordblks + heap.hblkhd;
  };
  if (heap_now() == 0) GTEST_SKIP() << "this allocator does not tell";
  near_.reports().ask();
  near_.heard.reserve(4'000);
  far_.reasons.reserve(4);
  const auto tell = [&] {
    for (unsigned i = 0; i < 2'000; ++i) far_.reports().tell(report(2 * i, {i, 0}), now_);
  };
  std::size_t before = heap_now();
  far_.reports().handle_wish();
  EXPECT_EQ(heap_now(), before) << "a wish is no report";
  tell();
  run(200);  // the session has what it takes for its first message
  before = heap_now();
  tell();
  EXPECT_GE(heap_now(), before + 6'000);
  run(200);
  ASSERT_EQ(near_.heard.size(), 4'000U);
  EXPECT_LT(heap_now(), before + 1'000);
}

TEST_F(LanReportsTest, WhatThePeerHadNoRoomForIsSaidAgain) {
  near_.reports().ask();
  far_.reports().handle_wish();
  near_.refuses = true;
  far_.reports().tell(report(4, {1, 2}), now_);
  run(10);
  EXPECT_EQ(near_.opened, 1);
  near_.refuses = false;
  run(60);
  ASSERT_EQ(near_.heard.size(), 1U);
  EXPECT_EQ(near_.heard[0].figures, (LanFigures{1, 2}));
}

TEST_F(LanReportsTest, AReportThatIsCutShortIsMalformed) {
  near_.reports().ask();
  send({4, 1, 2, 6, 0x40});
  ASSERT_EQ(near_.heard.size(), 1U) << "what was whole before it counts";
  EXPECT_EQ(far_.reasons, std::vector{stp::ResetReason::kProtocolError});
  send({});
  EXPECT_EQ(far_.reasons.back(), stp::ResetReason::kNone) << "none is none";
}

TEST_F(LanReportsTest, AFigureIsNotLargerThanItsPlace) {
  near_.reports().ask();
  send({4, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xc0, 0, 0, 1, 0, 0, 0, 0});
  ASSERT_EQ(near_.heard.size(), 1U);
  EXPECT_EQ(near_.heard[0].figures, (LanFigures{~0U, ~0U}));
}

TEST_F(LanReportsTest, ANewSessionOfThePeerHasToAskAnew) {
  far_.reports().handle_wish();
  far_.reports().tell(report(4, {1, 2}), now_);
  far_.reports().forget_session();
  far_.reports().tell(report(6, {1, 2}), now_);
  run(10);
  EXPECT_EQ(near_.opened, 0);
}

class OlderPeer : public LanReportsTest {
 protected:
  OlderPeer() : LanReportsTest(stp::Config{}) {}
};

TEST_F(OlderPeer, IsNotAsked) {
  near_.reports().ask();
  EXPECT_FALSE(near_.reports().wish_is_due());
  EXPECT_FALSE(near_.reports().awaits());
}

}  // namespace
}  // namespace satrelay::gateway::lan_reports_test

// Segments that are forged, old or impossible: RFC 5961, PAWS, windows, garbage.
#include "pep/base/random.h"
#include "tests/unit/pep/tcp/script.h"

namespace satrelay::tcp::test::robustness_test {
namespace {

TEST(Reset, ExactResets) {
  Script s;
  s.establish_as_server();
  s.in(". 1:101 ack 1");
  s.out();
  s.in("R 101:101");
  EXPECT_EQ(s.endpoint().state(), State::kClosed);
  EXPECT_EQ(s.endpoint().lifecycle().reason(), CloseReason::kResetByPeer);
  EXPECT_EQ(s.out(), "-");
  EXPECT_EQ(s.endpoint().received().readable(), 100u);  // acknowledged: the owner decides
}

TEST(Reset, InWindowIsChallengedOutOfWindowIgnored) {
  Script s;
  s.establish_as_server();
  s.in("R 2:2");
  EXPECT_EQ(s.out(), ". 1:1 ack 1");
  EXPECT_EQ(s.endpoint().counters().challenge_acks, 1u);
  s.in("R 64000:64000");
  EXPECT_EQ(s.out(), ". 1:1 ack 1");
  s.in("R 64001:64001");
  s.in("R 0:0");
  EXPECT_EQ(s.out(), "-");
  EXPECT_EQ(s.endpoint().state(), State::kEstablished);
  s.in("R 1:1");  // the answer of a peer that has lost the connection
  EXPECT_EQ(s.endpoint().lifecycle().reason(), CloseReason::kResetByPeer);
}

TEST(Reset, IsNotSubjectToPaws) {
  Script s;
  s.establish_as_server("mss 1460 ts 500 0");
  s.in("R 1:1");
  EXPECT_EQ(s.endpoint().lifecycle().reason(), CloseReason::kResetByPeer);
}

TEST(Reset, CarriesTimestampsOnceTheyAreAgreedOn) {  // RFC 7323 section 3.2
  Script s;
  s.establish_as_server("mss 1460 ts 500 0");
  s.endpoint().abort(s.now());
  EXPECT_EQ(s.out(), "R. 1:1 ack 1 ts 1000 500");
  Script plain;
  plain.establish_as_server();
  plain.endpoint().abort(plain.now());
  EXPECT_EQ(plain.out(), "R. 1:1 ack 1");
}

TEST(Reset, InTimeWaitClosesInOrder) {
  Script s;
  s.establish_as_server();
  s.endpoint().close();
  s.out();
  s.in("F. 1:1 ack 2");
  s.in("R 2:2");
  EXPECT_EQ(s.endpoint().state(), State::kClosed);
  EXPECT_EQ(s.endpoint().lifecycle().reason(), CloseReason::kNone);
}

// While the ACK of stored bytes is held, the peer does not know our RCV.NXT.
TEST(Reset, AnswersTheAcknowledgmentThatWasSent) {
  Script s;
  s.establish_as_server();
  s.endpoint().hold_acknowledgments(0, s.now());
  s.in(". 1:101 ack 1");
  s.in("S 900000:900000 win 100");  // the peer has restarted
  EXPECT_EQ(s.out(), ". 1:1 ack 1");
  s.in("R 51:51");
  EXPECT_EQ(s.out(), ". 1:1 ack 1") << "it stands between what was told and what was stored";
  s.in("R 0:0");
  EXPECT_EQ(s.endpoint().state(), State::kEstablished);
  s.in("R 1:1");
  EXPECT_EQ(s.endpoint().lifecycle().reason(), CloseReason::kResetByPeer);
}

TEST(Reset, AnswersTheLastAcknowledgmentThoughMoreIsReleased) {
  Script s;
  s.establish_as_server();
  s.endpoint().hold_acknowledgments(0, s.now());
  s.in(". 1:101 ack 1");
  s.in("S 900000:900000 win 100");
  EXPECT_EQ(s.out(), ". 1:1 ack 1");
  s.endpoint().hold_acknowledgments(50, s.now());
  s.in("R 1:1");
  EXPECT_EQ(s.endpoint().lifecycle().reason(), CloseReason::kResetByPeer);
}

TEST(Reset, BelowWhatIsStoredIsIgnoredIfNothingIsHeld) {
  Script s;
  s.establish_as_server();
  s.in(". 1:101 ack 1");  // the ACK of these bytes is delayed
  s.in("R 1:1");
  EXPECT_EQ(s.endpoint().state(), State::kEstablished);
}

constexpr auto kRefused = Acceptance::kRefused;
constexpr auto kAccepted = Acceptance::kAccepted;

TEST(Acceptance, NeedsTheWindowAndWhatIsUnderWay) {
  Script s;
  s.establish_as_server();
  s.write(1000);
  s.out_all();
  EXPECT_EQ(s.in(". 1:101 ack 1"), kAccepted);
  EXPECT_EQ(s.in(". 301:401 ack 501"), kAccepted) << "out of order";
  EXPECT_EQ(s.in(". 101:101 ack 1001"), kAccepted);
  for (const auto line :
       {". 200001:200101 ack 1001", ". 900000:900000 ack 1001",  // beyond the window
        ". 101:201 ack 1002", ". 101:201 ack 900000",            // not sent
        ". 101:201 ack -200000",                                 // long ago
        ". -100000:-99000 ack 1001",                             // longer than a window ago
        "S 900000:900000 win 100", "R 5000:5000", "R 1:1", "- 101:201"}) {
    EXPECT_EQ(s.in(line), kRefused) << line;
  }
  EXPECT_EQ(s.in("R 101:101"), kAccepted);
  EXPECT_EQ(s.in(". 101:201 ack 1001"), kRefused) << "closed";
}

// A host that has moved does not get our ACKs. It repeats its segments, and asks whether we are
// there.
TEST(Acceptance, OfWhatIsRepeatedOrAsked) {
  Script s;
  s.establish_as_server();
  s.in(". 1:1001 ack 1");
  EXPECT_EQ(s.in(". 1:1001 ack 1"), kAccepted);
  EXPECT_EQ(s.in(". 1000:1000 ack 1"), kAccepted) << "keep-alive";
  EXPECT_EQ(s.in(". 1000:1001 ack 1"), kAccepted) << "keep-alive with a byte";
  EXPECT_EQ(s.in(". 1:1001 ack 2"), kRefused);
  EXPECT_EQ(s.in(". 1000:1000 ack 2"), kRefused);
}

TEST(Acceptance, InTheHandshakeNeedsTheExactNumbers) {
  Script server;
  server.accept("S 0:0 win 65535 mss 1460");
  server.out();
  EXPECT_EQ(server.in("S 0:0 win 65535 mss 1460"), kAccepted) << "again";
  EXPECT_EQ(server.in("S 7:7 win 65535 mss 1460"), kRefused);
  EXPECT_EQ(server.in(". 1:1 ack 2"), kRefused);
  EXPECT_EQ(server.in(". 0:0 ack 1"), kRefused);
  EXPECT_EQ(server.in(". 1:1 ack 1"), kAccepted);
  Script client;
  client.connect("mss 1460");
  client.out();
  EXPECT_EQ(client.in("S. 0:0 ack 2 win 65535 mss 1460"), kRefused);
  EXPECT_EQ(client.in("R. 0:0 ack 2"), kRefused);
  EXPECT_EQ(client.in("S. 0:0 ack 1 win 65535 mss 1460"), kAccepted);
}

TEST(Challenge, SynInAnEstablishedConnection) {
  Script s;
  s.establish_as_server();
  s.in("S 1:1 win 100");
  EXPECT_EQ(s.out(), ". 1:1 ack 1");
  s.in("S 900000:900000 win 100");
  EXPECT_EQ(s.out(), ". 1:1 ack 1");
  EXPECT_EQ(s.endpoint().state(), State::kEstablished);
  EXPECT_EQ(s.endpoint().counters().challenge_acks, 2u);
}

TEST(Challenge, IsRateLimited) {
  Script s;
  s.establish_as_server();
  int answers = 0;
  for (int i = 0; i < 100; ++i) {
    s.in("S 1:1 win 100");
    answers += s.out() != "-" ? 1 : 0;
  }
  EXPECT_EQ(answers, 10);
  s.wait(Duration::seconds(1));
  s.in("S 1:1 win 100");
  EXPECT_EQ(s.out(), ". 1:1 ack 1");
}

TEST(Challenge, AckOfWhatWasNeverSent) {
  Script s;
  s.establish_as_server();
  s.write(100);
  s.out();
  s.in(". 1:101 ack 102");
  EXPECT_EQ(s.out(), ". 101:101 ack 1");  // neither its ACK nor its data is used
  EXPECT_EQ(s.endpoint().sending().unacknowledged(), 100u);
  EXPECT_EQ(s.endpoint().received().readable(), 0u);
}

TEST(Challenge, AckOlderThanTheLargestWindow) {
  Script s;
  s.establish_as_server();
  for (int i = 0; i < 3; ++i) {
    s.write(1460);
    s.out();
    s.in(". 1:1 ack " + std::to_string(1461 + i * 1460));
  }
  s.in(". 1:11 ack 1461");  // old, but within the window: its data counts
  EXPECT_EQ(s.endpoint().received().readable(), 10u);
  s.out_all();
  s.in(". 11:21 ack -70000");
  EXPECT_EQ(s.endpoint().received().readable(), 10u);
  EXPECT_EQ(s.endpoint().counters().challenge_acks, 1u);
  s.consume(10);
}

TEST(Acceptability, OldDataIsAcknowledgedEveryTime) {
  Script s;
  s.establish_as_server();
  s.in(". 1:101 ack 1");
  s.out();
  s.consume(100);
  for (int i = 0; i < 50; ++i) {
    s.in(". 1:101 ack 1");
    EXPECT_EQ(s.out(), ". 1:1 ack 101 sack 1:101");
  }
  EXPECT_EQ(s.endpoint().counters().out_of_window_segments_in, 50u);
}

TEST(Acceptability, KeepaliveIsAnsweredButNotWithoutLimit) {
  Script s;
  s.establish_as_server();
  int answers = 0;
  for (int i = 0; i < 50; ++i) {
    s.in(". 0:0 ack 1");
    answers += s.out() != "-" ? 1 : 0;
  }
  EXPECT_EQ(answers, 10);
}

TEST(Acceptability, PureAckAtTheEdgeIsUsed) {
  Config config = Script::plain_config();
  config.receive_limit = 1000;
  Script s({config});
  s.establish_as_server();
  s.write(50);
  s.out();
  s.in(". 1001:1001 ack 51");  // the thousand bytes before it were lost
  EXPECT_EQ(s.endpoint().sending().unacknowledged(), 0u);
}

TEST(Acceptability, SegmentWithoutAckIsDropped) {
  Script s;
  s.establish_as_server();
  s.in("P 1:101");
  EXPECT_EQ(s.out(), "-");
  EXPECT_EQ(s.endpoint().received().readable(), 0u);
}

TEST(Paws, OldTimestampIsRejectedAndAnswered) {
  Script s;
  s.establish_as_server("mss 1460 sackok ts 500 0");
  s.in(". 1:101 ack 1 ts 499 1000");
  EXPECT_EQ(s.endpoint().received().readable(), 0u);
  EXPECT_EQ(s.endpoint().counters().paws_rejected, 1u);
  EXPECT_EQ(s.out(), ". 1:1 ack 1 ts 1000 500");
  s.in(". 1:101 ack 1 ts 500 1000");
  EXPECT_EQ(s.endpoint().received().readable(), 100u);
  s.consume(100);
}

// A server behind SYN cookies, and stacks that leave out timestamps in later segments.
TEST(Paws, SegmentsWithoutTimestampsAreTakenOfEachKind) {
  for (const bool server : {true, false}) {
    Script s;
    const std::string options = "mss 1460 sackok ts 500 0";
    server ? s.establish_as_server(options) : s.establish_as_client(options);
    s.out_all();
    s.write(100);
    EXPECT_EQ(s.out(), "P. 1:101 ack 1 ts 1000 500");
    EXPECT_EQ(s.in(". 1:1 ack 101"), Acceptance::kAccepted);
    EXPECT_EQ(s.endpoint().sending().unacknowledged(), 0u);
    EXPECT_EQ(s.in(". 1:101 ack 101"), Acceptance::kAccepted);
    EXPECT_EQ(s.out(), ". 101:101 ack 101 ts 1000 500") << "TS.Recent is what it was";
    EXPECT_EQ(s.in(". 100:100 ack 101"), Acceptance::kAccepted) << "a keep-alive";
    EXPECT_EQ(s.out(), ". 101:101 ack 101 ts 1000 500");
    EXPECT_EQ(s.in("F. 101:201 ack 101"), Acceptance::kAccepted);
    EXPECT_EQ(s.endpoint().received().readable(), 200u);
    EXPECT_EQ(s.endpoint().state(), State::kCloseWait);
    EXPECT_EQ(s.endpoint().counters().paws_rejected, 0u);
    // Segments with a timestamp are checked as usual.
    EXPECT_EQ(s.in(". 202:202 ack 101 ts 499 1000"), Acceptance::kRefused);
    EXPECT_EQ(s.endpoint().counters().paws_rejected, 1u);
    s.consume(200);
  }
}

TEST(Paws, SegmentsWithoutTimestampsAreHeldToTheirNumbers) {
  Script s;
  s.establish_as_server("mss 1460 sackok ts 500 0");
  s.in(". 4000001:4000101 ack 1");
  EXPECT_EQ(s.endpoint().received().readable(), 0u) << "beyond the window";
  EXPECT_EQ(s.out(), ". 1:1 ack 1 ts 1000 500");
  s.in(". 1:101 ack 2");
  EXPECT_EQ(s.endpoint().received().readable(), 0u) << "of what was never sent";
  EXPECT_EQ(s.endpoint().counters().challenge_acks, 1u);
}

TEST(Paws, AnAckWithoutTimestampsIsNoSampleOfWhatWasSentTwice) {
  Script s;
  s.establish_as_server("mss 1460 ts 500 0");
  s.write(100);
  s.out();
  s.wait_for_timer();
  s.out();
  s.wait(ms(100));
  s.in(". 1:1 ack 101");
  EXPECT_LT(s.endpoint().sending().smoothed_rtt(), ms(1));
  EXPECT_EQ(s.endpoint().sending().unacknowledged(), 0u);
}

TEST(Paws, TimestampsWrap) {
  Script s;
  s.establish_as_server("mss 1460 sackok ts 4294967290 0");
  s.in(". 1:101 ack 1 ts 5 1000");
  EXPECT_EQ(s.out(), ". 1:1 ack 101 ts 1000 5");
  s.in(". 101:201 ack 1 ts 4294967295 1000");
  EXPECT_EQ(s.endpoint().received().readable(), 100u);
  s.consume(100);
}

TEST(Paws, EchoIsThatOfTheOldestSegmentNotYetAcknowledged) {  // RFC 7323 section 4.3
  Script s;
  s.establish_as_server("mss 1460 sackok ts 500 0");
  for (int i = 0; i < 16; ++i) {  // past the quick ACKs
    const std::string begin = std::to_string(1 + i * 100);
    s.in(". " + begin + ":" + std::to_string(101 + i * 100) + " ack 1 ts 510 1000");
    s.out();
  }
  s.in(". 1601:1701 ack 1 ts 520 1000");
  EXPECT_EQ(s.out(), "-");
  s.in(". 1701:1801 ack 1 ts 530 1000");
  EXPECT_EQ(s.out(), ". 1:1 ack 1801 ts 1000 520");
  s.in(". 1901:2001 ack 1 ts 540 1000");  // out of order: does not move the echo
  EXPECT_EQ(s.out(), ". 1:1 ack 1801 ts 1000 520 sack 1901:2001");
  s.in(". 1801:1901 ack 1 ts 550 1000");  // fills the gap: moves the echo
  EXPECT_EQ(s.out(), ". 1:1 ack 2001 ts 1000 550");
  s.consume(2000);
}

// For longer than half of the clock's range, the host sends nothing but keep-alives.
TEST(Paws, KeepAlivesOfAMonthKeepTheHostCredible) {
  Script s;
  s.establish_as_server("mss 1460 sackok ts 100 0");
  std::uint32_t clock = 100;
  const auto stamp = [&] { return " ts " + std::to_string(clock) + " 1000"; };
  for (int i = 0; i < 30 * 12; ++i) {
    s.wait(Duration::seconds(7'200));
    clock += 7'200'000;
    ASSERT_EQ(s.in(". 0:0 ack 1" + stamp()), Acceptance::kAccepted) << i;
    ASSERT_NE(s.out(), "-");
  }
  EXPECT_EQ(s.in(". 1:101 ack 1" + stamp()), Acceptance::kAccepted);
  EXPECT_EQ(s.endpoint().received().in_order_end(), 100u);
  // An older segment is still refused.
  clock -= 10;
  EXPECT_EQ(s.in(". 101:201 ack 1" + stamp()), Acceptance::kRefused);
}

TEST(Paws, TimestampValueFollowsTheClock) {
  Script s;
  s.establish_as_server("mss 1460 sackok ts 500 0");
  s.wait(ms(1234));
  s.write(1);
  EXPECT_EQ(s.out(), "P. 1:2 ack 1 ts 2234 500");
}

// Random sequences of segments and calls. There is no crash, no wrong byte and no endless polling,
// and in the end all blocks are back in the arena.
TEST(Garbage, RandomSegmentsInEveryState) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    Random random(seed);
    Config config = Script::plain_config();
    config.window_scale = static_cast<std::uint8_t>(random.below(16));
    config.initial_sequence = static_cast<std::uint32_t>(random.next());
    std::vector<std::byte> memory(64 * 1024);
    Arena arena(memory, 1024);
    {
      Endpoint endpoint(config, arena);
      Instant now = Instant::from_nanoseconds(1);
      const auto peer_isn = static_cast<std::uint32_t>(random.next());
      wire::TcpHeader header;
      header.sequence = peer_isn;
      header.flags = wire::TcpFlags::kSyn;
      header.options.sack_permitted = true;
      if (random.chance(0.5)) header.options.window_scale = 7;
      if (random.chance(0.3)) header.options.timestamps = wire::TcpTimestamps{1, 0};
      if (random.chance(0.5)) {
        endpoint.accept(header, now);
      } else {
        endpoint.connect(header.options, now);
      }
      std::vector<std::byte> payload(3000);
      std::uint64_t position = 0;
      for (int step = 0; step < 60; ++step) {
        now += Duration::microseconds(static_cast<std::int64_t>(random.below(400'000)));
        const auto near = [&](std::uint32_t base) {
          return base + static_cast<std::uint32_t>(random.below(6000)) -
                 static_cast<std::uint32_t>(random.chance(0.3) ? 3000 : 0);
        };
        header.sequence = random.chance(0.5) ? peer_isn + 1 + static_cast<std::uint32_t>(position)
                                             : near(peer_isn);
        header.acknowledgment = random.chance(0.5)
                                    ? config.initial_sequence + 1 +
                                          static_cast<std::uint32_t>(endpoint.counters().bytes_out)
                                    : near(config.initial_sequence);
        header.flags =
            random.chance(0.8) ? wire::TcpFlags::kAck : static_cast<std::uint8_t>(random.below(64));
        header.window = static_cast<std::uint16_t>(random.below(65'536));
        if (header.options.timestamps) header.options.timestamps->value += 1;
        header.options.sack_count = static_cast<std::uint8_t>(random.below(5));
        for (auto& block : header.options.sack) {
          block = {near(config.initial_sequence), near(config.initial_sequence)};
        }
        const std::size_t size = random.chance(0.5) ? 0 : random.below(payload.size());
        endpoint.handle_segment(header, ConstBytes(payload).first(size), now);
        endpoint.handle_timeout(now);
        if (random.chance(0.3)) {
          static_cast<void>(endpoint.write(ConstBytes(payload).first(random.below(3000))));
        }
        if (random.chance(0.1)) endpoint.set_receive_limit(random.below(100'000));
        if (random.chance(0.02)) endpoint.close();
        if (random.chance(0.01)) endpoint.abort(now);
        if (random.chance(0.5)) endpoint.consume(endpoint.received().readable());
        position = endpoint.received().in_order_end();
        int polled = 0;
        while (const auto segment = endpoint.poll_segment(now)) {
          endpoint.copy_payload(segment->payload_offset,
                                std::span(payload).first(segment->payload_size));
          ASSERT_LT(++polled, 1000) << "seed " << seed;
        }
        ASSERT_GT(endpoint.next_timeout(), now) << "seed " << seed;
      }
    }
    ASSERT_EQ(arena.used_blocks(), 0u) << "seed " << seed;
  }
}

}  // namespace
}  // namespace satrelay::tcp::test::robustness_test

#include "relay/ops/events/watch.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace satrelay::ops::watch_test {
namespace {

using gateway::Counter;
using stp::PeerState;

// A gateway with one peer and a port, all well. Each test changes something.
class WatchTest : public testing::Test {
 protected:
  WatchTest() {
    snapshot_.status.arena_bytes = 64U << 20;
    snapshot_.peers.resize(1);
    snapshot_.ports.resize(1);
    peer().name = "hub";
    peer().resolved = true;
    peer().send_rate = BitRate::bits_per_second(49'750'000);
    peer().link_rate = BitRate::bits_per_second(50'000'000);
    port().name = "lan";
  }
  // The events of `passes` without any change, from now on.
  std::vector<std::string> look(Duration passes = Duration::zero(),
                                Duration age = Duration::zero()) {
    told_.clear();
    const Instant end = now_ + passes;
    for (; now_ < end; now_ = now_ + Duration::milliseconds(100)) {
      watch_.look(snapshot_, records_, age, now_);
    }
    watch_.look(snapshot_, records_, age, now_);
    return told_;
  }
  std::vector<std::string> look_at(PeerState state, Duration passes = Duration::zero()) {
    peer().state = state;
    return look(passes);
  }
  gateway::PeerSnapshot& peer() { return snapshot_.peers.front(); }
  PortSnapshot& port() { return snapshot_.ports.front(); }
  using Lines = std::vector<std::string>;

  Instant now_ = Instant::from_nanoseconds(1);
  Snapshot snapshot_;
  records::RecordsReport records_;
  std::vector<std::string> told_;
  Watch watch_{[this](const Event& event) {
    std::string line(describe(event.kind).name);
    line += ' ' + event.subject;
    if (!event.detail.empty()) line += ", " + event.detail;
    told_.push_back(line);
  }};
};

TEST_F(WatchTest, APeerComesGoesSilentReturnsAndIsGivenUp) {
  EXPECT_EQ(look(Duration::seconds(5)), Lines{});
  EXPECT_EQ(look_at(PeerState::kAlive), Lines{"peer_alive peer hub"});
  EXPECT_EQ(look(Duration::seconds(60)), Lines{});
  EXPECT_EQ(look_at(PeerState::kSuspect), Lines{"peer_silent peer hub"});
  EXPECT_EQ(look(Duration::milliseconds(12'300)), Lines{});
  EXPECT_EQ(look_at(PeerState::kAlive), Lines{"peer_returned peer hub, after 12.3 s"});
  look_at(PeerState::kSuspect);
  peer().is_given_up = true;
  EXPECT_EQ(look(Duration::seconds(60)), Lines{"peer_lost peer hub"});
  peer().is_given_up = false;
  EXPECT_EQ(look_at(PeerState::kAlive), Lines{"peer_returned peer hub, after 60.0 s"});
  EXPECT_EQ(look_at(PeerState::kClosed), Lines{"peer_closed peer hub"});
  EXPECT_EQ(look_at(PeerState::kConnecting, Duration::seconds(60)), Lines{});
  EXPECT_EQ(look_at(PeerState::kAlive), Lines{"peer_alive peer hub"});
}

TEST_F(WatchTest, ARestartIsToldEvenIfItIsOverAtTheNextLook) {
  look_at(PeerState::kAlive);
  ++peer().counters.peer_restarts;
  EXPECT_EQ(look(), (Lines{"peer_restarted peer hub", "peer_alive peer hub"}));
  ++peer().counters.peer_restarts;
  EXPECT_EQ(look_at(PeerState::kConnecting), Lines{"peer_restarted peer hub"});
  EXPECT_EQ(look_at(PeerState::kAlive), Lines{"peer_alive peer hub"});
}

TEST_F(WatchTest, APeerThatIsNeverHeardIsToldOfOnce) {
  peer().resolved = false;
  EXPECT_EQ(look(Duration::seconds(9)), Lines{});
  EXPECT_EQ(look(Duration::seconds(2)),
            Lines{"peer_unheard peer hub, its next hop does not answer"});
  EXPECT_EQ(look(Duration::seconds(600)), Lines{});
}

TEST_F(WatchTest, AWrongKeyIsToldInsteadOfSilence) {
  peer().wrong_key = true;
  EXPECT_EQ(look(Duration::seconds(60)), Lines{"peer_wrong_key peer hub"});
  peer().wrong_key = false;
  EXPECT_EQ(look_at(PeerState::kAlive), Lines{"peer_alive peer hub"});
}

TEST_F(WatchTest, ARefusalSaysWhy) {
  ++peer().counters.version_mismatch;
  EXPECT_EQ(look_at(PeerState::kRefused), Lines{"peer_other_version peer hub"});
  look_at(PeerState::kAlive);
  ++peer().counters.security_mismatch;
  EXPECT_EQ(look_at(PeerState::kRefused), Lines{"peer_unlike_security peer hub"});
  look_at(PeerState::kAlive);
  ++peer().counters.lanes_mismatch;
  EXPECT_EQ(look_at(PeerState::kRefused), Lines{"peer_unlike_workers peer hub"});
}

TEST_F(WatchTest, ARateThatIsCutIsToldWithItsCause) {
  const BitRate full = peer().send_rate;
  look_at(PeerState::kAlive, Duration::seconds(10));
  peer().send_rate = BitRate::bits_per_second(12'000'000);
  EXPECT_EQ(look(Duration::milliseconds(1'900)), Lines{}) << "a moment is not worth a word";
  EXPECT_EQ(
      look(Duration::seconds(60)),
      Lines{"rate_cut peer hub, 12.0 Mbit/s of 50.0 Mbit/s, rate control found a lower rate"});
  peer().send_rate = full;
  EXPECT_EQ(look(), Lines{"rate_restored peer hub, 49.8 Mbit/s"});

  peer().send_rate = BitRate::bits_per_second(11'940'000);
  peer().commanded = BitRate::bits_per_second(12'000'000);
  EXPECT_EQ(look(Duration::seconds(3)),
            Lines{"rate_cut peer hub, 11.9 Mbit/s of 50.0 Mbit/s, commanded here"});
  peer().send_rate = full;
  peer().commanded = BitRate();
  look();
  peer().send_rate = peer().announced = BitRate::bits_per_second(4'000'000);
  EXPECT_EQ(look(Duration::seconds(3)), (Lines{"rate_cut peer hub, 4.0 Mbit/s of 50.0 Mbit/s, the "
                                               "far gateway announced a lower capacity",
                                               "capacity_told peer hub, 4.0 Mbit/s"}));
}

TEST_F(WatchTest, AControllerThatBeginsWithLittleIsNotCut) {
  peer().send_rate = BitRate::bits_per_second(1'000'000);
  look_at(PeerState::kAlive);
  EXPECT_EQ(look(Duration::seconds(60)), Lines{});
}

TEST_F(WatchTest, AControllerThatBeginsAnewIsNotCut) {
  const BitRate full = peer().send_rate;
  look_at(PeerState::kAlive, Duration::seconds(10));
  look_at(PeerState::kClosed, Duration::seconds(1));
  peer().send_rate = BitRate::bits_per_second(1'000'000);
  EXPECT_EQ(look_at(PeerState::kAlive, Duration::seconds(10)), Lines{"peer_alive peer hub"});
  peer().send_rate = full;
  EXPECT_EQ(look(Duration::seconds(1)), Lines{});
  // After a silence the rate state is as before.
  peer().send_rate = BitRate::bits_per_second(1'000'000);
  EXPECT_EQ(look(Duration::seconds(3)).size(), 1U);
  look_at(PeerState::kSuspect, Duration::seconds(1));
  EXPECT_EQ(look_at(PeerState::kAlive, Duration::seconds(5)).size(), 1U) << "only its return";
  peer().send_rate = full;
  EXPECT_EQ(look(), Lines{"rate_restored peer hub, 49.8 Mbit/s"});
}

TEST_F(WatchTest, ARateThatIsCutIsSoNoLongerThanItsSession) {
  look_at(PeerState::kAlive, Duration::seconds(10));
  peer().send_rate = BitRate::bits_per_second(12'000'000);
  ASSERT_EQ(look(Duration::seconds(3)).size(), 1U);
  look_at(PeerState::kSuspect, Duration::seconds(1));
  const Lines over{"peer_closed peer hub", "rate_restored peer hub, its session has ended"};
  EXPECT_EQ(look_at(PeerState::kClosed, Duration::seconds(1)), over);
  peer().send_rate = BitRate::bits_per_second(1'000'000);
  EXPECT_EQ(look_at(PeerState::kAlive, Duration::seconds(10)), Lines{"peer_alive peer hub"});
}

TEST_F(WatchTest, LostFramesAreCountedAndToldOnceAMinute) {
  look_at(PeerState::kAlive);
  port().stats.rx_merged = 1;
  EXPECT_EQ(look(), Lines{"frames_merged port lan, 1 frame"});
  port().stats.rx_merged = 2'000;
  port().stats.rx_missed = 6;
  port().stats.rx_no_buffer = 1;
  EXPECT_EQ(look(Duration::seconds(59)), Lines{"frames_missed port lan, 7 frames"});
  EXPECT_EQ(look(Duration::seconds(1)), Lines{"frames_merged port lan, 1999 frames"});
  EXPECT_EQ(look(Duration::seconds(600)), Lines{});
}

TEST_F(WatchTest, MemoryIsLowWhenItRanOutAndNormalAfterAWhile) {
  look_at(PeerState::kAlive);
  snapshot_.status.arena_used = 32U << 20;
  snapshot_.counters.add(Counter::kDroppedMemoryLow);
  EXPECT_EQ(look(), Lines{"memory_low gateway, 32 of 64 MiB used"});
  EXPECT_EQ(look(Duration::seconds(9)), Lines{});
  EXPECT_EQ(look(Duration::seconds(1)), Lines{"memory_normal gateway, 32 of 64 MiB used"});
  snapshot_.status.arena_used = 58U << 20;
  EXPECT_EQ(look(), Lines{"memory_low gateway, 58 of 64 MiB used"});
  snapshot_.status.arena_used = 50U << 20;
  EXPECT_EQ(look(Duration::seconds(60)), Lines{}) << "between the two";
  snapshot_.status.arena_used = 0;
  EXPECT_EQ(look(), Lines{"memory_normal gateway, 0 of 64 MiB used"});
}

TEST_F(WatchTest, CountersThatOughtToStandStillAreTold) {
  look_at(PeerState::kAlive);
  snapshot_.counters.add(Counter::kBridgedTableFull, 3);
  snapshot_.counters.add(Counter::kBridgedPeerPart, 2);
  snapshot_.counters.add(Counter::kBridgedHostPart);
  snapshot_.counters.add(Counter::kAddressConflicts);
  snapshot_.counters.add(Counter::kStationsOnBothSides);
  snapshot_.counters.add(Counter::kDroppedForgedGateway);
  snapshot_.counters.add(Counter::kBridgedForeignSource, 7);
  snapshot_.counters.add(Counter::kFlowsRefusedForeign);
  snapshot_.counters.add(Counter::kBridgedUnacceptedSource, 2);
  snapshot_.counters.add(Counter::kSynsOfNoPeer);
  snapshot_.counters.add(Counter::kAddressesBetween);
  EXPECT_EQ(look(),
            (Lines{"table_full gateway, 3 times", "table_full gateway, 2 times",
                   "table_full gateway, 1 time", "address_conflict gateway, 1 time",
                   "station_on_both_sides gateway, 1 time", "gateway_forged gateway, 1 time",
                   "source_forged gateway, 7 times", "peer_overreaches gateway, 1 time",
                   "source_unaccepted gateway, 2 times", "client_of_no_peer gateway, 1 time",
                   "address_between gateway, 1 time"}));
}

TEST_F(WatchTest, AWorkerThatTellsNothingIsToldOf) {
  look_at(PeerState::kAlive);
  EXPECT_EQ(look(Duration::zero(), Duration::milliseconds(2'100)),
            Lines{"worker_stuck gateway, 2.1 s"});
  EXPECT_EQ(look(Duration::seconds(1), Duration::seconds(10)), Lines{});
  EXPECT_EQ(look(), Lines{"worker_returned gateway"});
}

TEST_F(WatchTest, AFloodOfSynsBeginsAndEnds) {
  look_at(PeerState::kAlive);
  snapshot_.counters.add(Counter::kSynCookiesSent);
  EXPECT_EQ(look(), Lines{"syn_flood gateway"});
  snapshot_.counters.add(Counter::kSynCookiesSent, 5);
  EXPECT_EQ(look(Duration::seconds(6)), Lines{});
  snapshot_.counters.add(Counter::kDroppedSynFlood, 7);
  EXPECT_EQ(look(Duration::seconds(9)), Lines{});
  EXPECT_EQ(look(Duration::seconds(2)), Lines{"syn_flood_over gateway, 13 SYNs in 6.0 s"});
  snapshot_.counters.add(Counter::kDroppedSynFlood);
  EXPECT_EQ(look(), Lines{"syn_flood gateway"});
}

TEST_F(WatchTest, AWorkerThatDoesNotKeepUpIsToldOf) {
  look_at(PeerState::kAlive);
  snapshot_.workers.resize(2);
  const auto second = [&](std::uint64_t& counter) {
    ++counter;
    return look(Duration::seconds(1));
  };
  // A short loss has a line of its own, once a minute.
  EXPECT_EQ(second(port().stats.rx_missed), Lines{"frames_missed port lan, 1 frame"});
  EXPECT_EQ(second(port().stats.rx_no_buffer), Lines{});
  EXPECT_EQ(second(snapshot_.workers[1].counters.given_dropped), Lines{});
  EXPECT_EQ(second(port().stats.rx_missed), Lines{"worker_overloaded gateway, 4 frames in 3.0 s"});
  EXPECT_EQ(look(Duration::seconds(8)), Lines{});
  EXPECT_EQ(look(Duration::seconds(2)), Lines{"worker_keeps_up gateway, 4 frames in 3.0 s"});
}

TEST_F(WatchTest, AWayOfRecordsThatFailsIsToldWithItsReasonAndWithWhatItHasCost) {
  look_at(PeerState::kAlive);
  records_.file_state = records_.ipfix_state = "ok";
  EXPECT_EQ(look(Duration::seconds(10)), Lines{});
  records_.file_state = "failing";
  records_.file_trouble = "/var/flows: No space left on device";
  records_.counters.unwritten = 4;
  EXPECT_EQ(look(), Lines{"records_failing records file, /var/flows: No space left on device"});
  records_.counters.unwritten = 1'000;
  EXPECT_EQ(look(Duration::seconds(600)), Lines{}) << "the end tells how many";
  records_.file_state = "ok";
  EXPECT_EQ(look(Duration::seconds(5)), Lines{}) << "it may fail again";
  records_.file_trouble = "";
  EXPECT_EQ(look(), Lines{"records_resumed records file, 1000 records were lost"});
  EXPECT_EQ(look(Duration::seconds(600)), Lines{}) << "these were told";
  records_.collector_trouble = "collector: Connection reset by peer";
  records_.counters.unexported = 1;
  EXPECT_EQ(look(),
            Lines{"records_failing records collector, collector: Connection reset by peer"});
  records_.collector_trouble = "connect: Connection refused";
  EXPECT_EQ(look(), Lines{}) << "it is still away";
  records_.collector_trouble = "";
  EXPECT_EQ(look(), Lines{"records_resumed records collector, 1 record was lost"});
}

TEST_F(WatchTest, RecordsThatAreLostThoughNothingFailsAreToldOnceAMinute) {
  look_at(PeerState::kAlive);
  snapshot_.workers.resize(2);
  records_.file_state = records_.ipfix_state = "ok";
  snapshot_.workers[0].counters.records_lost = 3;
  snapshot_.workers[1].counters.records_lost = 4;
  EXPECT_EQ(look(), Lines{"records_lost records writer, 7 records"});
  snapshot_.workers[1].counters.records_lost = 5;
  records_.counters.unexported = 9;
  EXPECT_EQ(look(Duration::seconds(59)), Lines{"records_lost records collector, 9 records"});
  EXPECT_EQ(look(Duration::seconds(1)), Lines{"records_lost records writer, 1 record"});
  // Losses not reported when the trouble began are reported with the losses that the trouble
  // caused.
  records_.counters.unexported = 10;
  EXPECT_EQ(look(), Lines{"records_lost records collector, 1 record"});
  records_.counters.unexported = 11;
  EXPECT_EQ(look(), Lines{});
  records_.collector_trouble = "send: Connection timed out";
  records_.counters.unexported = 13;
  look();
  records_.collector_trouble = "";
  EXPECT_EQ(look().back(), "records_resumed records collector, 3 records were lost");
}

TEST_F(WatchTest, AWayThatIsNotOpenYetMayBeAboutToFail) {
  look_at(PeerState::kAlive);
  records_.ipfix_state = "connecting";
  records_.counters.unexported = 5;
  EXPECT_EQ(look(Duration::seconds(5)), Lines{});
  records_.ipfix_state = "away";
  records_.collector_trouble = "connect: Connection timed out";
  EXPECT_EQ(look(), Lines{"records_failing records collector, connect: Connection timed out"});
  records_.collector_trouble = "";
  records_.ipfix_state = "ok";
  EXPECT_EQ(look(), Lines{"records_resumed records collector, 5 records were lost"});
}

TEST_F(WatchTest, NewKeysAreToldOnceAMinuteAtMost) {
  look_at(PeerState::kAlive);
  ++peer().counters.keys_out;
  EXPECT_EQ(look(), Lines{"key_changed peer hub, keys so far: 1 of ours, 0 of the peer's"});
  ++peer().counters.keys_in;
  EXPECT_EQ(look(Duration::seconds(50)), Lines{});
  ++peer().counters.keys_out;
  EXPECT_EQ(look(Duration::seconds(20)),
            Lines{"key_changed peer hub, keys so far: 2 of ours, 1 of the peer's"});
}

TEST_F(WatchTest, EachCutOfTheRateIsALineOnceASecondAtMost) {
  look_at(PeerState::kAlive);
  const auto cut = [&](control::CutCause cause, std::uint64_t stp::Counters::*counter) {
    ++(peer().counters.*counter);
    peer().last_cut = stp::RateCut{cause, BitRate::bits_per_second(995'000'000),
                                   BitRate::bits_per_second(62'200'000)};
  };
  cut(control::CutCause::kDelay, &stp::Counters::rate_cuts_delay);
  EXPECT_EQ(look(),
            Lines{"rate_lowered peer hub, 995.0 Mbit/s to 62.2 Mbit/s, a queue grew on the path"});
  EXPECT_EQ(look(Duration::seconds(60)), Lines{});
  cut(control::CutCause::kLoss, &stp::Counters::rate_cuts_loss);
  look();
  cut(control::CutCause::kController, &stp::Counters::rate_cuts_controller);
  EXPECT_EQ(look(Duration::milliseconds(800)), Lines{});
  cut(control::CutCause::kAnnounced, &stp::Counters::rate_cuts_announced);
  EXPECT_EQ(look(Duration::seconds(10)),
            Lines{"rate_lowered peer hub, 995.0 Mbit/s to 62.2 Mbit/s, the far gateway announced a "
                  "lower capacity; 1 more cut since the last report"});
}

TEST_F(WatchTest, WhatTheLinkCarriesIsToldOnceItIsToldOrFound) {
  look_at(PeerState::kAlive);
  peer().announced = BitRate::bits_per_second(40'000'000);
  EXPECT_EQ(look(Duration::seconds(1)), Lines{});
  EXPECT_EQ(look(Duration::seconds(20)), Lines{"capacity_told peer hub, 40.0 Mbit/s"});
  peer().announced = BitRate::bits_per_second(60'000'000);
  EXPECT_EQ(look(Duration::seconds(20)),
            Lines{"capacity_told peer hub, 60.0 Mbit/s, 40.0 Mbit/s before"});

  peer().link_rate = BitRate::bits_per_second(45'000'000);
  EXPECT_EQ(look(Duration::seconds(20)), Lines{}) << "a reload has set it";
  peer().finds_capacity = true;
  EXPECT_EQ(look(Duration::seconds(20)), Lines{"capacity_found peer hub, 45.0 Mbit/s"});
}

}  // namespace
}  // namespace satrelay::ops::watch_test

// There are thousands of flows, but no call visits all of them, whatever a peer sends or an
// operator asks for. A change that reaches flows one by one reaches each of them, whatever comes
// between.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <span>
#include <vector>

#include "pep/compress/block_codec.h"
#include "pep/compress/codec_work.h"
#include "pep/stp/fec/fec_codec.h"
#include "pep/stp/fec/source_symbol.h"
#include "pep/stp/wire/frames.h"
#include "pep/stp/wire/repair_frame.h"
#include "pep/wire/arp.h"
#include "tests/bench/world/codec_crowd.h"
#include "tests/bench/world/crowd.h"
#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::gateway::steps_test {
namespace {

using bench::Crowd;

// More flows than may be visited at once.
constexpr std::size_t kFlows = 3 * Gateway::kMostVisited;

class StepsTest : public ::testing::Test {
 protected:
  static void expect_few(const Crowd& crowd) {
    EXPECT_LE(crowd.worst().visited, Gateway::kMostVisited);
    EXPECT_GT(crowd.worst().visited, 0U);
  }
  static std::uint64_t counted(Crowd& crowd, Counter counter) {
    return crowd.engine().counters()[counter];
  }
  static void close_peer(Crowd& crowd) {
    crowd.say(0, 1, [](ByteWriter& frames, std::size_t) {
      stp::write_close(frames, {stp::ResetReason::kShutdown});
    });
  }
  static constexpr Instant kLater = Instant::from_nanoseconds(120'000'000'000);
};

TEST_F(StepsTest, OpeningVeryManyIsNoWorseForTheLast) {
  Crowd crowd({.flows = 0});
  crowd.open_flows(0, kFlows);
  EXPECT_EQ(crowd.flows(), kFlows);
  expect_few(crowd);
}

TEST_F(StepsTest, ThePeerSaysHowMuchMayBeSentOfEachStream) {
  Crowd crowd({.flows = kFlows});
  for (std::size_t i = 0; i < 3; ++i) {
    crowd.say(
        0, 1000,
        [&](ByteWriter& frames, std::size_t n) {
          stp::write_start_credit(frames, {1 + i * 1000 + n, 1000 + n % 2});
        },
        stp::kMaxStartCreditFrameSize);
  }
  crowd.settle();
  expect_few(crowd);
}

// An ARP claim for the host of all flows.
std::vector<std::byte> claim(const MacAddress& mac) {
  wire::EthernetHeader header;
  header.source = mac;
  header.destination = MacAddress::broadcast();
  header.type = wire::EtherType::kArp;
  std::vector<std::byte> frame(header.size() + wire::kArpSize);
  wire::write_ethernet(header, frame);
  wire::write_arp({.operation = wire::ArpOperation::kReply,
                   .sender_mac = mac,
                   .sender = ip_of("198.0.51.0"),
                   .target_mac = {},
                   .target = ip_of("198.0.51.0")},
                  MutableBytes(frame).subspan(header.size()));
  return frame;
}

constexpr MacAddress kNewMac{{2, 0, 0, 0, 9, 9}};

TEST_F(StepsTest, AHostOfVeryManyFlowsMoves) {
  Crowd crowd({.flows = kFlows, .hosts = Crowd::Hosts::kAcknowledge, .one_server = true});
  crowd.from_lan(claim(kServerMac));
  crowd.from_lan(claim(kNewMac));
  crowd.settle();
  crowd.forget();
  crowd.pass(Duration::seconds(2));
  EXPECT_EQ(counted(crowd, Counter::kLanMoves), 1U);
  for (std::size_t i = 0; i < kFlows;) {
    i = crowd.say(i, kFlows, [](ByteWriter& frames, std::size_t flow) {
      Crowd::write_data(frames, flow, 0, bench::raw_octets(1));
    });
  }
  crowd.pass(Duration::seconds(5));
  EXPECT_EQ(crowd.flows(), kFlows);
  expect_few(crowd);
}

// Each flow has another far host, so each change is a separate one.
TEST_F(StepsTest, VeryManyHostsAddressTheirFramesElsewhereAtOnce) {
  Crowd crowd({.flows = kFlows, .capabilities = stp::kCapabilityDestinations});
  const std::array<std::byte, 1> payload{std::byte{'x'}};
  for (std::size_t i = 0; i < kFlows; ++i) {
    std::vector<std::byte> frame = crowd.data_of_server(i, 0, payload);
    std::ranges::copy(std::as_bytes(std::span(kNewMac.octets)), frame.begin());
    crowd.from_lan(frame);
  }
  constexpr std::size_t kWaiting = 64;
  EXPECT_GE(counted(crowd, Counter::kDestinationsTold), kWaiting);
  EXPECT_LE(counted(crowd, Counter::kDestinationsTold), kWaiting + 2);
  EXPECT_EQ(
      counted(crowd, Counter::kDestinationsTold) + counted(crowd, Counter::kDestinationsUntold),
      kFlows);
  crowd.pass(Duration::seconds(1));
  expect_few(crowd);
}

TEST_F(StepsTest, OnePacketResetsMany) {
  Crowd crowd({.flows = kFlows});
  for (std::size_t i = 0; i < kFlows;) {
    i = crowd.say(
        i, kFlows,
        [](ByteWriter& frames, std::size_t flow) {
          stp::write_reset(frames, {Crowd::stream(flow), stp::ResetReason::kHostReset, 0});
        },
        stp::kMaxResetFrameSize);
  }
  crowd.settle();
  EXPECT_EQ(crowd.flows(), 0U);
  expect_few(crowd);
}

TEST_F(StepsTest, AllStreamsLingerAndEndAtOnce) {
  Crowd crowd({.flows = 0});
  for (std::size_t i = 0; i < kFlows;) {
    i = crowd.say(
        i, kFlows,
        [](ByteWriter& frames, std::size_t flow) {
          stp::write_reset(frames, {Crowd::stream(flow), stp::ResetReason::kHostReset, 0});
        },
        stp::kMaxResetFrameSize);
  }
  crowd.pass(Duration::seconds(125));
  expect_few(crowd);
  crowd.open_flows(kFlows, kFlows + 10);
  EXPECT_EQ(crowd.flows(), 10U);
}

TEST_F(StepsTest, APeerThatWasStartedAnewHasNoneOfItsFlows) {
  Crowd crowd({.flows = kFlows});
  crowd.restart_peer();
  EXPECT_EQ(counted(crowd, Counter::kFlowsResetPeerRestart), kFlows);
  EXPECT_EQ(counted(crowd, Counter::kFlowsListed), kFlows);
  EXPECT_EQ(crowd.flows(), 0U);
  EXPECT_LT(crowd.engine().status(kLater).arena_used, 1U << 20) << "the list, on its way";
  expect_few(crowd);
  crowd.open_flows(0, 10);
  EXPECT_EQ(crowd.flows(), 10U);
}

TEST_F(StepsTest, APeerThatClosesHasNoneOfItsFlows) {
  Crowd crowd({.flows = kFlows});
  close_peer(crowd);
  EXPECT_EQ(crowd.flows(), kFlows) << "most have yet to hear of it";
  crowd.settle();
  EXPECT_EQ(counted(crowd, Counter::kFlowsResetPeerClosed), kFlows);
  EXPECT_EQ(crowd.flows(), 0U);
  expect_few(crowd);
}

// The streams that the peer opens in its new session have the numbers of the old streams.
TEST_F(StepsTest, ThePeerOpensTheSameFlowsBeforeTheOldOnesAreReset) {
  Crowd crowd({.flows = kFlows});
  close_peer(crowd);
  crowd.greet_anew();
  ASSERT_GT(crowd.flows(), kFlows / 2) << "most have yet to hear of it";
  // The scan comes to these flows last.
  constexpr std::size_t kAgain = 200;
  std::size_t opened = 0;
  while (opened < kAgain) {
    opened = crowd.say(opened, kAgain, [&](ByteWriter& frames, std::size_t i) {
      stp::write_open(frames, {Crowd::stream(kFlows - 1 - i), crowd.metadata(kFlows - 1 - i)});
    });
  }
  ASSERT_GT(crowd.flows(), kFlows / 2) << "most have yet to hear of it";
  crowd.settle();
  EXPECT_EQ(counted(crowd, Counter::kFlowsResetPeerClosed) +
                counted(crowd, Counter::kFlowsResetPeerRestart),
            kFlows);
  EXPECT_EQ(counted(crowd, Counter::kFlowsFromPeer), kFlows + kAgain);
  EXPECT_EQ(crowd.flows(), kAgain);
  EXPECT_EQ(crowd.engine().peers()[0].streams, kAgain);
  expect_few(crowd);
}

TEST_F(StepsTest, APeerThatIsStartedAgainAndAgainLeavesNothing) {
  Crowd crowd({.flows = kFlows});
  for (int i = 0; i < 6; ++i) crowd.greet_anew();
  crowd.settle();
  EXPECT_EQ(counted(crowd, Counter::kFlowsResetPeerRestart), kFlows);
  EXPECT_EQ(crowd.flows(), 0U);
  EXPECT_LT(crowd.engine().status(kLater).arena_used, 1U << 20) << "the list, on its way";
  expect_few(crowd);
  crowd.open_flows(0, 10);
  EXPECT_EQ(crowd.flows(), 10U);
}

TEST_F(StepsTest, APeerThatIsSilentIsGivenUp) {
  Crowd crowd({.flows = kFlows});
  const std::array<std::byte, 1> payload{std::byte{'x'}};
  for (std::size_t i = 0; i < kFlows; ++i) crowd.from_lan(crowd.data_of_server(i, 0, payload));
  crowd.pass(crowd.config().stp.give_up_after + Duration::seconds(4), /*peer_speaks=*/false);
  EXPECT_EQ(counted(crowd, Counter::kFlowsResetPeerLost), kFlows);
  EXPECT_EQ(crowd.flows(), 0U);
  expect_few(crowd);
}

TEST_F(StepsTest, ASegmentOfAHostFindsItsFlowReset) {
  Crowd crowd({.flows = kFlows});
  close_peer(crowd);
  const std::uint64_t before = counted(crowd, Counter::kFlowsResetPeerClosed);
  ASSERT_LT(before, kFlows / 2);
  // This flow is among the last that the scan would come to.
  const auto last = crowd.engine().flow(1, kLater);  // by its flow number
  ASSERT_TRUE(last);
  EXPECT_EQ(last->tcp_state, tcp::State::kClosed) << "described as what it is";
  crowd.settle();
  EXPECT_EQ(counted(crowd, Counter::kFlowsResetPeerClosed), kFlows);
}

TEST_F(StepsTest, AReloadReachesAllFlows) {
  Crowd crowd({.flows = kFlows, .idle_timeout = Duration::seconds(7200)});
  config::Gateway next = crowd.config();
  next.limits.idle_timeout = Duration::seconds(60);
  next.limits.half_close_timeout = Duration::seconds(60);
  crowd.reload(next);
  crowd.pass(Duration::seconds(70));
  EXPECT_EQ(counted(crowd, Counter::kFlowsResetIdle), kFlows);
  expect_few(crowd);
}

TEST_F(StepsTest, AllTimersAtOnce) {
  Crowd crowd({.flows = kFlows, .hosts = Crowd::Hosts::kSilent});
  crowd.pass(Duration::seconds(4));
  EXPECT_EQ(crowd.flows(), kFlows);
  expect_few(crowd);
}

TEST_F(StepsTest, VeryManyWaitForOneHost) {
  Crowd crowd({.flows = kFlows, .hosts = Crowd::Hosts::kUnknown, .one_server = true});
  EXPECT_EQ(crowd.syns(), 0U);
  crowd.from_lan(crowd.server_frame(0));
  crowd.settle();
  EXPECT_EQ(crowd.syns(), kFlows);
  expect_few(crowd);
}

TEST_F(StepsTest, AFrameOfOneHostDoesNotLookAtAllThatWaitForOthers) {
  Crowd crowd({.flows = kFlows, .hosts = Crowd::Hosts::kUnknown});
  crowd.from_lan(crowd.server_frame(7));
  crowd.settle();
  EXPECT_EQ(crowd.syns(), 1U);
  expect_few(crowd);
}

TEST_F(StepsTest, OneReportSettlesAllThatIsInFlight) {
  for (const bool half_first : {false, true}) {
    Crowd crowd({.flows = kFlows, .idle_timeout = Duration::seconds(600)});
    crowd.pass(Duration::seconds(605));
    EXPECT_EQ(crowd.flows(), 0U);
    EXPECT_GT(crowd.engine().peers()[0].packets_in_flight, Gateway::kMostVisited) << "resets";
    crowd.forget();
    if (half_first) {
      crowd.report([](std::uint64_t number) { return number % 2 == 0; });
      crowd.settle();
    }
    crowd.report([](std::uint64_t) { return true; });
    crowd.settle();
    EXPECT_GT(crowd.engine().peers()[0].counters.feedback_in, 0U);
    EXPECT_EQ(crowd.engine().peers()[0].packets_in_flight, 0U);
    expect_few(crowd);
  }
}

// After an outage, all peers report at once what was sent meanwhile. Each session settles a part of
// it in a call. All sessions share the limit of one call.
TEST_F(StepsTest, TheReportsOfManyPeersSettleNoMoreAtOnceThanThatOfOne) {
  constexpr std::size_t kPeers = 16;
  Crowd crowd({.flows = 0, .speaking_peers = kPeers});
  crowd.pass(Duration::seconds(300), false);
  crowd.forget();
  const std::uint64_t before = crowd.engine().visited();
  for (std::size_t peer = 0; peer < kPeers; ++peer) {
    crowd.speak_as(peer);
    EXPECT_GT(crowd.engine().peers()[peer].packets_in_flight, Gateway::kMostVisited / 2) << peer;
    crowd.report([](std::uint64_t) { return true; });
  }
  crowd.settle();
  for (std::size_t peer = 0; peer < kPeers; ++peer) {
    EXPECT_LT(crowd.engine().peers()[peer].packets_in_flight, 3U) << peer;
  }
  EXPECT_GT(crowd.engine().visited() - before, 8 * Gateway::kMostVisited);
  expect_few(crowd);
}

TEST_F(StepsTest, FlowsAreFoundByTheirNumberAndPlace) {
  Crowd crowd({.flows = kFlows});
  std::map<std::uint64_t, std::size_t> ids;
  for (std::size_t first = 0; first < kFlows; first += 100) {
    crowd.call([&] {
      for (const FlowSnapshot& flow : crowd.engine().flows(first, 100, kLater)) ++ids[flow.id];
    });
  }
  EXPECT_EQ(ids.size(), kFlows) << "each stands on one page";
  for (const auto& [id, times] : ids) {
    EXPECT_EQ(times, 1U);
    if (id % 97 != 0) continue;
    crowd.call([&] {
      const auto flow = crowd.engine().flow(id, kLater);
      ASSERT_TRUE(flow);
      EXPECT_EQ(flow->id, id);
    });
  }
  crowd.call([&] { EXPECT_FALSE(crowd.engine().flow(1U << 30, kLater)); });
  crowd.call([&] { EXPECT_TRUE(crowd.engine().flows(kFlows, 10, kLater).empty()); });
  EXPECT_EQ(crowd.engine().unfinished_flows(), kFlows);
  EXPECT_LE(crowd.worst().visited, 100U);
}

// --- octets --------------------------------------------------------------------------------------

class WorkTest : public ::testing::Test {
 protected:
  static constexpr std::size_t kStreams = 200;
  static constexpr std::size_t kBlock = compress::kMaxPlainBlock;

  // No call does more work than it may, and all calls together finish the work.
  static void expect_spread(const Crowd& crowd, Work all) {
    EXPECT_LE(crowd.worst().worked, Gateway::kMostWorked);
    EXPECT_GT(all, Gateway::kMostWorked) << "nothing was to be spread";
  }
  static std::uint64_t delivered(Crowd& crowd) {
    std::uint64_t bytes = 0;
    for (const FlowSnapshot& flow : crowd.engine().flows(0, crowd.flows(), crowd.now())) {
      bytes += flow.bytes_to_lan;
    }
    return bytes;
  }
  // The work for blocks that are completed by one packet, or by many together.
  static Work complete(Crowd& crowd, const bench::Octets& blocks, std::size_t packets) {
    const Work before = crowd.engine().worked();
    bench::complete(crowd, crowd.flows(), blocks, packets);
    return crowd.engine().worked() - before;
  }
};

TEST_F(WorkTest, BlocksThatBecomeWholeAtOnceAreDecodedInManyCalls) {
  for (const auto& plain : {bench::text(kBlock), bench::zeros(kBlock)}) {
    for (const std::size_t packets : {1, 10}) {
      Crowd crowd({.flows = kStreams});
      const Work all = complete(crowd, bench::compressed(plain), packets);
      EXPECT_EQ(delivered(crowd), kStreams * kBlock);
      expect_spread(crowd, all);
    }
  }
}

TEST_F(WorkTest, SmallBlocksAreWorkToo) {
  Crowd crowd({.flows = kStreams});
  const auto block = bench::compressed(bench::text(300));
  const Work all = complete(crowd, bench::repeated(block, 40), 10);
  EXPECT_EQ(delivered(crowd), kStreams * 300 * 40);
  expect_spread(crowd, all);
}

TEST_F(WorkTest, SoAreBlocksThatCarryLittleOrNothing) {
  for (const auto& blocks : {bench::raw_octets(4096), bench::marks(4096)}) {
    Crowd crowd({.flows = kStreams});
    expect_spread(crowd, complete(crowd, blocks, 10));
  }
}

TEST_F(WorkTest, RawBytesThatComeAtOnceAreCopiedInManyCalls) {
  Crowd crowd({.flows = kStreams});
  bench::Octets block(compress::kBlockHeaderSize + 32'768);
  compress::write_block_header({compress::BlockKind::kRaw, 32'768}, block);
  expect_spread(crowd, complete(crowd, block, 10));
}

TEST_F(WorkTest, ManyHostsOfTextAreCompressedInManyCalls) {
  for (const std::uint64_t megabits : {20, 1'000}) {
    Crowd crowd({.flows = 100, .rate = BitRate::bits_per_second(megabits * 1'000'000)});
    const Work before = crowd.engine().worked();
    bench::send_text(crowd, 100, 60'000);
    EXPECT_LE(crowd.worst().worked, Gateway::kMostWorked);
    crowd.pass(Duration::seconds(2));
    expect_spread(crowd, crowd.engine().worked() - before);
  }
}

// No host reads, and there is memory for some of the blocks only. A block without memory waits as
// it is, and is not decoded again and again.
TEST_F(WorkTest, BlocksWithoutMemoryWaitUndecoded) {
  constexpr std::size_t kMany = 600;
  for (const auto& plain : {bench::text(kBlock), bench::zeros(kBlock)}) {
    Crowd crowd({.flows = kMany, .memory = 32U << 20});
    complete(crowd, bench::compressed(plain), 10);
    EXPECT_GT(crowd.engine().status(crowd.now()).arena_used, 18U << 20);
    EXPECT_LT(delivered(crowd), kMany * kBlock / 2) << "memory is short";
    EXPECT_LE(crowd.worst().worked, Gateway::kMostWorked);
    const Work before = crowd.engine().worked();
    crowd.pass(Duration::seconds(1));
    EXPECT_LT(crowd.engine().worked() - before, compress::decoding_work(0, kMany * kBlock, 0) / 10);
  }
}

// Each repair takes a third of a millisecond. So most of those that arrive together wait for later
// calls.
TEST_F(WorkTest, RepairsThatComeTogetherAreUsedInManyCalls) {
  constexpr std::size_t kTogether = 32;
  Crowd crowd({.flows = 0});
  bench::lose_of_window(crowd, 24);
  std::uint16_t row = 0;
  crowd.say_together(kTogether, [&](ByteWriter& frames, std::size_t) {
    const bench::Octets symbol(frames.remaining() - stp::kRepairHeaderSize);
    stp::write_repair(frames, {stp::FecCode::kFlight, 0, stp::kMaxCodedWindow, row++, symbol});
  });
  const std::uint64_t before = crowd.calls();
  crowd.settle();
  EXPECT_GE(crowd.calls() - before, kTogether - 2);
  const stp::Counters seen = crowd.engine().peers()[0].counters;
  EXPECT_EQ(seen.repair_packets_in, kTogether);
  EXPECT_EQ(seen.repair_overload + seen.repair_wasted, 0U) << "none was lost by waiting";
}

// Sessions share the time of a call, and take turns.
class SharedRepairsTest : public WorkTest {
 protected:
  static void lose(Crowd& crowd, std::size_t peers, std::size_t each, std::uint16_t window) {
    for (std::size_t i = 0; i < peers; ++i) {
      crowd.speak_as(i);
      bench::lose_of_window(crowd, each, window);
    }
  }
  static std::vector<std::size_t> all(std::size_t peers) {
    std::vector<std::size_t> numbers(peers);
    std::iota(numbers.begin(), numbers.end(), 0U);
    return numbers;
  }
  static stp::Counters seen(Crowd& crowd, std::size_t peer) {
    return crowd.engine().peers()[peer].counters;
  }
};

TEST_F(SharedRepairsTest, OfManyPeersAreUsedInManyCalls) {
  constexpr std::size_t kPeers = 8;
  constexpr std::uint16_t kOfEach = 4;
  Crowd crowd({.flows = 0, .speaking_peers = kPeers});
  lose(crowd, kPeers, 24, stp::kMaxCodedWindow);
  const Work before = crowd.engine().worked();
  const std::uint64_t calls = crowd.calls();
  bench::repair_of_peers(crowd, all(kPeers), 0, kOfEach);
  crowd.settle();
  EXPECT_GE(crowd.calls() - calls, kPeers * kOfEach - 2);
  expect_spread(crowd, crowd.engine().worked() - before);
  for (std::size_t i = 0; i < kPeers; ++i) {
    EXPECT_EQ(seen(crowd, i).repair_packets_in, kOfEach);
    EXPECT_EQ(seen(crowd, i).repair_overload + seen(crowd, i).repair_wasted, 0U) << i;
  }
}

TEST_F(SharedRepairsTest, OfOnePeerDoNotWaitForAllOfAnothers) {
  Crowd crowd({.flows = 0, .speaking_peers = 2});
  lose(crowd, 2, stp::kMaxCodedWindow, stp::kMaxCodedWindow);
  bench::repair_of_peers(crowd, std::vector<std::size_t>{0}, 0, 32);
  bench::repair_of_peers(crowd, std::vector<std::size_t>{1}, 0, 2);
  // One packet is missing, and the repairs contradict it.
  const auto used = [&](std::size_t peer) { return seen(crowd, peer).malformed; };
  for (int i = 0; i < 4; ++i) {
    crowd.call([&] { crowd.engine().handle_timeout(crowd.now()); });
  }
  EXPECT_EQ(used(1), 2U);
  EXPECT_LT(used(0), 8U);
}

TEST_F(SharedRepairsTest, HaveTheSameTimeHoweverManyPeersThereAre) {
  for (const std::size_t peers : {2, 8}) {
    Crowd crowd({.flows = 0, .speaking_peers = peers});
    lose(crowd, peers, 24, stp::kMaxCodedWindow);
    std::uint64_t used = 0;
    for (std::uint16_t row = 0; row < 40; row = static_cast<std::uint16_t>(row + 8)) {
      bench::repair_of_peers(crowd, all(peers), row, 8);
      crowd.settle();
    }
    for (std::size_t i = 0; i < peers; ++i) used += 40 - seen(crowd, i).repair_overload;
    // A tenth of a second's worth, and one repair for each session that is below its part.
    EXPECT_LE(used, 500'000 / stp::kMaxCodedWindow + peers) << peers;
    EXPECT_GT(used, 60U) << peers;
  }
}

// Each packet that arrives late changes the repairs that wait.
TEST_F(SharedRepairsTest, ArePutOffWhenPacketsComeLate) {
  constexpr std::size_t kPeers = 8, kEach = 3, kLate = 31;
  Crowd crowd({.flows = 0, .speaking_peers = kPeers});
  lose(crowd, kPeers, kEach, 384);  // 128 packets
  for (std::uint16_t row = 0; row < 96; row = static_cast<std::uint16_t>(row + 4)) {
    bench::repair_of_peers(crowd, all(kPeers), row, 4, 384);
    crowd.settle();
    crowd.pass(Duration::milliseconds(10));
  }
  crowd.forget();
  const auto settled = [&] {
    const stp::Counters counters = seen(crowd, 0);
    return counters.malformed + counters.repair_used + counters.repair_wasted;
  };
  const std::uint64_t settled_before = settled();
  const Work before = crowd.engine().worked();
  bench::come_late_of_peers(crowd, all(kPeers), kEach, 0, kLate);
  crowd.settle();
  expect_spread(crowd, crowd.engine().worked() - before);
  // After one more packet, all are known.
  bench::come_late_of_peers(crowd, all(1), kEach, kLate, 1);
  crowd.settle();
  EXPECT_EQ(seen(crowd, 0).repair_overload, 0U);
  EXPECT_EQ(settled() - settled_before, 96U);
}

// The last of many repairs may give back all missing packets, and each of them may be full.
TEST_F(SharedRepairsTest, GiveBackManyFullPacketsInManyCalls) {
  constexpr std::uint16_t kMissing = 128;
  Crowd crowd({.flows = 0});
  const std::uint32_t first = crowd.skip_packets(kMissing);
  // As many frames as fit into a packet.
  bench::Octets frames(1'200);
  ByteWriter out(frames);
  while (out.remaining() >= 16) stp::write_ping(out, {0});
  frames.resize(out.written());
  const stp::FecCodec codec;
  const std::size_t stride = stp::symbol_stride(1472);
  const auto repair_of = [&](std::uint16_t row) {
    bench::Octets sum(stride), symbol(stride);
    for (std::uint16_t i = 0; i < kMissing; ++i) {
      std::ranges::fill(symbol, std::byte{0});
      stp::write_symbol(symbol.data(), first + i, frames);
      codec.add(stp::FecCodec::coefficient(row, i), symbol, sum.data());
    }
    sum.resize(stp::kSymbolHeaderSize + frames.size());
    return sum;
  };
  for (std::uint16_t row = 0; row < kMissing + 2; ++row) {
    crowd.say(0, 1, [&](ByteWriter& writer, std::size_t) {
      const bench::Octets symbol = repair_of(row);
      stp::write_repair(writer, {stp::FecCode::kFlight, 0, kMissing, row, symbol});
    });
    // Small packets of the code arrive meanwhile. They use nothing of the time of repairs that
    // wait.
    if (row + 1 == kMissing) bench::come_late_of_peers(crowd, all(1), 1, kMissing, 32);
    crowd.settle();
  }
  EXPECT_EQ(seen(crowd, 0).repair_used, kMissing);
  EXPECT_LE(crowd.worst().visited, Gateway::kMostVisited);
  EXPECT_LE(crowd.worst().worked, Gateway::kMostWorked);
  EXPECT_GT(crowd.engine().visited(), 10 * Gateway::kMostVisited) << "there was much to visit";
}

// Two engines with the same input do the same work.
TEST_F(WorkTest, TwoRunsWorkAlike) {
  std::vector<std::vector<std::uint64_t>> runs;
  for (int run = 0; run < 2; ++run) {
    Crowd crowd({.flows = kStreams});
    const Work all = complete(crowd, bench::compressed(bench::text(kBlock)), 10);
    runs.push_back({all, crowd.worst().worked, crowd.worst().visited, crowd.calls()});
  }
  EXPECT_EQ(runs[0], runs[1]);
}

}  // namespace
}  // namespace satrelay::gateway::steps_test

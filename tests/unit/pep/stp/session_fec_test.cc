// Forward error correction between two sessions: which peers take part, and which retransmissions
// it saves.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "pep/stp/wire/frames.h"
#include "pep/stp/wire/packet.h"
#include "tests/unit/pep/stp/application.h"

namespace satrelay::stp::test::session_fec_test {
namespace {

constexpr Duration kOneWay = Duration::milliseconds(275);

struct CodeCounter : IgnoreFrames {
  std::uint64_t coded = 0;
  std::uint64_t repairs = 0;
  using IgnoreFrames::operator();
  void operator()(const CodedFrame&) { ++coded; }
  void operator()(const RepairFrame&) { ++repairs; }
};

EndConfig end_config(bool opens_even) {
  EndConfig config;
  config.session.opens_even_streams = opens_even;
  return config;
}

class SessionFec : public ::testing::Test {
 protected:
  // All HELLOs offer `capabilities` from now on.
  void offer(std::uint32_t capabilities) {
    net.on_packet = [this, capabilities](int, MutableBytes packet) {
      const auto header = parse_header(packet);
      ASSERT_TRUE(header);
      if (header->type == PacketType::kHello) {
        constexpr std::size_t kCapabilities = kHeaderSize + 3 + 4;
        offered = load_u32(packet.data() + kCapabilities);
        store_u32(packet.data() + kCapabilities, capabilities);
        SessionSeal().close(packet);
        return;
      }
      said_protected += header->is_protected ? 1 : 0;
      ASSERT_TRUE(walk_frames(frames_of(packet), codes));
    };
  }
  // Transfers `bytes` on each of `flows` flows, which get 1,000 bytes back.
  void transfer(int flows, std::uint64_t bytes) {
    ASSERT_TRUE(net.connect());
    for (Channel& channel : net.channels) channel.set_faults({.loss = 0.03});
    for (int i = 0; i < flows; ++i) {
      ASSERT_TRUE(net.apps[0].open(bytes, 1'000, net.now));
      net.run(Duration::milliseconds(200));
    }
    const bool over = net.run(Duration::seconds(60), [&] {
      return std::ranges::all_of(net.apps[0].flows,
                                 [](const auto& flow) { return flow.second.over(); });
    });
    EXPECT_TRUE(over);
    EXPECT_EQ(net.error(), "");
    EXPECT_EQ(net.apps[1].bytes_read, static_cast<std::uint64_t>(flows) * bytes);
  }

  Network net{end_config(true), end_config(false), kOneWay, {}, 3};
  std::uint32_t offered = 0;
  std::uint64_t said_protected = 0;
  CodeCounter codes;
};

TEST_F(SessionFec, RepairsWhatIsLost) {
  offer(kCapabilityRepair);
  transfer(20, 50'000);
  EXPECT_EQ(offered & kCapabilityRepair, kCapabilityRepair);
  EXPECT_GT(codes.coded, 600U);
  EXPECT_EQ(said_protected, codes.coded) << "bit P tells of CODED";
  EXPECT_GT(codes.repairs, 50U);
  EXPECT_GT(net.session(1).counters().repair_used, 10U);
  EXPECT_EQ(net.session(0).counters().malformed + net.session(1).counters().malformed, 0U);
}

// Peers of other builds: without a code, and with the older one.
TEST_F(SessionFec, APeerThatOffersNoneGetsNone) {
  for (const std::uint32_t capabilities : {0U, 0x01U, 0x03U}) {
    net.stop(0);
    net.stop(1);
    for (Channel& channel : net.channels) {
      channel.flush();
      channel.set_faults({});
    }
    net.apps[1].bytes_read = 0;
    offer(capabilities);
    transfer(20, 50'000);
    EXPECT_EQ(codes.coded, 0U) << capabilities;
    EXPECT_EQ(codes.repairs, 0U) << capabilities;
    EXPECT_EQ(said_protected, 0U) << capabilities;
    EXPECT_GT(net.session(0).counters().retransmitted_bytes, 0U);
    EXPECT_EQ(net.session(0).counters().unknown_frames, 0U);
  }
}

// It depends on the rest that the writer announces: bulk that goes on is not covered, and its last
// flight is.
TEST_F(SessionFec, TheLastFlightOfBulkIsCoveredIfTheWriterTellsOfIt) {
  for (const bool tells : {false, true}) {
    Network bulk(end_config(true), end_config(false), kOneWay, {}, 5);
    CodeCounter late;
    std::uint64_t sent = 0;
    constexpr std::uint64_t kBytes = 8'000'000;
    bulk.on_packet = [&](int end, MutableBytes packet) {
      if (end != 0 || parse_header(packet)->type == PacketType::kHello) return;
      // Packets in the middle of the transfer. The first and the last 64 KiB are covered in any
      // case.
      const auto flow = bulk.apps[0].flows.begin();
      if (flow == bulk.apps[0].flows.end()) return;
      sent = flow->second.written;
      if (tells) {
        bulk.session(0).streams().set_rest(static_cast<StreamId>(flow->first), kBytes - sent,
                                           Behind::kNothing);
      }
      if (sent > 4'000'000 && sent < kBytes - 200'000) walk_frames(frames_of(packet), late);
    };
    ASSERT_TRUE(bulk.connect());
    for (Channel& channel : bulk.channels) channel.set_faults({.loss = 0.01});
    ASSERT_TRUE(bulk.apps[0].open(kBytes, 10, bulk.now));
    EXPECT_TRUE(
        bulk.run(Duration::seconds(60), [&] { return bulk.apps[0].flows.begin()->second.over(); }));
    EXPECT_EQ(bulk.error(), "");
    if (tells) {
      EXPECT_GT(late.coded, 500U) << "of a flight of 50 Mbit/s";
      EXPECT_LT(late.coded, 4'000U) << "and no more";
    } else {
      EXPECT_LT(late.coded, 100U) << "the first behind each pause of the writer";
    }
  }
}

struct FlightCode : IgnoreFrames {
  bool& found;
  using IgnoreFrames::operator();
  void operator()(const CodedFrame& frame) const { found |= frame.code == FecCode::kFlight; }
  void operator()(const RepairFrame& frame) const { found |= frame.code == FecCode::kFlight; }
};

// A repair of one code gives back no packets that the other code covers. So a packet that is lost
// with all its repairs is sent again after a round trip, even if a flow beside it is repaired all
// the time.
TEST_F(SessionFec, RepairsOfPromptFlowsKeepNothingElseFromBeingSentAgain) {
  ASSERT_TRUE(net.connect());
  const auto typed = net.apps[0].open(1'000'000, 0, net.now);
  ASSERT_TRUE(typed);
  Session& session = net.session(0);
  session.streams().set_ready(*typed, false);
  session.streams().set_prompt(*typed, true);
  bool loses = false;
  net.on_packet = [&](int end, MutableBytes packet) {
    bool is_flight = false;
    walk_frames(frames_of(packet), FlightCode{{}, is_flight});
    if (end == 0) net.channels[0].outage = loses && is_flight;
  };
  const auto type = [&](int keys) {
    for (int i = 0; i < keys; ++i) {
      Application::Flow& flow = net.apps[0].flows[static_cast<std::uint64_t>(*typed)];
      for (int n = 0; n < 80; ++n) {
        const std::byte byte =
            stream_byte(static_cast<std::uint64_t>(*typed), true, flow.written++);
        ASSERT_EQ(session.streams().write(*typed, {&byte, 1}, net.now), 1U);
      }
      net.run(Duration::milliseconds(300));
    }
  };
  type(20);
  const auto other = net.apps[0].open(1'000, 0, net.now);
  ASSERT_TRUE(other);
  loses = true;
  type(1);
  loses = false;
  type(5);
  const auto arrived = net.apps[1].flows.find(static_cast<std::uint64_t>(*other));
  ASSERT_NE(arrived, net.apps[1].flows.end()) << "its OPEN has been lost for 1.8 s";
  EXPECT_TRUE(arrived->second.end_seen);
  EXPECT_EQ(net.error(), "");
}

// Repairs count as bytes of the class, which has a share and may have a maximum.
TEST_F(SessionFec, RepairsAreOfTheClassOfWhatTheyStandFor) {
  constexpr schedule::ClassId kClass = 3;
  for (const bool is_prompt : {true, false}) {
    std::uint64_t repairs = 0, bytes = 0, booked = 0;
    net.stop(0);
    net.stop(1);
    net.on_packet = [&](int end, MutableBytes packet) {
      CodeCounter counter;
      walk_frames(frames_of(packet), counter);
      if (end != 0 || counter.repairs == 0) return;
      bool is_flight = false;
      walk_frames(frames_of(packet), FlightCode{{}, is_flight});
      if (is_flight == is_prompt) return;
      ++repairs;
      bytes += frames_of(packet).size();
      for (const schedule::ClassBytes& of_class : net.session(0).last_classes()) {
        EXPECT_EQ(of_class.stream_class, kClass);
        EXPECT_EQ(of_class.bytes, of_class.booked);
        booked += of_class.bytes;
      }
    };
    ASSERT_TRUE(net.connect());
    const auto id = net.apps[0].open(1'000'000, 0, net.now);
    ASSERT_TRUE(id);
    net.session(0).streams().set_group(*id, kClass, 0);
    net.session(0).streams().set_prompt(*id, is_prompt);
    net.run(Duration::seconds(3));
    EXPECT_GT(repairs, is_prompt ? 20U : 3U);
    EXPECT_EQ(booked, bytes);
  }
}

// The repairs leave at once before bulk of their own class. They would delay another class by as
// many packets.
TEST_F(SessionFec, TheRepairsOfALastFlightLeaveAtOnceBeforeBulkOfTheirClassOnly) {
  for (const schedule::ClassId bulk_class : {schedule::ClassId{0}, schedule::ClassId{1}}) {
    EndConfig a = end_config(true);
    a.rate = BitRate::bits_per_second(10'000'000);
    Network mixed(a, end_config(false), kOneWay, {}, 7);
    std::uint64_t in_a_row = 0, most = 0;
    StreamId ending{};
    constexpr std::uint64_t kBytes = 300'000;
    mixed.on_packet = [&](int end, MutableBytes packet) {
      if (end != 0 || parse_header(packet)->type == PacketType::kHello) return;
      CodeCounter codes_of;
      walk_frames(frames_of(packet), codes_of);
      in_a_row = codes_of.repairs > 0 ? in_a_row + 1 : 0;
      most = std::max(most, in_a_row);
      const auto flow = mixed.apps[0].flows.find(static_cast<std::uint64_t>(ending));
      if (flow == mixed.apps[0].flows.end()) return;
      mixed.session(0).streams().set_rest(ending, kBytes - flow->second.written, Behind::kNothing);
    };
    ASSERT_TRUE(mixed.connect());
    mixed.channels[0].set_faults({.loss = 0.1});
    const auto bulk = mixed.apps[0].open(20'000'000, 0, mixed.now);
    ASSERT_TRUE(bulk);
    mixed.session(0).streams().set_group(*bulk, bulk_class, 0);
    mixed.run(Duration::seconds(4));
    const auto last = mixed.apps[0].open(kBytes, 0, mixed.now);
    ASSERT_TRUE(last);
    ending = *last;
    most = 0;
    mixed.run(Duration::seconds(3));
    EXPECT_EQ(mixed.error(), "");
    EXPECT_TRUE(mixed.apps[0].flows.at(static_cast<std::uint64_t>(ending)).delivered);
    EXPECT_FALSE(mixed.apps[0].flows.at(static_cast<std::uint64_t>(*bulk)).delivered);
    if (bulk_class == 0) {
      EXPECT_GT(most, 10U);
    } else {
      EXPECT_EQ(most, 1U);
    }
  }
}

// Where packets are lost in bursts, as many reports in a row are lost. These may be all three that
// repeat each other.
TEST_F(SessionFec, ReportsReachFurtherBackWherePacketsAreLostInBursts) {
  struct Reach : IgnoreFrames {
    std::uint64_t reports = 0, packets = 0;
    using IgnoreFrames::operator();
    void operator()(const FeedbackFrame& frame) {
      ++reports;
      packets += frame.highest - frame.begin;
    }
  };
  double mean[2] = {};
  for (const bool in_bursts : {false, true}) {
    Network lossy(end_config(true), end_config(false), kOneWay, {}, 9);
    Reach reach;
    std::uint64_t sent = 0;
    lossy.on_packet = [&](int end, MutableBytes packet) {
      if (parse_header(packet)->type == PacketType::kHello) return;
      if (end == 1) {
        if (lossy.now > Instant() + Duration::seconds(4)) walk_frames(frames_of(packet), reach);
        // The same share of packets is lost, one at a time or ten in a row.
        ++sent;
        lossy.channels[1].outage = in_bursts ? sent % 500 < 10 : sent % 50 == 0;
      }
    };
    ASSERT_TRUE(lossy.connect());
    lossy.channels[0].set_faults({.loss = 0.02});
    ASSERT_TRUE(lossy.apps[0].open(30'000'000, 30'000'000, lossy.now));
    lossy.run(Duration::seconds(7));
    EXPECT_EQ(lossy.error(), "");
    ASSERT_GT(reach.reports, 50U);
    mean[in_bursts ? 1 : 0] =
        static_cast<double>(reach.packets) / static_cast<double>(reach.reports);
  }
  std::printf("  a report begins %.0f packets back, %.0f in bursts\n", mean[0], mean[1]);
  EXPECT_GT(mean[1], 1.5 * mean[0]);
}

// Flows of both kinds, which share no packet, in one class or two, with random rests. The path
// loses and delays packets and goes silent. All flows come to their end, and no call is for nothing
// (the network checks both).
TEST(SessionFecMix, PromptAndOtherFlowsComeToTheirEnd) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Random random(seed);
    EndConfig a = end_config(true), b = end_config(false);
    a.session.repair.prompt_share = seed % 3 == 0 ? 1.0 : 0;
    b.rate = BitRate::bits_per_second(2'000'000);
    Network net(a, b, Duration::milliseconds(seed % 4 == 0 ? 1 : 150), {}, seed);
    const auto mix = [&](Session& session, StreamId id) {
      session.streams().set_group(id, static_cast<schedule::ClassId>(random.below(seed % 2 + 1)),
                                  random.below(3) << 60U);
      session.streams().set_prompt(id, random.chance(0.5));
      session.streams().set_rest(id, random.below(100'000), static_cast<Behind>(random.below(3)));
    };
    for (Application& app : net.apps) {
      app.on_opened = [&](Session& session, std::uint64_t id, Application::Flow&) {
        mix(session, StreamId{id});
      };
    }
    ASSERT_TRUE(net.connect());
    for (Channel& channel : net.channels) {
      channel.set_faults({.loss = random.chance(0.3) ? 0.3 : 0.05,
                          .duplicate = 0.02,
                          .reorder = random.chance(0.3) ? 0.1 : 0});
    }
    for (int round = 0; round < 40; ++round) {
      const std::uint64_t size = 1 + random.below(random.chance(0.2) ? 200'000 : 4'000);
      const auto id = net.apps[0].open(size, random.below(10'000), net.now);
      if (id) mix(net.session(0), *id);
      Channel& channel = net.channels[random.below(2)];
      channel.outage = random.chance(0.05);
      net.run(Duration::milliseconds(static_cast<std::int64_t>(1 + random.below(200))));
      channel.outage = false;
      ASSERT_EQ(net.session(0).audit(), std::nullopt);
    }
    EXPECT_TRUE(net.run(Duration::seconds(120), [&] { return net.apps[0].all_over(); })) << seed;
    ASSERT_EQ(net.error(), "") << seed;
    EXPECT_EQ(net.session(0).counters().malformed + net.session(1).counters().malformed, 0U);
  }
}

}  // namespace
}  // namespace satrelay::stp::test::session_fec_test

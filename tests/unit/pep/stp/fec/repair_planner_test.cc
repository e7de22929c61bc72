// Which packets are covered, and which repairs leave, for streams that are known in all states.
#include "pep/stp/fec/repair_planner.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "pep/control/pacer.h"
#include "pep/control/rate_controller.h"
#include "pep/stp/packets/stream_writer.h"

namespace satrelay::stp::test::repair_planner_test {
namespace {

constexpr std::uint64_t kMuch = 4'000'000;  // credit of the peer, and what a writer may store
constexpr std::uint64_t kLittle = 64'000;   // what we may receive
constexpr std::size_t kDatagram = 1472;
// A window is over if no packet has followed for so long, and none waits.
constexpr Duration kLull = Duration::milliseconds(2);

class SteadyRate final : public control::RateController {
 public:
  void on_start(const control::StartSample&) override {}
  void on_feedback(const control::FeedbackSample&) override {}
  void on_capacity(BitRate) override {}
  control::Priority on_sent(control::Purpose, ByteCount, Instant) override {
    return control::Priority::kHigh;
  }
  BitRate rate() const override { return BitRate::bits_per_second(8'000'000); }
  ByteCount window() const override { return kNoWindow; }
};

// A path of 8 Mbit/s with a round trip of 600 ms: a flight has about 600,000 bytes.
class RepairPlannerTest : public ::testing::Test, protected StreamSource {
 protected:
  static Path::Config path_config() {
    Path::Config config;
    config.mtu = {.base = 1172, .floor = 548, .maximum = kDatagram, .known = true};
    config.initial_rtt = Duration::milliseconds(600);
    return config;
  }
  RepairPlannerTest() {
    streams.start(kMuch, kMuch, now);
    path.mtu.start(kDatagram);
  }
  RepairPlanner planner() {
    return RepairPlanner({.fec = fec,
                          .path = path,
                          .streams = streams,
                          .turn = writer.turn(),
                          .next = next,
                          .stp_overhead = kHeaderSize + kTrailerSize,
                          .now = now});
  }
  // A stream whose OPEN has left, with so many bytes to send.
  Stream& open(std::size_t bytes, Behind behind = Behind::kUnknown) {
    Stream* stream = streams.life().open(id, {}, 0, now);
    EXPECT_NE(stream, nullptr);
    id += 2;
    std::vector<std::byte> room(kDatagram);
    PacketBuilder packet(room, kTrailerSize);
    write_into(packet);
    EXPECT_TRUE(streams.due().opens().empty());
    if (bytes > 0) {
      EXPECT_EQ(streams.sending().write(*stream, std::vector<std::byte>(bytes), now), bytes);
    }
    stream->behind_rest = behind;
    return *stream;
  }
  void write_into(PacketBuilder& packet) {
    writer.begin({});
    writer.write({packet, streams, path.loss_rate, now});
  }
  // Sends the next packet of data, covered if the planner wants it so.
  std::optional<Coverage> send() {
    std::vector<std::byte> room(kDatagram);
    PacketBuilder packet(MutableBytes(room).first(kDatagram - kRepairOverhead), kTrailerSize);
    writer.begin({});
    const std::optional<FecCode> code = planner().code();
    std::optional<Coverage> coverage;
    if (code) coverage = planner().protect(packet, *code);
    write_into(packet);
    if (coverage) planner().add(packet, *coverage, schedule::ClassId{2}, 0);
    ++next;
    return coverage;
  }
  // The class of the repair that leaves; nullopt if none does.
  std::optional<schedule::ClassId> send_repair(std::size_t size = kDatagram) {
    std::vector<std::byte> room(size);
    PacketBuilder packet(room, kTrailerSize);
    const auto stream_class = planner().write_repair(packet);
    if (stream_class) ++next;
    return stream_class;
  }
  void wait(Duration time) {
    now += time;
    if (now >= planner().next_timeout()) planner().handle_timeout();
  }
  // The carrier is in use, so no burst begins.
  void keep_busy() { path.gate.debit(kDatagram, now); }
  // The path has lost none of many packets.
  void be_clean() { fec.policy.on_report(2'000, 0); }
  void produce(StreamId, std::uint32_t, Instant) override {}
  bool is_spent() const override { return false; }

  Instant now = Instant::from_nanoseconds(1'000'000'000);
  SteadyRate controller;
  control::Pacer carrier{BitRate::bits_per_second(8'000'000), {}, Duration::milliseconds(4)};
  Path path{kFirstPath, path_config(), RateGate(carrier, controller, 28), now};
  std::vector<std::byte> memory = std::vector<std::byte>(4096 * 4096);
  Arena arena{memory, 4096};
  WorkCount work;
  Streams streams{{.max_streams = 8,
                   .lane_receive_limit = kLittle,
                   .receive_limit = kLittle,
                   .send_limit = kMuch},
                  {Duration::milliseconds(25), 3000},
                  arena,
                  work,
                  kLittle};
  StreamWriter writer{*this, work};
  Fec fec{kDatagram};
  std::uint64_t next = 0;  // number of the next packet
  std::uint64_t id = 0;
};

TEST_F(RepairPlannerTest, AnOpenIsCoveredEvenIfThePathLosesNothing) {
  be_clean();
  ASSERT_NE(streams.life().open(0, {}, 0, now), nullptr);
  EXPECT_EQ(planner().code(), FecCode::kFlight);
  open(0);
  EXPECT_EQ(planner().code(), std::nullopt);
}

TEST_F(RepairPlannerTest, AStreamIsCoveredWhileItMayBeShort) {
  keep_busy();
  Stream& stream = open(200'000);
  EXPECT_EQ(planner().code(), FecCode::kFlight);
  stream.behind_rest = Behind::kMore;
  EXPECT_EQ(planner().code(), std::nullopt) << "it goes on";
  stream.behind_rest = Behind::kUnknown;
  be_clean();
  EXPECT_EQ(planner().code(), std::nullopt) << "nothing is lost";
}

TEST_F(RepairPlannerTest, OnlyTheLastFlightOfBulkIsCovered) {
  const Stream& stream = open(2'000'000, Behind::kNothing);
  const std::uint64_t flight = path.flight().value();
  std::optional<Coverage> coverage;
  std::uint64_t left = 0;
  while (!coverage) {
    keep_busy();
    left = stream.left();
    ASSERT_GT(left, flight - kDatagram);
    coverage = send();
  }
  EXPECT_LE(left, flight);
  EXPECT_EQ(coverage->code, FecCode::kFlight);
  EXPECT_TRUE(coverage->is_last_flight);
  EXPECT_EQ(coverage->plan.packets, left / kDatagram * 9 / 8 + 1);
}

TEST_F(RepairPlannerTest, TheBeginningOfABurstIsCovered) {
  open(2'000'000, Behind::kMore);
  keep_busy();
  EXPECT_EQ(planner().code(), std::nullopt);
  now += Duration::seconds(1);
  EXPECT_EQ(planner().code(), FecCode::kFlight) << "the carrier was free";
}

TEST_F(RepairPlannerTest, PromptStreamsHaveTheirOwnCodeAndClass) {
  Stream& stream = open(2'000'000, Behind::kMore);
  stream.prompt = true;
  const auto coverage = send();
  ASSERT_TRUE(coverage);
  EXPECT_EQ(coverage->code, FecCode::kPrompt);
  EXPECT_EQ(fec.prompt_class, 2);
  EXPECT_FALSE(planner().next_repair().is_never());
  be_clean();
  EXPECT_EQ(planner().code(), std::nullopt);
}

TEST_F(RepairPlannerTest, RepairsLeaveOnceTheWindowIsOver) {
  open(10'000);
  while (streams.sending().has_bytes(schedule::kEveryClass) != 0) ASSERT_TRUE(send());
  EXPECT_EQ(send_repair(), std::nullopt) << "more packets may follow";
  wait(kLull);
  EXPECT_EQ(planner().next_repair(), now);
  int repairs = 0;
  while (send_repair()) {
    ++repairs;
    wait(Duration::milliseconds(100));
  }
  EXPECT_GT(repairs, 0);
  EXPECT_EQ(fec.dropped, 0U);
  EXPECT_TRUE(planner().next_repair().is_never());
}

TEST_F(RepairPlannerTest, RepairsOfBulkAreDropped) {
  Stream& stream = open(10'000);
  while (streams.sending().has_bytes(schedule::kEveryClass) != 0) ASSERT_TRUE(send());
  wait(kLull);
  // The stream turns out to be bulk, and its packets leave before the repairs.
  ASSERT_EQ(streams.sending().write(stream, std::vector<std::byte>(3'500'000), now), 3'500'000U);
  for (int i = 0; i < 1'100; ++i) {
    keep_busy();
    EXPECT_FALSE(send());
  }
  EXPECT_EQ(send_repair(), std::nullopt);
  EXPECT_GT(fec.dropped, 0U);
}

TEST_F(RepairPlannerTest, ARepairThatThePacketHasNoRoomForIsDropped) {
  open(10'000);
  while (streams.sending().has_bytes(schedule::kEveryClass) != 0) ASSERT_TRUE(send());
  wait(kLull);
  EXPECT_EQ(send_repair(600), std::nullopt);
  EXPECT_GT(fec.dropped, 0U);
}

TEST_F(RepairPlannerTest, LongRepairsWaitWhileLargePacketsAreInGraveDoubt) {
  open(10'000);
  while (streams.sending().has_bytes(schedule::kEveryClass) != 0) ASSERT_TRUE(send());
  wait(kLull);
  path.mtu.on_silence(PathMtu::Doubt::kGrave);
  EXPECT_TRUE(planner().next_repair().is_never());
  EXPECT_EQ(send_repair(), std::nullopt);
  EXPECT_EQ(fec.dropped, 0U);
  path.mtu.start(kDatagram);
  EXPECT_TRUE(send_repair());
}

}  // namespace
}  // namespace satrelay::stp::test::repair_planner_test

// The two ends of a run and a path between them, in virtual time.
#include "relay/satperf/run.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <set>

#include "pep/base/random.h"
#include "pep/control/fixed_rate.h"

namespace satrelay::satperf::run_test {
namespace {

constexpr Duration kOneWay = Duration::milliseconds(50);

class Path {
 public:
  // `carries`: the rate of the way to the server; zero: unlimited.
  explicit Path(const Plan& plan, double loss = 0, BitRate carries = {})
      : plan_(plan), loss_(loss), carries_(carries) {
    ends_[0] = make(End::kClient, 1);
    ends_[1] = make(End::kServer, 2);
  }

  Run& client() { return *ends_[0].run; }
  Run& server() { return *ends_[1].run; }
  Instant now() const { return now_; }
  const std::set<std::uint8_t>& traffic_classes() const { return traffic_classes_; }

  // Runs until `done()`, but at most for `most`. Returns true if `done()` is true.
  template <typename Done>
  bool run(Duration most, Done done) {
    const Instant end = now_ + most;
    while (!done()) {
      step();
      if (now_ > end) return done();  // the last step may have ended the run
    }
    return true;
  }
  bool run_to_completion(Duration most = Duration::seconds(60)) {
    return run(most, [&] { return client().state() == Run::State::kComplete; });
  }

 private:
  struct Side {
    std::vector<std::byte> memory;
    std::unique_ptr<Run> run;
    std::deque<std::pair<Instant, std::vector<std::byte>>> inbound;
    Instant next_record;
    bool last_record_sent = false;
  };

  Side make(End end, std::uint64_t epoch) {
    Side side;
    side.memory.resize(16 << 20);
    RunConfig config;
    config.plan = plan_;
    config.end = end;
    config.boot_epoch = epoch;
    side.run = std::make_unique<Run>(config, side.memory, now_);
    return side;
  }

  void step() {
    Instant next = Instant::never();
    for (std::size_t i = 0; i < 2; ++i) {
      Side& side = ends_[i];
      while (!side.inbound.empty() && side.inbound.front().first <= now_) {
        side.run->handle_packet(side.inbound.front().second, now_);
        side.inbound.pop_front();
      }
      side.run->handle_events(now_);
      publish(side);
      send(side, ends_[1 - i]);
      next = earlier(next, side.run->next_timeout());
    }
    for (const Side& side : ends_) {
      if (!side.inbound.empty()) next = earlier(next, side.inbound.front().first);
    }
    now_ = later(next, now_ + Duration::microseconds(1));
  }

  void publish(Side& side) {
    if (side.run != ends_[1].run) return;
    if (side.run->state() == Run::State::kRunning && now_ >= side.next_record) {
      side.run->publish(side.run->snapshot(now_), now_);
      side.next_record = now_ + plan_.interval;
    }
    if (side.run->state() == Run::State::kComplete && !side.last_record_sent) {
      side.last_record_sent = side.run->publish(side.run->snapshot(now_), now_);
    }
  }

  void send(Side& from, Side& to) {
    std::vector<std::byte> packet(from.run->datagram_size());
    while (const std::size_t size = from.run->poll_packet(packet, now_)) {
      traffic_classes_.insert(from.run->traffic_class());
      if (random_.chance(loss_)) continue;
      if (!carries_.is_zero() && &from == &ends_[0]) {
        busy_ = later(busy_, now_) + carries_.time_for(ByteCount(size + 66));
      }
      to.inbound.emplace_back(
          later(&from == &ends_[0] ? busy_ : now_, now_) + kOneWay,
          std::vector<std::byte>(packet.begin(),
                                 packet.begin() + static_cast<std::ptrdiff_t>(size)));
    }
  }

  Plan plan_;
  double loss_;
  BitRate carries_;
  Instant busy_;
  Random random_{4711};
  std::set<std::uint8_t> traffic_classes_;
  Instant now_ = Instant::from_nanoseconds(1'000'000'000);
  Side ends_[2];
};

Plan plan_of(std::uint64_t bytes, std::uint32_t streams = 1) {
  Plan plan;
  plan.rate = plan.return_rate = BitRate::bits_per_second(20'000'000);
  plan.bytes = bytes;
  plan.streams = streams;
  plan.interval = Duration::milliseconds(200);
  return plan;
}

TEST(Run, BytesArriveAndBothEndsKnow) {
  Path path(plan_of(3'000'001, 3), 0.02);
  ASSERT_TRUE(path.run_to_completion()) << path.client().why() << path.server().why();
  EXPECT_EQ(path.server().state(), Run::State::kComplete);
  ASSERT_TRUE(path.client().remote());
  const Snapshot& there = *path.client().remote();
  EXPECT_EQ(there.complete, 1U);
  EXPECT_EQ(there.delivered_bytes, 3'000'001U);
  EXPECT_EQ(there.stored_bytes, 3'000'001U);
  EXPECT_EQ(there.blocks_checked, 3 * (1'000'000 / kBlock + 1)) << "and the three last ones";
  EXPECT_EQ(there.blocks_damaged, 0U);
  EXPECT_GT(there.last_byte_ns, there.first_byte_ns);
  const Snapshot here = path.client().snapshot(path.now());
  EXPECT_EQ(here.sent_bytes, 3'000'001U);
  EXPECT_EQ(here.acknowledged_bytes, 3'000'001U);
  EXPECT_GT(here.packets_lost, 0U);
  EXPECT_NEAR(static_cast<double>(here.rtt_us), 100'000, 10'000);
}

TEST(Run, TheServerSendsWhenAskedTo) {
  Plan plan = plan_of(1'000'000, 2);
  plan.direction = Direction::kReverse;
  Path path(plan, 0.01);
  ASSERT_TRUE(path.run_to_completion()) << path.client().why() << path.server().why();
  const Snapshot here = path.client().snapshot(path.now());
  EXPECT_EQ(here.delivered_bytes, 1'000'000U);
  EXPECT_EQ(here.stored_bytes, 1'000'000U) << "records are no payload";
  EXPECT_EQ(here.blocks_damaged, 0U);
  EXPECT_EQ(path.client().remote()->sent_bytes, 1'000'000U);
  EXPECT_EQ(path.client().remote()->acknowledged_bytes, 1'000'000U);
}

// Returns the bytes sent half a second after the start. Then waits until all bytes have arrived.
std::uint64_t sent_early(config::Controller controller, Direction direction,
                         std::set<std::uint8_t>& traffic_classes) {
  Plan plan = plan_of(3'000'000);
  plan.controller = controller;
  plan.direction = direction;
  Path path(plan, 0.005);
  EXPECT_FALSE(path.run(Duration::milliseconds(500), [] { return false; }));
  Run& sender = plan.sender() == End::kClient ? path.client() : path.server();
  const std::uint64_t sent = sender.snapshot(path.now()).sent_bytes;
  EXPECT_TRUE(path.run_to_completion()) << path.client().why() << path.server().why();
  traffic_classes = path.traffic_classes();
  return sent;
}

TEST(Run, TheSenderFollowsItsController) {
  using config::Controller;
  for (const Direction direction : {Direction::kForward, Direction::kReverse}) {
    std::set<std::uint8_t> classes;
    const std::uint64_t fixed = sent_early(Controller::kFixedRate, direction, classes);
    EXPECT_EQ(classes, std::set<std::uint8_t>{0});
    EXPECT_LT(sent_early(Controller::kHpfp, direction, classes), fixed * 3 / 4)
        << "it begins at half of the rate";
    EXPECT_EQ(classes, std::set<std::uint8_t>{0});
    EXPECT_LT(sent_early(Controller::kStp, direction, classes), fixed * 3 / 4)
        << "it begins with a window of six";
    sent_early(Controller::kTps, direction, classes);
    EXPECT_GE(classes.size(), 3U) << "it marks its packets";
  }
}

TEST(Run, TheSenderFindsWhatThePathCarriesAndTellsTheOtherEnd) {
  Plan plan = plan_of(0);
  plan.controller = config::Controller::kFind;
  plan.rate = BitRate::bits_per_second(1'000'000'000);
  plan.duration = Duration::seconds(4);
  Path path(plan, 0, BitRate::bits_per_second(8'000'000));
  ASSERT_TRUE(path.run_to_completion(Duration::seconds(6))) << path.client().why();
  EXPECT_NEAR(static_cast<double>(path.client().snapshot(path.now()).capacity_bps), 8e6, 0.4e6);
  plan.direction = Direction::kReverse;
  plan.rate = BitRate::bits_per_second(5'000'000);
  Path back(plan);
  ASSERT_TRUE(back.run_to_completion(Duration::seconds(6))) << back.client().why();
  EXPECT_EQ(back.client().remote()->capacity_bps, 5'000'000U) << "the ceiling";
}

TEST(Run, TimeEndsARunAtTheRate) {
  Plan plan = plan_of(0);
  plan.duration = Duration::seconds(4);
  Path path(plan);
  ASSERT_TRUE(path.run_to_completion(Duration::seconds(5))) << path.client().why();
  const Snapshot& there = *path.client().remote();
  // 0.995 of the rate. Each 1538 bytes hold 38 + 20 + 8 + 12 + 6 bytes of overhead, and a little
  // more.
  const double rate = static_cast<double>(there.delivered_bytes) * 8 /
                      (static_cast<double>(there.last_byte_ns - there.first_byte_ns) / 1e9);
  EXPECT_NEAR(rate, 20e6 * 0.995 * 1453 / 1538, 20e6 * 0.005);
  EXPECT_EQ(path.client().snapshot(path.now()).sent_bytes, there.delivered_bytes);
}

TEST(Run, RecordsComeWhileItRuns) {
  Path path(plan_of(5'000'000));
  ASSERT_TRUE(path.run(Duration::seconds(2), [&] {
    return path.client().remote() && path.client().remote()->delivered_bytes > 1'000'000;
  }));
  EXPECT_EQ(path.client().remote()->complete, 0U);
  EXPECT_EQ(path.client().state(), Run::State::kRunning);
}

TEST(Run, CrcIntervalChecksEveryNthBlock) {
  Plan plan = plan_of(10 * kBlock);
  plan.crc_interval = 4;
  Path path(plan);
  ASSERT_TRUE(path.run_to_completion());
  EXPECT_EQ(path.client().remote()->blocks_checked, 3U) << "0, 4 and 8";
  plan.crc_interval = 0;
  Path unchecked(plan);
  ASSERT_TRUE(unchecked.run_to_completion());
  EXPECT_EQ(unchecked.client().remote()->blocks_checked, 0U);
}

TEST(Run, AClosingEndEndsTheOther) {
  Path path(plan_of(50'000'000));
  ASSERT_TRUE(path.run(Duration::seconds(2),
                       [&] { return path.server().snapshot(path.now()).delivered_bytes > 0; }));
  path.client().close(path.now());
  ASSERT_TRUE(
      path.run(Duration::seconds(1), [&] { return path.server().state() == Run::State::kEnded; }));
  EXPECT_EQ(path.server().why(), "the other end has stopped");
}

TEST(Run, ACloseBehindCompletionIsNoFailure) {
  Path path(plan_of(100'000));
  ASSERT_TRUE(path.run_to_completion());
  path.client().close(path.now());
  ASSERT_TRUE(
      path.run(Duration::seconds(1), [&] { return path.server().state() == Run::State::kEnded; }));
  EXPECT_EQ(path.server().why(), "");
}

// The source of a session that sends bytes which satperf would not send.
class Forger final : public stp::StreamSource {
 public:
  void produce(stp::StreamId, std::uint32_t, Instant) override {}
};

TEST(Run, DamagedPayloadIsCounted) {
  const Plan plan = plan_of(3 * kBlock);
  std::vector<std::byte> memory(16 << 20), forged_memory(16 << 20);
  const Instant now = Instant::from_nanoseconds(1);
  RunConfig config;
  config.plan = plan;
  config.end = End::kServer;
  config.boot_epoch = 2;
  satperf::Run server(config, memory, now);
  Arena arena(forged_memory, 4096);
  control::FixedRate controller(BitRate::bits_per_second(1'000'000'000));
  control::Pacer pacer(controller.rate(), {}, Duration::seconds(1));
  Forger source;
  stp::Config stp;
  stp.boot_epoch = 1;
  stp::Session client(stp, arena, pacer, controller, source, now);
  std::array<std::byte, 1500> packet{};
  const auto exchange = [&] {
    for (int i = 0; i < 500; ++i) {
      if (const auto size = client.poll_packet(packet, now)) {
        server.handle_packet(ConstBytes(packet).first(size), now);
      }
      if (const auto size = server.poll_packet(packet, now)) {
        client.handle_packet(ConstBytes(packet).first(size), now);
      }
      server.handle_events(now);
    }
  };
  exchange();
  const std::array<std::byte, 4> metadata{std::byte{0}, std::byte{0}, std::byte{0}, std::byte{1}};
  const auto stream = client.streams().open(metadata, 1, now);
  ASSERT_TRUE(stream);
  std::vector<std::byte> payload(3 * kBlock);
  const Pattern pattern;
  for (std::size_t block = 0; block < 3; ++block) {
    pattern.fill(0, block * kBlock, MutableBytes(payload).subspan(block * kBlock, kBlock));
  }
  payload[kBlock + 100] ^= std::byte{1};
  ASSERT_EQ(client.streams().write(*stream, payload, now), payload.size());
  client.streams().finish(*stream);
  exchange();
  const Snapshot seen = server.snapshot(now);
  EXPECT_EQ(seen.delivered_bytes, payload.size());
  EXPECT_EQ(seen.blocks_checked, 3U);
  EXPECT_EQ(seen.blocks_damaged, 1U);
}

}  // namespace
}  // namespace satrelay::satperf::run_test

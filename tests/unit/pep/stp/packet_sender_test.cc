// Packets that leave in bursts equal, octet for octet, the packets that leave one by one. And which
// events end a burst.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pep/base/arena.h"
#include "pep/control/pacer.h"
#include "pep/control/rate_controller.h"
#include "pep/stp/session.h"
#include "pep/stp/wire/frames.h"
#include "pep/stp/wire/packet.h"
#include "relay/sim/adversaries/hello_packet.h"
#include "tests/unit/pep/stp/application.h"

namespace satrelay::stp::test::packet_sender_test {
namespace {

constexpr std::uint64_t kEpoch = 1000, kPeerEpoch = 2000;
constexpr std::size_t kFull = 1472;
constexpr std::size_t kBefore = 42;  // headers of a caller
constexpr std::size_t kTurn = 11;    // packets: 125 us of the controller's rate
constexpr Instant kNow = Instant::from_nanoseconds(1'000'000'000);

class Controller final : public control::RateController {
 public:
  void on_feedback(const control::FeedbackSample&) override {}
  void on_capacity(BitRate) override {}
  control::Priority on_sent(control::Purpose, ByteCount, Instant) override {
    low_ = alternates && !low_;
    return low_ ? control::Priority::kLow : control::Priority::kHigh;
  }
  BitRate rate() const override { return BitRate::bits_per_second(1'000'000'000); }
  ByteCount window() const override { return most; }
  Instant holds_until() const override { return held_until; }
  bool is_steady() const override { return steady; }

  ByteCount most = kNoWindow;
  Instant held_until;
  bool steady = true;
  bool alternates = false;

 private:
  bool low_ = false;
};

struct Settings {
  Duration burst = Duration::milliseconds(50);  // of the carrier, at 100 Mbit/s
  std::uint32_t max_packets_in_flight = 1 << 16;
  std::uint64_t credit = 1 << 22;
};

// A session that has met its peer, with all that it needs.
class Sender final : public StreamSource {
 public:
  explicit Sender(const Settings& settings)
      : memory_(std::size_t{8} << 20),
        arena_(memory_, 4096),
        pacer_(BitRate::bits_per_second(100'000'000), control::LinkOverhead{0}, settings.burst),
        session_(config(settings), arena_, pacer_, controller, *this, Instant()) {
    HelloFrame hello;
    hello.minimum_version = hello.maximum_version = 1;
    hello.epoch = kPeerEpoch;
    hello.peer_epoch = kEpoch;
    hello.datagram_size = kFull;
    hello.lane_credit = hello.stream_credit = settings.credit;
    session_.handle_packet(sim::write_hello_packet({.number = 1}, hello), kNow);
    EXPECT_EQ(session_.peer_state(), PeerState::kAlive);
    while (session_.poll_packet(room_, kNow) > 0) {
    }
    while (session_.poll_event()) {
    }
  }

  StreamId open(std::size_t bytes, std::uint64_t host = 0, schedule::ClassId stream_class = 0) {
    const StreamId id = *session_.streams().open({}, 0, kNow);
    session_.streams().set_group(id, stream_class, host);
    write(id, bytes);
    return id;
  }
  void write(StreamId id, std::size_t bytes) {
    std::vector<std::byte> content(bytes);
    for (std::byte& octet : content) octet = static_cast<std::byte>(seed_++ * 7 / 3);
    EXPECT_EQ(session_.streams().write(id, content, kNow), bytes);
  }
  void produce(StreamId id, std::uint32_t, Instant) override {
    if (on_produce) on_produce(*this, id);
  }
  // Sends the OPENs of the streams.
  void send_opens() { EXPECT_GT(one().size(), 0U); }

  std::vector<std::byte> one(const schedule::Turn& turn = {}) {
    const std::size_t size = session_.poll_packet(room_, kNow, turn);
    return {room_.begin(), room_.begin() + static_cast<std::ptrdiff_t>(size)};
  }
  // Sends the next packets in one burst. Returns how many.
  std::size_t burst(std::size_t most = 32, const schedule::Turn& turn = {}) {
    std::vector<std::vector<std::byte>> rooms(most, std::vector<std::byte>(kBefore + kFull));
    const std::vector<MutableBytes> spans(rooms.begin(), rooms.end());
    packets.assign(most, {});
    const std::size_t count = session_.poll_packets(spans, kBefore, packets, kNow, turn);
    packets.resize(count);
    octets.clear();
    for (std::size_t i = 0; i < count; ++i) {
      const auto begin = rooms[i].begin() + kBefore;
      octets.emplace_back(begin, begin + packets[i].size);
    }
    return count;
  }
  Session& session() { return session_; }
  control::Pacer& pacer() { return pacer_; }

  Controller controller;
  std::function<void(Sender&, StreamId)> on_produce;
  std::vector<PolledPacket> packets;           // of the last burst
  std::vector<std::vector<std::byte>> octets;  // the same

 private:
  static Config config(const Settings& settings) {
    Config config;
    config.boot_epoch = kEpoch;
    config.max_packets_in_flight = settings.max_packets_in_flight;
    return config;
  }
  std::vector<std::byte> memory_;
  std::array<std::byte, kFull> room_{};
  Arena arena_;
  control::Pacer pacer_;
  Session session_;
  unsigned seed_ = 1;
};

// Two senders in the same state. One of them sends in bursts.
class PacketSenderTest : public ::testing::Test {
 protected:
  void begin(const Settings& settings = {}) {
    bursts_ = std::make_unique<Sender>(settings);
    single_ = std::make_unique<Sender>(settings);
  }
  template <typename Do>
  void both(Do&& what) {
    what(*bursts_);
    what(*single_);
  }
  // Sends all packets that are due now, and compares them. Returns how many left behind the first
  // packets of bursts.
  std::size_t compare() {
    std::size_t behind_first = 0;
    while (const std::size_t count = bursts_->burst()) {
      behind_first += count - 1;
      std::span<const schedule::ClassBytes> all = bursts_->session().last_classes();
      for (std::size_t i = 0; i < count; ++i) {
        EXPECT_EQ(bursts_->octets[i], single_->one());
        const PolledPacket& described = bursts_->packets[i];
        EXPECT_EQ(described.priority, single_->session().last_priority());
        const auto classes = all.first(described.classes);
        all = all.subspan(described.classes);
        const auto expected = single_->session().last_classes();
        EXPECT_TRUE(std::ranges::equal(classes, expected, same_bytes));
      }
      EXPECT_TRUE(all.empty());
    }
    EXPECT_TRUE(single_->one().empty());
    EXPECT_EQ(bursts_->pacer().free_at(), single_->pacer().free_at());
    EXPECT_EQ(bursts_->session().next_timeout(), single_->session().next_timeout());
    EXPECT_EQ(bursts_->session().visited(), single_->session().visited());
    EXPECT_EQ(bursts_->session().audit().value_or(""), "");
    const Counters a = bursts_->session().counters(), b = single_->session().counters();
    EXPECT_EQ(a.packets_out, b.packets_out);
    EXPECT_EQ(a.bytes_out, b.bytes_out);
    EXPECT_EQ(a.stream_bytes_out, b.stream_bytes_out);
    return behind_first;
  }
  static bool same_bytes(const schedule::ClassBytes& a, const schedule::ClassBytes& b) {
    return a.stream_class == b.stream_class && a.bytes == b.bytes && a.booked == b.booked &&
           a.hosts == b.hosts;
  }

  std::unique_ptr<Sender> bursts_, single_;
};

TEST_F(PacketSenderTest, IsWhatWouldLeaveOneByOne) {
  begin();
  both([](Sender& s) {
    s.open(200'000);
    s.send_opens();
  });
  EXPECT_GT(compare(), 100U);
}

TEST_F(PacketSenderTest, HostsAndStreamsTakeTheirTurnsAsOneByOne) {
  begin();
  both([](Sender& s) {
    s.open(90'000, 1);
    s.open(40'000, 1);
    s.open(70'001, 2);
    for (std::size_t i = 0; i < 10; ++i) s.open(3'000 + i, 3 + i);
    s.send_opens();
  });
  EXPECT_GT(compare(), 80U);
}

TEST_F(PacketSenderTest, WhatTheWriterProducesOnTheWayIsTheSame) {
  begin();
  both([](Sender& s) {
    int left = 40;
    s.on_produce = [left](Sender& self, StreamId id) mutable {
      if (--left < 0) return self.session().streams().set_ready(id, false);
      self.write(id, 2'000 + static_cast<std::size_t>(left) * 100);
    };
    const StreamId first = s.open(10'000, 1), second = s.open(5'000, 2);
    s.send_opens();
    s.session().streams().set_ready(first, true);
    s.session().streams().set_ready(second, true);
  });
  EXPECT_GT(compare(), 60U);
}

TEST_F(PacketSenderTest, EachHasThePriorityThatItsControllerSays) {
  begin();
  both([](Sender& s) {
    s.controller.alternates = true;
    s.open(50'000);
    s.send_opens();
  });
  EXPECT_GT(compare(), 20U);
}

TEST_F(PacketSenderTest, EndsWithTheCreditOfThePacer) {
  begin({.burst = Duration::microseconds(600)});  // five packets of 120 us
  both([](Sender& s) {
    s.open(200'000);
    s.send_opens();
  });
  const std::size_t behind_first = compare();
  EXPECT_GT(behind_first, 0U);
  EXPECT_LT(behind_first, 6U);
  EXPECT_EQ(bursts_->burst(), 0U);
}

TEST_F(PacketSenderTest, EndsWithTheWindow) {
  begin();
  both([](Sender& s) {
    s.controller.most = ByteCount(10 * 1'500);
    s.open(200'000);
    s.send_opens();
  });
  EXPECT_EQ(compare(), 8U) << "two before them";
}

TEST_F(PacketSenderTest, EndsWithThePacketsThatMayBeInFlight) {
  begin({.max_packets_in_flight = 64});
  both([](Sender& s) {
    s.open(200'000);
    s.send_opens();
  });
  EXPECT_LE(compare(), 58U);
  EXPECT_EQ(bursts_->session().path().packets_in_flight(), 60U);
}

TEST_F(PacketSenderTest, EndsWithTheCreditOfThePeer) {
  begin({.credit = 20'000});
  both([](Sender& s) {
    s.open(200'000);
    s.send_opens();
  });
  compare();
  EXPECT_EQ(bursts_->session().counters().stream_bytes_out, 17'500U)
      << "an eighth of the lane is kept for streams that are yet to come";
}

TEST_F(PacketSenderTest, EndsWithTheBytesOfTheStream) {
  begin();
  both([](Sender& s) {
    const StreamId id = s.open(20'000);
    s.send_opens();
    s.session().streams().finish(id);
  });
  EXPECT_GT(compare(), 8U);
  EXPECT_EQ(bursts_->session().streams().unsent(StreamId{0}), 0U);
}

TEST_F(PacketSenderTest, EndsWithTheRoomsThatThereAre) {
  begin();
  bursts_->open(200'000);
  bursts_->send_opens();
  EXPECT_EQ(bursts_->burst(7), 7U);
  EXPECT_EQ(bursts_->burst(1), 1U);
}

TEST_F(PacketSenderTest, EndsForBytesOfAnotherClass) {
  begin();
  both([](Sender& s) {
    s.open(60'000);
    const StreamId other = s.open(100, 0, 3);
    const StreamId asked = s.open(0);
    s.send_opens();
    s.one({.first = 3});
    s.one();
    s.on_produce = [other](Sender& self, StreamId id) {
      self.session().streams().set_ready(id, false);
      self.write(other, 500);
    };
    s.session().streams().set_ready(asked, true);
  });
  const std::size_t first = bursts_->burst();
  EXPECT_GT(first, 1U);
  EXPECT_LE(first, kTurn + 1) << "the one that is asked has its turn next";
  EXPECT_EQ(bursts_->session().waiting(), schedule::class_bit(0) | schedule::class_bit(3))
      << "both classes wait: the relay must choose again";
  const std::size_t sent = bursts_->session().counters().packets_out;
  while (single_->session().counters().packets_out < sent) single_->one();
  EXPECT_EQ(bursts_->one({.first = 3}), single_->one({.first = 3}));
  EXPECT_EQ(bursts_->session().waiting(), schedule::class_bit(0));
  EXPECT_GE(compare(), 20U) << "again, as class 3 has nothing left";
}

TEST_F(PacketSenderTest, EndsForWhatTheSessionIsTold) {
  begin();
  both([](Sender& s) {
    s.open(60'000);
    const StreamId other = s.open(100);
    const StreamId asked = s.open(0);
    s.send_opens();
    for (int i = 0; i < 3; ++i) s.one();
    s.on_produce = [other](Sender& self, StreamId id) {
      self.session().streams().set_ready(id, false);
      self.session().streams().reset(other, ResetReason::kHostReset, kNow);
    };
    s.session().streams().set_ready(asked, true);
  });
  const std::size_t first = bursts_->burst();
  EXPECT_GT(first, 1U);
  EXPECT_LE(first, kTurn + 1) << "the one that is asked has its turn next";
  const std::size_t sent = bursts_->session().counters().packets_out;
  while (single_->session().counters().packets_out < sent) single_->one();
  EXPECT_EQ(bursts_->one(), single_->one()) << "with the RESET";
  EXPECT_GE(compare(), 20U);
}

TEST_F(PacketSenderTest, EndsForAStreamThatIsOpened) {
  begin();
  both([](Sender& s) {
    s.open(60'000);
    s.send_opens();
    s.one();
    s.one();
  });
  EXPECT_EQ(bursts_->burst(3), 3U);
  for (int i = 0; i < 3; ++i) single_->one();
  both([](Sender& s) { s.open(100); });
  EXPECT_GT(compare(), 20U);
}

TEST_F(PacketSenderTest, AControllerMayWantToBeAskedForEach) {
  begin();
  bursts_->open(200'000);
  bursts_->send_opens();
  EXPECT_EQ(bursts_->burst(2), 2U);
  bursts_->controller.steady = false;
  EXPECT_EQ(bursts_->burst(), 1U);
  bursts_->controller.steady = true;
  EXPECT_EQ(bursts_->burst(2), 2U);
  bursts_->controller.held_until = kNow + Duration::milliseconds(1);
  EXPECT_EQ(bursts_->burst(), 0U);
}

TEST_F(PacketSenderTest, OnlyPacketsOfTheClassWithTheTurnFollow) {
  begin();
  bursts_->open(200'000);
  bursts_->send_opens();
  EXPECT_EQ(bursts_->burst(32, {.first = 5}), 1U);
  EXPECT_EQ(bursts_->burst(32, {.streams = false}), 0U);
  EXPECT_EQ(bursts_->burst(32, {.open = schedule::class_bit(5)}), 0U);
}

// A path between two sessions, with its faults.
struct Path {
  const char* name;
  Sealed sealed;
  ChannelFaults faults;
};
constexpr Path kPaths[] = {
    {"clean", Sealed::kByChecksum, {}},
    {"lossy", Sealed::kByChecksum, {.loss = 0.02, .reorder = 0.01}},
    {"lossy and encrypted", Sealed::kByKey, {.loss = 0.02, .duplicate = 0.01}},
};

// A hash (FNV-1a) of all packets of both ends and of the times at which they leave.
std::uint64_t packets_of(const Path& path, std::uint64_t seed, std::size_t most_in_burst,
                         std::size_t& sent_behind_first) {
  SeededEntropy entropy_a(1), entropy_b(2);
  EndConfig a = end_config(true, path.sealed), b = end_config(false, path.sealed);
  for (auto [end, entropy] : {std::pair(&a, &entropy_a), std::pair(&b, &entropy_b)}) {
    if (!end->session.security) continue;
    end->session.security->entropy = entropy;
    end->session.security->packets_per_key = 300;  // so that keys change
  }
  a.rate = b.rate = BitRate::bits_per_second(200'000'000);  // eight packets at once
  Network net(a, b, Duration::milliseconds(40), path.faults, seed);
  net.tick = Duration::milliseconds(1);
  net.most_in_burst = most_in_burst;
  std::uint64_t hash = 0xcbf29ce484222325U;
  net.on_packet = [&](int end, ConstBytes packet) {
    const auto add = [&](std::uint64_t value) { hash = (hash ^ value) * 0x100000001B3U; };
    add(static_cast<std::uint64_t>(end));
    add(static_cast<std::uint64_t>(net.now.to_nanoseconds()));
    for (const std::byte octet : packet) add(static_cast<std::uint64_t>(octet));
  };
  EXPECT_TRUE(net.connect());
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(net.apps[0].open(4'000'000, 2'000, net.now));
    EXPECT_TRUE(net.apps[1].open(30'000, 400'000, net.now));
  }
  EXPECT_TRUE(net.run(Duration::seconds(60), [&] {
    return net.apps[0].finished_flows == 8 && net.apps[1].finished_flows == 8;
  })) << net.error();
  EXPECT_EQ(net.error(), "");
  const bool encrypts = path.sealed == Sealed::kByKey;
  EXPECT_EQ(net.session(0).counters().keys_out > 2, encrypts);
  sent_behind_first = net.sent_behind_first;
  return hash;
}

TEST(PacketSenders, WholeConversationsAreWhatTheyWouldBeWithout) {
  for (const Path& path : kPaths) {
    std::size_t all = 0;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      std::size_t behind_first = 0, none = 0;
      EXPECT_EQ(packets_of(path, seed, 6, behind_first), packets_of(path, seed, 1, none))
          << path.name << ", seed " << seed;
      EXPECT_EQ(none, 0U);
      all += behind_first;
    }
    // A packet that a code covers ends a burst.
    EXPECT_GT(all, 100U) << path.name;
  }
}

}  // namespace
}  // namespace satrelay::stp::test::packet_sender_test

// How much work HELLOs may cause a worker. Sessions share its budget, while an attacker floods one
// or all of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pep/stp/connection/hello_budget.h"
#include "pep/stp/connection/key_exchange.h"
#include "pep/stp/wire/frames.h"
#include "pep/stp/wire/packet.h"
#include "relay/sim/adversaries/hello_packet.h"
#include "tests/unit/pep/stp/application.h"

namespace satrelay::stp::test::admission_test {
namespace {

using Packet = std::vector<std::byte>;

// Each key on the curve draws random bytes once, and so does each offer that is read.
class CountingEntropy final : public Entropy {
 public:
  void fill(MutableBytes out) override {
    ++draws;
    entropy_.fill(out);
  }
  std::uint64_t draws = 0;

 private:
  SeededEntropy entropy_{7};
};

// Our sessions with several peers, with several lanes each. A test creates the peers that it needs.
class AdmissionTest : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kPeers = 16;
  static constexpr std::uint8_t kLanes = 2;
  static constexpr int kTicksOfANap = 5;
  static constexpr std::size_t kSessions = std::size_t{kPeers} * kLanes;

  explicit AdmissionTest(Sealed sealed = Sealed::kByKey) {
    for (std::uint32_t peer = 0; peer < kPeers; ++peer) {
      for (std::uint8_t lane = 0; lane < kLanes; ++lane) {
        EndConfig config = config_of(sealed, peer, lane, true);
        config.session.boot_epoch = 1'000;
        config.session.hello.shared = &budget;
        config.session.hello.peer = peer;
        if (config.session.security) config.session.security->entropy = &entropy;
        ours.push_back(std::make_unique<End>(config, app, now));
      }
    }
  }
  static EndConfig config_of(Sealed sealed, std::uint32_t peer, std::uint8_t lane, bool even) {
    EndConfig config = end_config(even, sealed);
    config.session.lane = lane;
    config.session.lane_count = kLanes;
    config.arena_bytes = 1 << 16;
    if (config.session.security) config.session.security->names = {std::byte(peer)};
    return config;
  }
  std::unique_ptr<End> make_peer(std::size_t session, std::uint64_t epoch) {
    EndConfig config = config_of(Sealed::kByKey, static_cast<std::uint32_t>(session / kLanes),
                                 static_cast<std::uint8_t>(session % kLanes), false);
    config.session.boot_epoch = epoch;
    return std::make_unique<End>(config, app, now);
  }
  // The HELLOs that a peer sends in the first `seconds` of a boot, while it gets no answer.
  std::vector<Packet> recorded(std::size_t session, std::uint64_t epoch, int seconds = 1) {
    const auto peer = make_peer(session, epoch);
    std::vector<Packet> packets;
    for (int ms = 0; ms < seconds * 1000; ms += 10) {
      const Instant then = now + Duration::milliseconds(ms);
      std::byte out[2000];
      while (const std::size_t size = peer->session().poll_packet(out, then)) {
        packets.emplace_back(out, out + size);
      }
    }
    return packets;
  }
  static Packet without_mac(const Packet& hello) {
    ByteReader in(frames_of(hello));
    in.u8();
    HelloKeys keys;
    const HelloFrame frame = parse_hello(in, keys);
    return sim::write_hello_packet(*parse_header(hello), frame, {keys.offer, keys.accept});
  }
  static Packet forged(Packet hello, Random& random) {
    for (std::size_t i = 1; i <= 16; ++i) {
      hello[hello.size() - kTrailerSize - i] = static_cast<std::byte>(random.next());
    }
    SessionSeal().close(hello);
    return hello;
  }
  // Runs all our sessions. It counts what they send, and keeps the packets of session `watched`.
  void work() {
    for (std::size_t i = 0; i < ours.size(); ++i) {
      Session& session = ours[i]->session();
      if (session.next_timeout() <= now) session.handle_timeout(now);
      std::byte out[2000];
      while (const std::size_t size = session.poll_packet(out, now)) {
        ++sent;
        if (i == watched) answers.emplace_back(out, out + size);
      }
      while (session.poll_event()) {
      }
    }
  }
  template <typename Each>
  void flood(Duration time, Duration every, Each each) {
    for (const Instant end = now + time; now < end; now += every) {
      each();
      work();
    }
  }
  Packet as_sent(ConstBytes datagram) const {
    const Packet packet(datagram.begin(), datagram.end());
    const bool is_hello = parse_header(packet)->type == PacketType::kHello;
    return is_hello && !sends_macs ? without_mac(packet) : packet;
  }
  // The peers of `sessions` run for two seconds, with a one-way delay of `away`, and look for
  // packets every `nap`. Our sessions begin when the first HELLOs of these peers arrive.
  void meet(const std::vector<std::size_t>& sessions, Duration away = Duration::zero(),
            Duration nap = Duration::milliseconds(1)) {
    last_of_peer.resize(kSessions);
    last_hello_of_peer.resize(kSessions);
    std::vector<std::unique_ptr<End>> peers(kSessions);
    for (const std::size_t i : sessions) peers[i] = make_peer(i, 2'000);
    std::vector<Path> to_us(kSessions, Path(away)), to_peer(kSessions, Path(away));
    const Instant begins = now + away, ends = now + Duration::seconds(2);
    for (Instant wakes = now; now < ends; now += nap / kTicksOfANap) {
      const bool awake = now >= wakes;
      if (awake) wakes += nap;
      for (const std::size_t i : sessions) {
        if (awake) send_due(peers[i]->session(), to_us[i]);
        to_us[i].deliver(now, [&](const Packet& packet) {
          last_of_peer[i] = packet;
          if (parse_header(packet)->type == PacketType::kHello) last_hello_of_peer[i] = packet;
          session(i).handle_packet(packet, now);
        });
        if (now >= begins) send_due(session(i), to_peer[i]);
        if (!awake) continue;
        to_peer[i].deliver(
            now, [&](const Packet& packet) { peers[i]->session().handle_packet(packet, now); });
      }
    }
  }
  class Path {
   public:
    explicit Path(Duration delay) : delay_(delay) {}
    void send(Packet packet, Instant now) {
      packets_.emplace_back(now + delay_, std::move(packet));
    }
    template <typename Receive>
    void deliver(Instant now, Receive receive) {
      while (!packets_.empty() && packets_.front().first <= now) {
        receive(packets_.front().second);
        packets_.pop_front();
      }
    }

   private:
    Duration delay_;
    std::deque<std::pair<Instant, Packet>> packets_;
  };
  void send_due(Session& from, Path& path) {
    if (from.next_timeout() <= now) from.handle_timeout(now);
    std::byte out[2000];
    while (const std::size_t size = from.poll_packet(out, now)) {
      path.send(as_sent(ConstBytes(out).first(size)), now);
    }
    while (from.poll_event()) {
    }
  }
  Counters counted() const {
    Counters sum;
    for (const auto& end : ours) {
      for (const auto& field : Counters::kFields) {
        sum.*field.member += end->session().counters().*field.member;
      }
    }
    return sum;
  }
  Session& session(std::size_t i) { return ours[i]->session(); }

  Instant now = Instant::from_nanoseconds(1'000'000'000);
  HelloBudget budget{kPeers};
  CountingEntropy entropy;
  Application app;
  std::vector<std::unique_ptr<End>> ours;
  std::uint64_t sent = 0;
  std::size_t watched = kSessions;
  bool sends_macs = true;
  std::vector<Packet> answers;
  std::vector<Packet> last_of_peer, last_hello_of_peer;  // by session
};

constexpr Duration kTick = Duration::microseconds(200);

TEST_F(AdmissionTest, ForgedHellosTakeNeitherEntropyNorAnswers) {
  flood(Duration::seconds(10), Duration::milliseconds(10), [] {});
  std::vector<Packet> hellos;
  for (std::size_t i = 0; i < kSessions; ++i) hellos.push_back(recorded(i, 2'000).front());
  Random random(1);
  std::uint64_t calm = sent, calm_draws = entropy.draws;
  flood(Duration::seconds(8), Duration::milliseconds(10), [] {});
  calm = sent - calm;
  calm_draws = entropy.draws - calm_draws;
  const std::uint64_t before = sent, draws = entropy.draws;
  flood(Duration::seconds(8), kTick, [&] {
    for (std::size_t i = 0; i < kSessions; ++i) {
      session(i).handle_packet(forged(hellos[i], random), now);
    }
  });
  EXPECT_LE(entropy.draws - draws, calm_draws + kSessions);
  EXPECT_LE(sent - before, calm + kSessions);
  EXPECT_EQ(counted().not_authentic, 8U * 5'000 * kSessions);
}

TEST_F(AdmissionTest, RecordedHellosAreAnsweredOnce) {
  std::vector<Packet> hellos;
  for (std::size_t i = 0; i < kSessions; ++i) {
    for (const std::uint64_t epoch : {2'000U, 3'000U, 4'000U}) {
      for (Packet& hello : recorded(i, epoch, 10)) hellos.push_back(std::move(hello));
    }
  }
  Random random(2);
  const auto play = [&] {
    for (int j = 0; j < 32; ++j) {
      const std::size_t at = random.below(hellos.size());
      session(at * kSessions / hellos.size()).handle_packet(hellos[at], now);
    }
  };
  flood(Duration::seconds(20), kTick, play);
  const std::uint64_t before = sent, draws = entropy.draws;
  flood(Duration::seconds(8), kTick, play);
  EXPECT_LE(sent - before, 9U * kSessions) << "our own, each second";
  EXPECT_LE(entropy.draws - draws, 2U * kSessions) << "and our offers";
  EXPECT_GT(counted().hellos_repeated, 1'000'000U);
}

// The peer's own HELLO is newer than all recorded ones. So the session reads it in its turn, and
// answers.
TEST_F(AdmissionTest, AGenuineHelloIsReadInAFloodOfRecordedOnes) {
  for (const std::size_t victim : {std::size_t{0}, std::size_t{5}}) {
    std::vector<std::vector<Packet>> hellos(kSessions);
    for (std::size_t i = 0; i < kSessions; ++i) hellos[i] = recorded(i, 2'000 + victim, 300);
    std::vector<std::size_t> next(kSessions);
    // In the order of recording, so that each HELLO is newer than those before it.
    const auto play = [&] {
      for (std::size_t i = 0; i < kSessions; ++i) {
        session(i).handle_packet(hellos[i][next[i]++ % hellos[i].size()], now);
      }
    };
    flood(Duration::milliseconds(20), kTick, play);
    watched = victim;
    answers.clear();
    const auto peer = make_peer(victim, 9'000 + victim);
    std::byte out[2000];
    const std::size_t size = peer->session().poll_packet(out, now);
    ASSERT_GT(size, 0U);
    session(victim).handle_packet(ConstBytes(out).first(size), now);
    const Instant asked = now;
    const auto is_answered = [&] {
      return std::ranges::any_of(answers, [&](const Packet& packet) {
        peer->session().handle_packet(packet, now);
        return peer->session().peer_state() == PeerState::kAlive;
      });
    };
    while (!is_answered() && now < asked + Duration::seconds(5)) flood(kTick, kTick, play);
    // At most one turn for each lane of each peer comes before.
    EXPECT_LE((now - asked).to_milliseconds(), 20 * static_cast<int>(kSessions) + 1) << victim;
  }
}

// HELLOs of an older build have turns of their own, and none once the peer is known to send MACs.
TEST_F(AdmissionTest, HellosWithoutAMacHaveFiftyTriesASecond) {
  std::vector<Packet> hellos;
  for (std::size_t i = 0; i < kSessions; ++i) {
    hellos.push_back(without_mac(recorded(i, 2'000).front()));
  }
  Random random(3);
  const auto play = [&] {
    for (std::size_t i = 0; i < kSessions; ++i) {
      Packet hello = hellos[i];
      store_u64(hello.data() + kHeaderSize + kHelloFrameSize + 2, random.next());
      SessionSeal().close(hello);
      session(i).handle_packet(hello, now);
    }
  };
  flood(Duration::seconds(2), kTick, play);
  const std::uint64_t tried = counted().not_authentic;
  EXPECT_NEAR(static_cast<double>(tried), 2 * 50 + 16, 5);
  for (std::size_t i = 0; i < kSessions; ++i) {
    EXPECT_NEAR(static_cast<double>(session(i).counters().not_authentic),
                static_cast<double>(tried) / kSessions, 6)
        << i;
  }
  EXPECT_GT(counted().hellos_unread, 300'000U);
  // A genuine HELLO of an older build.
  session(3).handle_packet(hellos[3], now);
  watched = 3;
  answers.clear();
  flood(Duration::milliseconds(500), kTick, [] {});
  EXPECT_FALSE(answers.empty());
}

// Both lanes of a peer with an older build send their HELLOs at the same time. The second lane
// waits for a turn. Meanwhile packets of the peer may arrive and settle what that HELLO would say.
// So nothing is asked again.
TEST_F(AdmissionTest, LanesWithoutMacsThatWaitForATurnAreAskedNothingThatIsKnown) {
  sends_macs = false;
  meet({0, 1}, Duration::milliseconds(50), Duration::microseconds(1'250));
  EXPECT_EQ(session(0).peer_state(), PeerState::kAlive);
  EXPECT_EQ(session(1).peer_state(), PeerState::kAlive);
  EXPECT_GT(counted().hellos_unread, 0U);
  EXPECT_EQ(counted().not_authentic, 0U) << "an acceptance of an offer that is no more";
}

TEST_F(AdmissionTest, APeerThatHasProvedToSendMacsIsNotReadWithoutForTenMinutes) {
  meet({0});
  ASSERT_EQ(session(0).peer_state(), PeerState::kAlive);
  const Packet downgraded = without_mac(recorded(0, 5'000).front());
  const Packet of_other_lane = without_mac(recorded(1, 5'000).front());
  flood(Duration::seconds(500), Duration::milliseconds(100), [] {});
  session(0).handle_packet(downgraded, now);
  session(1).handle_packet(of_other_lane, now);
  EXPECT_EQ(counted().hellos_without_mac, 2U) << "all lanes of a peer are one";
  EXPECT_EQ(counted().newcomers, 1U);
  flood(Duration::seconds(101), Duration::milliseconds(100), [] {});
  session(0).handle_packet(downgraded, now);
  EXPECT_EQ(counted().hellos_without_mac, 2U);
  EXPECT_EQ(counted().newcomers, 2U);
}

// A peer that has missed our CLOSE gets it again, in turn with other peers.
TEST_F(AdmissionTest, RepeatedFarewellsComeInTurn) {
  std::vector<std::size_t> all(kSessions);
  for (std::size_t i = 0; i < kSessions; ++i) all[i] = i;
  meet(all);
  for (std::size_t i = 0; i < kSessions; ++i) {
    ASSERT_EQ(session(i).peer_state(), PeerState::kAlive);
    session(i).close(now);
  }
  work();
  const std::uint64_t before = sent;
  flood(Duration::seconds(10), Duration::milliseconds(1), [&] {
    for (std::size_t i = 0; i < kSessions; ++i) session(i).handle_packet(last_of_peer[i], now);
  });
  EXPECT_GT(sent - before, 1'000U);
  EXPECT_LE(sent - before, 10U * 200 + 64);
}

// A peer that has the keys, wants an answer and accepts each of our offers at once. It names the
// boot that we know, while another of its boots is a newcomer. So each of our answers carries an
// offer.
class EagerPeer {
 public:
  EagerPeer(const EndConfig& config, std::uint64_t epoch)
      : keys_(*config.session.security, config.session.lane, config.session.opens_even_streams,
              epoch) {}
  // nullopt: the HELLO has no offer.
  std::optional<Packet> accept(const Packet& hello, ConstBytes like) {
    const auto [theirs, offer] = parse(hello);
    if (offer.offer.empty()) return std::nullopt;
    static_cast<void>(keys_.read(theirs, offer, false));
    HelloFrame ours = parse(like).first;
    ours.answer_wanted = true;
    HelloKeys said{.offer = {}, .accept = keys_.accept(ours)};
    said.has_mac = true;
    said.accepted = keys_.accepted();
    PacketHeader header = *parse_header(like);
    header.number = ++number_;
    Packet packet = sim::write_hello_packet(header, ours, said);
    keys_.close(packet);
    return packet;
  }

 private:
  static std::pair<HelloFrame, HelloKeys> parse(ConstBytes hello) {
    ByteReader in(frames_of(hello));
    in.u8();
    HelloKeys keys;
    const HelloFrame frame = parse_hello(in, keys);
    return {frame, keys};
  }
  KeyExchange keys_;
  std::uint32_t number_ = 1'000;
};

TEST_F(AdmissionTest, APeerThatAcceptsEachOfferIsAnsweredInTurn) {
  std::vector<std::size_t> all(kSessions);
  std::iota(all.begin(), all.end(), 0U);
  meet(all);
  std::vector<std::unique_ptr<EagerPeer>> peers;
  std::vector<Packet> newcomers;
  for (std::size_t i = 0; i < kSessions; ++i) {
    ASSERT_EQ(session(i).peer_state(), PeerState::kAlive);
    peers.push_back(std::make_unique<EagerPeer>(
        config_of(Sealed::kByKey, static_cast<std::uint32_t>(i / kLanes),
                  static_cast<std::uint8_t>(i % kLanes), false),
        2'000));
    newcomers.push_back(recorded(i, 3'000).front());
  }
  constexpr int kSeconds = 4;
  std::uint64_t accepted = 0;
  for (std::size_t i = 0; i < kSessions; ++i) session(i).handle_packet(newcomers[i], now);
  const std::uint64_t draws = entropy.draws;
  for (int ms = 0; ms < kSeconds * 1000; ++ms, now += Duration::milliseconds(1)) {
    for (std::size_t i = 0; i < kSessions; ++i) {
      if (session(i).next_timeout() <= now) session(i).handle_timeout(now);
      std::byte out[2000];
      while (const std::size_t size = session(i).poll_packet(out, now)) {
        const Packet packet(out, out + size);
        if (parse_header(packet)->type != PacketType::kHello) continue;
        const auto acceptance = peers[i]->accept(packet, last_hello_of_peer[i]);
        if (!acceptance) continue;
        ++accepted;
        session(i).handle_packet(*acceptance, now);
      }
      while (session(i).poll_event()) {
      }
    }
  }
  // The newcomers' HELLOs and our answers to them have had their turns. Answers to acceptances take
  // turns of their own. Each answer carries an offer.
  constexpr std::uint64_t kMost = 2 * kSessions + 128 + kSeconds * 100;
  EXPECT_GT(accepted, kMost / 2);
  EXPECT_LE(accepted, kMost);
  EXPECT_LE(entropy.draws - draws, kMost + 2 * kSessions);
}

// The HELLOs of both ends lose their MACs, as if both ends were older builds.
TEST_F(AdmissionTest, APeerOfAnOlderBuildIsMet) {
  sends_macs = false;
  meet({0, 1, 5});
  for (const std::size_t i : {0U, 1U, 5U}) EXPECT_EQ(session(i).peer_state(), PeerState::kAlive);
  EXPECT_EQ(counted().not_authentic, 0U);
  EXPECT_FALSE(budget.expects_mac(0, now));
}

// A recorded HELLO does not prove that the peer sends MACs now. So a peer that has gone back to an
// older build is still admitted.
TEST_F(AdmissionTest, ARecordedHelloDoesNotTellThatThePeerSendsMacs) {
  for (const Packet& hello : recorded(0, 2'000, 100)) {
    session(0).handle_packet(hello, now);
    flood(Duration::milliseconds(100), Duration::milliseconds(10), [] {});
  }
  EXPECT_FALSE(budget.expects_mac(0, now));
}

// --- what is not asked for -----------------------------------------------------------------------

class AbsentPeers : public AdmissionTest, public ::testing::WithParamInterface<Sealed> {
 protected:
  AbsentPeers() : AdmissionTest(GetParam()) {}
};

// Packets of strangers make a session send its HELLO: at most 20 a second for each session, and 200
// a second for all.
TEST_P(AbsentPeers, StrangersDrawOurHellosInTurn) {
  Packet stranger(100);
  write_header({.session_tag = 0x1234, .number = 9}, stranger.data());
  flood(Duration::seconds(2), Duration::milliseconds(1), [] {});
  const std::uint64_t before = sent;
  flood(Duration::seconds(10), Duration::milliseconds(1), [&] {
    for (std::size_t i = 0; i < kSessions; ++i) {
      store_u8(stranger.data() + 1, static_cast<std::uint8_t>(i % kLanes));
      session(i).handle_packet(stranger, now);
    }
  });
  EXPECT_NEAR(static_cast<double>(sent - before), 10 * 200, 70);
  for (std::size_t i = 0; i < kSessions; ++i) {
    EXPECT_NEAR(static_cast<double>(session(i).counters().packets_out), 2'000 / kSessions, 10) << i;
  }
  EXPECT_GT(counted().hellos_delayed, 1'000U);
}

// Forged HELLOs of ever later boots ask for answers. A session with a secret answers none of them.
TEST_P(AbsentPeers, AnswersToNobodyInParticularComeInTurn) {
  flood(Duration::seconds(2), Duration::milliseconds(1), [] {});
  const std::uint64_t before = sent;
  std::uint64_t epoch = 1ULL << 62;
  flood(Duration::seconds(10), Duration::milliseconds(1), [&] {
    for (std::size_t i = 0; i < kSessions; ++i) {
      HelloFrame hello;
      hello.minimum_version = hello.maximum_version = kVersion;
      hello.opens_even_streams = false;
      hello.answer_wanted = true;
      hello.epoch = ++epoch;
      hello.lane_count = kLanes;
      const PacketHeader header{.lane = static_cast<std::uint8_t>(i % kLanes), .number = 1};
      session(i).handle_packet(sim::write_hello_packet(header, hello), now);
    }
  });
  EXPECT_LE(sent - before, 10U * 200 + 64);
}

INSTANTIATE_TEST_SUITE_P(Session, AbsentPeers,
                         ::testing::Values(Sealed::kByChecksum, Sealed::kByKey),
                         [](const auto& param_info) {
                           return param_info.param == Sealed::kByKey ? "ByKey" : "ByChecksum";
                         });

}  // namespace
}  // namespace satrelay::stp::test::admission_test

// What a machine of the LAN can do to a relayed connection whose addresses and ports it knows: with
// numbers that are wrong, nothing.
#include <gtest/gtest.h>

#include "tests/unit/relay/gateway/relayed_fixture.h"

namespace satrelay::gateway {
namespace {

constexpr MacAddress kElsewhere{{2, 0, 0, 0, 0, 0x66}};

wire::EthernetHeader from_elsewhere() {
  wire::EthernetHeader ethernet = host_to_server();
  ethernet.source = kElsewhere;
  return ethernet;
}

class ForgedSegment : public RelayedTest {
 protected:
  // Where the answer to the client's next byte goes.
  MacAddress host() {
    lan(frame_of(segment(0), std::string(3000, 'x')));
    EXPECT_TRUE(hear());
    return heard_by();
  }
};

TEST_F(ForgedSegment, DoesNotRedirectTheConnection) {
  open();
  wire::TcpHeader beyond = segment(1'000'000'000);
  wire::TcpHeader unsent = segment(0);
  unsent.acknowledgment += 1000;
  wire::TcpHeader reset = segment(5000);
  reset.flags = wire::TcpFlags::kRst;
  wire::TcpHeader again = syn();
  again.sequence = 77;
  for (const auto& forged : {beyond, unsent, reset, again}) {
    lan(frame_of(forged, {}, from_elsewhere()));
    while (hear()) EXPECT_EQ(heard_by(), kHostMac) << "a challenge";
  }
  EXPECT_EQ(host(), kHostMac);
}

TEST_F(ForgedSegment, OfTheHandshakeDoesNotRedirectItEither) {
  client_ = kClient;
  server_ = kServer;
  ASSERT_EQ(lan(tcp_frame(kClient, kServer, syn())), Verdict::kConsumed);
  ASSERT_TRUE(hear());
  wire::TcpHeader other = syn();
  other.sequence = 77;
  lan(frame_of(other, {}, from_elsewhere()));
  wire::TcpHeader wrong = segment(0);
  wrong.acknowledgment = 4711;
  lan(frame_of(wrong, {}, from_elsewhere()));
  while (hear()) EXPECT_EQ(heard_by(), kHostMac);
  lan(tcp_frame(kClient, kServer, syn(), from_elsewhere()));
  ASSERT_TRUE(hear());
  EXPECT_EQ(heard_by(), kElsewhere) << "the very SYN, by another way";
}

TEST_F(ForgedSegment, AHostThatHasMovedIsFollowed) {
  open();
  ASSERT_EQ(host(), kHostMac);
  // Our ACK went to where it was: it sends the same once more.
  lan(frame_of(segment(0), std::string(3000, 'x'), from_elsewhere()));
  ASSERT_TRUE(hear());
  EXPECT_EQ(heard_by(), kElsewhere);
}

TEST_F(ForgedSegment, DoesNotKeepASilentConnectionAlive) {
  config_a_.limits.idle_timeout = Duration::seconds(5);
  restart();
  start_peer();
  for (const bool forged : {true, false}) {
    open();
    const Instant start = now_;
    const std::uint64_t before = count(Counter::kFlowsResetIdle);
    // A host's own question whether we are there does.
    const wire::TcpHeader asks = segment(forged ? 1'000'000'000 : std::uint32_t(-1));
    while (now_ < start + Duration::seconds(8)) {
      step();
      lan(frame_of(asks));
      while (hear()) {
      }
    }
    EXPECT_EQ(count(Counter::kFlowsResetIdle) - before, forged ? 1U : 0U);
    restart();
    start_peer();
  }
}

TEST_F(ForgedSegment, DoesNotChangeTheMarksThatTheFarHostSees) {
  // Bytes that cross with a byte of the host: more, where new marks go before it.
  const auto crossed = [&](std::optional<std::uint32_t> second) {
    restart();
    start_peer();
    open();
    for (int i = 0; i < 3; ++i) step();
    while (next_frame(PortId::kWan)) {
    }
    lan(frame_of(segment(0), "y"));
    if (second) {
      FrameBytes marked = frame_of(segment(*second), "z");
      wire::IpHeader ip = *wire::parse_ip(ConstBytes(marked).subspan(wire::kEthernetHeaderSize));
      ip.traffic_class = 0xb8;
      lan(ip_frame(host_to_server(), ip, FrameBytes(marked.begin() + 34, marked.end())));
    }
    std::size_t bytes = 0;
    while (const auto frame = next_frame(PortId::kWan)) bytes += frame->size();
    return bytes;
  };
  const std::size_t alone = crossed(std::nullopt);
  EXPECT_EQ(crossed(1'000'000'000), alone);
  EXPECT_GT(crossed(1), alone + 1) << "its own";
}

}  // namespace
}  // namespace satrelay::gateway

#include "relay/gateway/frames/path_mtu_advice.h"

#include <gtest/gtest.h>

#include "pep/wire/icmp.h"
#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::gateway::path_mtu_advice_test {
namespace {

// An ICMP error about a TCP segment of sequence number 77.
FrameBytes error(bool v4, const wire::IcmpMessage& message) {
  wire::TcpHeader tcp;
  tcp.sequence = 77;
  tcp.source_port = 80;
  tcp.destination_port = 5000;
  tcp.flags = wire::TcpFlags::kAck;
  const FrameBytes failed = v4 ? tcp_frame("203.0.113.1", "198.51.100.1", tcp)
                               : tcp_frame("2001:db8:2::1", "2001:db8:1::1", tcp);
  wire::IcmpMessage quoting = message;
  quoting.body = ConstBytes(failed).subspan(wire::kEthernetHeaderSize);
  wire::IpHeader ip;
  ip.source = ip_of(v4 ? "198.51.100.254" : "2001:db8:1::fe");
  ip.destination = ip_of(v4 ? "203.0.113.1" : "2001:db8:2::1");
  ip.protocol = v4 ? wire::kProtocolIcmp : wire::kProtocolIcmpV6;
  FrameBytes payload(wire::kIcmpHeaderSize + quoting.body.size());
  wire::write_icmp(ip, quoting, payload);
  return ip_frame(host_to_server(), ip, payload);
}

TEST(PathMtuAdvice, OfARouter) {
  const FrameBytes frame = error(true, {.type = wire::kIcmpUnreachable,
                                        .code = wire::kIcmpFragmentationNeeded,
                                        .rest = 1400,
                                        .body = {}});
  const auto advice = path_mtu_advice(look_at(frame));
  ASSERT_TRUE(advice);
  EXPECT_EQ(advice->sequence, 77u);
  EXPECT_EQ(advice->segment_limit, 1360);
}

TEST(PathMtuAdvice, OfAnIpv6Router) {
  const FrameBytes frame =
      error(false, {.type = wire::kIcmpV6PacketTooBig, .code = 0, .rest = 1400, .body = {}});
  const auto advice = path_mtu_advice(look_at(frame));
  ASSERT_TRUE(advice);
  EXPECT_EQ(advice->segment_limit, 1340);
}

// RFC 8201 section 4: no link of an IPv6 path carries less.
TEST(PathMtuAdvice, NoneOfAnIpv6RouterThatNamesLessThanEveryLinkCarries) {
  for (const std::uint32_t mtu : {0U, 68U, 1279U}) {
    const FrameBytes frame =
        error(false, {.type = wire::kIcmpV6PacketTooBig, .code = 0, .rest = mtu, .body = {}});
    EXPECT_FALSE(path_mtu_advice(look_at(frame))) << mtu;
  }
  const FrameBytes least =
      error(false, {.type = wire::kIcmpV6PacketTooBig, .code = 0, .rest = 1280, .body = {}});
  EXPECT_EQ(path_mtu_advice(look_at(least))->segment_limit, 1220);
}

TEST(PathMtuAdvice, OfARouterThatNamesNoMtu) {
  const FrameBytes frame = error(true, {.type = wire::kIcmpUnreachable,
                                        .code = wire::kIcmpFragmentationNeeded,
                                        .rest = 0,
                                        .body = {}});
  EXPECT_EQ(path_mtu_advice(look_at(frame))->segment_limit, 536);
}

TEST(PathMtuAdvice, NoneInOtherErrors) {
  const FrameBytes frame =
      error(true, {.type = wire::kIcmpUnreachable, .code = 1, .rest = 1400, .body = {}});
  EXPECT_FALSE(path_mtu_advice(look_at(frame)));
}

}  // namespace
}  // namespace satrelay::gateway::path_mtu_advice_test

// The counters for frames that are not answered or not relayed because of their content.
#include "relay/gateway/frames/frame_faults.h"

#include <gtest/gtest.h>

#include <optional>
#include <string_view>

#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::gateway::frame_faults_test {
namespace {

constexpr auto kUnfinished = Counter::kDroppedUnfinishedChecksum;
constexpr auto kBad = Counter::kDroppedBadChecksum;
constexpr std::size_t kUdpChecksumOffset = 6;
constexpr std::size_t kIcmpChecksumOffset = 2;

// The protocol of an IP packet's payload, and where its checksum is.
struct Transport {
  std::string_view from, to;
  std::uint8_t protocol = 0;
  std::size_t checksum_at = 0;
};
constexpr Transport kTcp4{"203.0.113.5", "198.51.100.5", wire::kProtocolTcp,
                          wire::kTcpChecksumOffset};
constexpr Transport kTcp6{"2001:db8:a::5", "2001:db8:b::5", wire::kProtocolTcp,
                          wire::kTcpChecksumOffset};
constexpr Transport kUdp4{"203.0.113.5", "198.51.100.5", wire::kProtocolUdp, kUdpChecksumOffset};
constexpr Transport kIcmp6{"2001:db8:a::5", "2001:db8:b::5", wire::kProtocolIcmpV6,
                           kIcmpChecksumOffset};
constexpr Transport kAll[] = {kTcp4, kTcp6, kUdp4, kIcmp6};

class ChecksumFault : public testing::Test {
 protected:
  static std::optional<Counter> fault(const Transport& transport, const FrameBytes& payload,
                                      bool verified = false) {
    wire::IpHeader ip;
    ip.source = ip_of(transport.from);
    ip.destination = ip_of(transport.to);
    ip.protocol = transport.protocol;
    const FrameBytes bytes = ip_frame(host_to_server(), ip, payload);
    Frame frame = look_at(bytes);
    frame.checksum_verified = verified;
    return checksum_fault(frame);
  }
  // The checksum field is 0. The other octets are arbitrary.
  static FrameBytes without_checksum(const Transport& transport) {
    FrameBytes payload(41);
    for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = static_cast<std::byte>(3 * i + 1);
    put(transport, payload, 0);
    return payload;
  }
  static void put(const Transport& transport, FrameBytes& payload, std::uint16_t checksum) {
    store_u16(payload.data() + transport.checksum_at, checksum);
  }
  static std::uint16_t checksum_of(const Transport& transport, const FrameBytes& payload) {
    return wire::transport_checksum(ip_of(transport.from), ip_of(transport.to), transport.protocol,
                                    payload);
  }
  // A sender leaves this value in the field, for its network card to complete.
  static std::uint16_t begun(const Transport& transport, const FrameBytes& payload) {
    return wire::pseudo_header_sum(ip_of(transport.from), ip_of(transport.to), transport.protocol,
                                   static_cast<std::uint32_t>(payload.size()));
  }
};

TEST_F(ChecksumFault, ThereIsNoneWhereTheChecksumIsRight) {
  for (const Transport& transport : kAll) {
    FrameBytes payload = without_checksum(transport);
    put(transport, payload, checksum_of(transport, payload));
    EXPECT_EQ(fault(transport, payload), std::nullopt) << transport.from;
  }
}

TEST_F(ChecksumFault, AFlippedBitIsABadChecksum) {
  for (const Transport& transport : kAll) {
    FrameBytes payload = without_checksum(transport);
    put(transport, payload, checksum_of(transport, payload));
    payload.back() ^= std::byte{0x10};
    EXPECT_EQ(fault(transport, payload), kBad) << transport.from;
  }
}

TEST_F(ChecksumFault, OneThatIsLeftToANetworkCardIsToldApart) {
  for (const Transport& transport : kAll) {
    FrameBytes payload = without_checksum(transport);
    put(transport, payload, begun(transport, payload));
    EXPECT_EQ(fault(transport, payload), kUnfinished) << transport.from;
  }
}

TEST_F(ChecksumFault, OneThatIsRightIsNoFaultThoughItLooksUnfinished) {
  FrameBytes payload = without_checksum(kTcp4);
  const std::uint16_t field = begun(kTcp4, payload);
  put(kTcp4, payload, field);
  // A word of the payload makes up for the missing part of the sum.
  std::byte* const word = payload.data() + 20;
  store_u16(word, 0);
  store_u16(word, checksum_of(kTcp4, payload));
  ASSERT_EQ(load_u16(payload.data() + kTcp4.checksum_at), field);
  EXPECT_EQ(fault(kTcp4, payload), std::nullopt);
}

TEST_F(ChecksumFault, WhatIsTooShortForAChecksumHasABadOne) {
  EXPECT_EQ(fault(kTcp4, FrameBytes(wire::kTcpChecksumOffset + 1)), kBad);
  EXPECT_EQ(fault(kTcp4, {}), kBad);
}

TEST_F(ChecksumFault, WhatADeviceHasVerifiedIsNotLookedAtAgain) {
  for (const Transport& transport : {kTcp4, kTcp6, kUdp4}) {
    const FrameBytes payload = without_checksum(transport);
    EXPECT_EQ(fault(transport, payload), kBad) << transport.from;
    EXPECT_EQ(fault(transport, payload, true), std::nullopt) << transport.from;
  }
  EXPECT_EQ(fault(kIcmp6, without_checksum(kIcmp6), true), kBad) << "it speaks of TCP and UDP only";
}

TEST_F(ChecksumFault, TheAddressesCountToo) {
  FrameBytes payload = without_checksum(kTcp4);
  put(kTcp4, payload, checksum_of(kTcp4, payload));
  Transport other = kTcp4;
  other.to = "198.51.100.6";
  EXPECT_EQ(fault(other, payload), kBad);
}

TEST(BridgingReason, OptionsAndExtensionHeadersTellMoreThanWhatFollows) {
  constexpr auto kOtherwise = Counter::kBridgedMidStream;
  const auto reason = [](FrameKind kind) {
    Frame frame;
    frame.kind = kind;
    return bridging_reason(frame, kOtherwise);
  };
  EXPECT_EQ(reason(FrameKind::kIpOptions), Counter::kBridgedIpOptions);
  EXPECT_EQ(reason(FrameKind::kIpExtension), Counter::kBridgedIpExtension);
  for (const FrameKind kind :
       {FrameKind::kMalformed, FrameKind::kNotIp, FrameKind::kArp, FrameKind::kFragment,
        FrameKind::kTcp, FrameKind::kUdp, FrameKind::kIcmp, FrameKind::kOtherIp}) {
    EXPECT_EQ(reason(kind), kOtherwise) << static_cast<int>(kind);
  }
}

}  // namespace
}  // namespace satrelay::gateway::frame_faults_test

#include "relay/gateway/frames/open_metadata.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace satrelay::gateway::open_metadata_test {
namespace {

OpenMetadata sample(bool v4) {
  OpenMetadata m;
  m.ethernet.destination = {{2, 0, 0, 0, 0, 1}};
  m.ethernet.source = {{2, 0, 0, 0, 0, 2}};
  m.ethernet.tag_count = 1;
  m.ethernet.tags[0] = {0x8100, 0x2007};
  m.ethernet.type = v4 ? wire::EtherType::kIpv4 : wire::EtherType::kIpv6;
  m.client = *IpAddress::parse(v4 ? "198.51.100.7" : "2001:db8::7");
  m.server = *IpAddress::parse(v4 ? "203.0.113.9" : "2001:db8:1::9");
  m.client_port = 40000;
  m.server_port = 443;
  m.traffic_class = 0xb8;
  m.hop_limit = 63;
  m.options.mss = 1440;
  m.options.window_scale = 7;
  m.options.sack_permitted = true;
  m.class_name = "voice-2";
  m.ecn_offered = true;
  return m;
}

class OpenMetadataTest : public testing::TestWithParam<bool> {};

TEST_P(OpenMetadataTest, ComesBackAsItWasWritten) {
  const OpenMetadata m = sample(GetParam());
  std::array<std::byte, kMaxOpenMetadata> bytes{};
  const std::size_t size = write_open_metadata(m, bytes);
  ASSERT_GT(size, 0U);
  const auto read = parse_open_metadata(ConstBytes(bytes).first(size));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->ethernet, m.ethernet);
  EXPECT_EQ(read->client, m.client);
  EXPECT_EQ(read->server, m.server);
  EXPECT_EQ(read->client_port, m.client_port);
  EXPECT_EQ(read->server_port, m.server_port);
  EXPECT_EQ(read->traffic_class, m.traffic_class);
  EXPECT_EQ(read->hop_limit, m.hop_limit);
  EXPECT_EQ(read->options, m.options);
  EXPECT_EQ(read->class_name, m.class_name);
  EXPECT_EQ(read->ecn_offered, m.ecn_offered);
}

TEST_P(OpenMetadataTest, AClassIsNamedAsInTheConfigurationOrNotAtAll) {
  OpenMetadata m = sample(GetParam());
  std::array<std::byte, kMaxOpenMetadata + 1> bytes{};
  const std::size_t with = write_open_metadata(m, bytes);
  for (const char wrong : {'\0', ' ', '"', '\n', '\x80'}) {
    bytes[with - 1] = static_cast<std::byte>(wrong);
    EXPECT_FALSE(parse_open_metadata(ConstBytes(bytes).first(with)));
  }
  m.class_name.clear();
  const std::size_t without = write_open_metadata(m, bytes);
  EXPECT_EQ(without, with - 8);
  const auto read = parse_open_metadata(ConstBytes(bytes).first(without));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->class_name, "");
  m.class_name = std::string(32, 'x');
  const std::size_t longest = write_open_metadata(m, bytes);
  EXPECT_TRUE(parse_open_metadata(ConstBytes(bytes).first(longest)));
  m.class_name += 'x';
  const std::size_t too_long = write_open_metadata(m, bytes);
  EXPECT_FALSE(parse_open_metadata(ConstBytes(bytes).first(too_long)));
}

TEST_P(OpenMetadataTest, ModesComeBackAndNoneAreLeftOut) {
  using namespace config;
  OpenMetadata m = sample(GetParam());
  m.class_name.clear();
  std::array<std::byte, kMaxOpenMetadata> bytes{};
  const std::size_t without = write_open_metadata(m, bytes);
  for (const FlowModes modes :
       {FlowModes{.handshake = HandshakeMode::kRemote}, FlowModes{.ack = AckMode::kEndToEnd},
        FlowModes{.close = CloseMode::kConfirmed}, FlowModes{.window = WindowMode::kMirror},
        FlowModes{.delivery = DeliveryMode::kPrompt}}) {
    m.modes = modes;
    const std::size_t size = write_open_metadata(m, bytes);
    EXPECT_EQ(size, without + 1);
    const auto read = parse_open_metadata(ConstBytes(bytes).first(size));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->modes, modes);
    bytes[size - 1] = std::byte{0};
    EXPECT_FALSE(parse_open_metadata(ConstBytes(bytes).first(size))) << "present, and none";
  }
}

TEST_P(OpenMetadataTest, RefusesEveryTruncationAndLeftovers) {
  std::array<std::byte, kMaxOpenMetadata + 1> bytes{};
  const std::size_t size = write_open_metadata(sample(GetParam()), bytes);
  for (std::size_t n = 0; n < size; ++n) {
    EXPECT_FALSE(parse_open_metadata(ConstBytes(bytes).first(n))) << n;
  }
  EXPECT_FALSE(parse_open_metadata(ConstBytes(bytes).first(size + 1)));
}

TEST_P(OpenMetadataTest, RefusesAnotherVersionAndImpossibleCounts) {
  std::array<std::byte, kMaxOpenMetadata> bytes{};
  const std::size_t size = write_open_metadata(sample(GetParam()), bytes);
  for (const std::size_t octet : {0U, 1U, 2U}) {
    auto broken = bytes;
    broken[octet] = std::byte{9};
    EXPECT_FALSE(parse_open_metadata(ConstBytes(broken).first(size))) << octet;
  }
}

INSTANTIATE_TEST_SUITE_P(BothVersions, OpenMetadataTest, testing::Bool());

}  // namespace
}  // namespace satrelay::gateway::open_metadata_test

// The OPEN metadata of a flow, stored without the addresses and ports that the flow's key has.
#include "relay/gateway/frames/packed_metadata.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace satrelay::gateway::packed_metadata_test {
namespace {

OpenMetadata metadata_of(const char* client, const char* server) {
  OpenMetadata metadata;
  metadata.ethernet.source.octets = {2, 0, 0, 0, 0, 1};
  metadata.ethernet.destination.octets = {2, 0, 0, 0, 0, 2};
  metadata.client = *IpAddress::parse(client);
  metadata.server = *IpAddress::parse(server);
  metadata.client_port = 4000;
  metadata.server_port = 443;
  metadata.traffic_class = 0x28;
  metadata.hop_limit = 61;
  metadata.options.mss = 1440;
  metadata.options.sack_permitted = true;
  return metadata;
}

std::vector<std::byte> octets_of(const OpenMetadata& metadata) {
  std::vector<std::byte> octets(kMaxOpenMetadata);
  octets.resize(write_open_metadata(metadata, octets));
  return octets;
}

void expect_same(const OpenMetadata& metadata) {
  PackedMetadata packed;
  packed.pack(metadata);
  const OpenMetadata unpacked =
      packed.unpack({metadata.client, metadata.server, metadata.client_port, metadata.server_port});
  EXPECT_EQ(octets_of(unpacked), octets_of(metadata));
  EXPECT_EQ(packed.class_name(), metadata.class_name);
}

TEST(PackedMetadata, IsWhatWasPacked) {
  expect_same(metadata_of("203.0.113.5", "198.51.100.7"));
  expect_same(metadata_of("2001:db8::5", "2001:db8:1::7"));
}

TEST(PackedMetadata, WithTagsModesAndTheLongestClass) {
  OpenMetadata metadata = metadata_of("2001:db8::5", "2001:db8:1::7");
  metadata.ethernet.tag_count = 2;
  metadata.ethernet.tags[0] = {0x88a8, 200};
  metadata.ethernet.tags[1] = {0x8100, 100};
  metadata.modes.ack = config::AckMode::kEndToEnd;
  metadata.class_name = std::string(config::kMostNameCharacters, 'c');
  metadata.ecn_offered = true;
  expect_same(metadata);
  EXPECT_EQ(octets_of(metadata).size(), kMaxOpenMetadata);
  metadata.class_name = "bulk";
  expect_same(metadata);
  metadata.modes = {};
  expect_same(metadata);
}

TEST(PackedMetadata, IsThatOfTheOneWhichWasPackedLast) {
  PackedMetadata packed;
  const OpenMetadata first = metadata_of("203.0.113.5", "198.51.100.7");
  const PackedMetadata::Ends ends{first.client, first.server, 4000, 443};
  EXPECT_EQ(packed.unpack(ends).hop_limit, OpenMetadata().hop_limit) << "of nobody";
  packed.pack(first);
  OpenMetadata second = first;
  second.hop_limit = 3;
  packed.pack(second);
  EXPECT_EQ(packed.unpack(ends).hop_limit, 3);
}

}  // namespace
}  // namespace satrelay::gateway::packed_metadata_test

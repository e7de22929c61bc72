#include "relay/gateway/frames/open_metadata.h"

#include <algorithm>
#include <array>
#include <span>

#include "relay/gateway/frames/address_fields.h"

namespace satrelay::gateway {
namespace {

constexpr std::uint8_t kVersion = 3;
constexpr std::uint8_t kMss = 1, kWindowScale = 2, kSack = 4, kTimestamps = 8, kClass = 16,
                       kModes = 32, kEcn = 64;
constexpr std::uint8_t kRemoteHandshake = 1, kEndToEndAck = 2, kConfirmedClose = 4,
                       kMirroredWindow = 8, kPromptDelivery = 16;

std::uint8_t encode(const config::FlowModes& modes) {
  unsigned bits = 0;
  if (modes.handshake == config::HandshakeMode::kRemote) bits |= kRemoteHandshake;
  if (modes.ack == config::AckMode::kEndToEnd) bits |= kEndToEndAck;
  if (modes.close == config::CloseMode::kConfirmed) bits |= kConfirmedClose;
  if (modes.window == config::WindowMode::kMirror) bits |= kMirroredWindow;
  if (modes.delivery == config::DeliveryMode::kPrompt) bits |= kPromptDelivery;
  return static_cast<std::uint8_t>(bits);
}

config::FlowModes decode(std::uint8_t bits) {
  config::FlowModes modes;
  if ((bits & kRemoteHandshake) != 0) modes.handshake = config::HandshakeMode::kRemote;
  if ((bits & kEndToEndAck) != 0) modes.ack = config::AckMode::kEndToEnd;
  if ((bits & kConfirmedClose) != 0) modes.close = config::CloseMode::kConfirmed;
  if ((bits & kMirroredWindow) != 0) modes.window = config::WindowMode::kMirror;
  if ((bits & kPromptDelivery) != 0) modes.delivery = config::DeliveryMode::kPrompt;
  return modes;
}

}  // namespace

std::size_t write_open_metadata(const OpenMetadata& metadata, MutableBytes out) {
  const wire::TcpOptions& options = metadata.options;
  ByteWriter writer(out);
  writer.u8(kVersion);
  writer.u8(metadata.client.is_v4() ? 4 : 6);
  writer.u8(metadata.ethernet.tag_count);
  unsigned bits = 0;
  if (options.mss) bits |= kMss;
  if (options.window_scale) bits |= kWindowScale;
  if (options.sack_permitted) bits |= kSack;
  if (options.timestamps) bits |= kTimestamps;
  if (!metadata.class_name.empty()) bits |= kClass;
  if (metadata.modes != config::FlowModes()) bits |= kModes;
  if (metadata.ecn_offered) bits |= kEcn;
  writer.u8(static_cast<std::uint8_t>(bits));
  write_mac(writer, metadata.ethernet.destination);
  write_mac(writer, metadata.ethernet.source);
  write_tags(writer, metadata.ethernet);
  write_address(writer, metadata.client);
  write_address(writer, metadata.server);
  writer.u16(metadata.client_port);
  writer.u16(metadata.server_port);
  writer.u16(options.mss.value_or(0));
  writer.u8(options.window_scale.value_or(0));
  writer.u8(metadata.traffic_class);
  writer.u8(metadata.hop_limit);
  if (metadata.modes != config::FlowModes()) writer.u8(encode(metadata.modes));
  if (!metadata.class_name.empty()) {
    writer.u8(static_cast<std::uint8_t>(metadata.class_name.size()));
    writer.bytes(std::as_bytes(std::span(metadata.class_name)));
  }
  return writer.ok() ? writer.written() : 0;
}

std::optional<OpenMetadata> parse_open_metadata(ConstBytes bytes) {
  ByteReader reader(bytes);
  OpenMetadata metadata;
  const std::uint8_t version = reader.u8();
  const std::uint8_t ip_version = reader.u8();
  const std::uint8_t tag_count = reader.u8();
  const std::uint8_t bits = reader.u8();
  if (!reader.ok() || version != kVersion || (ip_version != 4 && ip_version != 6) ||
      tag_count > wire::kMaxVlanTags) {
    return std::nullopt;
  }
  const bool is_v4 = ip_version == 4;
  wire::EthernetHeader& ethernet = metadata.ethernet;
  ethernet.destination = read_mac(reader);
  ethernet.source = read_mac(reader);
  read_tags(reader, tag_count, ethernet);
  ethernet.type = is_v4 ? wire::EtherType::kIpv4 : wire::EtherType::kIpv6;
  metadata.client = read_address(reader, is_v4);
  metadata.server = read_address(reader, is_v4);
  metadata.client_port = reader.u16();
  metadata.server_port = reader.u16();
  const std::uint16_t mss = reader.u16();
  const std::uint8_t window_scale = reader.u8();
  metadata.traffic_class = reader.u8();
  metadata.hop_limit = reader.u8();
  if ((bits & kModes) != 0) {
    metadata.modes = decode(reader.u8());
    if (metadata.modes == config::FlowModes()) return std::nullopt;
  }
  if ((bits & kClass) != 0) {
    const std::uint8_t size = reader.u8();
    if (size == 0 || size > config::kMostNameCharacters) return std::nullopt;
    for (std::size_t i = 0; i < size; ++i) {
      const char letter = static_cast<char>(reader.u8());
      if (!config::is_name_character(letter)) return std::nullopt;
      metadata.class_name.push_back(letter);
    }
  }
  if (!reader.ok() || reader.remaining() != 0) return std::nullopt;
  if (metadata.client.is_multicast() || metadata.server.is_multicast()) return std::nullopt;
  if ((bits & kMss) != 0) metadata.options.mss = mss;
  if ((bits & kWindowScale) != 0) metadata.options.window_scale = window_scale;
  metadata.ecn_offered = (bits & kEcn) != 0;
  metadata.options.sack_permitted = (bits & kSack) != 0;
  if ((bits & kTimestamps) != 0) metadata.options.timestamps = wire::TcpTimestamps{};
  return metadata;
}

}  // namespace satrelay::gateway

#include "pep/wire/arp.h"

#include "pep/base/check.h"

namespace satrelay::wire {

namespace {

constexpr std::uint16_t kHardwareEthernet = 1;
constexpr std::uint16_t kProtocolIpv4 = 0x0800;
constexpr std::uint8_t kHardwareLength = 6;
constexpr std::uint8_t kProtocolLength = 4;

MacAddress read_mac(ByteReader& reader) {
  MacAddress mac;
  for (auto& octet : mac.octets) octet = reader.u8();
  return mac;
}

IpAddress read_v4(ByteReader& reader) {
  std::array<std::uint8_t, 4> octets{};
  for (auto& octet : octets) octet = reader.u8();
  return IpAddress::v4(octets);
}

void write_pair(const MacAddress& mac, const IpAddress& address, ByteWriter& writer) {
  writer.bytes(std::as_bytes(std::span(mac.octets)));
  writer.bytes(std::as_bytes(std::span(address.octets())).first(4));
}

}  // namespace

std::optional<ArpMessage> parse_arp(ConstBytes payload) {
  ByteReader reader(payload);
  const bool ethernet_ipv4 = reader.u16() == kHardwareEthernet && reader.u16() == kProtocolIpv4 &&
                             reader.u8() == kHardwareLength && reader.u8() == kProtocolLength;
  if (!ethernet_ipv4) return std::nullopt;
  ArpMessage message;
  message.operation = static_cast<ArpOperation>(reader.u16());
  message.sender_mac = read_mac(reader);
  message.sender = read_v4(reader);
  message.target_mac = read_mac(reader);
  message.target = read_v4(reader);
  const bool known =
      message.operation == ArpOperation::kRequest || message.operation == ArpOperation::kReply;
  if (!reader.ok() || !known) return std::nullopt;
  return message;
}

std::optional<IpAddress> arp_sender(ConstBytes payload) {
  ByteReader reader(payload);
  reader.u16();
  if (reader.u16() != kProtocolIpv4) return std::nullopt;
  const std::uint8_t hardware_length = reader.u8();
  if (reader.u8() != kProtocolLength) return std::nullopt;
  reader.u16();
  reader.bytes(hardware_length);
  const IpAddress sender = read_v4(reader);
  return reader.ok() ? std::optional(sender) : std::nullopt;
}

void write_arp(const ArpMessage& message, MutableBytes out) {
  SATRELAY_CHECK(message.sender.is_v4() && message.target.is_v4());
  ByteWriter writer(out);
  writer.u16(kHardwareEthernet);
  writer.u16(kProtocolIpv4);
  writer.u8(kHardwareLength);
  writer.u8(kProtocolLength);
  writer.u16(static_cast<std::uint16_t>(message.operation));
  write_pair(message.sender_mac, message.sender, writer);
  write_pair(message.target_mac, message.target, writer);
  SATRELAY_CHECK(writer.ok());
}

}  // namespace satrelay::wire

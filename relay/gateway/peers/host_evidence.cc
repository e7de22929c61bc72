#include "relay/gateway/peers/host_evidence.h"

#include <algorithm>
#include <array>
#include <span>

namespace satrelay::gateway {
namespace {

constexpr std::uint8_t kV4 = 4, kV6 = 6;

IpAddress take_address(ByteReader& in, bool is_v4) {
  std::array<std::uint8_t, 16> octets{};
  std::ranges::copy(in.bytes(is_v4 ? 4 : 16), std::as_writable_bytes(std::span(octets)).begin());
  return is_v4 ? IpAddress::v4({octets[0], octets[1], octets[2], octets[3]})
               : IpAddress::v6(octets);
}

void put_address(ByteWriter& out, const IpAddress& address) {
  out.bytes(std::as_bytes(std::span(address.octets())).first(address.size()));
}

}  // namespace

std::optional<HostEvidence> parse_host_evidence(ConstBytes message) {
  ByteReader in(message);
  in.u8();
  const std::uint8_t version = in.u8();
  if (version != kV4 && version != kV6) return std::nullopt;
  HostEvidence evidence;
  evidence.near = take_address(in, version == kV4);
  evidence.far = take_address(in, version == kV4);
  evidence.near_port = in.u16();
  evidence.far_port = in.u16();
  evidence.sends = in.u32();
  evidence.expects = in.u32();
  return in.ok() ? std::optional(evidence) : std::nullopt;
}

std::size_t write_host_evidence(const HostEvidence& evidence, MutableBytes out) {
  ByteWriter writer(out);
  writer.u8(kHostEvidenceMessage);
  writer.u8(evidence.near.is_v4() ? kV4 : kV6);
  put_address(writer, evidence.near);
  put_address(writer, evidence.far);
  writer.u16(evidence.near_port);
  writer.u16(evidence.far_port);
  writer.u32(evidence.sends);
  writer.u32(evidence.expects);
  return writer.written();
}

}  // namespace satrelay::gateway

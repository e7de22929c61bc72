#include "relay/gateway/peers/host_evidence.h"

#include "relay/gateway/frames/address_fields.h"

namespace satrelay::gateway {

std::optional<HostEvidence> parse_host_evidence(ConstBytes message) {
  ByteReader in(message);
  in.u8();
  const std::uint8_t version = in.u8();
  if (version != kIpVersion4 && version != kIpVersion6) return std::nullopt;
  HostEvidence evidence;
  evidence.near = read_address(in, version == kIpVersion4);
  evidence.far = read_address(in, version == kIpVersion4);
  evidence.near_port = in.u16();
  evidence.far_port = in.u16();
  evidence.sends = in.u32();
  evidence.expects = in.u32();
  return in.ok() ? std::optional(evidence) : std::nullopt;
}

std::size_t write_host_evidence(const HostEvidence& evidence, MutableBytes out) {
  ByteWriter writer(out);
  writer.u8(kHostEvidenceMessage);
  writer.u8(evidence.near.is_v4() ? kIpVersion4 : kIpVersion6);
  write_address(writer, evidence.near);
  write_address(writer, evidence.far);
  writer.u16(evidence.near_port);
  writer.u16(evidence.far_port);
  writer.u32(evidence.sends);
  writer.u32(evidence.expects);
  return writer.written();
}

}  // namespace satrelay::gateway

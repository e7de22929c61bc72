#include "relay/gateway/frames/frame_faults.h"

#include "pep/wire/checksum.h"

namespace satrelay::gateway {

std::optional<Counter> checksum_fault(const Frame& frame) {
  const wire::IpHeader& ip = frame.ip;
  const bool may_be_trusted =
      ip.protocol == wire::kProtocolTcp || ip.protocol == wire::kProtocolUdp;
  if (frame.checksum_verified && may_be_trusted) return std::nullopt;
  if (wire::transport_checksum_ok(ip.source, ip.destination, ip.protocol, frame.payload)) {
    return std::nullopt;
  }
  return wire::transport_checksum_unfinished(ip.source, ip.destination, ip.protocol, frame.payload)
             ? Counter::kDroppedUnfinishedChecksum
             : Counter::kDroppedBadChecksum;
}

Counter bridging_reason(const Frame& frame, Counter otherwise) {
  switch (frame.kind) {
    case FrameKind::kIpOptions:
      return Counter::kBridgedIpOptions;
    case FrameKind::kIpExtension:
      return Counter::kBridgedIpExtension;
    default:
      return otherwise;
  }
}

}  // namespace satrelay::gateway

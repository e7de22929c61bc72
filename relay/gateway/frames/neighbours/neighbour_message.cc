#include "relay/gateway/frames/neighbours/neighbour_message.h"

namespace satrelay::gateway {

std::optional<wire::NeighbourMessage> neighbour_message(const Frame& frame) {
  if (frame.kind != FrameKind::kIcmp || frame.ip.source.is_v4() || frame.ip.hop_limit != 255) {
    return std::nullopt;
  }
  const auto message = wire::parse_icmp(frame.ip, frame.payload);
  return message ? wire::parse_neighbour(*message) : std::nullopt;
}

}  // namespace satrelay::gateway

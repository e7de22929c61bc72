#include "relay/gateway/frames/told_owner.h"

#include "pep/wire/arp.h"
#include "pep/wire/icmp.h"

namespace satrelay::gateway {

std::optional<ToldOwner> told_owner(const Frame& frame) {
  if (frame.kind == FrameKind::kArp) {
    const auto arp = wire::parse_arp(frame.payload);
    if (!arp || arp->sender == IpAddress::v4({})) return std::nullopt;
    return ToldOwner{.host = arp->sender, .mac = arp->sender_mac};
  }
  if (frame.kind != FrameKind::kIcmp || frame.ip.source.is_v4() || frame.ip.hop_limit != 255) {
    return std::nullopt;
  }
  const auto message = wire::parse_icmp(frame.ip, frame.payload);
  const auto neighbour = message ? wire::parse_neighbour(*message) : std::nullopt;
  if (!neighbour || !neighbour->advertisement || !neighbour->link_layer) return std::nullopt;
  return ToldOwner{
      .host = neighbour->target,
      .mac = *neighbour->link_layer,
      .replaces = neighbour->overrides ? ToldOwner::Override::kSet : ToldOwner::Override::kClear};
}

}  // namespace satrelay::gateway

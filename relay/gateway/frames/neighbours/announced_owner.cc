#include "relay/gateway/frames/neighbours/announced_owner.h"

#include "pep/wire/arp.h"
#include "relay/gateway/frames/neighbours/neighbour_message.h"

namespace satrelay::gateway {

std::optional<AnnouncedOwner> announced_owner(const Frame& frame) {
  if (frame.kind == FrameKind::kArp) {
    const auto arp = wire::parse_arp(frame.payload);
    if (!arp || arp->sender == IpAddress::v4({})) return std::nullopt;
    return AnnouncedOwner{.host = arp->sender, .mac = arp->sender_mac};
  }
  const auto neighbour = neighbour_message(frame);
  if (!neighbour || !neighbour->advertisement || !neighbour->link_layer) return std::nullopt;
  return AnnouncedOwner{.host = neighbour->target,
                        .mac = *neighbour->link_layer,
                        .replaces = neighbour->overrides ? AnnouncedOwner::Override::kSet
                                                         : AnnouncedOwner::Override::kClear};
}

std::optional<IpAddress> own_address(const Frame& frame) {
  if (const auto told = announced_owner(frame)) return told->host;
  const auto neighbour = neighbour_message(frame);
  if (!neighbour) return std::nullopt;
  if (neighbour->advertisement) return neighbour->target;
  // A host that is still checking a new address sends its solicitation from the unspecified address
  // (RFC 4862 section 5.4.2).
  if (frame.ip.source == IpAddress::v6({})) return std::nullopt;
  return frame.ip.source;
}

}  // namespace satrelay::gateway

#include "relay/gateway/frames/neighbours/asked_owner.h"

#include "pep/wire/arp.h"
#include "relay/gateway/frames/neighbours/neighbour_message.h"

namespace satrelay::gateway {

std::optional<IpAddress> asked_owner(const Frame& frame) {
  if (frame.kind == FrameKind::kArp) {
    const auto arp = wire::parse_arp(frame.payload);
    // A host that announces its own address does not ask for another host.
    const bool asks =
        arp && arp->operation == wire::ArpOperation::kRequest && arp->sender != arp->target;
    return asks ? std::optional(arp->target) : std::nullopt;
  }
  const auto neighbour = neighbour_message(frame);
  return neighbour && !neighbour->advertisement ? std::optional(neighbour->target) : std::nullopt;
}

std::optional<IpAddress> answering_owner(const Frame& frame) {
  if (frame.ethernet.destination.is_multicast()) return std::nullopt;
  if (frame.kind == FrameKind::kArp) {
    const auto arp = wire::parse_arp(frame.payload);
    const bool answers = arp && arp->operation == wire::ArpOperation::kReply;
    return answers ? std::optional(arp->sender) : std::nullopt;
  }
  const auto neighbour = neighbour_message(frame);
  return neighbour && neighbour->advertisement ? std::optional(neighbour->target) : std::nullopt;
}

}  // namespace satrelay::gateway

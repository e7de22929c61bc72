#include "relay/gateway/frames/asked_owner.h"

#include "pep/wire/arp.h"
#include "pep/wire/icmp.h"

namespace satrelay::gateway {
namespace {

std::optional<wire::NeighbourMessage> neighbour_message(const Frame& frame) {
  if (frame.kind != FrameKind::kIcmp || frame.ip.source.is_v4() || frame.ip.hop_limit != 255) {
    return std::nullopt;
  }
  const auto message = wire::parse_icmp(frame.ip, frame.payload);
  return message ? wire::parse_neighbour(*message) : std::nullopt;
}

}  // namespace

std::optional<IpAddress> asked_owner(const Frame& frame) {
  if (frame.kind == FrameKind::kArp) {
    const auto arp = wire::parse_arp(frame.payload);
    // A host that announces its own address asks for nobody.
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

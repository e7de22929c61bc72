// The answer of a neighbour on the WAN to a gateway that asks for its MAC.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "pep/base/bytes.h"
#include "pep/wire/arp.h"
#include "pep/wire/ethernet.h"
#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::bench {

// Answers as if the peer's MAC had every address; nullopt: the frame is no such question.
inline std::optional<std::vector<std::byte>> arp_reply(ConstBytes frame) {
  const auto asked = wire::parse_ethernet(frame);
  if (!asked || asked->type != wire::EtherType::kArp) return std::nullopt;
  const auto question = wire::parse_arp(frame.subspan(asked->size()));
  if (!question || question->operation != wire::ArpOperation::kRequest) return std::nullopt;
  std::vector<std::byte> reply(wire::kEthernetHeaderSize + wire::kArpSize);
  wire::EthernetHeader ethernet;
  ethernet.source = gateway::kPeerMac;
  ethernet.destination = gateway::kGatewayMac;
  ethernet.type = wire::EtherType::kArp;
  wire::write_ethernet(ethernet, reply);
  wire::write_arp({.operation = wire::ArpOperation::kReply,
                   .sender_mac = gateway::kPeerMac,
                   .sender = question->target,
                   .target_mac = gateway::kGatewayMac,
                   .target = question->sender},
                  MutableBytes(reply).subspan(wire::kEthernetHeaderSize));
  return reply;
}

}  // namespace satrelay::bench

// Frames for tests of the gateway that are not plain IP.
#pragma once

#include <initializer_list>

#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::gateway {

inline FrameBytes ethernet_frame(std::uint16_t type, const FrameBytes& payload,
                                 std::uint16_t vlan = 0) {
  wire::EthernetHeader ethernet = host_to_server();
  ethernet.type = static_cast<wire::EtherType>(type);
  if (vlan != 0) {
    ethernet.tag_count = 1;
    ethernet.tags[0] = {0x8100, vlan};
  }
  FrameBytes frame(ethernet.size());
  wire::write_ethernet(ethernet, frame);
  frame.insert(frame.end(), payload.begin(), payload.end());
  return frame;
}

// The packet in an untagged frame.
inline FrameBytes packet_of(const FrameBytes& frame) {
  return {frame.begin() + wire::kEthernetHeaderSize, frame.end()};
}

inline FrameBytes pppoe_frame(std::uint16_t session, unsigned protocol, const FrameBytes& payload) {
  FrameBytes body(8);
  body[0] = std::byte{0x11};
  store_u16(&body[2], session);
  store_u16(&body[4], static_cast<std::uint16_t>(payload.size() + 2));
  store_u16(&body[6], static_cast<std::uint16_t>(protocol));
  body.insert(body.end(), payload.begin(), payload.end());
  return ethernet_frame(0x8864, body);
}

// An MPLS frame with the packet in `plain`, an untagged frame.
inline FrameBytes mpls_frame(std::initializer_list<std::uint32_t> labels, const FrameBytes& plain) {
  FrameBytes body(4 * labels.size());
  std::size_t at = 0;
  for (const std::uint32_t label : labels) {
    const bool is_bottom = at + 4 == body.size();
    store_u32(&body[at], (label << 12) | (is_bottom ? 0x100U : 0U) | 64U);
    at += 4;
  }
  const FrameBytes packet = packet_of(plain);
  body.insert(body.end(), packet.begin(), packet.end());
  return ethernet_frame(0x8847, body);
}

}  // namespace satrelay::gateway

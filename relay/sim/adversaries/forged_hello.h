// A HELLO that anybody on the WAN can send in a gateway's name: with its addresses, a checksum that
// is right, and an epoch of the forger's choice.
#pragma once

#include <cstdint>
#include <vector>

#include "pep/base/address.h"
#include "pep/base/bytes.h"
#include "relay/sim/adversaries/stp_speaker.h"

namespace satrelay::sim {

// A node of the WAN.
struct WanAddress {
  IpAddress address;  // IPv4
  MacAddress mac;
};

struct ForgedHello {
  WanAddress from;
  WanAddress to;
  std::uint64_t epoch = 0;
  std::uint64_t peer_epoch = 0;  // 0: not known
  SpokenLane lane = {};
  // Of a session that encrypts: what is no offer of anybody with the secret.
  std::vector<std::byte> offer = {};
};
// The whole frame.
std::vector<std::byte> write_forged_hello(const ForgedHello& forged);

// As a frame between the ports of a lane of STP.
std::vector<std::byte> write_stp_frame(const WanAddress& from, const WanAddress& to,
                                       ConstBytes datagram, std::uint8_t lane);

}  // namespace satrelay::sim

// Writes a HELLO in the name of a gateway. Any node on the WAN can send such a HELLO: it needs only
// the gateway's addresses and a correct checksum. The forger chooses the epoch.
#pragma once

#include <cstdint>
#include <vector>

#include "pep/base/address.h"
#include "pep/base/bytes.h"
#include "relay/sim/adversaries/stp_speaker.h"

namespace satrelay::sim {

// The addresses of a node on the WAN.
struct WanAddress {
  IpAddress address;  // an IPv4 address
  MacAddress mac;
};

struct ForgedHello {
  WanAddress from;
  WanAddress to;
  std::uint64_t epoch = 0;
  std::uint64_t peer_epoch = 0;  // 0 means that the peer's epoch is not known
  SpokenLane lane = {};
  // A key offer, if the session encrypts. Its bytes are random, since the forger does not have the
  // secret.
  std::vector<std::byte> offer = {};
};
// Returns the whole Ethernet frame.
std::vector<std::byte> write_forged_hello(const ForgedHello& forged);

// Returns the Ethernet frame that carries `datagram` between the UDP ports of the given STP lane.
std::vector<std::byte> write_stp_frame(const WanAddress& from, const WanAddress& to,
                                       ConstBytes datagram, std::uint8_t lane);

}  // namespace satrelay::sim

// A forged HELLO in a gateway's name. Any node on the WAN can send one: it needs only the gateway's
// addresses and a correct checksum. The forger chooses the epoch.
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
  std::uint64_t peer_epoch = 0;  // 0: unknown
  SpokenLane lane = {};
  // A key offer, if the session encrypts. It is random: the forger does not have the secret.
  std::vector<std::byte> offer = {};
};
// Returns the whole Ethernet frame.
std::vector<std::byte> write_forged_hello(const ForgedHello& forged);

// Returns the Ethernet frame that carries `datagram` between the UDP ports of STP lane `lane`.
std::vector<std::byte> write_stp_frame(const WanAddress& from, const WanAddress& to,
                                       ConstBytes datagram, std::uint8_t lane);

}  // namespace satrelay::sim

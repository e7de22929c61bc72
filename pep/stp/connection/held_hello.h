// The HELLO of a session that waits for a turn to be read: the newest, as the peer's own is newer
// than whatever anybody has recorded of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "pep/base/bytes.h"
#include "pep/stp/wire/packet.h"

namespace satrelay::stp {

class HeldHello {
 public:
  // How much a HELLO has for it, in this order.
  struct Claim {
    bool has_mac = false;      // somebody with the secret has written it
    bool names_us = false;     // without one: its sender has heard a HELLO of ours
    std::uint64_t epoch = 0;   // with one: the boot that has written it
    std::uint32_t number = 0;  // and its number there
    friend auto operator<=>(const Claim&, const Claim&) = default;
  };

  bool empty() const { return packet_.empty(); }
  const Claim& claim() const { return claim_; }
  // Whether it takes the place: of none, or of one with less claim. Without a MAC whoever is first
  // keeps it.
  bool offer(ConstBytes packet, const Claim& claim) {
    if (packet.size() > kMinDatagram || (!empty() && claim <= claim_)) return false;
    packet_.assign(packet.begin(), packet.end());
    claim_ = claim;
    return true;
  }
  std::vector<std::byte> take() { return std::exchange(packet_, {}); }
  void clear() { packet_.clear(); }

 private:
  std::vector<std::byte> packet_;
  Claim claim_;
};

}  // namespace satrelay::stp

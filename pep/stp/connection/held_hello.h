// The HELLO of a session that waits for its turn to be read. Among HELLOs with a MAC it is the
// newest, since the peer's own HELLO is newer than any recorded one.
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
  // Reasons to hold a HELLO rather than another, the strongest first.
  struct Claim {
    bool has_mac = false;  // a holder of the secret has written it
    // Only without a MAC: it names our epoch, so its sender has received a HELLO of ours.
    bool names_us = false;
    std::uint64_t epoch = 0;   // only with a MAC: the boot that has written it
    std::uint32_t number = 0;  // only with a MAC: its number in that boot
    friend auto operator<=>(const Claim&, const Claim&) = default;
  };

  bool empty() const { return packet_.empty(); }
  const Claim& claim() const { return claim_; }
  // True if `packet` is held from now on: no HELLO was held, or one with a lower claim. Among
  // HELLOs without a MAC and with equal claims, the first keeps the place.
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

// Holds one HELLO that has arrived, until it may be read (turns.h). If several HELLOs with a MAC
// arrive, the newest is held. An attacker can only replay HELLOs that the peer sent earlier, so a
// replayed HELLO never replaces the peer's latest HELLO.
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
  // The rank of a HELLO. If two HELLOs wait, the HELLO with the higher rank is held. The members
  // are compared in this order.
  struct Claim {
    bool has_mac = false;  // the HELLO has a MAC, so a holder of the secret has written it
    // Only without a MAC: the HELLO names our epoch, so its sender has received one of our HELLOs.
    bool names_us = false;
    std::uint64_t epoch = 0;   // only with a MAC: the boot epoch of its sender
    std::uint32_t number = 0;  // only with a MAC: number of the HELLO in that boot
    friend auto operator<=>(const Claim&, const Claim&) = default;
  };

  bool empty() const { return packet_.empty(); }
  const Claim& claim() const { return claim_; }
  // Holds `packet` if no HELLO is held, or if the held HELLO has a lower rank. Returns whether
  // `packet` is now held. If two HELLOs without a MAC have equal ranks, the first stays.
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

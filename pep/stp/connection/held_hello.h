// A HELLO that has arrived, and waits for its turn to be read. A session holds one HELLO. If HELLOs
// have a MAC, the newest is held, since the peer's own HELLO is newer than any recorded HELLO.
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
  // The reasons to hold one HELLO instead of another. The strongest reason comes first.
  struct Claim {
    bool has_mac = false;  // it has a MAC, so a holder of the secret has written it
    // Only without a MAC: it names our epoch, so its sender has received one of our HELLOs.
    bool names_us = false;
    std::uint64_t epoch = 0;   // only with a MAC: the boot epoch of its sender
    std::uint32_t number = 0;  // only with a MAC: its number in that boot
    friend auto operator<=>(const Claim&, const Claim&) = default;
  };

  bool empty() const { return packet_.empty(); }
  const Claim& claim() const { return claim_; }
  // Holds `packet` if no HELLO is held, or if the held one has a weaker claim. Returns whether
  // `packet` is now held. If two HELLOs without a MAC have equal claims, the first stays.
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

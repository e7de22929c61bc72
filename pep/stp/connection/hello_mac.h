// The MAC at the end of a HELLO. It shows the receiver, at the cost of a checksum, that a holder of
// the secret has written the HELLO. The receiver checks it before it spends a hash, a random number
// or a curve on the HELLO (docs/stp-wire.md section 16).
//
// The MAC covers the whole packet except itself and the checksum. So it covers the lane, both boot
// epochs and which offer is accepted. Its key belongs to this pair of gateways and has no other
// purpose. Its context is the direction. The MAC proves nothing about the time: a HELLO may be an
// old one.
#pragma once

#include <cstdint>
#include <optional>

#include "pep/base/bytes.h"
#include "pep/crypto/mac.h"
#include "pep/stp/connection/security.h"

namespace satrelay::stp {

class HelloMac {
 public:
  HelloMac(std::uint8_t lane, bool opens_even_streams);

  // The secrets have changed. The MAC keys are derived when they are first needed, so that a reload
  // does not wait for those of all sessions.
  void forget() {
    first_.reset();
    other_.reset();
  }

  // The secret that a HELLO is written under. It must be one that the reader has.
  enum class Under : std::uint8_t { kFirst, kOther };
  // `packet` is a whole HELLO packet that ends with room for MAC and checksum. Fills in both.
  void close(MutableBytes packet, const Security& security, Under under);
  // Whether the peer has written the packet, under either secret. The packet ends with a MAC.
  bool is_genuine(ConstBytes packet, const Security& security);

 private:
  crypto::Nonce sending_;
  crypto::Nonce receiving_;
  std::optional<crypto::Mac> first_;
  std::optional<crypto::Mac> other_;
};

}  // namespace satrelay::stp

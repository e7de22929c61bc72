// The MAC at the end of a HELLO. It shows that a holder of the secret has written the HELLO, and
// its check is as cheap as a checksum. The receiver checks it before it spends a hash, a random
// number or a curve operation on the HELLO (docs/stp-wire.md section 16).
//
// The MAC covers the whole packet except the MAC itself and the checksum. So it covers the lane,
// both boot epochs and the name of the accepted offer. Its key belongs to this pair of gateways,
// and has no other purpose. Its nonce contains the direction. The MAC does not prove when the HELLO
// was sent: an attacker may replay a HELLO that the peer sent long ago.
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

  // Forgets the keys, as the secrets have changed. The keys are derived again when they are first
  // needed, so that a reload does not wait for the keys of all sessions.
  void forget() {
    first_.reset();
    other_.reset();
  }

  // The secret from which the key of the MAC is derived. The receiver of the HELLO must have this
  // secret.
  enum class Under : std::uint8_t { kFirst, kOther };
  // Writes MAC and checksum. `packet` is a whole HELLO packet with space for both at its end.
  void close(MutableBytes packet, const Security& security, Under under);
  // Whether the peer has written the packet, under either secret. The packet must end with a MAC.
  bool is_genuine(ConstBytes packet, const Security& security);

 private:
  crypto::Nonce sending_;
  crypto::Nonce receiving_;
  std::optional<crypto::Mac> first_;
  std::optional<crypto::Mac> other_;
};

}  // namespace satrelay::stp

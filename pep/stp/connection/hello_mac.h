// The code at the end of a HELLO by which a receiver knows, at the price of a checksum, that
// somebody with the secret has written it: before it takes a hash, a random number or a curve for
// it (docs/stp.md section 16). It covers the whole packet but itself and the checksum, and with it
// the lane, both boot epochs and which offer is accepted; its key is that of this pair of gateways
// and of no other purpose, and its context is the direction. It proves nothing about the time: a
// HELLO may be an old one.
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

  // The secrets are others from now on. Keys are made of them when first needed: a reload does not
  // wait for those of all sessions.
  void forget() {
    first_.reset();
    other_.reset();
  }

  // Which of the secrets a HELLO is written under: the one that its reader has.
  enum class Under : std::uint8_t { kFirst, kOther };
  // Of a whole HELLO packet that ends with room for the code and the checksum: fills in both.
  void close(MutableBytes packet, const Security& security, Under under);
  // Whether the peer has written it, under either secret. It ends with a code.
  bool is_genuine(ConstBytes packet, const Security& security);

 private:
  crypto::Nonce sending_;
  crypto::Nonce receiving_;
  std::optional<crypto::Mac> first_;
  std::optional<crypto::Mac> other_;
};

}  // namespace satrelay::stp

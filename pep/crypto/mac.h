// A message authentication code for short packets. It needs no unique nonce: many messages may be
// authenticated in the same context, and a message may be authenticated again.
//
//   inner = AES-128-GCM(key, nonce = context, associated data = message, plain text = none)
//   code  = AES-128-GCM(key, nonce = first 96 bits of inner, no data at all)
//
// If there is no data, the tag of GCM is the AES encryption of the nonce and the counter 1. So the
// code is a pseudorandom function of a universal hash of the message (GHASH, masked by the
// context). `inner` is never sent, because two tags with the same nonce reveal GCM's hash key to an
// attacker that sees both. AES-CMAC would serve the same purpose, but it encrypts the blocks of a
// message one after the other and cannot work in parallel.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>

#include "pep/base/bytes.h"
#include "pep/crypto/aead.h"
#include "pep/crypto/nonce.h"

namespace satrelay::crypto {

inline constexpr std::size_t kMacSize = kTagSize;
using MacCode = std::array<std::byte, kMacSize>;

// Computes codes with one key, which is expanded once. Only one thread at a time may use an object.
class Mac {
 public:
  explicit Mac(std::span<const std::byte, kAeadKeySize> key,
               AeadBackend backend = preferred_backend());

  // `context` is data outside the message that both ends know. The key must not be used for
  // anything else.
  MacCode code(const Nonce& context, ConstBytes message);

 private:
  std::unique_ptr<Aead> aead_;
};

}  // namespace satrelay::crypto

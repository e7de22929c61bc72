// A message authentication code for short packets that needs no unique nonce. A message may be
// authenticated again in the same context, and so may different messages.
//
//   inner = AES-128-GCM(key, nonce = context, associated data = message, plain text = none)
//   code  = AES-128-GCM(key, nonce = first 96 bits of inner, no data at all)
//
// If there is no data, the tag of GCM is the AES of the nonce and counter 1. So the code is a
// pseudorandom function of a universal hash of the message (GHASH, masked by the context). `inner`
// is never sent, because two tags with the same nonce reveal GCM's hash key to an attacker that
// sees both. AES-CMAC would have the same use, but its chain of AES through the whole message
// cannot be computed in parallel.
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

// A code with one key, which is expanded once, for one thread at a time.
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

// A message authentication code for short packets that needs no nonce. The same message may be
// authenticated again, and so may different messages in the same context.
//
//   inner = AES-128-GCM(key, nonce = context, associated data = message, plain text = none)
//   code  = AES-128-GCM(key, nonce = first 96 bits of inner, no data at all)
//
// Without data the tag of GCM is AES of nonce and counter 1. So the code is a pseudorandom function
// of a universal hash of the message (GHASH, masked by the context). `inner` is never sent. If a
// nonce is used twice, GCM loses its hash key, but only to an attacker that sees two such tags.
// AES-CMAC would do the same with a chain of AES through the whole message, which a processor
// cannot compute in parallel.
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

// One key, expanded once, for one thread at a time.
class Mac {
 public:
  explicit Mac(std::span<const std::byte, kAeadKeySize> key,
               AeadBackend backend = preferred_backend());

  // `context`: data that both ends know beside the message. The key must serve for nothing else.
  MacCode code(const Nonce& context, ConstBytes message);

 private:
  std::unique_ptr<Aead> aead_;
};

}  // namespace satrelay::crypto

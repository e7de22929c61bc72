// A message authentication code for short packets that needs no number used once: the same message
// may be authenticated again, and different messages in the same context.
//
//   inner = AES-128-GCM(key, nonce = context, associated data = message, plain text = none)
//   code  = AES-128-GCM(key, nonce = first 96 bits of inner, no data at all)
//
// Without data the tag of GCM is AES of nonce and counter 1, so the code is a pseudorandom function
// of a universal hash of the message (GHASH, masked by the context). `inner` never leaves: what GCM
// loses by a nonce used twice is its hash key, which shows in two such tags only. AES-CMAC would do
// the same by a chain of AES through all of the message, which no processor can work at in
// parallel.
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

// One key, expanded once; of one thread at a time.
class Mac {
 public:
  explicit Mac(std::span<const std::byte, kAeadKeySize> key,
               AeadBackend backend = preferred_backend());

  // `context`: what both ends know beside the message. The key serves for nothing else.
  MacCode code(const Nonce& context, ConstBytes message);

 private:
  std::unique_ptr<Aead> aead_;
};

}  // namespace satrelay::crypto

#include "pep/crypto/mac.h"

#include <algorithm>

#include "pep/base/secret.h"

namespace satrelay::crypto {

Mac::Mac(std::span<const std::byte, kAeadKeySize> key, AeadBackend backend)
    : aead_(make_aead(key, backend)) {}

MacCode Mac::code(const Nonce& context, ConstBytes message) {
  MacCode inner;
  aead_->seal(context, message, {}, inner);
  Nonce nonce;
  std::copy_n(inner.begin(), nonce.size(), nonce.begin());
  wipe(inner);
  MacCode code;
  aead_->seal(nonce, {}, {}, code);
  return code;
}

}  // namespace satrelay::crypto

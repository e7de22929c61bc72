#include "pep/crypto/aead.h"

#include <functional>

#include "pep/base/check.h"
#include "pep/base/secret.h"
#include "pep/crypto/gcm_ipsec_mb.h"
#include "pep/crypto/gcm_openssl.h"

namespace satrelay::crypto {
namespace {

// The input and the output of a cipher must begin at the same address, or must not overlap. If they
// overlap in part, the cipher would read bytes that it has overwritten.
bool begin_together_or_apart(ConstBytes a, ConstBytes b) {
  const std::less_equal<const std::byte*> ends_before;
  return a.data() == b.data() || ends_before(a.data() + a.size(), b.data()) ||
         ends_before(b.data() + b.size(), a.data());
}

}  // namespace

void Aead::seal(const Nonce& nonce, ConstBytes associated, ConstBytes plain, MutableBytes sealed) {
  SATRELAY_CHECK(sealed.size() == plain.size() + kTagSize);
  SATRELAY_CHECK(begin_together_or_apart(plain, sealed));
  encrypt(nonce, associated, plain, sealed.data(), sealed.data() + plain.size());
}

bool Aead::open(const Nonce& nonce, ConstBytes associated, ConstBytes sealed, MutableBytes plain) {
  if (sealed.size() < kTagSize) {
    wipe(plain);
    return false;
  }
  SATRELAY_CHECK(plain.size() == sealed.size() - kTagSize);
  SATRELAY_CHECK(begin_together_or_apart(plain, sealed));
  const bool is_genuine = decrypt(nonce, associated, sealed.first(plain.size()),
                                  sealed.data() + plain.size(), plain.data());
  if (!is_genuine) wipe(plain);
  return is_genuine;
}

bool is_available(AeadBackend backend) {
  return backend == AeadBackend::kOpenSsl || GcmIpsecMb::is_available();
}

AeadBackend preferred_backend() {
  return is_available(AeadBackend::kIpsecMb) ? AeadBackend::kIpsecMb : AeadBackend::kOpenSsl;
}

std::unique_ptr<Aead> make_aead(std::span<const std::byte, kAeadKeySize> key, AeadBackend backend) {
  if (backend == AeadBackend::kIpsecMb) return std::make_unique<GcmIpsecMb>(key);
  return std::make_unique<GcmOpenSsl>(key);
}

}  // namespace satrelay::crypto

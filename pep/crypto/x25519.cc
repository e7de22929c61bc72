#include "pep/crypto/x25519.h"

#include <openssl/err.h>
#include <openssl/evp.h>

#include "pep/base/check.h"
#include "pep/crypto/openssl.h"

namespace satrelay::crypto {
namespace {

Key private_key(const PrivateKey& own) {
  algorithms();  // initializes libcrypto, if this is its first use
  Key key(EVP_PKEY_new_raw_private_key_ex(nullptr, "X25519", nullptr, raw(own.bytes().data()),
                                          own.size()));
  SATRELAY_CHECK(key != nullptr);
  return key;
}

}  // namespace

PublicKey x25519_public_key(const PrivateKey& own) {
  const Key key = private_key(own);
  PublicKey out;
  std::size_t size = out.size();
  must(EVP_PKEY_get_raw_public_key(key.get(), raw(out.data()), &size));
  SATRELAY_CHECK(size == out.size());
  return out;
}

std::optional<SharedSecret> x25519(const PrivateKey& own, const PublicKey& other) {
  const Key key = private_key(own);
  const Key peer(
      EVP_PKEY_new_raw_public_key_ex(nullptr, "X25519", nullptr, raw(other.data()), other.size()));
  const KeyContext context(EVP_PKEY_CTX_new_from_pkey(nullptr, key.get(), nullptr));
  SATRELAY_CHECK(peer != nullptr && context != nullptr);
  must(EVP_PKEY_derive_init(context.get()));
  must(EVP_PKEY_derive_set_peer(context.get(), peer.get()));
  SharedSecret shared;
  std::size_t size = shared.size();
  // libcrypto itself rejects the all-zero result. The call has no other reason to fail.
  if (EVP_PKEY_derive(context.get(), raw(shared.bytes().data()), &size) != 1) {
    ERR_clear_error();
    return std::nullopt;
  }
  SATRELAY_CHECK(size == shared.size());
  return shared;
}

}  // namespace satrelay::crypto

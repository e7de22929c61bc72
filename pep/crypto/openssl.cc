#include "pep/crypto/openssl.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <stdexcept>
#include <string>

namespace satrelay::crypto {
namespace {

template <typename Algorithm>
std::unique_ptr<Algorithm, FreeOpenSsl> found(Algorithm* algorithm, const char* name) {
  if (algorithm == nullptr) throw std::runtime_error(std::string("libcrypto has no ") + name);
  return std::unique_ptr<Algorithm, FreeOpenSsl>(algorithm);
}

Algorithms fetch() {
  if (OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr) != 1) {
    throw std::runtime_error("libcrypto cannot be initialised");
  }
  Algorithms algorithms;
  algorithms.aes_128_gcm = found(EVP_CIPHER_fetch(nullptr, "AES-128-GCM", nullptr), "AES-128-GCM");
  algorithms.aes_256_gcm = found(EVP_CIPHER_fetch(nullptr, "AES-256-GCM", nullptr), "AES-256-GCM");
  algorithms.sha256 = found(EVP_MD_fetch(nullptr, "SHA2-256", nullptr), "SHA2-256");
  return algorithms;
}

}  // namespace

void FreeOpenSsl::operator()(EVP_CIPHER* cipher) const { EVP_CIPHER_free(cipher); }
void FreeOpenSsl::operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
void FreeOpenSsl::operator()(EVP_MD* digest) const { EVP_MD_free(digest); }
void FreeOpenSsl::operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
void FreeOpenSsl::operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
void FreeOpenSsl::operator()(EVP_PKEY_CTX* context) const { EVP_PKEY_CTX_free(context); }

const Algorithms& algorithms() {
  static const Algorithms fetched = fetch();
  return fetched;
}

}  // namespace satrelay::crypto

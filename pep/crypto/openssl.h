// Owning pointers to objects of libcrypto. The algorithms are fetched once, from libcrypto's
// built-in provider. Neither a configuration file of the machine nor the environment can replace
// them, and no file is read.
#pragma once

#include <openssl/types.h>

#include <cstddef>
#include <memory>

#include "pep/base/check.h"

namespace satrelay::crypto {

struct FreeOpenSsl {
  void operator()(EVP_CIPHER* cipher) const;
  void operator()(EVP_CIPHER_CTX* context) const;
  void operator()(EVP_MD* digest) const;
  void operator()(EVP_MD_CTX* context) const;
  void operator()(EVP_PKEY* key) const;
  void operator()(EVP_PKEY_CTX* context) const;
};
using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, FreeOpenSsl>;
using DigestContext = std::unique_ptr<EVP_MD_CTX, FreeOpenSsl>;
using Key = std::unique_ptr<EVP_PKEY, FreeOpenSsl>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, FreeOpenSsl>;

struct Algorithms {
  std::unique_ptr<EVP_CIPHER, FreeOpenSsl> aes_128_gcm;
  std::unique_ptr<EVP_CIPHER, FreeOpenSsl> aes_256_gcm;
  std::unique_ptr<EVP_MD, FreeOpenSsl> sha256;
};

// Returns the algorithms. The first call, at start-up, fetches them. Throws a std::runtime_error
// that names the missing algorithm.
const Algorithms& algorithms();

// Checks the result of a call on a valid object, which fails only if memory runs out.
inline void must(int result) { SATRELAY_CHECK(result == 1); }

inline const unsigned char* raw(const std::byte* bytes) {
  return reinterpret_cast<const unsigned char*>(bytes);
}
inline unsigned char* raw(std::byte* bytes) { return reinterpret_cast<unsigned char*>(bytes); }

}  // namespace satrelay::crypto

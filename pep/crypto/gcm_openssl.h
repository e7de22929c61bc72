// AES-GCM by libcrypto, for packets if the CPU has no AES-NI, and for the handshake.
#pragma once

#include "pep/crypto/aead.h"
#include "pep/crypto/openssl.h"

namespace satrelay::crypto {

class GcmOpenSsl final : public Aead {
 public:
  // A key of 16 bytes selects AES-128-GCM, and a key of 32 bytes AES-256-GCM. Throws
  // std::runtime_error as algorithms() does.
  explicit GcmOpenSsl(ConstBytes key);

 private:
  void encrypt(const Nonce& nonce, ConstBytes associated, ConstBytes plain, std::byte* cipher,
               std::byte* tag) override;
  bool decrypt(const Nonce& nonce, ConstBytes associated, ConstBytes cipher, const std::byte* tag,
               std::byte* plain) override;

  // Each context holds the expanded key. libcrypto wipes the memory that it frees.
  CipherContext encryption_;
  CipherContext decryption_;
};

}  // namespace satrelay::crypto

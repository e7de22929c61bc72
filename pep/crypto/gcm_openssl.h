// AES-GCM by libcrypto: of packets where the CPU has no AES-NI, and of the handshake.
#pragma once

#include "pep/crypto/aead.h"
#include "pep/crypto/openssl.h"

namespace satrelay::crypto {

class GcmOpenSsl final : public Aead {
 public:
  // 16 bytes: AES-128-GCM; 32: AES-256-GCM. Throws std::runtime_error as algorithms() does.
  explicit GcmOpenSsl(ConstBytes key);

 private:
  void encrypt(const Nonce& nonce, ConstBytes associated, ConstBytes plain, std::byte* cipher,
               std::byte* tag) override;
  bool decrypt(const Nonce& nonce, ConstBytes associated, ConstBytes cipher, const std::byte* tag,
               std::byte* plain) override;

  // Each has expanded the key; libcrypto wipes what it frees.
  CipherContext encryption_;
  CipherContext decryption_;
};

}  // namespace satrelay::crypto

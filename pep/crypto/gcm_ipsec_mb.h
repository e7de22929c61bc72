// AES-128-GCM by direct calls of intel-ipsec-mb, without its job queue: one call for each packet.
// No other file uses the library.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "pep/crypto/aead.h"

namespace satrelay::crypto {

class GcmIpsecMb final : public Aead {
 public:
  // Whether the CPU has AES-NI and PCLMULQDQ, and the library's self-test has passed.
  static bool is_available();

  // The back end must be available.
  explicit GcmIpsecMb(std::span<const std::byte, kAeadKeySize> key);
  ~GcmIpsecMb() override;

 private:
  void encrypt(const Nonce& nonce, ConstBytes associated, ConstBytes plain, std::byte* cipher,
               std::byte* tag) override;
  bool decrypt(const Nonce& nonce, ConstBytes associated, ConstBytes cipher, const std::byte* tag,
               std::byte* plain) override;

  // Memory for the library's types, so that its header need not be included here.
  alignas(64) std::array<std::byte, 1280> key_;  // round keys, and powers of the hash key
  alignas(16) std::array<std::byte, 128> work_;  // state of one call
};

}  // namespace satrelay::crypto

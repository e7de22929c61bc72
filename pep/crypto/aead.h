// AES-128-GCM (NIST SP 800-38D; AEAD_AES_128_GCM of RFC 5116) with 96-bit nonces and 16-byte tags,
// for packets. One object serves one key, which is expanded once. No packet needs memory from the
// heap. Two back ends with the same results implement this interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "pep/base/bytes.h"
#include "pep/crypto/nonce.h"

namespace satrelay::crypto {

inline constexpr std::size_t kAeadKeySize = 16;
inline constexpr std::size_t kTagSize = 16;

enum class AeadBackend : std::uint8_t {
  kIpsecMb,  // intel-ipsec-mb; needs AES-NI and PCLMULQDQ, uses VAES where the CPU has it
  kOpenSsl,  // libcrypto; on any CPU
};

// Whether this CPU has the instructions that the back end needs.
bool is_available(AeadBackend backend);
// Returns kIpsecMb if it is available, else kOpenSsl.
AeadBackend preferred_backend();

// Holds one key. Only one thread at a time may use an object. The destructor wipes the key and the
// values that were expanded from it.
//
// SP 800-38D section 8.3 allows 2^32 packets under one key with random nonces. STP counts nonces,
// so the confidentiality limit of RFC 9001 section 6.6 applies instead: STP changes keys before
// 2^23 packets.
class Aead {
 public:
  virtual ~Aead() = default;
  Aead(const Aead&) = delete;
  Aead& operator=(const Aead&) = delete;

  // Encrypts `plain`, and writes the result and the tag to `sealed`. The tag also covers
  // `associated`. `sealed` is exactly kTagSize bytes longer than `plain`. Both begin at the same
  // address, or do not overlap. The caller must not use a nonce twice.
  void seal(const Nonce& nonce, ConstBytes associated, ConstBytes plain, MutableBytes sealed);

  // Decrypts `sealed`. `plain` is exactly kTagSize bytes shorter than `sealed`. Both begin at the
  // same address, or do not overlap. Returns false if the tag does not match, or if `sealed` is
  // shorter than a tag. Then `plain` is zeros, even if it shares memory with `sealed`. So a caller
  // that wants to try another key must decrypt into other memory.
  [[nodiscard]] bool open(const Nonce& nonce, ConstBytes associated, ConstBytes sealed,
                          MutableBytes plain);

 protected:
  Aead() = default;

 private:
  // `cipher` has the size of `plain`, and `tag` has kTagSize bytes.
  virtual void encrypt(const Nonce& nonce, ConstBytes associated, ConstBytes plain,
                       std::byte* cipher, std::byte* tag) = 0;
  // Returns false if the contents of `plain` must not be used.
  virtual bool decrypt(const Nonce& nonce, ConstBytes associated, ConstBytes cipher,
                       const std::byte* tag, std::byte* plain) = 0;
};

// The back end must be available. Throws std::runtime_error if libcrypto lacks the cipher.
std::unique_ptr<Aead> make_aead(std::span<const std::byte, kAeadKeySize> key, AeadBackend backend);

}  // namespace satrelay::crypto

// AES-128-GCM (NIST SP 800-38D; AEAD_AES_128_GCM of RFC 5116) with 96-bit nonces and 16-byte tags,
// for packets. One object serves one key, which is expanded once. No packet takes memory from the
// heap. Two back ends with the same results stand behind one contract.
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

// Whether this CPU has what the back end needs.
bool is_available(AeadBackend backend);
// kIpsecMb if it is available.
AeadBackend preferred_backend();

// One key, for one thread at a time. The key and all that was expanded from it are wiped at the
// end.
//
// SP 800-38D section 8.3 allows 2^32 packets under one key with random nonces. Here nonces are
// counted, and the forger's advantage limits a key: STP changes keys before 2^23 packets.
class Aead {
 public:
  virtual ~Aead() = default;
  Aead(const Aead&) = delete;
  Aead& operator=(const Aead&) = delete;

  // Writes the encrypted `plain` and the tag, which covers `associated` too, to `sealed`. `sealed`
  // is exactly kTagSize bytes longer than `plain`. It begins where `plain` begins, or lies apart
  // from it. The caller must not use a nonce twice.
  void seal(const Nonce& nonce, ConstBytes associated, ConstBytes plain, MutableBytes sealed);

  // The reverse: `plain` is exactly kTagSize bytes shorter than `sealed`. It begins where `sealed`
  // begins, or lies apart from it. False if the tag does not match, or `sealed` has no room for
  // one: then `plain` is zeros, in place too. A caller that wants to try another key must open into
  // other memory.
  [[nodiscard]] bool open(const Nonce& nonce, ConstBytes associated, ConstBytes sealed,
                          MutableBytes plain);

 protected:
  Aead() = default;

 private:
  // `cipher` has the size of `plain`, `tag` kTagSize bytes.
  virtual void encrypt(const Nonce& nonce, ConstBytes associated, ConstBytes plain,
                       std::byte* cipher, std::byte* tag) = 0;
  // False: the contents of `plain` must not be used.
  virtual bool decrypt(const Nonce& nonce, ConstBytes associated, ConstBytes cipher,
                       const std::byte* tag, std::byte* plain) = 0;
};

// The back end must be available. Throws std::runtime_error if libcrypto lacks the cipher.
std::unique_ptr<Aead> make_aead(std::span<const std::byte, kAeadKeySize> key, AeadBackend backend);

}  // namespace satrelay::crypto

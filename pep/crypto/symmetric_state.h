// The hash, the chaining key and the cipher key of a Noise handshake (the Noise Protocol Framework,
// revision 34, sections 5.1 and 5.2), with AESGCM and SHA256 (section 12). Only for patterns that
// mix in a key before they encrypt, as all patterns with psk0 do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "pep/base/bytes.h"
#include "pep/crypto/hkdf.h"

namespace satrelay::crypto {

class SymmetricState {
 public:
  // `protocol_name` has at most kHashSize characters and is padded with zeros
  // (InitializeSymmetric).
  explicit SymmetricState(std::string_view protocol_name);

  void mix_hash(ConstBytes data);
  void mix_key(ConstBytes input);
  void mix_key_and_hash(ConstBytes input);
  // `sealed` is kTagSize bytes longer than `plain`. A key must have been mixed in before.
  void encrypt_and_hash(ConstBytes plain, MutableBytes sealed);
  // Works like Aead::open(). If it returns false, the state has not changed.
  [[nodiscard]] bool decrypt_and_hash(ConstBytes sealed, MutableBytes plain);
  // Returns the initiator's key and the responder's key.
  std::pair<Key256, Key256> split() const;

  const Hash& hash() const { return hash_; }

 private:
  Key256 chaining_key_;
  Key256 key_;
  Hash hash_;
  bool has_key_ = false;
  std::uint64_t nonce_ = 0;
};

}  // namespace satrelay::crypto

// The handshake Noise_NNpsk0_25519_AESGCM_SHA256 (the Noise Protocol Framework, revision 34): two
// messages between two ends that share a secret of 32 bytes.
//
//   -> psk, e      message 1: 32 bytes of ephemeral public key, payload, 16 bytes of tag
//   <- e, ee       message 2: the same
//
// Only who knows the shared secret can write either message, and read its payload. The keys also
// depend on both ephemeral secrets: who learns the shared secret later reads no old traffic
// (message 1's payload excepted, and only that).
//
// What the caller has to see to:
// - Message 1 can be replayed: nothing in it comes from the responder. A payload that must not be
//   acted on twice says when it was written (a boot epoch, a counter); the keys are fresh anyway.
// - The prologue holds what both ends must see alike: versions, capabilities, lanes, and the
//   addresses in the order initiator, responder. If anybody has changed one on the way, the tags do
//   not match. Without the order, an end could be made to talk to itself.
// - An end that accepts two shared secrets reads message 1 with a handshake for each.
// - Message 1 that nobody with the secret has written costs its reader hashes and one tag, but no
//   Diffie-Hellman. Message 2 costs one: nobody should have to read many for one message 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "pep/base/bytes.h"
#include "pep/crypto/aead.h"
#include "pep/crypto/symmetric_state.h"
#include "pep/crypto/x25519.h"

namespace satrelay::crypto {

inline constexpr std::size_t kPskSize = 32;
using Psk = Secret<kPskSize>;

enum class NoiseResult : std::uint8_t {
  kOk,
  kOutOfTurn,  // not this end's turn to write, or to read, or no message is left
  kBadSize,    // a message shorter than its overhead, or above 65,535 bytes
  kForged,     // the tag is wrong: another shared secret, another prologue, or a changed message
  kWeakKey,    // the other's ephemeral key gives an all-zero secret (RFC 7748 section 6.1)
};

// What a handshake leaves behind.
struct NoiseKeys {
  Key256 from_initiator;
  Key256 from_responder;
  Hash handshake_hash;  // names this session; no secret (section 11.2, channel binding)
};

class NoiseHandshake {
 public:
  enum class Role : std::uint8_t { kInitiator, kResponder };
  static constexpr std::size_t kOverhead = kX25519Size + kTagSize;  // of each message
  static constexpr std::size_t kMaxMessage = 65'535;

  // `ephemeral`: random bytes that were never used before and are not used elsewhere.
  NoiseHandshake(Role role, const Psk& psk, ConstBytes prologue, const PrivateKey& ephemeral);

  // The initiator writes first, the responder reads first. `message` is kOverhead bytes longer than
  // `payload`, and apart from it; unless kOk, there is nothing to be sent in it.
  [[nodiscard]] NoiseResult write_message(ConstBytes payload, MutableBytes message);
  // `payload` is kOverhead bytes shorter than `message` (empty for a message shorter than that),
  // and apart from it. Unless kOk, it is zeros and the handshake stands where it stood: a forged
  // message does not keep the genuine one from being read.
  [[nodiscard]] NoiseResult read_message(ConstBytes message, MutableBytes payload);

  bool is_complete() const { return next_ == Step::kNone && !is_split_; }
  // Once, when complete; what the handshake knew is wiped.
  NoiseKeys split();

 private:
  enum class Step : std::uint8_t { kWriteFirst, kReadFirst, kWriteSecond, kReadSecond, kNone };
  // "ee" of message 2; false for a weak key.
  static bool mix_shared_secret(SymmetricState& state, const PrivateKey& own,
                                const PublicKey& other);

  SymmetricState state_;
  PrivateKey ephemeral_;
  PublicKey remote_{};
  Step next_;
  bool is_split_ = false;
};

}  // namespace satrelay::crypto

// The handshake Noise_NNpsk0_25519_AESGCM_SHA256 (the Noise Protocol Framework, revision 34): two
// messages between two ends that share a secret of 32 bytes.
//
//   -> psk, e      message 1: 32 bytes of ephemeral public key, payload, 16 bytes of tag
//   <- e, ee       message 2: the same
//
// Only an end that knows the shared secret can write a message or read its payload. The keys also
// depend on both ephemeral secrets. So an attacker that learns the shared secret later cannot read
// old traffic, except the payload of message 1.
//
// Duties of the caller:
//
// - Message 1 can be replayed, because nothing in it comes from the responder. If a payload must
//   not be acted on twice, it must contain a boot epoch or a counter. Even if message 1 is
//   replayed, the keys are new.
// - The prologue contains the data on which both ends must agree: versions, capabilities, lanes,
//   and the addresses in the order initiator, responder. If an attacker changes any of these on
//   the way, the tags do not match. Without the order, an attacker could send an end's messages
//   back, and make the end complete a handshake with itself.
// - An end that accepts two shared secrets reads message 1 with a handshake object for each.
// - If message 1 was written without the secret, the reader computes some hashes and one tag to
//   reject it, but no Diffie-Hellman. Message 2 costs one Diffie-Hellman, so an end should not read
//   many of them for one message 1.
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
  kOutOfTurn,  // this end must not write or read now, or the handshake is complete
  kBadSize,    // the message is shorter than its overhead, or longer than 65,535 bytes
  kForged,     // the tag is wrong: another shared secret, another prologue, or a changed message
  kWeakKey,    // the other end's ephemeral key gives an all-zero secret (RFC 7748 section 6.1)
};

// The results of a handshake.
struct NoiseKeys {
  Key256 from_initiator;
  Key256 from_responder;
  Hash handshake_hash;  // identifies this session; not secret (section 11.2, channel binding)
};

class NoiseHandshake {
 public:
  enum class Role : std::uint8_t { kInitiator, kResponder };
  // The bytes that a message has in addition to its payload.
  static constexpr std::size_t kOverhead = kX25519Size + kTagSize;
  static constexpr std::size_t kMaxMessage = 65'535;

  // `ephemeral` must be random bytes that are used for nothing else, before or after.
  NoiseHandshake(Role role, const Psk& psk, ConstBytes prologue, const PrivateKey& ephemeral);

  // The initiator writes first, the responder reads first. `message` is kOverhead bytes longer than
  // `payload` and does not overlap it. Unless the result is kOk, `message` must not be sent.
  [[nodiscard]] NoiseResult write_message(ConstBytes payload, MutableBytes message);
  // `payload` is kOverhead bytes shorter than `message` (empty if the message is shorter than
  // kOverhead) and does not overlap it. Unless the result is kOk, `payload` is zeros and the
  // handshake has not changed: after a forged message, the genuine one can still be read.
  [[nodiscard]] NoiseResult read_message(ConstBytes message, MutableBytes payload);

  bool is_complete() const { return next_ == Step::kNone && !is_split_; }
  // May be called only once, when the handshake is complete. Wipes the secrets of the handshake.
  NoiseKeys split();

 private:
  enum class Step : std::uint8_t { kWriteFirst, kReadFirst, kWriteSecond, kReadSecond, kNone };
  // Mixes in the token "ee" of message 2. Returns false for a weak key.
  static bool mix_shared_secret(SymmetricState& state, const PrivateKey& own,
                                const PublicKey& other);

  SymmetricState state_;
  PrivateKey ephemeral_;
  PublicKey remote_{};
  Step next_;
  bool is_split_ = false;
};

}  // namespace satrelay::crypto

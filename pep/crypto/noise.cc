#include "pep/crypto/noise.h"

#include <algorithm>

#include "pep/base/check.h"

namespace satrelay::crypto {
namespace {

constexpr std::string_view kProtocolName = "Noise_NNpsk0_25519_AESGCM_SHA256";

// The token "e" (section 5.3). In psk patterns the public key is mixed into the key as well
// (section 9.2), so that each message under a shared secret has a key of its own.
void mix_ephemeral(SymmetricState& state, ConstBytes public_key) {
  state.mix_hash(public_key);
  state.mix_key(public_key);
}

}  // namespace

NoiseHandshake::NoiseHandshake(Role role, const Psk& psk, ConstBytes prologue,
                               const PrivateKey& ephemeral)
    : state_(kProtocolName),
      ephemeral_(ephemeral),
      next_(role == Role::kInitiator ? Step::kWriteFirst : Step::kReadFirst) {
  state_.mix_hash(prologue);
  // The token "psk", which begins message 1 on both sides.
  state_.mix_key_and_hash(psk.bytes());
}

bool NoiseHandshake::mix_shared_secret(SymmetricState& state, const PrivateKey& own,
                                       const PublicKey& other) {
  const auto shared = x25519(own, other);
  if (!shared) return false;
  state.mix_key(shared->bytes());
  return true;
}

NoiseResult NoiseHandshake::write_message(ConstBytes payload, MutableBytes message) {
  SATRELAY_CHECK(message.size() == payload.size() + kOverhead);
  if (next_ != Step::kWriteFirst && next_ != Step::kWriteSecond) return NoiseResult::kOutOfTurn;
  if (message.size() > kMaxMessage) return NoiseResult::kBadSize;
  SymmetricState state = state_;
  const PublicKey own = x25519_public_key(ephemeral_);
  std::copy(own.begin(), own.end(), message.begin());
  mix_ephemeral(state, own);
  if (next_ == Step::kWriteSecond && !mix_shared_secret(state, ephemeral_, remote_)) {
    return NoiseResult::kWeakKey;
  }
  state.encrypt_and_hash(payload, message.subspan(kX25519Size));
  state_ = state;
  next_ = next_ == Step::kWriteFirst ? Step::kReadSecond : Step::kNone;
  return NoiseResult::kOk;
}

NoiseResult NoiseHandshake::read_message(ConstBytes message, MutableBytes payload) {
  const bool is_long_enough = message.size() >= kOverhead;
  SATRELAY_CHECK(payload.size() == (is_long_enough ? message.size() - kOverhead : 0));
  wipe(payload);
  if (next_ != Step::kReadFirst && next_ != Step::kReadSecond) return NoiseResult::kOutOfTurn;
  if (!is_long_enough || message.size() > kMaxMessage) return NoiseResult::kBadSize;
  SymmetricState state = state_;
  PublicKey other;
  std::copy_n(message.begin(), other.size(), other.begin());
  mix_ephemeral(state, other);
  if (next_ == Step::kReadSecond && !mix_shared_secret(state, ephemeral_, other)) {
    return NoiseResult::kWeakKey;
  }
  if (!state.decrypt_and_hash(message.subspan(kX25519Size), payload)) return NoiseResult::kForged;
  state_ = state;
  remote_ = other;
  next_ = next_ == Step::kReadFirst ? Step::kWriteSecond : Step::kNone;
  return NoiseResult::kOk;
}

NoiseKeys NoiseHandshake::split() {
  SATRELAY_CHECK(is_complete());
  const auto [from_initiator, from_responder] = state_.split();
  NoiseKeys keys{from_initiator, from_responder, state_.hash()};
  state_ = SymmetricState(kProtocolName);
  ephemeral_ = PrivateKey();
  is_split_ = true;
  return keys;
}

}  // namespace satrelay::crypto

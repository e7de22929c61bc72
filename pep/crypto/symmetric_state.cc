#include "pep/crypto/symmetric_state.h"

#include <algorithm>

#include "pep/base/check.h"
#include "pep/crypto/gcm_openssl.h"

namespace satrelay::crypto {
namespace {

// HKDF of the Noise specification (section 4.3) equals HKDF of RFC 5869 with the chaining key as
// salt and no info.
template <std::size_t Outputs>
Secret<Outputs * kHashSize> hkdf(const Key256& chaining_key, ConstBytes input) {
  Secret<Outputs * kHashSize> out;
  hkdf_expand(hkdf_extract(chaining_key.bytes(), input), {}, out.bytes());
  return out;
}

template <std::size_t Index, std::size_t Size>
Key256 output(const Secret<Size>& outputs) {
  return Key256(outputs.bytes().template subspan<Index * kHashSize, kHashSize>());
}

// Four zero bytes, then the counter, big-endian (section 12.4).
Nonce nonce_of(std::uint64_t counter) {
  Nonce nonce{};
  store_u64(nonce.data() + 4, counter);
  return nonce;
}

}  // namespace

SymmetricState::SymmetricState(std::string_view protocol_name) : hash_{} {
  SATRELAY_CHECK(protocol_name.size() <= kHashSize);
  std::transform(protocol_name.begin(), protocol_name.end(), hash_.begin(),
                 [](char c) { return static_cast<std::byte>(c); });
  chaining_key_ = Key256(hash_);
}

void SymmetricState::mix_hash(ConstBytes data) { hash_ = sha256({hash_, data}); }

void SymmetricState::mix_key(ConstBytes input) {
  const auto outputs = hkdf<2>(chaining_key_, input);
  chaining_key_ = output<0>(outputs);
  key_ = output<1>(outputs);
  has_key_ = true;
  nonce_ = 0;
}

void SymmetricState::mix_key_and_hash(ConstBytes input) {
  const auto outputs = hkdf<3>(chaining_key_, input);
  chaining_key_ = output<0>(outputs);
  mix_hash(output<1>(outputs).bytes());
  key_ = output<2>(outputs);
  has_key_ = true;
  nonce_ = 0;
}

void SymmetricState::encrypt_and_hash(ConstBytes plain, MutableBytes sealed) {
  SATRELAY_CHECK(has_key_);
  GcmOpenSsl(key_.bytes()).seal(nonce_of(nonce_), hash_, plain, sealed);
  ++nonce_;
  mix_hash(sealed);
}

bool SymmetricState::decrypt_and_hash(ConstBytes sealed, MutableBytes plain) {
  SATRELAY_CHECK(has_key_);
  // The new hash is computed first, because the plain text may overwrite `sealed`.
  const Hash next = sha256({hash_, sealed});
  if (!GcmOpenSsl(key_.bytes()).open(nonce_of(nonce_), hash_, sealed, plain)) return false;
  ++nonce_;
  hash_ = next;
  return true;
}

std::pair<Key256, Key256> SymmetricState::split() const {
  const auto outputs = hkdf<2>(chaining_key_, {});
  return {output<0>(outputs), output<1>(outputs)};
}

}  // namespace satrelay::crypto

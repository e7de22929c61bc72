// A second message under one key. The tests of the handshake do not reach it: its pattern encrypts
// once under each key.
#include "pep/crypto/symmetric_state.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "pep/crypto/aead.h"
#include "tests/unit/pep/wire/octets.h"

namespace satrelay::crypto::symmetric_state_test {
namespace {

using Octets = std::vector<std::byte>;

SymmetricState keyed() {
  SymmetricState state("Noise_X");
  state.mix_key(wire::octets("0102"));
  return state;
}

TEST(SymmetricState, CountsMessagesUnderOneKey) {
  SymmetricState a = keyed(), b = keyed();
  const Octets plain(20);
  Octets first(plain.size() + kTagSize), second(first), opened(plain.size());
  a.encrypt_and_hash(plain, first);
  a.encrypt_and_hash(plain, second);
  // The cipher texts differ too: the nonce is another, not only the hash.
  EXPECT_NE(Octets(first.begin(), first.begin() + 20), Octets(second.begin(), second.begin() + 20));
  EXPECT_FALSE(b.decrypt_and_hash(second, opened));
  EXPECT_TRUE(b.decrypt_and_hash(first, opened));
  EXPECT_FALSE(b.decrypt_and_hash(first, opened));
  EXPECT_TRUE(b.decrypt_and_hash(second, opened));
  EXPECT_EQ(opened, plain);
  EXPECT_EQ(a.hash(), b.hash());
}

TEST(SymmetricState, OpensInPlace) {
  SymmetricState a = keyed(), b = keyed();
  Octets message(20 + kTagSize, std::byte{3});
  const MutableBytes plain = MutableBytes(message).first(20);
  a.encrypt_and_hash(plain, message);
  ASSERT_TRUE(b.decrypt_and_hash(message, plain));
  EXPECT_EQ(Octets(plain.begin(), plain.end()), Octets(20, std::byte{3}));
  EXPECT_EQ(a.hash(), b.hash());
}

TEST(SymmetricState, EncryptsNothingWithoutAKey) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  SymmetricState state("Noise_X");
  Octets message(kTagSize);
  EXPECT_DEATH(state.encrypt_and_hash({}, message), "");
  EXPECT_DEATH((void)state.decrypt_and_hash(message, {}), "");
}

}  // namespace
}  // namespace satrelay::crypto::symmetric_state_test

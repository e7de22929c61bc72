#include "pep/crypto/x25519.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/pep/wire/octets.h"

namespace satrelay::crypto::x25519_test {
namespace {

using Octets = std::vector<std::byte>;

PublicKey public_key(std::string_view hex) {
  PublicKey key{};
  const Octets bytes = wire::octets(hex);
  std::copy_n(bytes.begin(), key.size(), key.begin());
  return key;
}
PrivateKey private_key(std::string_view hex) { return PrivateKey(public_key(hex)); }
Octets copied(const std::optional<SharedSecret>& secret) {
  return secret ? Octets(secret->bytes().begin(), secret->bytes().end()) : Octets();
}

// RFC 7748 section 5.2. The second point has the bit set that must be ignored.
TEST(X25519, AgreesWithRfc7748) {
  EXPECT_EQ(copied(x25519(
                private_key("a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4"),
                public_key("e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c"))),
            wire::octets("c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"));
  EXPECT_EQ(copied(x25519(
                private_key("4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d"),
                public_key("e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493"))),
            wire::octets("95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957"));
}

// The same section: each result becomes the next scalar, each scalar the next point.
TEST(X25519, AgreesWithRfc7748AfterAThousandTurns) {
  PublicKey scalar = public_key("0900000000000000000000000000000000000000000000000000000000000000");
  PublicKey point = scalar;
  for (int i = 0; i < 1000; ++i) {
    const auto next = x25519(PrivateKey(scalar), point);
    ASSERT_TRUE(next);
    point = scalar;
    std::copy_n(next->bytes().begin(), scalar.size(), scalar.begin());
  }
  EXPECT_EQ(scalar, public_key("684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51"));
}

// RFC 7748 section 6.1.
TEST(X25519, BothEndsComeToTheSameSecret) {
  const PrivateKey alice =
      private_key("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a");
  const PrivateKey bob =
      private_key("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb");
  const PublicKey from_alice = x25519_public_key(alice), from_bob = x25519_public_key(bob);
  EXPECT_EQ(from_alice,
            public_key("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a"));
  EXPECT_EQ(from_bob,
            public_key("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f"));
  const Octets secret =
      wire::octets("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742");
  EXPECT_EQ(copied(x25519(alice, from_bob)), secret);
  EXPECT_EQ(copied(x25519(bob, from_alice)), secret);
}

// All points of small order, including encodings above p and those with the ignored bit set.
TEST(X25519, RefusesPointsThatGiveNoSecret) {
  const PrivateKey own =
      private_key("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb");
  for (const char* point : {"0000000000000000000000000000000000000000000000000000000000000000",
                            "0100000000000000000000000000000000000000000000000000000000000000",
                            "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
                            "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
                            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
                            "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
                            "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"}) {
    PublicKey other = public_key(point);
    EXPECT_FALSE(x25519(own, other)) << point;
    other[31] |= std::byte{0x80};
    EXPECT_FALSE(x25519(own, other)) << point;
  }
}

}  // namespace
}  // namespace satrelay::crypto::x25519_test

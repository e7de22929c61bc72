#include "pep/crypto/mac.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "pep/base/random.h"
#include "pep/base/secret.h"

namespace satrelay::crypto::mac_test {
namespace {

using Octets = std::vector<std::byte>;

Secret<kAeadKeySize> key_of(std::uint8_t first) {
  Secret<kAeadKeySize> key;
  key.bytes()[0] = std::byte{first};
  return key;
}

Octets random_octets(Random& random, std::size_t size) {
  Octets bytes(size);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random.next());
  return bytes;
}

class MacTest : public ::testing::TestWithParam<AeadBackend> {
 protected:
  void SetUp() override {
    if (!is_available(GetParam())) GTEST_SKIP();
  }
};

// mac.h builds the code from GCM alone.
TEST_P(MacTest, IsTheTagOfNothingUnderANonceFromTheTagOfTheMessage) {
  Random random(1);
  const auto aead = make_aead(key_of(7).bytes(), GetParam());
  Mac mac(key_of(7).bytes(), GetParam());
  for (const std::size_t size : {0U, 1U, 15U, 16U, 17U, 300U, 1400U}) {
    const Octets message = random_octets(random, size);
    const Nonce context = packet_nonce({.lane = 3, .direction = Direction::kFromOdd});
    MacCode inner, expected;
    aead->seal(context, message, {}, inner);
    Nonce nonce;
    std::copy_n(inner.begin(), nonce.size(), nonce.begin());
    aead->seal(nonce, {}, {}, expected);
    EXPECT_EQ(mac.code(context, message), expected) << size;
    EXPECT_EQ(mac.code(context, message), expected) << "the same again";
    EXPECT_NE(mac.code(context, message), inner);
  }
}

TEST_P(MacTest, DependsOnEveryBitOnTheContextAndOnTheKey) {
  Random random(2);
  Mac mac(key_of(1).bytes(), GetParam()), other(key_of(2).bytes(), GetParam());
  Octets message = random_octets(random, 40);
  std::set<MacCode> codes = {mac.code(packet_nonce({.lane = 0}), message),
                             mac.code(packet_nonce({.lane = 1}), message),
                             other.code(packet_nonce({.lane = 0}), message)};
  std::size_t count = codes.size();
  EXPECT_EQ(count, 3U);
  for (std::size_t bit = 0; bit < message.size() * 8; ++bit, ++count) {
    Octets changed = message;
    changed[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    codes.insert(mac.code(packet_nonce({.lane = 0}), changed));
  }
  for (; !message.empty(); ++count) {
    message.pop_back();
    codes.insert(mac.code(packet_nonce({.lane = 0}), message));
  }
  EXPECT_EQ(codes.size(), count);
}

TEST(MacBackends, Agree) {
  if (!is_available(AeadBackend::kIpsecMb)) GTEST_SKIP();
  Random random(3);
  Mac one(key_of(1).bytes(), AeadBackend::kIpsecMb), two(key_of(1).bytes(), AeadBackend::kOpenSsl);
  for (std::size_t size = 0; size < 600; size += 7) {
    const Octets message = random_octets(random, size);
    EXPECT_EQ(one.code({}, message), two.code({}, message)) << size;
  }
}

INSTANTIATE_TEST_SUITE_P(Crypto, MacTest,
                         ::testing::Values(AeadBackend::kIpsecMb, AeadBackend::kOpenSsl),
                         [](const auto& param_info) {
                           return param_info.param == AeadBackend::kIpsecMb ? "IpsecMb" : "OpenSsl";
                         });

}  // namespace
}  // namespace satrelay::crypto::mac_test

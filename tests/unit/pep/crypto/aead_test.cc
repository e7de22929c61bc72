#include "pep/crypto/aead.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "pep/base/random.h"
#include "tests/unit/pep/wire/octets.h"

namespace satrelay::crypto::aead_test {
namespace {

using wire::octets;
using wire::random_octets;
using Octets = std::vector<std::byte>;

std::unique_ptr<Aead> aead_of(const Octets& key, AeadBackend backend) {
  return make_aead(std::span<const std::byte, kAeadKeySize>(key.data(), kAeadKeySize), backend);
}

Nonce nonce_of(const Octets& bytes) {
  Nonce nonce{};
  std::copy_n(bytes.begin(), nonce.size(), nonce.begin());
  return nonce;
}

std::string name_of(AeadBackend backend) {
  return backend == AeadBackend::kIpsecMb ? "IpsecMb" : "OpenSsl";
}

// Examples of AES-128-GCM: from the proposal of McGrew and Viega (appendix B, cases 1 to 4), and
// from NIST's CAVP file gcmEncryptExtIV128.rsp.
struct Example {
  const char* key;
  const char* nonce;
  const char* plain;
  const char* associated;
  const char* cipher;
  const char* tag;
};
constexpr Example kExamples[] = {
    {"00000000000000000000000000000000", "000000000000000000000000", "", "", "",
     "58e2fccefa7e3061367f1d57a4e7455a"},
    {"00000000000000000000000000000000", "000000000000000000000000",
     "00000000000000000000000000000000", "", "0388dace60b6a392f328c2b971b2fe78",
     "ab6e47d42cec13bdf53a67b21257bddf"},
    {"feffe9928665731c6d6a8f9467308308", "cafebabefacedbaddecaf888",
     "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
     "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255",
     "",
     "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"
     "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091473f5985",
     "4d5c2af327cd64a62cf35abd2ba6fab4"},
    {"feffe9928665731c6d6a8f9467308308", "cafebabefacedbaddecaf888",
     "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
     "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
     "feedfacedeadbeeffeedfacedeadbeefabaddad2",
     "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"
     "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091",
     "5bc94fbc3221a5db94fae95ae7121a47"},
    {"11754cd72aec309bf52f7687212e8957", "3c819d9a9bed087615030b65", "", "", "",
     "250327c674aaf477aef2675748cf6971"},
    {"77be63708971c4e240d1cb79e8d77feb", "e0e00f19fed7ba0136a797f3", "",
     "7a43ec1d9c0a5a78a0b16533a6213cab", "", "209fcc8d3675ed938e9c7166709dd946"},
    {"fe9bb47deb3a61e423c2231841cfd1fb", "4d328eb776f500a2f7fb47aa", "f1cc3818e421876bb6b8bbd6c9",
     "", "b88c5c1977b35b517b0aeae967", "43fd4727fe5cdb4b5b42818dea7ef8c9"},
    {"c939cc13397c1d37de6ae0e1cb7c423c", "b3d8cc017cbb89b39e0f67e2",
     "c3b3c41f113a31b73d9a5cd432103069", "24825602bd12a984e0092d3e448eda5f",
     "93fe7d9e9bfd10348a5606e5cafa7354", "0032a1dc85f1c9786925a2e71d8272dd"},
    {"d4a22488f8dd1d5c6c19a7d6ca17964c", "f3d5837f22ac1a0425e0d1d5",
     "7b43016a16896497fb457be6d2a54122", "f1c5d424b83f96c6ad8cb28ca0d20e475e023b5a",
     "c2bd67eef5e95cac27e3b06e3031d0a8", "f23eacf9d1cdf8737726c58648826e9c"},
    {"48b7f337cdf9252687ecc760bd8ec184", "3e894ebb16ce82a53c3e05b2",
     "bb2bac67a4709430c39c2eb9acfabc0d456c80d30aa1734e57997d548a8f0603",
     "7d924cfd37b3d046a96eb5e132042405c8731e06509787bbeb41f2582757"
     "46495e884d69871f77634c584bb007312234",
     "d263228b8ce051f67e9baf1ce7df97d10cd5f3bc972362055130c7d13c3ab2e7",
     "71446737ca1fa92e6d026d7d2ed1aa9c"},
};

class EachBackend : public testing::TestWithParam<AeadBackend> {
 protected:
  void SetUp() override {
    if (!is_available(GetParam())) GTEST_SKIP() << "not on this CPU";
  }
};
INSTANTIATE_TEST_SUITE_P(Aead, EachBackend,
                         testing::Values(AeadBackend::kIpsecMb, AeadBackend::kOpenSsl),
                         [](const auto& backend) { return name_of(backend.param); });

TEST_P(EachBackend, AgreesWithNistsExamples) {
  for (const Example& example : kExamples) {
    const auto aead = aead_of(octets(example.key), GetParam());
    const Nonce nonce = nonce_of(octets(example.nonce));
    const Octets plain = octets(example.plain), associated = octets(example.associated);
    const Octets expected = octets(std::string(example.cipher) + example.tag);
    Octets sealed(plain.size() + kTagSize);
    aead->seal(nonce, associated, plain, sealed);
    EXPECT_EQ(sealed, expected) << example.key;
    Octets opened(plain.size(), std::byte{7});
    EXPECT_TRUE(aead->open(nonce, associated, expected, opened)) << example.key;
    EXPECT_EQ(opened, plain) << example.key;
  }
}

// gcmDecrypt128.rsp marks it FAIL.
TEST_P(EachBackend, RefusesWhatNistSaysIsForged) {
  const auto aead = aead_of(octets("a49a5e26a2f8cb63d05546c2a62f5343"), GetParam());
  const Octets sealed = octets("a2be08210d8c470a8df6e8fbd79ec5cf");
  EXPECT_FALSE(aead->open(nonce_of(octets("907763b19b9b4ab6bd4f0281")), {}, sealed, {}));
}

TEST_P(EachBackend, WorksInPlace) {
  Random random(1);
  const auto aead = aead_of(random_octets(random, kAeadKeySize), GetParam());
  for (const std::size_t size : {0, 1, 15, 16, 17, 127, 128, 255, 1464, 9000}) {
    const Octets header = random_octets(random, 8), plain = random_octets(random, size);
    const Nonce nonce = nonce_of(random_octets(random, kNonceSize));
    Octets apart(size + kTagSize), memory(plain);
    memory.resize(size + kTagSize);
    aead->seal(nonce, header, plain, apart);
    aead->seal(nonce, header, ConstBytes(memory).first(size), memory);
    EXPECT_EQ(memory, apart) << size;
    EXPECT_TRUE(aead->open(nonce, header, memory, MutableBytes(memory).first(size))) << size;
    memory.resize(size);
    EXPECT_EQ(memory, plain) << size;
  }
}

// Flips every bit of the nonce, the header, the cipher text and the tag.
TEST_P(EachBackend, RefusesAnyChangeAndLeavesNoPlainText) {
  Random random(2);
  constexpr std::size_t kSize = 37;
  const auto aead = aead_of(random_octets(random, kAeadKeySize), GetParam());
  const Octets header = random_octets(random, 8), plain = random_octets(random, kSize);
  const Octets nonce = random_octets(random, kNonceSize), zeros(kSize);
  Octets sealed(kSize + kTagSize);
  aead->seal(nonce_of(nonce), header, plain, sealed);
  const auto refuses = [&](const Octets& n, const Octets& h, Octets s) {
    Octets out(kSize, std::byte{7});
    const bool apart = !aead->open(nonce_of(n), h, s, out) && out == zeros;
    const MutableBytes in_place = MutableBytes(s).first(kSize);
    const bool together = !aead->open(nonce_of(n), h, s, in_place) &&
                          std::equal(zeros.begin(), zeros.end(), in_place.begin());
    return apart && together;
  };
  const auto flipped = [](Octets bytes, std::size_t bit) {
    bytes[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    return bytes;
  };
  EXPECT_FALSE(refuses(nonce, header, sealed));
  for (std::size_t bit = 0; bit < nonce.size() * 8; ++bit) {
    EXPECT_TRUE(refuses(flipped(nonce, bit), header, sealed)) << bit;
  }
  for (std::size_t bit = 0; bit < header.size() * 8; ++bit) {
    EXPECT_TRUE(refuses(nonce, flipped(header, bit), sealed)) << bit;
  }
  for (std::size_t bit = 0; bit < sealed.size() * 8; ++bit) {
    EXPECT_TRUE(refuses(nonce, header, flipped(sealed, bit))) << bit;
  }
  Octets out(kSize);
  EXPECT_TRUE(aead->open(nonce_of(nonce), header, sealed, out));
  EXPECT_EQ(out, plain);
}

TEST_P(EachBackend, RefusesTruncatedPacketsAndOtherKeys) {
  Random random(3);
  const auto aead = aead_of(random_octets(random, kAeadKeySize), GetParam());
  const auto other = aead_of(random_octets(random, kAeadKeySize), GetParam());
  const Octets header = random_octets(random, 8), plain = random_octets(random, 40);
  const Nonce nonce = nonce_of(random_octets(random, kNonceSize));
  Octets sealed(plain.size() + kTagSize), out(plain.size());
  aead->seal(nonce, header, plain, sealed);
  EXPECT_FALSE(other->open(nonce, header, sealed, out));
  for (std::size_t size = 0; size < sealed.size(); ++size) {
    out.resize(size < kTagSize ? 0 : size - kTagSize);
    EXPECT_FALSE(aead->open(nonce, header, ConstBytes(sealed).first(size), out)) << size;
  }
}

TEST_P(EachBackend, StopsAtSizesAndPlacesThatDoNotFit) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto aead = aead_of(Octets(kAeadKeySize), GetParam());
  Octets memory(100);
  const MutableBytes all(memory);
  EXPECT_DEATH(aead->seal({}, {}, all.first(10), all.subspan(50, 25)), "");
  EXPECT_DEATH(aead->seal({}, {}, all.first(10), all.subspan(1, 26)), "");
  EXPECT_DEATH(aead->seal({}, {}, all.subspan(25, 10), all.first(26)), "");
  EXPECT_DEATH((void)aead->open({}, {}, all.first(26), all.subspan(50, 9)), "");
  EXPECT_DEATH((void)aead->open({}, {}, all.first(26), all.subspan(5, 10)), "");
  aead->seal({}, {}, all.first(10), all.subspan(10, 26));
}

TEST(Aead, BackendsGiveTheSame) {
  if (!is_available(AeadBackend::kIpsecMb)) GTEST_SKIP() << "not on this CPU";
  Random random(4);
  for (std::size_t round = 0; round < 1500; ++round) {
    const Octets key = random_octets(random, kAeadKeySize);
    const auto a = aead_of(key, AeadBackend::kIpsecMb), b = aead_of(key, AeadBackend::kOpenSsl);
    // Every size up to 1,200 once, then some larger sizes.
    const std::size_t size = round < 1200 ? round : random.below(10'000);
    const Octets plain = random_octets(random, size);
    const Octets header = random_octets(random, random.below(40));
    const Nonce nonce = nonce_of(random_octets(random, kNonceSize));
    Octets from_a(size + kTagSize), from_b(size + kTagSize), opened(size);
    a->seal(nonce, header, plain, from_a);
    b->seal(nonce, header, plain, from_b);
    ASSERT_EQ(from_a, from_b) << size;
    ASSERT_TRUE(a->open(nonce, header, from_b, opened)) << size;
    ASSERT_EQ(opened, plain);
    ASSERT_TRUE(b->open(nonce, header, from_a, opened)) << size;
    ASSERT_EQ(opened, plain);
  }
}

TEST(Aead, OpenSslIsAlwaysThereAndTheFasterOnePreferred) {
  EXPECT_TRUE(is_available(AeadBackend::kOpenSsl));
  EXPECT_EQ(preferred_backend() == AeadBackend::kIpsecMb, is_available(AeadBackend::kIpsecMb));
  EXPECT_EQ(is_available(AeadBackend::kIpsecMb),
            __builtin_cpu_supports("aes") != 0 && __builtin_cpu_supports("pclmul") != 0);
}

}  // namespace
}  // namespace satrelay::crypto::aead_test

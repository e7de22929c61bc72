#include "pep/crypto/hkdf.h"

#include <gtest/gtest.h>

#include "tests/unit/pep/wire/octets.h"

namespace satrelay::crypto::hkdf_test {
namespace {

using wire::octets;
using Octets = std::vector<std::byte>;

template <typename Range>
Octets copied(const Range& bytes) {
  return {bytes.begin(), bytes.end()};
}
Octets text(std::string_view characters) {
  Octets bytes;
  for (const char c : characters) bytes.push_back(static_cast<std::byte>(c));
  return bytes;
}
// `count` bytes, of which the first is `first` and each next one is greater by one.
Octets counting(unsigned first, unsigned count) {
  Octets bytes;
  for (unsigned i = 0; i < count; ++i) bytes.push_back(static_cast<std::byte>(first + i));
  return bytes;
}

// The examples of FIPS 180-4: one block, two blocks, an empty message.
TEST(Sha256, HashesItsPartsAsOneMessage) {
  EXPECT_EQ(copied(sha256({text("a"), {}, text("bc")})),
            octets("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
  EXPECT_EQ(copied(sha256({text("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")})),
            octets("248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"));
  EXPECT_EQ(copied(sha256({})),
            octets("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"));
}

// RFC 4231 section 4.2, 4.3 and 4.7 (a key longer than a block).
TEST(HmacSha256, AgreesWithRfc4231) {
  EXPECT_EQ(copied(hmac_sha256(Octets(20, std::byte{0x0b}), {text("Hi "), text("There")}).bytes()),
            octets("b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"));
  EXPECT_EQ(copied(hmac_sha256(text("Jefe"), {text("what do ya want for nothing?")}).bytes()),
            octets("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"));
  EXPECT_EQ(copied(hmac_sha256(Octets(131, std::byte{0xaa}),
                               {text("Test Using Larger Than Block-Size Key - Hash Key First")})
                       .bytes()),
            octets("60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"));
}

// RFC 5869 appendix A, test cases 1 to 3.
TEST(Hkdf, AgreesWithRfc5869) {
  struct Case {
    Octets input, salt, info, key, out;
  };
  const Case cases[] = {
      {Octets(22, std::byte{0x0b}), counting(0, 13), counting(0xf0, 10),
       octets("077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5"),
       octets("3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf"
              "34007208d5b887185865")},
      {counting(0, 80), counting(0x60, 80), counting(0xb0, 80),
       octets("06a6b88c5853361a06104c9ceb35b45cef760014904671014a193f40c15fc244"),
       octets("b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c"
              "59045a99cac7827271cb41c65e590e09da3275600c2f09b8367793a9aca3db71"
              "cc30c58179ec3e87c14c01d5c1f3434f1d87")},
      {Octets(22, std::byte{0x0b}),
       {},
       {},
       octets("19ef24a32c717b167f33a91d6f648bdf96596776afdb6377ac434c1c293ccb04"),
       octets("8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"
              "9d201395faa4b61a96c8")},
  };
  for (const Case& c : cases) {
    const Key256 key = hkdf_extract(c.salt, c.input);
    EXPECT_EQ(copied(key.bytes()), c.key);
    Octets out(c.out.size());
    hkdf_expand(key, c.info, out);
    EXPECT_EQ(out, c.out);
    // A shorter output is the beginning of a longer one.
    Octets half(16);
    hkdf_expand(key, c.info, half);
    EXPECT_EQ(half, Octets(c.out.begin(), c.out.begin() + 16));
  }
}

TEST(Hkdf, GivesAtMost255Blocks) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Octets out(255 * kHashSize);
  hkdf_expand({}, {}, out);
  const Octets last(out.end() - kHashSize, out.end());
  EXPECT_NE(last, Octets(kHashSize));
  out.push_back({});
  EXPECT_DEATH(hkdf_expand({}, {}, out), "");
}

}  // namespace
}  // namespace satrelay::crypto::hkdf_test

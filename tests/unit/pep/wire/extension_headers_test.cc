#include "pep/wire/extension_headers.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

#include "pep/base/random.h"
#include "tests/unit/pep/wire/octets.h"

namespace satrelay::wire::extension_headers_test {
namespace {

using End = ExtensionHeaders::End;
using Numbers = std::vector<std::uint8_t>;

std::vector<std::byte> values(std::initializer_list<unsigned> list) {
  std::vector<std::byte> bytes;
  for (const unsigned value : list) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

Numbers numbers_of(const ExtensionHeaders& headers) {
  return {headers.numbers().begin(), headers.numbers().end()};
}

TEST(ExtensionHeaders, AreSteppedOver) {
  const auto chain = values({60,   0,    0, 0, 0, 0, 0, 0,                          // hop by hop
                             43,   1,    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  // destination
                             51,   0,    0, 0, 0, 0, 0, 0,                          // routing
                             6,    1,    0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  // authentication
                             0x9c, 0x40, 0, 80});
  const ExtensionHeaders headers = walk_extension_headers(0, chain);
  EXPECT_EQ(headers.end, End::kTransport);
  EXPECT_EQ(headers.protocol, 6);
  EXPECT_EQ(headers.size, chain.size() - 4);
  EXPECT_EQ(numbers_of(headers), (Numbers{0, 60, 43, 51}));
  EXPECT_FALSE(headers.fragment);
}

TEST(ExtensionHeaders, NoneIsNothingToStepOver) {
  for (const std::uint8_t protocol : Numbers{6, 17, 58, 50, 59, 132}) {
    const auto headers = walk_extension_headers(protocol, {});
    EXPECT_EQ(headers.end, End::kTransport);
    EXPECT_EQ(headers.protocol, protocol);
    EXPECT_EQ(headers.size, 0U);
  }
}

TEST(ExtensionHeaders, OfFragments) {
  auto first = values({60, 0, 0, 1, 1, 2, 3, 4, 6, 0, 0, 0, 0, 0, 0, 0, 0x9c, 0x40, 0, 80});
  auto headers = walk_extension_headers(44, first);
  EXPECT_EQ(headers.end, End::kTransport);
  EXPECT_EQ(headers.protocol, 6);
  ASSERT_TRUE(headers.fragment);
  EXPECT_EQ(headers.fragment->identification, 0x01020304U);
  EXPECT_TRUE(headers.fragment->more);
  EXPECT_EQ(headers.fragment->data_at, 8U);
  EXPECT_EQ(headers.size, 16U);
  // The content of a later fragment may look like any header.
  first[3] = std::byte{0x11};
  headers = walk_extension_headers(44, first);
  EXPECT_EQ(headers.end, End::kLaterFragment);
  EXPECT_EQ(headers.fragment->offset, 16);
  EXPECT_EQ(headers.protocol, 60);
  EXPECT_EQ(headers.size, 8U);
  // RFC 7112: the headers that follow in another fragment are unknown.
  const auto cut = values({60, 0, 0, 1, 1, 2, 3, 4, 6, 1, 0, 0, 0, 0, 0, 0});
  EXPECT_EQ(walk_extension_headers(44, cut).end, End::kUnknown);
  // RFC 6946.
  const auto atomic = values({6, 0, 0, 0, 1, 2, 3, 4, 0x9c, 0x40, 0, 80});
  headers = walk_extension_headers(44, atomic);
  EXPECT_EQ(headers.end, End::kTransport);
  EXPECT_TRUE(headers.fragment->is_atomic());
  const auto twice = values({44, 0, 0, 1, 1, 2, 3, 4, 6, 0, 0, 1, 1, 2, 3, 4, 0x9c, 0x40, 0, 80});
  EXPECT_EQ(walk_extension_headers(44, twice).end, End::kUnknown);
}

TEST(ExtensionHeaders, TooManyOrTooLongAreUnknown) {
  const auto chain_of = [](std::size_t count) {
    std::vector<std::byte> chain(8 * count);
    for (std::size_t i = 0; i < count; ++i) chain[8 * i] = std::byte{60};
    chain[8 * (count - 1)] = std::byte{6};
    return chain;
  };
  EXPECT_EQ(walk_extension_headers(60, chain_of(kMostExtensionHeaders)).end, End::kTransport);
  EXPECT_EQ(walk_extension_headers(60, chain_of(kMostExtensionHeaders + 1)).end, End::kUnknown);
  auto beyond = chain_of(1);
  beyond[1] = std::byte{1};
  EXPECT_EQ(walk_extension_headers(60, beyond).end, End::kUnknown);
}

TEST(ExtensionHeaders, WhateverStandsThereTheWalkStaysWithin) {
  Random random(5);
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::byte> bytes(random.below(80));
    constexpr std::uint8_t kLikely[] = {0, 43, 44, 51, 60, 6, 1, 0};
    for (auto& byte : bytes) {
      byte = std::byte{random.below(3) == 0 ? static_cast<std::uint8_t>(random.below(256))
                                            : kLikely[random.below(8)]};
    }
    const auto headers = walk_extension_headers(kLikely[random.below(5)], exact_copy(bytes));
    ASSERT_LE(headers.size, bytes.size());
    ASSERT_LE(headers.numbers().size(), kMostExtensionHeaders);
    ASSERT_LE(headers.fragment ? headers.fragment->data_at : 0, headers.size);
  }
}

}  // namespace
}  // namespace satrelay::wire::extension_headers_test

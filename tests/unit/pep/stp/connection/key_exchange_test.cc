// Offers and acceptances of two ends: fresh, repeated, old, from another boot, and forged.
#include "pep/stp/connection/key_exchange.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "pep/stp/wire/packet.h"
#include "tests/unit/pep/stp/application.h"

namespace satrelay::stp::test::key_exchange_test {
namespace {

using Bytes = std::vector<std::byte>;
using Verdict = KeyExchange::Reading::Verdict;

Bytes copied(ConstBytes bytes) { return {bytes.begin(), bytes.end()}; }

// One boot of one end, and its HELLOs.
struct Boot {
  Boot(bool even, std::uint64_t epoch, const Security& security = test::security())
      : exchange(security, 0, even, epoch) {
    hello.minimum_version = hello.maximum_version = kVersion;
    hello.opens_even_streams = even;
    hello.encrypts = true;
    hello.epoch = epoch;
    hello.lane_credit = 1'000'000;
  }
  Bytes offer(Instant now) { return copied(exchange.offer(hello, now)); }
  Bytes accept() { return copied(exchange.accept(hello)); }
  KeyExchange exchange;
  HelloFrame hello;
};

class KeyExchangeTest : public ::testing::Test {
 protected:
  KeyExchange::Reading read(Boot& reader, const Boot& writer, const Bytes& offer,
                            const Bytes& accept, bool silent = false) {
    now += Duration::milliseconds(10);
    return reader.exchange.read(writer.hello, {offer, accept}, silent);
  }
  static bool same(const crypto::Key256& a, const crypto::Key256& b) {
    return std::ranges::equal(a.bytes(), b.bytes());
  }
  Instant now = Instant::from_nanoseconds(1'000'000'000);
  Boot a{true, 1'000};
  Boot b{false, 2'000};
};

TEST_F(KeyExchangeTest, BothEndsHaveTheSameKeys) {
  const auto offered = read(b, a, a.offer(now), {});
  ASSERT_EQ(offered.verdict, Verdict::kAuthentic);
  EXPECT_EQ(offered.hello.epoch, 1'000U);
  EXPECT_EQ(offered.hello.peer_epoch, 0U);  // the offer may be an old one
  EXPECT_FALSE(offered.keys);
  EXPECT_FALSE(b.exchange.take_accepted());  // not accepted yet
  const auto accepted = read(a, b, {}, b.accept());
  ASSERT_EQ(accepted.verdict, Verdict::kAuthentic);
  EXPECT_EQ(accepted.hello.peer_epoch, 1'000U);
  const auto given = b.exchange.take_accepted();
  ASSERT_TRUE(given && accepted.keys);
  EXPECT_EQ(given->epoch, 1'000U);
  EXPECT_TRUE(same(given->keys.send, accepted.keys->receive));
  EXPECT_TRUE(same(given->keys.receive, accepted.keys->send));
  EXPECT_FALSE(same(given->keys.send, given->keys.receive));
  EXPECT_FALSE(b.exchange.take_accepted());  // given only once
}

TEST_F(KeyExchangeTest, OnlyWhatIsSealedIsBelieved) {
  const Bytes offer = a.offer(now);
  const HelloFrame said = a.hello;
  a.hello.lane_credit = 7;
  a.hello.capabilities = 0xff;
  a.hello.epoch = 77'777;
  const auto reading = read(b, a, offer, {});
  ASSERT_EQ(reading.verdict, Verdict::kAuthentic);
  EXPECT_EQ(reading.hello.lane_credit, said.lane_credit);
  EXPECT_EQ(reading.hello.capabilities, said.capabilities);
  EXPECT_EQ(reading.hello.epoch, 1'000U);
}

TEST_F(KeyExchangeTest, AnOfferStaysTheSameAndIsReadOnce) {
  const Bytes offer = a.offer(now);
  EXPECT_EQ(read(b, a, offer, {}).verdict, Verdict::kAuthentic);
  const Bytes accept = b.accept();
  EXPECT_EQ(a.offer(now), offer);
  EXPECT_EQ(read(b, a, offer, {}).verdict, Verdict::kRepeated);
  EXPECT_EQ(b.accept(), accept);
  EXPECT_EQ(read(a, b, {}, accept).verdict, Verdict::kAuthentic);
  EXPECT_EQ(read(a, b, {}, accept).verdict, Verdict::kRepeated);
}

TEST_F(KeyExchangeTest, AnOfferThatNobodyAcceptsIsFollowedByAnother) {
  const Bytes first = a.offer(now);
  now += Duration::seconds(9);
  const Bytes second = a.offer(now);
  EXPECT_NE(second, first);
  EXPECT_EQ(read(b, a, second, {}).verdict, Verdict::kAuthentic);
  EXPECT_EQ(read(b, a, first, {}).verdict, Verdict::kStale);
  EXPECT_EQ(read(a, b, {}, b.accept()).verdict, Verdict::kAuthentic);
}

TEST_F(KeyExchangeTest, AnAcceptanceOfAnOfferThatIsWithdrawnIsStale) {
  read(b, a, a.offer(now), {});
  a.exchange.withdraw_offer();
  EXPECT_EQ(read(a, b, {}, b.accept()).verdict, Verdict::kStale);
}

TEST_F(KeyExchangeTest, AnOlderBootIsOnlyBelievedWhenItIsThere) {
  Boot earlier(true, 500);
  const Bytes old = earlier.offer(now);
  ASSERT_EQ(read(b, a, a.offer(now), {}).verdict, Verdict::kAuthentic);
  b.exchange.settle(1'000);
  EXPECT_EQ(read(b, earlier, old, {}).verdict, Verdict::kStale);
  // The peer is silent. Its clock may have been set back.
  ASSERT_EQ(read(b, earlier, old, {}, true).verdict, Verdict::kAuthentic);
  ASSERT_EQ(read(earlier, b, b.offer(now), b.accept()).verdict, Verdict::kAuthentic);
  const auto proof = read(b, earlier, {}, earlier.accept(), true);
  ASSERT_EQ(proof.verdict, Verdict::kAuthentic);
  EXPECT_EQ(proof.hello.epoch, 500U);
  EXPECT_TRUE(proof.keys);
  // From then on the earlier boot is the peer, and its next offer is read as usual.
  now += Duration::seconds(9);
  EXPECT_EQ(read(b, earlier, earlier.offer(now), {}).verdict, Verdict::kAuthentic);
}

TEST_F(KeyExchangeTest, AnOfferWithoutProofIsInNobodysWay) {
  Boot ahead(true, 9'000);  // sent while the clock of the peer was ahead
  const Bytes played = ahead.offer(now);
  ASSERT_EQ(read(b, ahead, played, {}).verdict, Verdict::kAuthentic);
  EXPECT_EQ(read(b, a, a.offer(now), {}).verdict, Verdict::kAuthentic);
  b.exchange.settle(1'000);
  ASSERT_EQ(read(b, ahead, played, {}).verdict, Verdict::kAuthentic);
  now += Duration::seconds(9);
  EXPECT_EQ(read(b, a, a.offer(now), {}).verdict, Verdict::kAuthentic);
}

TEST_F(KeyExchangeTest, AnOfferOfThePeerIsReadOnceWhoeverOffersInBetween) {
  const Bytes offer = a.offer(now);
  ASSERT_EQ(read(b, a, offer, {}).verdict, Verdict::kAuthentic);
  b.exchange.settle(1'000);
  Boot other(true, 9'000);
  ASSERT_EQ(read(b, other, other.offer(now), {}).verdict, Verdict::kAuthentic);
  EXPECT_EQ(read(b, a, offer, {}).verdict, Verdict::kStale);
}

TEST_F(KeyExchangeTest, EitherOfTwoSecretsIsUnderstood) {
  Security changing = security();
  changing.other = changing.psk;
  changing.psk.bytes()[0] ^= std::byte{1};
  Boot c(false, 3'000, changing);
  ASSERT_EQ(read(c, a, a.offer(now), {}).verdict, Verdict::kAuthentic);
  EXPECT_EQ(read(a, c, {}, c.accept()).verdict, Verdict::kAuthentic);
  // The offers of c use its first secret, which a does not have.
  EXPECT_EQ(read(a, c, c.offer(now), {}).verdict, Verdict::kForged);
  a.exchange.set_secrets(changing.psk, std::nullopt);
  EXPECT_EQ(read(a, c, c.offer(now), {}).verdict, Verdict::kAuthentic);
}

// A reload may bring the same secrets. Then the exchange under way continues.
TEST_F(KeyExchangeTest, AReloadOfTheSameSecretsChangesNothing) {
  const Bytes offer = a.offer(now);
  ASSERT_EQ(read(b, a, offer, {}).verdict, Verdict::kAuthentic);
  a.exchange.set_secrets(security().psk, std::nullopt);
  b.exchange.set_secrets(security().psk, std::nullopt);
  EXPECT_EQ(a.offer(now), offer);
  EXPECT_EQ(read(a, b, {}, b.accept()).verdict, Verdict::kAuthentic);
}

TEST_F(KeyExchangeTest, AnOfferUnderASecretThatIsNoMoreIsNotAccepted) {
  ASSERT_EQ(read(b, a, a.offer(now), {}).verdict, Verdict::kAuthentic);
  Security changed = security();
  changed.psk.bytes()[0] ^= std::byte{1};
  b.exchange.set_secrets(changed.psk, std::nullopt);
  EXPECT_TRUE(b.accept().empty());
  EXPECT_FALSE(b.exchange.take_accepted());
}

TEST_F(KeyExchangeTest, WhatIsMeantForOthersIsNotUnderstood) {
  const Bytes offer = a.offer(now);
  Boot same_side(true, 4'000);
  EXPECT_EQ(read(same_side, a, offer, {}).verdict, Verdict::kForged);
  Security named = security();
  named.names = {std::byte{'x'}};
  Boot elsewhere(false, 2'000, named);
  EXPECT_EQ(read(elsewhere, a, offer, {}).verdict, Verdict::kForged);
  KeyExchange other_lane(security(), 1, false, 2'000);
  EXPECT_EQ(other_lane.read(a.hello, {offer, {}}, false).verdict, Verdict::kForged);
}

// An acceptance is recorded, and replayed after a later offer.
TEST_F(KeyExchangeTest, AnAcceptanceOfAnotherOfferIsNotTried) {
  const Bytes first = a.offer(now);
  read(b, a, first, {});
  const Bytes accept = b.accept();
  HelloKeys keys{.offer = {}, .accept = accept, .has_mac = true, .accepted = b.exchange.accepted()};
  EXPECT_TRUE(a.exchange.answers_offer(keys));
  now += Duration::seconds(9);
  a.offer(now);
  EXPECT_FALSE(a.exchange.answers_offer(keys));
  EXPECT_EQ(a.exchange.read(b.hello, keys, false).verdict, Verdict::kStale);
  keys.accepted = {};
  EXPECT_FALSE(a.exchange.answers_offer(keys));
}

// A peer that has the secret may claim to accept an offer as often as it likes. Only the first
// acceptance is read.
TEST_F(KeyExchangeTest, AnOfferIsAnsweredOnce) {
  const Bytes offer = a.offer(now);
  const Bytes forged(103, std::byte{1});
  const HelloKeys keys{.offer = {},
                       .accept = forged,
                       .has_mac = true,
                       .accepted = ConstBytes(offer).first(kOfferNameSize)};
  EXPECT_TRUE(a.exchange.answers_offer(keys));
  EXPECT_EQ(a.exchange.read(b.hello, keys, false).verdict, Verdict::kForged);
  EXPECT_FALSE(a.exchange.answers_offer(keys));
}

TEST_F(KeyExchangeTest, AForgeryDoesNotKeepTheGenuineOneFromBeingRead) {
  read(b, a, a.offer(now), {});
  const Bytes accept = b.accept();
  for (const std::size_t size : {1U, 47U, 48U, 103U, 500U}) {
    EXPECT_EQ(read(a, b, {}, Bytes(size, std::byte{1})).verdict, Verdict::kForged) << size;
  }
  EXPECT_EQ(read(a, b, {}, accept).verdict, Verdict::kAuthentic);
}

}  // namespace
}  // namespace satrelay::stp::test::key_exchange_test

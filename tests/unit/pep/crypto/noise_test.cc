#include "pep/crypto/noise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "pep/base/random.h"
#include "pep/crypto/gcm_openssl.h"
#include "tests/unit/pep/wire/octets.h"

namespace satrelay::crypto::noise_test {
namespace {

using wire::octets;
using Octets = std::vector<std::byte>;
using Role = NoiseHandshake::Role;

Secret<32> secret(const Octets& bytes) {
  return Secret<32>(std::span<const std::byte, 32>(bytes.data(), 32));
}
template <typename Range>
Octets copied(const Range& bytes) {
  return {bytes.begin(), bytes.end()};
}

struct Read {
  NoiseResult result;
  Octets payload;
  friend bool operator==(const Read&, const Read&) = default;
};
Read read(NoiseHandshake& end, const Octets& message) {
  constexpr std::size_t kOverhead = NoiseHandshake::kOverhead;
  Octets payload(message.size() < kOverhead ? 0 : message.size() - kOverhead, std::byte{7});
  const NoiseResult result = end.read_message(message, payload);
  return {result, payload};
}
Octets written(NoiseHandshake& end, const Octets& payload) {
  Octets message(payload.size() + NoiseHandshake::kOverhead);
  EXPECT_EQ(end.write_message(payload, message), NoiseResult::kOk);
  return message;
}

// The test vector for this protocol name from Cacophony, the Haskell implementation. Other
// implementations of Noise use these vectors too.
namespace vector {
constexpr char kPrologue[] = "4a6f686e2047616c74";
constexpr char kPsk[] = "54686973206973206d7920417573747269616e20706572737065637469766521";
constexpr char kInitiator[] = "893e28b9dc6ca8d611ab664754b8ceb7bac5117349a4439a6b0569da977c464a";
constexpr char kResponder[] = "bbdb4cdbd309f1a1f2e1456967fe288cadd6f712d65dc7b7793d5e63da6b375b";
constexpr char kHash[] = "9f3b1f9afd7767767b5b9d1069844a6154fdbdcc36dfb3e31c0fffc5c973d530";
constexpr char kPayload1[] = "4c756477696720766f6e204d69736573";
constexpr char kMessage1[] =
    "ca35def5ae56cec33dc2036731ab14896bc4c75dbb07a61f879f8e3afa4c79447c37a89fc17813788d30df2d5950"
    "1d6066f5f8aecc3406bbd9829f2d24a531b1";
constexpr char kPayload2[] = "4d757272617920526f746862617264";
constexpr char kMessage2[] =
    "95ebc60d2b1fa672c1f46a8aa265ef51bfe38e7ccb39ec5be34069f1448088432f29d79368ef9de4e1ae7a362fb0"
    "5bf0ad668e026bf5714554497b3a720461";
// The first messages under the two keys, with nonce 0 and no associated data.
constexpr char kPayload3[] = "462e20412e20486179656b";
constexpr char kMessage3[] = "7c01e898a6201f36aecee532e29cd0b7f8ffa29d3366ad0dce39a6";
constexpr char kPayload4[] = "4361726c204d656e676572";
constexpr char kMessage4[] = "a9ff535aace3db6a1da1a7fb00fe2de2622bb373abad9fb42c00e0";
}  // namespace vector

TEST(Noise, AgreesWithThePublishedVector) {
  const Psk psk = secret(octets(vector::kPsk));
  NoiseHandshake initiator(Role::kInitiator, psk, octets(vector::kPrologue),
                           secret(octets(vector::kInitiator)));
  NoiseHandshake responder(Role::kResponder, psk, octets(vector::kPrologue),
                           secret(octets(vector::kResponder)));
  const Octets payload1 = octets(vector::kPayload1), payload2 = octets(vector::kPayload2);
  const Octets message1 = octets(vector::kMessage1), message2 = octets(vector::kMessage2);
  EXPECT_EQ(written(initiator, payload1), message1);
  EXPECT_EQ(read(responder, message1), (Read{NoiseResult::kOk, payload1}));
  EXPECT_EQ(written(responder, payload2), message2);
  EXPECT_EQ(read(initiator, message2), (Read{NoiseResult::kOk, payload2}));

  const auto first_of = [](const Key256& key, const Octets& payload) {
    Octets sealed(payload.size() + kTagSize);
    GcmOpenSsl(key.bytes()).seal({}, {}, payload, sealed);
    return sealed;
  };
  for (NoiseHandshake* end : {&initiator, &responder}) {
    ASSERT_TRUE(end->is_complete());
    const NoiseKeys keys = end->split();
    EXPECT_EQ(copied(keys.handshake_hash), octets(vector::kHash));
    EXPECT_EQ(first_of(keys.from_initiator, octets(vector::kPayload3)), octets(vector::kMessage3));
    EXPECT_EQ(first_of(keys.from_responder, octets(vector::kPayload4)), octets(vector::kMessage4));
  }
}

// Two ends and their messages. Each test changes one thing.
class NoisePair : public testing::Test {
 protected:
  NoiseHandshake make(Role role) {
    return {role, psk_, prologue_,
            role == Role::kInitiator ? initiator_secret_ : responder_secret_};
  }
  Random random_{11};
  Psk psk_ = secret(wire::random_octets(random_, 32));
  Octets prologue_ = wire::random_octets(random_, 50);
  PrivateKey initiator_secret_ = secret(wire::random_octets(random_, 32));
  PrivateKey responder_secret_ = secret(wire::random_octets(random_, 32));
  const Octets payload1_ = wire::random_octets(random_, 48), payload2_ = {};
};

TEST_F(NoisePair, EndsWithTheSameKeysOnBothSides) {
  NoiseHandshake a = make(Role::kInitiator), b = make(Role::kResponder);
  EXPECT_EQ(read(b, written(a, payload1_)), (Read{NoiseResult::kOk, payload1_}));
  EXPECT_FALSE(a.is_complete());
  EXPECT_FALSE(b.is_complete());
  EXPECT_EQ(read(a, written(b, payload2_)), (Read{NoiseResult::kOk, payload2_}));
  ASSERT_TRUE(a.is_complete());
  ASSERT_TRUE(b.is_complete());
  const NoiseKeys keys_a = a.split(), keys_b = b.split();
  EXPECT_FALSE(a.is_complete());
  EXPECT_EQ(copied(keys_a.from_initiator.bytes()), copied(keys_b.from_initiator.bytes()));
  EXPECT_EQ(copied(keys_a.from_responder.bytes()), copied(keys_b.from_responder.bytes()));
  EXPECT_NE(copied(keys_a.from_initiator.bytes()), copied(keys_a.from_responder.bytes()));
  EXPECT_EQ(keys_a.handshake_hash, keys_b.handshake_hash);
}

// A downgrade on the way: the prologue holds what each end believes was offered. So a changed offer
// fails.
TEST_F(NoisePair, AnotherPrologueOrSecretIsForged) {
  NoiseHandshake a = make(Role::kInitiator);
  const Octets message1 = written(a, payload1_);
  const Read forged{NoiseResult::kForged, Octets(payload1_.size())};
  for (std::size_t i = 0; i < prologue_.size(); ++i) {
    prologue_[i] ^= std::byte{1};
    NoiseHandshake b = make(Role::kResponder);
    EXPECT_EQ(read(b, message1), forged) << i;
    prologue_[i] ^= std::byte{1};
  }
  prologue_.push_back({});
  NoiseHandshake longer = make(Role::kResponder);
  EXPECT_EQ(read(longer, message1), forged);
  prologue_.pop_back();
  psk_.bytes()[31] ^= std::byte{1};
  NoiseHandshake stranger = make(Role::kResponder);
  EXPECT_EQ(read(stranger, message1), forged);
}

TEST_F(NoisePair, AChangedMessageIsRefusedAndTheGenuineOneStillRead) {
  NoiseHandshake a = make(Role::kInitiator), b = make(Role::kResponder);
  const auto refuses_changes = [](NoiseHandshake& end, const Octets& message) {
    for (std::size_t bit = 0; bit < message.size() * 8; ++bit) {
      // X25519 ignores the top bit of a public key (RFC 7748 section 5), but the hash includes it.
      Octets changed(message);
      changed[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
      const Read got = read(end, changed);
      ASSERT_EQ(got.result, NoiseResult::kForged) << bit;
      ASSERT_EQ(got.payload, Octets(got.payload.size())) << bit;
    }
    for (std::size_t size = 0; size < message.size(); ++size) {
      const NoiseResult expected =
          size < NoiseHandshake::kOverhead ? NoiseResult::kBadSize : NoiseResult::kForged;
      ASSERT_EQ(
          read(end, Octets(message.begin(), message.begin() + static_cast<long>(size))).result,
          expected)
          << size;
    }
    Octets longer(message);
    longer.push_back({});
    ASSERT_EQ(read(end, longer).result, NoiseResult::kForged);
  };
  const Octets message1 = written(a, payload1_);
  refuses_changes(b, message1);
  EXPECT_EQ(read(b, message1), (Read{NoiseResult::kOk, payload1_}));
  const Octets message2 = written(b, payload2_);
  refuses_changes(a, message2);
  EXPECT_EQ(read(a, message2), (Read{NoiseResult::kOk, payload2_}));
  EXPECT_EQ(a.split().handshake_hash, b.split().handshake_hash);
}

TEST_F(NoisePair, ItsOwnMessageComesBackInVain) {
  NoiseHandshake a = make(Role::kInitiator);
  const Octets message1 = written(a, payload1_);
  EXPECT_EQ(read(a, message1).result, NoiseResult::kForged);
}

TEST_F(NoisePair, MessagesGoInTurn) {
  NoiseHandshake a = make(Role::kInitiator), b = make(Role::kResponder);
  Octets room(NoiseHandshake::kOverhead);
  EXPECT_EQ(read(a, room).result, NoiseResult::kOutOfTurn);
  EXPECT_EQ(b.write_message({}, room), NoiseResult::kOutOfTurn);
  const Octets message1 = written(a, payload1_);
  EXPECT_EQ(a.write_message({}, room), NoiseResult::kOutOfTurn);
  EXPECT_EQ(read(b, message1).result, NoiseResult::kOk);
  EXPECT_EQ(read(b, message1), (Read{NoiseResult::kOutOfTurn, Octets(payload1_.size())}));
  const Octets message2 = written(b, payload2_);
  EXPECT_EQ(b.write_message({}, room), NoiseResult::kOutOfTurn);
  EXPECT_EQ(read(b, message1).result, NoiseResult::kOutOfTurn);
  EXPECT_EQ(read(a, message2).result, NoiseResult::kOk);
  EXPECT_EQ(read(a, message2).result, NoiseResult::kOutOfTurn);
  EXPECT_EQ(a.write_message({}, room), NoiseResult::kOutOfTurn);
  (void)a.split();
  EXPECT_EQ(read(a, message2).result, NoiseResult::kOutOfTurn);
}

TEST_F(NoisePair, KeysAreTakenOnceAndOnlyInTheEnd) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  NoiseHandshake a = make(Role::kInitiator), b = make(Role::kResponder);
  EXPECT_DEATH(a.split(), "");
  EXPECT_EQ(read(b, written(a, payload1_)).result, NoiseResult::kOk);
  EXPECT_DEATH(b.split(), "");
  EXPECT_EQ(read(a, written(b, payload2_)).result, NoiseResult::kOk);
  (void)a.split();
  EXPECT_DEATH(a.split(), "");
}

TEST_F(NoisePair, MessagesHaveALargestSize) {
  NoiseHandshake a = make(Role::kInitiator), b = make(Role::kResponder);
  const std::size_t most = NoiseHandshake::kMaxMessage - NoiseHandshake::kOverhead;
  Octets message(NoiseHandshake::kMaxMessage + 1);
  EXPECT_EQ(a.write_message(Octets(most + 1), message), NoiseResult::kBadSize);
  EXPECT_EQ(read(b, message).result, NoiseResult::kBadSize);
  EXPECT_EQ(read(b, written(a, Octets(most))), (Read{NoiseResult::kOk, Octets(most)}));
}

// The message of an end that knows the shared secret but sends a public key of small order.
Octets message_of_weak_key(const Psk& psk, const Octets& prologue) {
  SymmetricState state("Noise_NNpsk0_25519_AESGCM_SHA256");
  state.mix_hash(prologue);
  state.mix_key_and_hash(psk.bytes());
  Octets message(NoiseHandshake::kOverhead);
  const MutableBytes key = MutableBytes(message).first(kX25519Size);
  key[0] = std::byte{1};
  state.mix_hash(key);
  state.mix_key(key);
  state.encrypt_and_hash({}, MutableBytes(message).subspan(kX25519Size));
  return message;
}

TEST_F(NoisePair, RefusesAKeyThatGivesNoSecret) {
  NoiseHandshake b = make(Role::kResponder);
  const Octets weak = message_of_weak_key(psk_, prologue_);
  EXPECT_EQ(read(b, weak).result, NoiseResult::kOk);  // only "ee" shows it
  Octets message2(NoiseHandshake::kOverhead);
  EXPECT_EQ(b.write_message({}, message2), NoiseResult::kWeakKey);
  EXPECT_FALSE(b.is_complete());

  NoiseHandshake a = make(Role::kInitiator), good = make(Role::kResponder);
  const Octets message1 = written(a, payload1_);
  EXPECT_EQ(read(a, weak).result, NoiseResult::kWeakKey);
  EXPECT_EQ(read(good, message1).result, NoiseResult::kOk);
  EXPECT_EQ(read(a, written(good, payload2_)).result, NoiseResult::kOk);
}

// Both keys differ from the earlier ones if only the ephemeral secret is another.
TEST_F(NoisePair, EachHandshakeHasKeysOfItsOwn) {
  const auto keys = [this] {
    NoiseHandshake a = make(Role::kInitiator), b = make(Role::kResponder);
    EXPECT_EQ(read(b, written(a, payload1_)).result, NoiseResult::kOk);
    EXPECT_EQ(read(a, written(b, payload2_)).result, NoiseResult::kOk);
    return a.split();
  };
  const NoiseKeys first = keys();
  responder_secret_.bytes()[0] ^= std::byte{8};
  const NoiseKeys second = keys();
  EXPECT_NE(copied(first.from_initiator.bytes()), copied(second.from_initiator.bytes()));
  EXPECT_NE(copied(first.from_responder.bytes()), copied(second.from_responder.bytes()));
  EXPECT_NE(first.handshake_hash, second.handshake_hash);
}

}  // namespace
}  // namespace satrelay::crypto::noise_test

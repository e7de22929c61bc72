// The keys of one direction, one after another, and packets that arrive late, early or changed.
#include "pep/stp/connection/packet_key.h"

#include <gtest/gtest.h>

#include <vector>

namespace satrelay::stp::packet_key_test {
namespace {

using Packet = std::vector<std::byte>;

constexpr Sender kSender{3, crypto::Direction::kFromOdd};
constexpr Duration kKeep = Duration::milliseconds(1'500);

crypto::Key256 secret(std::uint8_t first) {
  crypto::Key256 key;
  key.bytes()[0] = std::byte{first};
  return key;
}

class PacketKeyTest : public ::testing::Test {
 protected:
  Packet sealed(std::uint64_t number) {
    Packet packet(kHeaderSize + 20 + crypto::kTagSize, static_cast<std::byte>(number));
    PacketHeader header;
    header.number = static_cast<std::uint32_t>(number);
    header.key_phase = sender.phase();
    header.session_tag = sender.tag();
    write_header(header, packet.data());
    sender.seal(packet, number);
    return packet;
  }
  bool opens(const Packet& packet, std::uint64_t number) {
    Packet plain(20);
    const bool is_genuine =
        receiver.open(parse_header(packet)->key_phase, number, packet, plain, now, kKeep);
    EXPECT_EQ(plain, Packet(20, is_genuine ? static_cast<std::byte>(number) : std::byte{0}));
    return is_genuine;
  }
  void next_key(std::uint64_t first) {
    sender.on_reported(first - 1);
    ASSERT_TRUE(sender.may_follow());
    sender.follow(first, now);
  }
  Instant now = Instant::from_nanoseconds(1'000'000'000);
  SendKey sender{secret(1), kSender, 0, now};
  ReceiveKey receiver{secret(1), kSender};
};

TEST_F(PacketKeyTest, OpensWhatWasSealed) {
  EXPECT_EQ(sender.tag(), receiver.tag());
  for (const std::uint64_t number : {0ULL, 1ULL, 1ULL << 31, 1ULL << 40}) {
    EXPECT_TRUE(opens(sealed(number), number));
  }
}

TEST_F(PacketKeyTest, TheNumberIsMoreThanWhatTravels) {
  const std::uint64_t number = 7;
  EXPECT_FALSE(opens(sealed(number), number + (1ULL << 32)));
}

TEST_F(PacketKeyTest, AnotherSecretLaneOrDirectionOpensNothing) {
  const Packet packet = sealed(5);
  Packet plain(20);
  const auto opens_with = [&](std::uint8_t first, const Sender& other) {
    return ReceiveKey(secret(first), other).open(false, 5, packet, plain, now, kKeep);
  };
  EXPECT_TRUE(opens_with(1, kSender));
  EXPECT_FALSE(opens_with(2, kSender));
  EXPECT_FALSE(opens_with(1, {2, kSender.direction}));
  EXPECT_FALSE(opens_with(1, {3, crypto::Direction::kFromEven}));
}

TEST_F(PacketKeyTest, ANewKeyIsFoundByItsFirstPacketAndTheOldOneIsKeptForAWhile) {
  const Packet late = sealed(98), later = sealed(99);
  ASSERT_TRUE(opens(sealed(97), 97));
  next_key(100);
  EXPECT_TRUE(sender.phase());
  EXPECT_EQ(receiver.expires(), Instant::never());
  ASSERT_TRUE(opens(sealed(101), 101));  // the first packet of this key was lost, or is late itself
  EXPECT_EQ(receiver.followed(), 1U);
  EXPECT_EQ(receiver.expires(), now + kKeep);
  EXPECT_TRUE(opens(sealed(100), 100));
  EXPECT_TRUE(opens(late, 98));
  now += kKeep;
  receiver.expire(now);
  EXPECT_EQ(receiver.expires(), Instant::never());
  EXPECT_FALSE(opens(later, 99));
  EXPECT_TRUE(opens(sealed(102), 102));
}

TEST_F(PacketKeyTest, ManyKeysFollowEachOther) {
  std::uint64_t number = 0;
  for (int key = 0; key < 20; ++key) {
    for (int i = 0; i < 3; ++i, ++number) EXPECT_TRUE(opens(sealed(number), number));
    next_key(number);
    now += kKeep;
    receiver.expire(now);
  }
  EXPECT_EQ(receiver.followed(), 19U);
  EXPECT_EQ(sender.tag(), receiver.tag());  // the session's tag stays the same
}

TEST_F(PacketKeyTest, AFlippedPhaseMovesNothing) {
  ASSERT_TRUE(opens(sealed(1), 1));
  Packet forged = sealed(2);
  forged[0] ^= std::byte{0x04};
  EXPECT_FALSE(opens(forged, 2));
  EXPECT_EQ(receiver.followed(), 0U);
  EXPECT_TRUE(opens(sealed(3), 3));
}

TEST_F(PacketKeyTest, NoKeyFollowsBeforeThePeerHasHeardOfThePresentOne) {
  EXPECT_FALSE(sender.may_follow());
  sender.on_reported(0);
  ASSERT_TRUE(sender.may_follow());
  sender.follow(50, now);
  EXPECT_FALSE(sender.may_follow());
  sender.on_reported(49);  // a packet of the key before
  EXPECT_FALSE(sender.may_follow());
  sender.on_reported(50);
  EXPECT_TRUE(sender.may_follow());
  EXPECT_EQ(sender.packets(60), 10U);
}

TEST_F(PacketKeyTest, EachKeyIsAnother) {
  const Packet first = sealed(1);
  next_key(2);
  const Packet second = sealed(1);  // the same number again, for comparison only
  EXPECT_NE(Packet(first.begin() + kHeaderSize, first.end()),
            Packet(second.begin() + kHeaderSize, second.end()));
}

}  // namespace
}  // namespace satrelay::stp::packet_key_test

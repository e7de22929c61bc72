#include "pep/stp/connection/hello_mac.h"

#include <gtest/gtest.h>

#include <vector>

#include "pep/stp/wire/frames.h"
#include "pep/stp/wire/packet.h"
#include "relay/sim/adversaries/hello_packet.h"
#include "tests/unit/pep/stp/application.h"

namespace satrelay::stp::test::hello_mac_test {
namespace {

using Packet = std::vector<std::byte>;
using Under = HelloMac::Under;

Security changed(std::uint8_t secret) {
  Security changed = security();
  changed.psk.bytes()[0] ^= std::byte{secret};
  return changed;
}

Packet hello_packet() {
  HelloFrame hello;
  hello.minimum_version = hello.maximum_version = kVersion;
  hello.encrypts = true;
  hello.epoch = 1'000;
  hello.peer_epoch = 2'000;
  const Packet offer(103, std::byte{1}), accept(103, std::byte{2});
  return sim::write_hello_packet({.number = 7}, hello,
                                 {.offer = offer,
                                  .accept = accept,
                                  .has_mac = true,
                                  .accepted = ConstBytes(offer).first(kOfferNameSize)});
}

struct Gateway {
  Gateway(const Security& its_security, std::uint8_t lane, bool even)
      : security(its_security), mac(lane, even) {}
  bool is_genuine(const Packet& packet) { return mac.is_genuine(packet, security); }
  Security security;
  HelloMac mac;
};

Packet closed(Gateway& gateway, Under under = Under::kFirst) {
  Packet packet = hello_packet();
  gateway.mac.close(packet, gateway.security, under);
  return packet;
}

TEST(HelloMac, IsThatOfThePeer) {
  Gateway even(security(), 0, true), odd(security(), 0, false);
  const Packet packet = closed(even);
  EXPECT_TRUE(SessionSeal().verify(packet));
  EXPECT_TRUE(odd.is_genuine(packet));
  EXPECT_FALSE(even.is_genuine(packet)) << "our own, sent back";
}

TEST(HelloMac, CoversTheWholePacket) {
  Gateway even(security(), 0, true), odd(security(), 0, false);
  const Packet packet = closed(even);
  for (std::size_t bit = 0; bit < (packet.size() - kTrailerSize) * 8; ++bit) {
    Packet other = packet;
    other[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    SessionSeal().close(other);
    EXPECT_FALSE(odd.is_genuine(other)) << bit;
  }
}

TEST(HelloMac, IsOfOneLaneAndOnePairOfGateways) {
  Gateway even(security(), 3, true);
  const Packet packet = closed(even);
  EXPECT_TRUE(Gateway(security(), 3, false).is_genuine(packet));
  EXPECT_FALSE(Gateway(security(), 2, false).is_genuine(packet));
  Security named = security();
  named.names = {std::byte{'x'}};
  EXPECT_FALSE(Gateway(named, 3, false).is_genuine(packet));
  EXPECT_FALSE(Gateway(changed(1), 3, false).is_genuine(packet));
}

TEST(HelloMac, IsReadUnderEitherSecretAndWrittenUnderTheOneAskedFor) {
  Security both = security();
  both.other = changed(1).psk;
  Gateway changing(both, 0, true), old(security(), 0, false), later(changed(1), 0, false);
  EXPECT_TRUE(old.is_genuine(closed(changing, Under::kFirst)));
  EXPECT_FALSE(later.is_genuine(closed(changing, Under::kFirst)));
  EXPECT_TRUE(later.is_genuine(closed(changing, Under::kOther)));
  EXPECT_FALSE(old.is_genuine(closed(changing, Under::kOther)));
  Gateway reader(both, 0, false), of_old(security(), 0, true), of_later(changed(1), 0, true);
  EXPECT_TRUE(reader.is_genuine(closed(of_old)));
  EXPECT_TRUE(reader.is_genuine(closed(of_later)));
  reader.security = changed(1);
  reader.mac.forget();
  EXPECT_FALSE(reader.is_genuine(closed(of_old)));
  EXPECT_TRUE(reader.is_genuine(closed(of_later)));
}

TEST(HelloMac, IsLeftOutByOlderBuildsAndSkippedByThem) {
  Gateway even(security(), 0, true);
  const Packet packet = closed(even);
  ByteReader in(frames_of(packet));
  in.u8();
  HelloKeys keys;
  const HelloFrame hello = parse_hello(in, keys);
  EXPECT_TRUE(in.ok());
  EXPECT_EQ(in.remaining(), 0U);
  EXPECT_TRUE(keys.has_mac);
  EXPECT_EQ(keys.accepted.size(), kOfferNameSize);
  // A HELLO without room for a MAC has none.
  for (std::size_t more = 0; more < kOfferNameSize + kHelloMacSize; ++more) {
    Packet shorter(600);
    ByteWriter out(shorter);
    write_hello(out, hello, {keys.offer, keys.accept});
    out.reserve(more);
    store_u16(shorter.data() + 1, static_cast<std::uint16_t>(out.written() - 3));
    ByteReader again(ConstBytes(shorter).first(out.written()));
    again.u8();
    HelloKeys of_shorter;
    parse_hello(again, of_shorter);
    EXPECT_TRUE(again.ok());
    EXPECT_FALSE(of_shorter.has_mac) << more;
  }
}

}  // namespace
}  // namespace satrelay::stp::test::hello_mac_test

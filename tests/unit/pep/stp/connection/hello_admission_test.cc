// Which HELLOs of a session that encrypts are read, and which counter has the others.
#include "pep/stp/connection/hello_admission.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "pep/stp/connection/hello_budget.h"
#include "pep/stp/wire/packet.h"
#include "relay/sim/adversaries/hello_packet.h"
#include "tests/unit/pep/stp/application.h"

namespace satrelay::stp::test::hello_admission_test {
namespace {

constexpr std::uint64_t kOurEpoch = 1'000, kPeerEpoch = 2'000;

class HelloAdmissionTest : public ::testing::Test {
 protected:
  HelloAdmissionTest() {
    frame.minimum_version = frame.maximum_version = kVersion;
    frame.encrypts = true;
    frame.epoch = kPeerEpoch;
  }
  // The peer's HELLO with its offer, which is a new one if `renews`.
  std::vector<std::byte> hello(bool has_mac = true, bool renews = false) {
    if (renews) theirs.withdraw_offer();
    const HelloKeys keys{.offer = theirs.offer(frame, now), .accept = {}, .has_mac = has_mac};
    auto packet = sim::write_hello_packet({}, frame, keys);
    if (has_mac) theirs.close(packet);
    return packet;
  }
  bool admit(ConstBytes packet) {
    ReceivedHello received{.packet = packet, .number = ++number, .frame = {}, .keys = {}};
    ByteReader in(frames_of(packet));
    in.u8();
    received.frame = parse_hello(in, received.keys);
    return admission.admit(received, ours, false, now);
  }
  // Takes all turns that come at once.
  void use_up(Turns& some) {
    while (some.take({}, now)) now += Duration::milliseconds(1);
    some.leave({});
  }

  Instant now = Instant::from_nanoseconds(1'700'000'000'000'000'000);
  HelloFrame frame;
  KeyExchange ours{security(), 0, true, kOurEpoch};
  KeyExchange theirs{security(), 0, false, kPeerEpoch};
  std::uint32_t number = 0;
  Handshake handshake{{.epoch = kOurEpoch, .encrypts = true}, now};
  HelloBudget budget{1};
  HelloTurns turns{&budget, {}, {}};
  KeyMismatchTimer key_mismatch;
  Counters counters;
  HelloAdmission admission{{handshake, turns, key_mismatch, counters}, kOurEpoch};
};

TEST_F(HelloAdmissionTest, AnOfferWithAMacIsRead) {
  EXPECT_TRUE(admit(hello()));
  EXPECT_FALSE(admission.holds_hello());
  EXPECT_TRUE(admission.next().is_never());
}

TEST_F(HelloAdmissionTest, AHelloWithAnotherMacIsNotAuthentic) {
  auto packet = hello();
  packet[packet.size() - kTrailerSize - 1] ^= std::byte{1};
  for (std::uint32_t i = 1; i <= KeyMismatchTimer::kLeast; ++i) {
    EXPECT_FALSE(key_mismatch.holds(now));
    EXPECT_FALSE(admit(packet));
    EXPECT_EQ(counters.not_authentic, i);
  }
  EXPECT_TRUE(key_mismatch.holds(now)) << "the operator shall know";
}

TEST_F(HelloAdmissionTest, ANumberIsReadOnce) {
  const auto packet = hello();
  EXPECT_TRUE(admit(packet));
  --number;
  EXPECT_FALSE(admit(packet));
  EXPECT_EQ(counters.hellos_repeated, 1U);
}

TEST_F(HelloAdmissionTest, AnOfferWithoutATurnIsHeld) {
  use_up(budget.offers);
  const auto packet = hello();
  EXPECT_FALSE(admit(packet));
  EXPECT_TRUE(admission.holds_hello());
  EXPECT_EQ(counters.hellos_unread, 0U);
  EXPECT_EQ(admission.take(now), std::nullopt);
  ASSERT_GT(admission.next(), now);
  now = admission.next();
  EXPECT_EQ(admission.take(now), packet);
  EXPECT_FALSE(admission.holds_hello());
}

TEST_F(HelloAdmissionTest, OfTwoHeldOffersTheNewerIsKept) {
  use_up(budget.offers);
  const auto first = hello();
  EXPECT_FALSE(admit(first));
  const auto second = hello(true, true);
  EXPECT_FALSE(admit(second));
  EXPECT_EQ(counters.hellos_unread, 1U);
  now = admission.next();
  EXPECT_EQ(admission.take(now), second);
}

TEST_F(HelloAdmissionTest, AnAcceptanceOfOurOfferNeedsNoTurn) {
  use_up(budget.offers);
  HelloFrame our_frame = frame;
  our_frame.opens_even_streams = true;
  our_frame.epoch = kOurEpoch;
  const ConstBytes offer = ours.offer(our_frame, now);
  ASSERT_EQ(theirs.read(our_frame, {offer, {}}, true).verdict,
            KeyExchange::Reading::Verdict::kAuthentic);
  const ConstBytes accept = theirs.accept(frame);
  auto packet = sim::write_hello_packet(
      {}, frame, {.offer = {}, .accept = accept, .has_mac = true, .accepted = theirs.accepted()});
  theirs.close(packet);
  EXPECT_TRUE(admit(packet));
}

TEST_F(HelloAdmissionTest, HellosWithoutAMacHaveTheirOwnTurns) {
  use_up(budget.offers);
  EXPECT_TRUE(admit(hello(false)));
  use_up(budget.without_mac);
  EXPECT_FALSE(admit(hello(false)));
  EXPECT_TRUE(admission.holds_hello());
  EXPECT_FALSE(ours.wants_answer());
  EXPECT_FALSE(admit(hello(false)));
  EXPECT_EQ(counters.hellos_unread, 1U);
  EXPECT_TRUE(ours.wants_answer()) << "the peer's own HELLO may have been dropped";
}

TEST_F(HelloAdmissionTest, APeerThatHasProvedToSendMacsIsNotReadWithout) {
  budget.on_mac_proved(0, now);
  EXPECT_FALSE(admit(hello(false)));
  EXPECT_EQ(counters.hellos_without_mac, 1U);
  EXPECT_FALSE(admission.holds_hello());
}

}  // namespace
}  // namespace satrelay::stp::test::hello_admission_test

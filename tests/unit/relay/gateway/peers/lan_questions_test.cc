#include "relay/gateway/peers/lan_questions.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/unit/relay/gateway/devices/live_peer.h"
#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::gateway::lan_questions_test {
namespace {

TEST(LanQuestion, IsReadAsItWasWritten) {
  for (const auto& each : {AskedAddress{ip_of("192.168.100.1"), {}},
                           AskedAddress{ip_of("2001:db8:64::1"), {101, 7}}}) {
    std::array<std::byte, LanQuestions::kMaxSize + 3> message{};
    const std::size_t size = write_lan_question(each, message);
    ASSERT_LE(size, LanQuestions::kMaxSize);
    EXPECT_EQ(message[0], std::byte{LanQuestions::kMessage});
    EXPECT_EQ(parse_lan_question(ConstBytes(message).first(size)), each);
    EXPECT_EQ(parse_lan_question(message), each) << "what a later version appends";
    for (std::size_t cut = 0; cut < size; ++cut) {
      EXPECT_FALSE(parse_lan_question(ConstBytes(message).first(cut))) << cut;
    }
    message[1] = std::byte{5};
    EXPECT_FALSE(parse_lan_question(message));
  }
}

TEST(LanQuestion, APeerOfAnOlderVersionIsNotAsked) {
  Instant now = Instant::from_nanoseconds(1);
  Carrier carrier{link_of(BitRate::bits_per_second(10'000'000)), 2, 16};
  LivePeer peer{carrier, now};
  Messages messages(peer.session(), 0);
  LanQuestions questions(peer.session(), messages);
  EXPECT_FALSE(questions.are_understood());
  EXPECT_FALSE(questions.ask({ip_of("192.168.100.1"), {}}, now));
}

}  // namespace
}  // namespace satrelay::gateway::lan_questions_test

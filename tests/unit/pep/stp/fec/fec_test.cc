// When a session takes the memory of forward error correction, and when it gives it back.
#include "pep/stp/fec/fec.h"

#include <gtest/gtest.h>

#include <vector>

#include "pep/stp/numbers/received_packets.h"

namespace satrelay::stp::test::fec_test {
namespace {

TEST(FecMemory, NothingIsTakenForAPeerThatIsNeverHeard) {
  const Fec fec(1472);
  EXPECT_FALSE(fec.sender.holds_memory());
  EXPECT_FALSE(fec.receiver.holds_memory());
  EXPECT_EQ(fec.prompt_receiver, nullptr);
  EXPECT_TRUE(fec.next_expiry().is_never());
}

TEST(FecMemory, ThatOfTheReceiverIsThereFromTheFirstPacketUntilNoneHasComeForAWhile) {
  Fec fec(1472);
  ReceivedPackets received;
  const std::vector<std::byte> frames(100);
  Instant now = Instant::from_nanoseconds(1'000'000'000);
  std::uint64_t number = 0;
  const auto arrive = [&] {
    received.record(number, now);
    fec.receiver.handle_packet(static_cast<std::uint16_t>(number), number, frames, received, now);
    ++number;
  };
  arrive();
  EXPECT_TRUE(fec.receiver.holds_memory());
  now += Duration::seconds(1);
  arrive();
  EXPECT_EQ(fec.next_expiry(), now + FecReceiver::kIdle);
  now += FecReceiver::kIdle;
  fec.expire(now);
  EXPECT_FALSE(fec.receiver.holds_memory());
  EXPECT_TRUE(fec.receiver.repaired().empty());
  EXPECT_TRUE(fec.next_expiry().is_never());
  arrive();
  EXPECT_TRUE(fec.receiver.holds_memory());
  fec.clear();
  EXPECT_FALSE(fec.receiver.holds_memory());
}

}  // namespace
}  // namespace satrelay::stp::test::fec_test

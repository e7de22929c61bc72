// How many repairs a worker has time for, where many sessions share that time.
#include "pep/stp/fec/repair_budget.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "pep/stp/fec/fec.h"
#include "pep/stp/fec/fec_sender.h"
#include "tests/unit/pep/stp/fec/reference_code.h"

namespace satrelay::stp::test::repair_budget_test {
namespace {

using Waiting = FecSender::Waiting;
constexpr std::size_t kDatagram = 1472;
constexpr Duration kRoundTrip = Duration::milliseconds(500);
constexpr std::size_t kPlenty = FecPolicy::kMostRepairs;

// One of the 300 sessions of a worker. It has a part of its own, and may use the common part, first
// come, first served.
class SendingAmongMany : public ::testing::Test {
 protected:
  static constexpr FecSender::Plan kPlan{.packets = 1'000, .repairs = kPlenty};
  struct Window {
    std::size_t packets = 0;
    std::size_t repairs = 0;
  };
  SendingAmongMany() { policy.on_report(9'000, 1'000); }
  // Sends packets until a window ends, and then its repairs.
  Window send(FecSender& sender) {
    const Bytes frames(20);
    Window window;
    while (window.packets < 1'000 && window.repairs == 0) {
      sender.add(next++, frames, {}, kPlan, now);
      ++window.packets;
      for (; sender.ready(Waiting::kNothing, next, now + kRoundTrip); ++window.repairs) {
        room.assign(kDatagram, {});
        ByteWriter writer(room);
        EXPECT_TRUE(sender.write(writer, next++, now));
      }
    }
    return window;
  }

  FecCodec codec;
  FecPolicy policy;
  Bytes room;
  std::uint64_t next = 1'000;
  Instant now = Instant::from_nanoseconds(1'000'000'000);
  WorkBudget call;
  SharedRepairs shared{300, call};
  RepairBudget mine{&shared};
  RepairBudget others{&shared};
  FecSender first{codec, policy, mine.sums(), kDatagram};
  FecSender second{codec, policy, others.sums(), kDatagram};
};

// All sessions together have 2,500 additions a millisecond, and save them for a tenth of a second
// at most. A window of a thousand packets at 10% takes 160,000. So the next windows get shorter.
TEST_F(SendingAmongMany, WithLittleTimeWindowsAreShortAndWithoutAnyHaveFewRepairs) {
  std::vector<std::size_t> sizes;
  while (first.starved() == 0 && sizes.size() < 50) {
    const Window window = send(first);
    sizes.push_back(window.packets);
    const std::size_t needed = policy.repairs_for(window.packets);
    EXPECT_EQ(window.repairs, first.starved() == 0 ? needed : 6);
  }
  EXPECT_GT(sizes.front(), 800U);
  ASSERT_GT(sizes.size(), 3U);
  EXPECT_EQ(sizes.back(), 64U);
  EXPECT_TRUE(std::ranges::is_sorted(sizes, std::greater()));
  EXPECT_EQ(first.starved(), 1U);
  EXPECT_GT(send(second).repairs, 10U) << "a part of its own is left";
  now += Duration::milliseconds(100);
  EXPECT_GT(send(first).packets, 800U);
  EXPECT_EQ(first.starved(), 1U);
}

// At any rate of loss there is time for the window that needs the most.
TEST_F(SendingAmongMany, NoWindowIsTooLargeForARestedWorker) {
  for (const std::uint64_t lost : {100U, 200U, 300U, 500U, 1'000U, 3'000U}) {
    policy.clear();
    policy.on_report(10'000 - lost, lost);
    now += Duration::seconds(1);
    const Window window = send(first);
    EXPECT_GE(window.packets, 190U) << lost;
    EXPECT_GE(window.repairs, policy.repairs_for(window.packets)) << lost;
  }
  EXPECT_EQ(first.starved(), 0U);
}

TEST_F(SendingAmongMany, TimeThatAWindowDidNotNeedIsGivenBack) {
  const Bytes frames(20);
  for (int i = 0; i < 30; ++i) {
    first.add(next++, frames, {}, kPlan, now);
    if (i % 3 == 0) first.advance(Waiting::kNothing, next, kRoundTrip, now + kRoundTrip);
    if (i % 3 == 1) first.drop_next();
    first.clear();
  }
  EXPECT_EQ(first.starved(), 0U);
  EXPECT_GT(send(second).packets, 800U);
}

// The two codes of one session.
TEST(RepairBudgetOfASession, IsOneForBothCodes) {
  Fec in(kDatagram);
  ReceivedPackets received;
  const Instant now = Instant::from_nanoseconds(1'000'000'000);
  const Bytes symbol(40);
  for (int i = 0; i < 2'000; ++i) {
    for (const FecCode code : {FecCode::kFlight, FecCode::kPrompt}) {
      FecReceiver& receiver = in.receiver_of(code);
      if (i == 0) receiver.handle_packet(0, 0, symbol, received, now);
      receiver.handle_repair({code, 1, 160, static_cast<std::uint16_t>(i), symbol}, received, now);
    }
  }
  // 100 ms of half a core for both codes together.
  EXPECT_GT(in.received().overload, 4'000 - 500'000U / 160);
}

// Empty repairs: two hundred of them fit into one packet.
TEST(RepairBudgetOfASession, HasTimeForSoManyLooksOfRepairsOfNothing) {
  Fec in(kDatagram);
  FecReceiver& receiver = in.receiver_of(FecCode::kFlight);
  ReceivedPackets received;
  Instant now = Instant::from_nanoseconds(1'000'000'000);
  const Bytes symbol(40);
  for (std::uint16_t i = 0; i < kMaxCodedWindow; ++i) {
    receiver.handle_packet(i, i, symbol, received, now);
  }
  const auto send = [&](int repairs) {
    for (int i = 0; i < repairs; ++i) {
      receiver.handle_repair({FecCode::kFlight, 0, kMaxCodedWindow, 0, {}}, received, now);
    }
  };
  send(10'000);
  EXPECT_EQ(in.received().wasted, 500'000U / 104 + 1);
  EXPECT_EQ(in.received().wasted + in.received().overload, 10'000U);
  now += Duration::milliseconds(1);
  const std::uint64_t before = in.received().wasted;
  send(100);
  EXPECT_EQ(in.received().wasted - before, (5'000U - 32) / 104 + 1) << "what was owed is paid";
}

}  // namespace
}  // namespace satrelay::stp::test::repair_budget_test

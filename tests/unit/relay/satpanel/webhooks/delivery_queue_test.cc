#include "relay/satpanel/webhooks/delivery_queue.h"

#include <gtest/gtest.h>

namespace satrelay::panel::delivery_queue_test {
namespace {

using Json = nlohmann::ordered_json;
using Instant = DeliveryQueue::Instant;
using enum Answer::Kind;
using namespace std::chrono_literals;

class DeliveryQueueTest : public testing::Test {
 protected:
  void push(std::uint64_t number) {
    queue_.push({{"number", number}, {"name", "peer_lost"}, {"boot_epoch", "77"}});
  }
  Json tried() {
    const Delivery* delivery = queue_.poll_delivery(now_);
    return delivery == nullptr ? Json() : Json::parse(delivery->body);
  }
  void answer(const Answer& answer) { queue_.handle_answer(answer, now_); }

  Instant now_ = Instant() + 1h;
  DeliveryQueue queue_{"hub", 1};
};

TEST_F(DeliveryQueueTest, SendsEventsInOrderWithTheGatewaysName) {
  EXPECT_EQ(queue_.poll_delivery(now_), nullptr);
  EXPECT_EQ(queue_.next_timeout(), Instant::max());
  push(1);
  push(2);
  EXPECT_EQ(queue_.poll_delivery(now_)->key, "77-1");
  EXPECT_EQ(tried(), (Json{{"number", 1},
                           {"name", "peer_lost"},
                           {"boot_epoch", "77"},
                           {"gateway", "hub"},
                           {"dropped", 0}}));
  answer({.kind = kTaken});
  EXPECT_EQ(tried()["number"], 2);
  answer({.kind = kTaken});
  EXPECT_EQ(queue_.poll_delivery(now_), nullptr);
  EXPECT_EQ(queue_.counters().delivered_events, 2U);
}

TEST_F(DeliveryQueueTest, TriesTheSameAgainBeforeTheNext) {
  push(1);
  push(2);
  const Delivery first = *queue_.poll_delivery(now_);
  std::chrono::steady_clock::duration before = 0s;
  for (int i = 0; i < 6; ++i) {
    answer({});
    EXPECT_EQ(queue_.poll_delivery(now_), nullptr) << "without a pause";
    const auto pause = queue_.next_timeout() - now_;
    EXPECT_GE(pause, 500ms * (1 << i));
    EXPECT_LE(pause, 1s * (1 << i));
    EXPECT_GE(pause, before);
    before = pause;
    now_ = queue_.next_timeout();
    const Delivery* again = queue_.poll_delivery(now_);
    ASSERT_NE(again, nullptr);
    EXPECT_EQ(again->key, first.key);
    EXPECT_EQ(again->body, first.body);
  }
  EXPECT_EQ(queue_.counters().failed_tries, 6U);
  EXPECT_EQ(queue_.counters().is_failing, 1U);
  EXPECT_EQ(queue_.counters().waiting_events, 2U);
  answer({.kind = kTaken});
  EXPECT_EQ(queue_.counters().is_failing, 0U);
  EXPECT_EQ(tried()["number"], 2);
  answer({});
  EXPECT_LE(queue_.next_timeout() - now_, 1s) << "the pause begins anew";
}

TEST_F(DeliveryQueueTest, WaitsForAsLongAsTheReceiverAsks) {
  push(1);
  tried();
  answer({.retry_after = 90s});
  EXPECT_EQ(queue_.next_timeout(), now_ + 90s);
}

TEST_F(DeliveryQueueTest, GoesOnBehindWhatIsRefused) {
  push(1);
  push(2);
  tried();
  answer({.kind = kRefused});
  EXPECT_EQ(tried()["number"], 2);
  EXPECT_EQ(queue_.counters().refused_events, 1U);
}

TEST_F(DeliveryQueueTest, DropsTheOldestBeyondItsMostAndTellsHowMany) {
  push(1);
  tried();
  answer({});
  for (std::uint64_t i = 2; i <= DeliveryQueue::kMostWaiting + 11; ++i) push(i);
  EXPECT_EQ(queue_.counters().waiting_events, DeliveryQueue::kMostWaiting + 1);
  EXPECT_EQ(queue_.counters().dropped_events, 10U);
  now_ = queue_.next_timeout();
  // The event that is being tried stays as it was.
  EXPECT_EQ(tried()["dropped"], 0);
  EXPECT_EQ(tried()["number"], 1);
  answer({.kind = kTaken});
  EXPECT_EQ(tried()["number"], 12);
  EXPECT_EQ(tried()["dropped"], 10);
  // The receiver refused this event, and so the count in it. The next event repeats the count, with
  // the events dropped meanwhile.
  answer({.kind = kRefused});
  for (std::uint64_t i = 2000; i < 2003; ++i) push(i);
  EXPECT_EQ(tried()["dropped"], 12);
  answer({.kind = kTaken});
  EXPECT_EQ(tried()["dropped"], 0);
}

TEST_F(DeliveryQueueTest, GivesUpWhatIsNeverTakenAndKeepsItsPace) {
  push(1);
  push(2);
  const Instant began = now_;
  while (tried()["number"] == 1) {
    answer({});
    ASSERT_LE(queue_.next_timeout() - now_, Backoff::kLongest);
    now_ = queue_.next_timeout();
  }
  EXPECT_GE(now_ - began, DeliveryQueue::kLongestTrying);
  EXPECT_EQ(tried()["number"], 2);
  EXPECT_EQ(tried()["dropped"], 1);
  answer({});
  EXPECT_GE(queue_.next_timeout() - now_, Backoff::kLongest / 2);
}

}  // namespace
}  // namespace satrelay::panel::delivery_queue_test

// How much of a carrier the HELLOs of many sessions may take.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "pep/control/budget.h"
#include "tests/unit/pep/stp/harness.h"

namespace satrelay::stp::greeting_budget_test {
namespace {

using test::End;
using test::EndConfig;

constexpr std::size_t kSessions = 100;
constexpr std::size_t kAccounted = 352 + 28;  // octets of a HELLO on the link, at most
const BitRate kRate = BitRate::bits_per_second(40'000);

class Silent final : public StreamSource {
 public:
  void produce(StreamId, std::uint32_t, Instant) override {}
};

class GreetingBudget : public testing::Test {
 protected:
  GreetingBudget() {
    for (control::Budget* budget : {&hellos_, &answers_}) budget->set_rate(kRate, now_);
    for (std::size_t i = 0; i < kSessions; ++i) {
      ends_.push_back(std::make_unique<End>(end_config(i + 1, true), source_, now_));
    }
  }
  EndConfig end_config(std::uint64_t epoch, bool is_ours) {
    EndConfig config;
    config.arena_bytes = 64 << 10;
    config.session.boot_epoch = epoch;
    config.session.opens_even_streams = is_ours;
    config.session.streams.max_streams = 16;
    config.session.streams.lane_receive_limit = config.session.streams.receive_limit = 16 << 10;
    if (is_ours) config.session.hello.budgets = {.hellos = &hellos_, .answers = &answers_};
    return config;
  }
  // As in the gateway, a session is not asked before its time.
  std::size_t poll(std::size_t i) {
    if (ends_[i]->session().next_timeout() > now_) return 0;
    ++asked_;
    ends_[i]->session().handle_timeout(now_);
    return ends_[i]->session().poll_packet(out_, now_);
  }

  Instant now_ = Instant::from_nanoseconds(1'000'000'000);
  Silent source_;
  control::Budget hellos_{ByteCount(2'000)}, answers_{ByteCount(2'000)};
  std::vector<std::unique_ptr<End>> ends_;
  std::array<std::byte, 1472> out_{};
  std::uint64_t asked_ = 0;
};

TEST_F(GreetingBudget, OfPeersThatAreAbsentIsDividedInTurn) {
  std::array<int, kSessions> greeted{};
  std::uint64_t hellos = 0;
  for (int ms = 0; ms < 30'000; ++ms) {
    now_ += Duration::milliseconds(1);
    for (std::size_t i = 0; i < kSessions; ++i) {
      if (poll(i) == 0) continue;
      ++greeted[i];
      ++hellos;
    }
  }
  // 5,000 octets a second, and 2,000 at once. Without a budget there would be 3,000 HELLOs.
  EXPECT_LE(hellos * kAccounted, 30 * 5'000U + 2'000U);
  EXPECT_GE(hellos * kAccounted, 30 * 5'000U * 9 / 10);
  EXPECT_GE(std::ranges::min(greeted), 2);
  EXPECT_LE(std::ranges::max(greeted), 6);
  EXPECT_LE(asked_, 2 * hellos + 2 * kSessions) << "nobody is asked again and again";
}

TEST_F(GreetingBudget, AnAnswerDoesNotWaitForThoseThatAreAbsent) {
  for (int ms = 0; ms < 5'000; ++ms) {
    now_ += Duration::milliseconds(1);
    for (std::size_t i = 0; i < kSessions; ++i) poll(i);
  }
  End peer(end_config(1'000, false), source_, now_);
  const std::size_t size = peer.session().poll_packet(out_, now_);
  ASSERT_GT(size, 0U);
  const std::vector<std::byte> hello(out_.begin(),
                                     out_.begin() + static_cast<std::ptrdiff_t>(size));
  for (const std::size_t i : {std::size_t{17}, std::size_t{93}}) {
    ends_[i]->session().handle_packet(hello, now_);
    EXPECT_GT(poll(i), 0U) << "at once";
  }
}

}  // namespace
}  // namespace satrelay::stp::greeting_budget_test

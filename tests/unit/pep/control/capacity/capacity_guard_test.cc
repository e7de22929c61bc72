#include "pep/control/capacity/capacity_guard.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "pep/control/fixed_rate.h"
#include "tests/unit/pep/control/model_link.h"

namespace satrelay::control::test::capacity_guard_test {
namespace {

using State = CapacityGuard::State;
constexpr BitRate kTenMegabit = BitRate::bits_per_second(10'000'000);
constexpr BitRate kOneMegabit = BitRate::bits_per_second(1'000'000);
constexpr Duration kRtt = Duration::milliseconds(550);

// For a minute each, impairments that must not be taken for a lower capacity.
TEST(CapacityGuard, TrustsALinkThatLosesDelaysAndReorders) {
  struct Case {
    const char* what;
    ModelLink link;
  };
  ModelLink lossy, jittery, both, silent, slow_reports;
  lossy.loss = 0.1;
  jittery.jitter = Duration::milliseconds(16);
  both = jittery;
  both.loss = 0.1;
  silent.lost_reports = 0.5;
  slow_reports.report_interval = kRtt;
  slow_reports.loss = 0.01;
  for (const Case& c :
       {Case{"10% loss", lossy}, Case{"jitter of 16 ms", jittery}, Case{"both", both},
        Case{"half of the reports lost", silent}, Case{"a report a round trip", slow_reports}}) {
    SCOPED_TRACE(c.what);
    FixedRate controller(kTenMegabit);
    Model model(controller, c.link);
    for (int i = 0; i < 60; ++i) {
      model.run(Duration::seconds(1));
      ASSERT_EQ(controller.guard().state(), State::kTrusting) << "after " << i << " s";
    }
    EXPECT_EQ(controller.rate(), kTenMegabit.scaled(995, 1000));
  }
}

TEST(CapacityGuard, TrustsALinkAfterAnOutage) {
  FixedRate controller(kTenMegabit);
  Model model(controller, {});
  model.run(Duration::seconds(5));
  model.link.cut = true;
  model.run(Duration::seconds(3));
  model.link.cut = false;
  model.run(Duration::seconds(5));
  EXPECT_EQ(controller.guard().state(), State::kTrusting);
}

// Handovers of a LEO path, with twice the steps of real paths: 12 to 47 ms one way, every 15 s, and
// jitter.
TEST(CapacityGuard, TrustsAPathWhoseDelaySteps) {
  FixedRate controller(kTenMegabit);
  ModelLink link;
  link.delay = Duration::milliseconds(12);
  link.jitter = Duration::milliseconds(5);
  Model model(controller, link);
  for (const std::int64_t delay : {47, 15, 44, 20, 12, 47}) {
    model.run(Duration::seconds(15));
    model.link.delay = Duration::milliseconds(delay);
    ASSERT_EQ(controller.guard().state(), State::kTrusting);
  }
}

// The rate falls to a tenth. The modem's queue holds 100 ms at the old rate, a second at the new
// one.
TEST(CapacityGuard, FindsATenthAndEmptiesTheQueueWithinFourRoundTrips) {
  for (const double loss : {0.0, 0.01, 0.1}) {
    SCOPED_TRACE(loss);
    FixedRate controller(kTenMegabit);
    ModelLink link;
    link.loss = loss;
    Model model(controller, link);
    model.run(Duration::seconds(5));
    model.link.rate = kOneMegabit;
    model.run(kRtt * 4);
    EXPECT_LT(model.queue(), Duration::milliseconds(25));
    Duration worst;
    model.share();
    for (int i = 0; i < 200; ++i) {
      model.run(Duration::milliseconds(50));
      worst = std::max(worst, model.queue());
    }
    const double share = model.share();
    std::printf("  10:1 down, loss %4.1f%%: %.3f of the link over 10 s, queue up to %lld ms\n",
                loss * 100, share, static_cast<long long>(worst.to_milliseconds()));
    EXPECT_LT(worst, Duration::milliseconds(35));
    EXPECT_GT(share, 0.75 * (1 - loss));
  }
}

TEST(CapacityGuard, FindsALittleTooMuch) {
  FixedRate controller(kTenMegabit);
  ModelLink link;
  link.queue = ByteCount(10'000'000);
  Model model(controller, link);
  model.run(Duration::seconds(5));
  model.link.rate = kTenMegabit.scaled(98, 100);
  model.run(Duration::seconds(15));
  EXPECT_NE(controller.guard().state(), State::kTrusting);
  EXPECT_LT(model.queue(), Duration::milliseconds(60));
}

TEST(CapacityGuard, RegainsTheRateWhenTheCapacityReturns) {
  FixedRate controller(kTenMegabit);
  Model model(controller, {});
  model.run(Duration::seconds(5));
  model.link.rate = kOneMegabit;
  model.run(Duration::seconds(30));
  ASSERT_NE(controller.guard().state(), State::kTrusting);
  model.link.rate = kTenMegabit;
  double seconds = 0;
  while (controller.guard().state() != State::kTrusting && seconds < 60) {
    model.run(Duration::milliseconds(100));
    seconds += 0.1;
    ASSERT_LT(model.queue(), Duration::milliseconds(40));
  }
  std::printf("  back at the configured rate %.1f s after the capacity\n", seconds);
  EXPECT_LT(seconds, 20);
}

// A receiver with a ring in which packets wait ever longer, up to 100 ms within four seconds. After
// that the ring is empty.
class SlowReceiver {
 public:
  enum class Tells : std::uint8_t { kNothing, kLateness, kLosses };
  SlowReceiver(Model& model, Tells tells) : model_(model), tells_(tells) {
    model.amend = [this](FeedbackSample& sample) { amend(sample); };
  }

 private:
  void amend(FeedbackSample& sample) {
    const Duration since = model_.now() - began_;
    if (since > Duration::seconds(4)) return;
    const Duration waited = since / 40;
    sample.arrived += waited;
    if (tells_ == Tells::kLateness) sample.lateness = waited;
    if (tells_ == Tells::kLosses) {
      sample.packets_lost += 1;
      sample.packets_lost_at_receiver += 1;
    }
  }
  Model& model_;
  Tells tells_;
  Instant began_ = model_.now();
};

TEST(CapacityGuard, LatenessOfAMachineIsNoQueue) {
  using enum SlowReceiver::Tells;
  for (const auto tells : {kLateness, kNothing}) {
    FixedRate controller(kTenMegabit);
    Model model(controller, {});
    model.run(Duration::seconds(5));
    const SlowReceiver receiver(model, tells);
    bool cut = false;
    for (int i = 0; i < 60; ++i) {
      model.run(Duration::milliseconds(100));
      cut |= controller.guard().state() != State::kTrusting;
    }
    EXPECT_EQ(cut, tells == kNothing);
  }
}

TEST(CapacityGuard, ACutIsTakenBackWithTheNewsOfAMachine) {
  FixedRate controller(kTenMegabit);
  Model model(controller, {});
  model.run(Duration::seconds(5));
  const SlowReceiver receiver(model, SlowReceiver::Tells::kLosses);
  Duration low;
  for (int i = 0; i < 10'000; ++i) {
    model.run(Duration::milliseconds(1));
    if (controller.rate() < kTenMegabit.scaled(9, 10)) low = low + Duration::milliseconds(1);
  }
  EXPECT_GT(low, Duration::zero()) << "the news come behind the cut";
  EXPECT_LE(low, Duration::milliseconds(200)) << "four cuts, an interval of reports each";
  EXPECT_EQ(controller.rate(), kTenMegabit.scaled(995, 1000));
}

// The lateness of a machine that is always late excuses a queue for a while only. After that the
// queue counts, whatever makes it.
TEST(CapacityGuard, AMachineThatIsNeverInTimeHidesAFadeForAWhileOnly) {
  FixedRate controller(kTenMegabit);
  Model model(controller, {});
  model.amend = [](FeedbackSample& sample) { sample.lateness = Duration::seconds(9); };
  model.run(Duration::seconds(3));
  model.link.rate = kOneMegabit;
  model.run(PunctualSamples::kPatience + kRtt * 4);
  EXPECT_NE(controller.guard().state(), State::kTrusting);
  EXPECT_LT(model.queue(), Duration::milliseconds(60));
}

TEST(CapacityGuard, ObeysAnnouncementsAtOnce) {
  FixedRate controller(kTenMegabit);
  Model model(controller, {});
  model.run(Duration::seconds(2));
  model.link.rate = kOneMegabit;
  controller.on_capacity(kOneMegabit);
  EXPECT_EQ(controller.rate(), kOneMegabit.scaled(995, 1000));
  model.run(Duration::seconds(20));
  EXPECT_EQ(controller.guard().state(), State::kTrusting);
  model.link.rate = kTenMegabit;
  controller.on_capacity(kTenMegabit);
  EXPECT_EQ(controller.rate(), kTenMegabit.scaled(995, 1000));
  model.run(Duration::seconds(5));
  EXPECT_EQ(controller.guard().state(), State::kTrusting);
}

// Two handovers in a second while only a few small packets are sent. The rate of their arrival says
// nothing about the link.
TEST(CapacityGuard, AnIdleLinkThatBecomesLongerTwiceIsTrusted) {
  CapacityGuard guard(kTenMegabit);
  Instant now = Instant() + Duration::seconds(1);
  guard.on_start({kRtt, ByteCount(1500), now});
  FeedbackSample sample;
  for (int i = 0; i < 100; ++i) {
    now += Duration::milliseconds(50);
    guard.on_sent(ByteCount(100), now);
    const Duration delay = Duration::milliseconds(i < 40 ? 27 : i < 60 ? 161 : 231);
    sample.sent = now;
    sample.arrived = now + delay;
    sample.received += ByteCount(100);
    sample.packets_delivered = 1;
    sample.now = now + delay * 2;
    guard.on_feedback(sample);
    ASSERT_EQ(guard.state(), State::kTrusting) << "after packet " << i;
  }
  EXPECT_EQ(guard.rate(), kTenMegabit.scaled(995, 1000));
}

// A gateway of hosts that download. It sends short packets, and now and then a few in a row, some
// of them longer.
class NarrowUplink {
 public:
  NarrowUplink(CapacityGuard& guard, BitRate booked, BitRate carried)
      : guard_(guard), booked_rate_(booked), carried_rate_(carried) {
    guard.on_start({kRtt, ByteCount(1500), now_});
  }
  void run(Duration time) {
    for (const Instant end = now_ + time; now_ < end; now_ += Duration::milliseconds(500)) {
      send(120);
      if (++turn_ % 6 != 0) continue;
      send(340);
      now_ += Duration::milliseconds(1);
      send(250);
      send(120);
    }
  }

 private:
  void send(std::uint64_t bytes) {
    now_ += Duration::milliseconds(1);
    const ByteCount size(bytes);
    guard_.on_sent(size, now_);
    booked_ = later(booked_, now_) + booked_rate_.time_for(size);
    carried_ = later(carried_, now_) + carried_rate_.time_for(size);
    FeedbackSample sample;
    sample.sent = now_;
    sample.booked = booked_rate_.bytes_in(booked_ - now_);
    sample.arrived = carried_ + kRtt / 2;
    sample.received = received_ += size;
    sample.packets_delivered = 1;
    sample.rtt = carried_ - now_ + kRtt;
    sample.interval = Duration::milliseconds(25);
    sample.now = now_ + sample.rtt;
    guard_.on_feedback(sample);
  }
  CapacityGuard& guard_;
  BitRate booked_rate_, carried_rate_;
  Instant now_ = Instant() + Duration::seconds(1);
  Instant booked_, carried_;
  ByteCount received_;
  int turn_ = 0;
};

// On 32 kbit/s, the longer packets take more time than the growth of delay that counts as a queue.
// The link may also carry more than the operator lets the gateway send.
TEST(CapacityGuard, LongPacketsBehindShortOnesAreNoQueue) {
  constexpr BitRate kNarrow = BitRate::bits_per_second(32'000);
  for (const BitRate carried : {kNarrow, kNarrow.scaled(3, 2), kNarrow.scaled(4, 1), kTenMegabit}) {
    SCOPED_TRACE(carried.to_bits_per_second());
    CapacityGuard guard(kNarrow);
    NarrowUplink uplink(guard, kNarrow.scaled(995, 1000), carried);
    uplink.run(Duration::seconds(120));
    EXPECT_EQ(guard.state(), State::kTrusting);
    EXPECT_EQ(guard.rate(), kNarrow.scaled(995, 1000));
  }
}

// At 32 kbit/s a packet of 1,500 bytes takes 375 ms.
TEST(CapacityGuard, AFadeOfANarrowLinkIsFound) {
  constexpr BitRate kBefore = BitRate::bits_per_second(128'000);
  FixedRate controller(kBefore);
  ModelLink link;
  link.rate = kBefore;
  Model model(controller, link);
  model.run(Duration::seconds(20));
  ASSERT_EQ(controller.guard().state(), State::kTrusting);
  model.link.rate = kBefore.scaled(1, 4);
  model.run(Duration::seconds(20));
  EXPECT_NE(controller.guard().state(), State::kTrusting);
  std::printf("  a fade to 32 kbit/s: %lld bit/s found after 20 s, queue %lld ms\n",
              static_cast<long long>(controller.guard().capacity().to_bits_per_second()),
              static_cast<long long>(model.queue().to_milliseconds()));
  EXPECT_LT(model.queue(), Duration::seconds(2));
  model.share();
  model.run(Duration::seconds(60));
  EXPECT_GT(model.share(), 0.6);
}

TEST(CapacityGuard, AnIdleSenderProvesNothing) {
  FixedRate controller(kTenMegabit);
  Model model(controller, {});
  model.run(Duration::seconds(5));
  model.link.rate = kOneMegabit;
  model.run(Duration::seconds(10));
  const BitRate found = controller.guard().capacity();
  model.sending = false;
  model.run(Duration::seconds(30));
  EXPECT_LE(controller.guard().capacity(), found.scaled(130, 100));
}

}  // namespace
}  // namespace satrelay::control::test::capacity_guard_test

// Workers send on one link by their shares of it. They send packets, each with a pacer and a class
// order of its own.
#include "relay/gateway/shares/rate_shares.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

#include "pep/base/random.h"
#include "relay/gateway/uplink/class_order.h"

namespace satrelay::gateway::rate_shares_test {
namespace {

using schedule::class_bit;
using schedule::ClassId;
using schedule::ClassSet;

constexpr std::uint64_t kPacket = 1'500;
constexpr Duration kStep = Duration::microseconds(50);  // between two polls of a worker

constexpr BitRate mbit(double n) {
  return BitRate::bits_per_second(static_cast<std::uint64_t>(n * 1e6));
}

// A sender that always has bytes, or that offers a limited rate.
struct Source {
  unsigned worker = 0;
  ClassId id = 0;
  double offered = 1e18;  // bytes a second
  double backlog = 0;
  std::uint64_t sent = 0;
  bool waits() const { return offered > 1e17 || backlog >= kPacket; }
};

class Link {
 public:
  Link(unsigned workers, BitRate rate) : shares_(workers, now_), out_(workers, Shares(1, 0)) {
    terms.rate = rate;
    terms.reports = rate.scaled(5, 100);
    for (unsigned i = 0; i < workers; ++i) workers_.emplace_back(rate);
  }
  void set(ClassId id, const ClassRates& rates) {
    terms.classes[id] = rates;
    for (Worker& worker : workers_) worker.order.set(terms.classes, now_);
  }
  std::size_t add(unsigned worker, ClassId id, double offered_mbit = 0) {
    sources.push_back({.worker = worker, .id = id});
    if (offered_mbit > 0) sources.back().offered = offered_mbit * 1e6 / 8;
    return sources.size() - 1;
  }
  void run(Duration time) {
    for (const Instant end = now_ + time; now_ < end; now_ += kStep) {
      if (now_ >= next_tick_) tick();
      for (Source& source : sources) {
        if (source.offered < 1e17) source.backlog += source.offered * kStep.to_seconds();
      }
      for (unsigned i = 0; i < workers_.size(); ++i) poll(i);
      queue -= std::min(
          queue, static_cast<double>(terms.rate.to_bits_per_second()) / 8 * kStep.to_seconds());
    }
  }
  // Runs for `time`. Returns how much each source has sent, as a part of the link's capacity.
  std::vector<double> parts(Duration time) {
    for (Source& source : sources) source.sent = 0;
    most_queue = queue;
    run(time);
    std::vector<double> parts;
    const double whole = static_cast<double>(terms.rate.bytes_in(time).value());
    for (const Source& source : sources) {
      parts.push_back(static_cast<double>(source.sent) / whole);
    }
    return parts;
  }
  // The longest queue, as time on the link.
  double most_queue_ms() const {
    return most_queue * 8e3 / static_cast<double>(terms.rate.to_bits_per_second());
  }

  LinkTerms terms;
  std::vector<Source> sources;
  double queue = 0, most_queue = 0;  // bytes in the modem
  const RateShares& shares() const { return shares_; }
  Instant now() const { return now_; }

 private:
  struct Worker {
    explicit Worker(BitRate rate)
        : pacer(rate, control::LinkOverhead{0}, Duration::microseconds(1'250)), order(rate, 1) {}
    control::Pacer pacer;
    ClassOrder order;
    LinkDemand demand;
  };

  void tick() {
    std::vector<Demands> demands(workers_.size(), Demands(1, 0));
    for (Worker& worker : workers_) {
      worker.demand.waiting = worker.demand.hungry = 0;
      worker.demand.booked = worker.pacer.booked(now_).value();
      worker.demand.hosts = {};
    }
    for (const Source& source : sources) {
      if (!source.waits()) continue;
      LinkDemand& demand = workers_[source.worker].demand;
      demand.waiting |= class_bit(source.id);
      demand.hungry |= class_bit(source.id);
      ++demand.hosts[source.id];
    }
    for (unsigned i = 0; i < workers_.size(); ++i) demands[i].links[LinkId()] = workers_[i].demand;
    demands[0].terms[LinkId()] = terms;
    shares_.divide(LinkId(), demands, out_, now_);
    for (unsigned i = 0; i < workers_.size(); ++i) {
      workers_[i].pacer.take_share(out_[i].links[LinkId()].rate, now_);
      workers_[i].order.take_share(out_[i].links[LinkId()], now_);
    }
    next_tick_ = now_ + kShareTick;
  }
  void poll(unsigned i) {
    Worker& worker = workers_[i];
    while (worker.pacer.can_send(now_)) {
      ClassSet waiting = 0;
      for (const Source& source : sources) {
        if (source.worker == i && source.waits()) waiting |= class_bit(source.id);
      }
      const auto id = worker.order.next(waiting, now_);
      if (!id) return;
      Source* next = nullptr;
      for (Source& source : sources) {
        if (source.worker != i || source.id != *id || !source.waits()) continue;
        if (next == nullptr || source.sent < next->sent) next = &source;
      }
      next->sent += kPacket;
      if (next->offered < 1e17) next->backlog -= kPacket;
      worker.pacer.on_sent(kPacket, now_);
      worker.order.on_sent(*id, 0, ByteCount(kPacket), ByteCount(kPacket), 1, now_);
      worker.demand.sent += kPacket;
      worker.demand.sent_of[*id] += kPacket;
      queue += kPacket;
      most_queue = std::max(most_queue, queue);
    }
  }

  Instant now_ = Instant() + Duration::seconds(1);
  Instant next_tick_ = now_ + kShareTick;
  RateShares shares_;
  std::vector<Shares> out_;
  std::vector<Worker> workers_;
};

double sum(const std::vector<double>& parts) {
  return std::accumulate(parts.begin(), parts.end(), 0.0);
}

TEST(RateShares, OneAloneHasAllOfTheLink) {
  for (const double rate : {10.0, 100.0, 1'000.0}) {
    for (const unsigned workers : {2U, 8U, 16U}) {
      SCOPED_TRACE(std::to_string(workers) + " at " + std::to_string(rate));
      Link link(workers, mbit(rate));
      link.set(0, {.weight = 1});
      link.add(workers - 1, 0);
      link.run(Duration::milliseconds(200));
      EXPECT_NEAR(link.parts(Duration::seconds(1))[0], 1, 0.01);
      EXPECT_LE(link.most_queue_ms(), 6);
    }
  }
}

TEST(RateShares, AllTogetherHaveAllOfTheLinkAndEachHostAsMuch) {
  Link link(8, mbit(200));
  link.set(0, {.weight = 1});
  for (unsigned i = 0; i < 20; ++i) link.add(i < 9 ? 0 : i % 7, 0);
  link.run(Duration::milliseconds(200));
  const std::vector<double> parts = link.parts(Duration::seconds(2));
  EXPECT_NEAR(sum(parts), 1, 0.01);
  for (const double part : parts) EXPECT_NEAR(part * 20, 1, 0.05);
}

// One source fills the link, and then all others begin at once. None of them waits for a tick, and
// the modem's queue stays short.
TEST(RateShares, AllMayBeginAtOnce) {
  for (const unsigned workers : {2U, 8U, 16U}) {
    Link link(workers, mbit(500));
    link.set(0, {.weight = 1});
    link.add(0, 0);
    link.run(Duration::milliseconds(500));
    for (unsigned i = 1; i < workers; ++i) link.add(i, 0);
    link.most_queue = 0;
    link.run(kStep);
    for (unsigned i = 1; i < workers; ++i) EXPECT_GT(link.sources[i].sent, 0U);
    link.run(Duration::milliseconds(100));
    EXPECT_LE(link.most_queue_ms(), 6) << workers;
    const std::vector<double> parts = link.parts(Duration::seconds(1));
    EXPECT_NEAR(sum(parts), 1, 0.01);
    for (const double part : parts) EXPECT_NEAR(part * workers, 1, 0.05);
  }
}

TEST(RateShares, AllBeginAtOnceOnALinkThatWasIdle) {
  Link link(8, mbit(500));
  link.set(0, {.weight = 1});
  link.run(Duration::milliseconds(500));
  for (unsigned i = 0; i < 8; ++i) link.add(i, 0);
  link.run(Duration::milliseconds(200));
  EXPECT_LE(link.most_queue_ms(), 6);
}

// Weights and guarantees hold for the whole link, whichever workers the waiting sources have.
TEST(RateShares, ClassesHaveWhatOneWorkerWouldGiveThem) {
  Link link(4, mbit(200));
  link.set(0, {.weight = 1});
  link.set(2, {.weight = 3});
  link.set(3, {.weight = 1, .guaranteed = mbit(80)});
  link.add(0, 2);
  for (unsigned i = 0; i < 4; ++i) link.add(i, 0);
  link.add(3, 3);
  link.run(Duration::milliseconds(500));
  const std::vector<double> parts = link.parts(Duration::seconds(2));
  // 120 Mbit/s are left to be divided by weight.
  EXPECT_NEAR(parts[0] * 200, 72, 72 * 0.03);
  for (unsigned i = 1; i <= 4; ++i) EXPECT_NEAR(parts[i] * 200, 6, 6 * 0.05) << i;
  EXPECT_NEAR(parts[5] * 200, 104, 104 * 0.03);
  EXPECT_NEAR(sum(parts), 1, 0.01);
}

TEST(RateShares, MaximaHoldForTheSum) {
  Link link(8, mbit(200));
  link.set(0, {.weight = 1});
  link.set(2, {.weight = 8, .maximum = mbit(20)});
  for (unsigned i = 0; i < 8; ++i) link.add(i, 2);
  link.run(Duration::milliseconds(500));
  EXPECT_NEAR(sum(link.parts(Duration::seconds(2))) * 200, 20, 0.4);
  link.add(5, 0);
  link.run(Duration::milliseconds(500));
  const std::vector<double> parts = link.parts(Duration::seconds(2));
  EXPECT_NEAR((sum(parts) - parts[8]) * 200, 20, 0.4);
  EXPECT_NEAR(sum(parts), 1, 0.01);
}

// On such a link a packet takes 30 ms, and a share changes much while the packet leaves.
TEST(RateShares, ASlowLinkIsNotExceeded) {
  for (const double rate : {0.1, 0.4, 2.0}) {
    Link link(4, mbit(rate));
    link.set(0, {.weight = 1});
    for (unsigned i = 0; i < 4; ++i) link.add(i, 0, rate / 4);
    Random random(1);
    double whole = 0, most = 0;
    for (int i = 0; i < 300; ++i) {
      for (Source& source : link.sources) {
        source.offered = random.chance(0.5) ? rate * 1e6 / 8 : 1;
        source.backlog = std::min(source.backlog, 20.0 * kPacket);
      }
      whole += sum(link.parts(Duration::milliseconds(100)));
      most = std::max(most, link.most_queue);
    }
    EXPECT_LE(most, 8 * kPacket) << rate;
    EXPECT_GE(whole / 300, 0.97) << rate;
  }
}

TEST(RateShares, WhatNobodyHasAWeightForIsWhatTheOthersLeave) {
  Link link(2, mbit(100));
  link.set(0, {.weight = 1});
  link.set(2, {.weight = 0});
  link.add(0, 0, 60);
  link.add(1, 2);
  link.run(Duration::milliseconds(500));
  const std::vector<double> parts = link.parts(Duration::seconds(2));
  EXPECT_NEAR(parts[0], 0.6, 0.01);
  EXPECT_NEAR(sum(parts), 1, 0.01);
}

// A source that sends in bursts, or less than its part, wastes nothing of the link.
TEST(RateShares, DemandThatComesAndGoesWastesNothing) {
  Link link(8, mbit(200));
  link.set(0, {.weight = 1});
  link.add(0, 0);
  for (unsigned i = 1; i < 8; ++i) link.add(i, 0, 10);
  Random random(1);
  link.run(Duration::milliseconds(200));
  double whole = 0;
  for (int i = 0; i < 200; ++i) {
    for (unsigned k = 1; k < 8; ++k) link.sources[k].offered = random.chance(0.5) ? 2e7 / 8 : 1;
    whole += sum(link.parts(Duration::milliseconds(5)));
    EXPECT_LE(link.most_queue_ms(), 6);
  }
  EXPECT_GE(whole / 200, 0.99);
  EXPECT_LE(whole / 200, 1.01);
}

// For any demand, together and by class.
TEST(RateShares, AnyMixFillsTheLinkAndKeepsMaxima) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const unsigned workers = 1U << (1 + random.below(4));
    Link link(workers, mbit(static_cast<double>(50 + random.below(950))));
    const double rate = static_cast<double>(link.terms.rate.to_bits_per_second()) / 1e6;
    for (ClassId id = 0; id < 5; ++id) {
      ClassRates rates{.weight = static_cast<std::uint32_t>(1 + random.below(8))};
      if (random.chance(0.4)) rates.guaranteed = mbit(rate * 0.15);
      if (id > 0 && random.chance(0.3)) rates.maximum = mbit(rate * 0.2);
      link.set(id, rates);
    }
    link.add(static_cast<unsigned>(random.below(workers)), 0);  // this source always has bytes
    for (int i = 0; i < 12; ++i) {
      link.add(static_cast<unsigned>(random.below(workers)), static_cast<ClassId>(random.below(5)),
               random.chance(0.5) ? 0 : rate * 0.05);
    }
    link.run(Duration::milliseconds(500));
    const std::vector<double> parts = link.parts(Duration::seconds(1));
    EXPECT_NEAR(sum(parts), 1, 0.01);
    EXPECT_LE(link.most_queue_ms(), 6);
    std::array<double, 5> of_class{};
    std::array<bool, 5> wants{};
    for (std::size_t i = 0; i < parts.size(); ++i) {
      of_class[link.sources[i].id] += parts[i] * rate;
      wants[link.sources[i].id] |= link.sources[i].offered > 1e17;
    }
    for (ClassId id = 0; id < 5; ++id) {
      const ClassRates& rates = link.terms.classes[id];
      const double guaranteed = static_cast<double>(rates.guaranteed.to_bits_per_second()) / 1e6;
      const double maximum = static_cast<double>(rates.maximum.to_bits_per_second()) / 1e6;
      if (wants[id]) {
        EXPECT_GE(of_class[id], guaranteed * 0.97) << int{id};
      }
      if (maximum > 0) {
        EXPECT_LE(of_class[id], maximum * 1.03) << int{id};
      }
    }
  }
}

TEST(RateShares, AnotherRateIsInForceAtTheNextTick) {
  Link link(4, mbit(400));
  link.set(0, {.weight = 1});
  for (unsigned i = 0; i < 4; ++i) link.add(i, 0);
  link.run(Duration::milliseconds(300));
  link.terms.rate = mbit(40);
  link.run(Duration::milliseconds(300));  // the queue in the modem takes longer now
  EXPECT_NEAR(sum(link.parts(Duration::seconds(1))), 1, 0.01);
  EXPECT_LE(link.most_queue_ms(), 6);
  link.terms.rate = mbit(400);
  link.run(Duration::milliseconds(50));
  EXPECT_NEAR(sum(link.parts(Duration::seconds(1))), 1, 0.01);
}

TEST(RateShares, ReportsHaveTheirBudgetTogether) {
  RateShares shares(4, Instant());
  LinkTerms terms{.rate = mbit(10), .reports = mbit(0.5), .classes = {}};
  std::vector<Demands> demands(4, Demands(1, 0));
  std::vector<Shares> out(4, Shares(1, 0));
  for (int i = 1; i <= 1'000; ++i) {
    demands[0].terms[LinkId()] = terms;
    demands[2].links[LinkId()].reports += 50;
    demands[2].links[LinkId()].sent += 50;
    shares.divide(LinkId(), demands, out, Instant() + kShareTick * i);
    std::uint64_t together = 0;
    for (const Shares& share : out) together += share.links[LinkId()].reports.to_bits_per_second();
    ASSERT_LE(together, 500'100U);
  }
  EXPECT_GE(out[2].links[LinkId()].reports, mbit(0.38));
  EXPECT_GE(out[0].links[LinkId()].reports, mbit(0.03));
}

// An engine that has restarted, a clock that stands still, counters that jump, and a link without
// capacity.
TEST(RateShares, NothingThatIsToldBreaksThem) {
  Random random(7);
  RateShares shares(4, Instant());
  std::vector<Demands> demands(4, Demands(1, 0));
  std::vector<Shares> out(4, Shares(1, 0));
  Instant now;
  for (int i = 0; i < 5'000; ++i) {
    LinkTerms terms{.rate = BitRate::bits_per_second(random.chance(0.1) ? 0 : random.next() >> 24U),
                    .reports = BitRate::bits_per_second(random.next() >> 24U),
                    .classes = {}};
    for (ClassRates& rates : terms.classes) {
      if (random.chance(0.7)) continue;
      rates = {.weight = static_cast<std::uint32_t>(random.next()),
               .guaranteed = BitRate::bits_per_second(random.next() >> 20U),
               .maximum = BitRate::bits_per_second(random.next() >> random.below(64))};
    }
    for (Demands& worker : demands) {
      LinkDemand& demand = worker.links[LinkId()];
      worker.terms[LinkId()] = terms;
      demand.waiting = static_cast<ClassSet>(random.next());
      demand.hungry = static_cast<ClassSet>(random.next());
      demand.sent = random.next();
      demand.reports = random.next();
      for (auto& hosts : demand.hosts) hosts = static_cast<std::uint32_t>(random.next());
      for (auto& sent : demand.sent_of) sent = random.next();
    }
    const bool passes = random.chance(0.9);
    if (passes) now += Duration::microseconds(static_cast<std::int64_t>(1 + random.below(2'000)));
    shares.divide(LinkId(), demands, out, now);
    if (!passes) continue;
    double together = 0;
    for (const Shares& share : out) {
      EXPECT_FALSE(share.links[LinkId()].rate.is_zero());
      together += static_cast<double>(share.links[LinkId()].rate.to_bits_per_second());
    }
    EXPECT_LE(together, 1.8 * static_cast<double>(terms.rate.to_bits_per_second()) + 1'000);
    if (HasFailure()) break;
  }
}

TEST(RateShares, RestWhenNobodySends) {
  Link link(2, mbit(10));
  link.set(0, {.weight = 1});
  const std::size_t source = link.add(0, 0);
  link.run(Duration::seconds(1));
  EXPECT_FALSE(link.shares().is_at_rest());
  link.sources[source].offered = 0;
  link.run(Duration::seconds(1));
  EXPECT_TRUE(link.shares().is_at_rest());
}

// If the peer has announced a capacity to one worker, whichever it is, the capacity holds for all.
TEST(RateSharesTerms, AreOfThoseThatHearThePeer) {
  const auto divided = [](BitRate first, bool first_hears, BitRate second, bool second_hears) {
    Instant now = Instant::from_nanoseconds(1'000'000);
    RateShares shares(2, now);
    std::vector<Demands> demands(2, Demands(1, 0));
    std::vector<Shares> out(2, Shares(1, 0));
    demands[0].terms[LinkId()].rate = first;
    demands[0].terms[LinkId()].is_heard = first_hears;
    demands[1].terms[LinkId()].rate = second;
    demands[1].terms[LinkId()].is_heard = second_hears;
    shares.divide(LinkId(), demands, out, now + Duration::milliseconds(1));
    return out[0].links[LinkId()].rate.to_bits_per_second() +
           out[1].links[LinkId()].rate.to_bits_per_second();
  };
  const auto expect_near = [](std::uint64_t rate, double megabits) {
    EXPECT_GT(static_cast<double>(rate), megabits * 1e6 * 0.5);
    EXPECT_LT(static_cast<double>(rate), megabits * 1e6 * 1.6);
  };
  expect_near(divided(mbit(20), false, mbit(2), true), 2);
  expect_near(divided(mbit(2), true, mbit(20), true), 2);
  expect_near(divided(mbit(20), true, mbit(2), true), 2);
  expect_near(divided(mbit(20), true, mbit(2), false), 20);
  expect_near(divided(mbit(20), false, mbit(20), false), 20);
}

// Shares hold for three ticks. After that each worker has a fixed part, and all parts together are
// the link.
TEST(RateShares, ExpireAndLeaveNoMoreThanTheLink) {
  constexpr unsigned kWorkers = 4;
  Instant now = Instant() + Duration::seconds(1);
  RateShares shares(kWorkers, now);
  std::vector<Demands> demands(kWorkers, Demands(1, 0));
  std::vector<Shares> out(kWorkers, Shares(1, 0));
  demands[0].terms[LinkId()].rate = mbit(100);
  demands[0].terms[LinkId()].classes[0].weight = 1;
  // Each worker sends a tenth of the link, which leaves most of it to any worker that wants more.
  for (int i = 0; i < 300; ++i) {
    now += kShareTick;
    for (Demands& each : demands) {
      each.links[LinkId()].sent += 1'250;
      each.links[LinkId()].sent_of[0] += 1'250;
    }
    shares.divide(LinkId(), demands, out, now);
    for (unsigned w = 0; w < kWorkers; ++w)
      demands[w].links[LinkId()].taken = out[w].links[LinkId()].serial;
  }
  double rates = 0;
  std::uint64_t parts = 0;
  for (const Shares& each : out) {
    rates += static_cast<double>(each.links[LinkId()].rate.to_bits_per_second());
    parts += each.links[LinkId()].fallback;
    EXPECT_EQ(each.links[LinkId()].until, now + kShareTick * 3);
    EXPECT_NEAR(each.links[LinkId()].fallback, kWholeLink / kWorkers, kWholeLink / 1'000);
  }
  EXPECT_GT(rates, 110e6) << "what the test is about";
  EXPECT_LE(parts, kWholeLink);
}

}  // namespace
}  // namespace satrelay::gateway::rate_shares_test

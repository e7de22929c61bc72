// The order of classes on a carrier: guaranteed rates, weights, maxima, and the sources of a class.
#include "relay/gateway/uplink/class_order.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>

#include "pep/base/random.h"

namespace satrelay::gateway::class_order_test {
namespace {

using schedule::class_bit;
using schedule::ClassId;
using schedule::ClassSet;

constexpr ByteCount kPacket = ByteCount(1'538);
constexpr BitRate mbit(double n) {
  return BitRate::bits_per_second(static_cast<std::uint64_t>(n * 1e6));
}

// A carrier on which the classes of `waiting` always have packets.
class Carrier {
 public:
  explicit Carrier(BitRate rate) : rate_(rate), order(rate, 3) {}

  void set(ClassId id, const ClassRates& rates) {
    rates_[id] = rates;
    order.set(rates_, now);
  }
  // Serves one packet of the class that has the turn. If no class may send, the time of a packet
  // passes.
  void serve(ClassSet waiting, ByteCount packet = kPacket) {
    if (const auto id = order.next(waiting, now)) {
      order.on_sent(*id, 0, packet, packet, 1, now);
      bytes[*id] += packet.value();
    }
    now += rate_.time_for(packet);
  }
  // Each class's share of the link.
  std::map<ClassId, double> shares(ClassSet waiting, Duration time) {
    bytes.clear();
    const Instant start = now;
    while (now < start + time) serve(waiting);
    std::map<ClassId, double> shares;
    for (const auto& [id, sent] : bytes) {
      shares[id] =
          static_cast<double>(sent) / static_cast<double>(rate_.bytes_in(now - start).value());
    }
    return shares;
  }

 private:
  BitRate rate_;
  std::array<ClassRates, schedule::kClasses> rates_;

 public:
  ClassOrder order;
  Instant now = Instant() + Duration::seconds(1);
  std::map<ClassId, std::uint64_t> bytes;
};

TEST(ClassOrder, WeightsShareWhatThereIs) {
  Carrier carrier(mbit(50));
  carrier.set(0, {.weight = 1});
  carrier.set(2, {.weight = 8});
  carrier.set(3, {.weight = 3});
  const auto all = carrier.shares(class_bit(0) | class_bit(2) | class_bit(3), Duration::seconds(5));
  EXPECT_NEAR(all.at(0), 1.0 / 12, 0.001);
  EXPECT_NEAR(all.at(2), 8.0 / 12, 0.001);
  EXPECT_NEAR(all.at(3), 3.0 / 12, 0.001);
  // The classes share what another one leaves by their weights.
  const auto two = carrier.shares(class_bit(0) | class_bit(3), Duration::seconds(5));
  EXPECT_NEAR(two.at(3), 0.75, 0.001);
  EXPECT_NEAR(carrier.shares(class_bit(0), Duration::seconds(1)).at(0), 1, 0.001);
}

// For packets of any size, and to within a packet at any time.
TEST(ClassOrder, SharesAreThoseOfBytes) {
  Carrier carrier(mbit(50));
  carrier.set(2, {.weight = 4});
  carrier.set(3, {.weight = 1});
  Random random(5);
  for (int i = 0; i < 10'000; ++i) {
    carrier.serve(class_bit(2) | class_bit(3), ByteCount(60 + random.below(1'478)));
    if (i < 10) continue;
    const double behind =
        static_cast<double>(carrier.bytes[3]) * 4 - static_cast<double>(carrier.bytes[2]);
    ASSERT_LT(std::abs(behind), 5 * 1'538) << i;
  }
}

TEST(ClassOrder, AClassThatWasIdleIsOwedNothing) {
  Carrier carrier(mbit(50));
  carrier.set(2, {.weight = 1});
  carrier.set(3, {.weight = 1});
  carrier.shares(class_bit(2), Duration::seconds(10));
  const auto both = carrier.shares(class_bit(2) | class_bit(3), Duration::seconds(1));
  EXPECT_NEAR(both.at(2), 0.5, 0.001);
}

TEST(ClassOrder, AGuaranteeIsKeptBesideAnyWeight) {
  Carrier carrier(mbit(10));
  carrier.set(0, {.weight = 255});
  carrier.set(2, {.weight = 1, .guaranteed = mbit(3)});
  carrier.set(3, {.guaranteed = mbit(1)});
  const auto all =
      carrier.shares(class_bit(0) | class_bit(2) | class_bit(3), Duration::seconds(10));
  EXPECT_NEAR(all.at(2), 0.3 + 0.6 / 256, 0.002);
  EXPECT_NEAR(all.at(3), 0.1, 0.002);  // without a weight, only the guaranteed rate
  EXPECT_NEAR(all.at(0), 0.6 * 255 / 256, 0.002);
  // A class with a weight gets its part of the rest as well.
  carrier.set(0, {.weight = 1});
  EXPECT_NEAR(carrier.shares(class_bit(0) | class_bit(2), Duration::seconds(10)).at(2), 0.65,
              0.002);
}

TEST(ClassOrder, WithoutAWeightAClassTakesWhatOthersLeave) {
  Carrier carrier(mbit(10));
  carrier.set(0, {.weight = 1});
  carrier.set(1, {});
  EXPECT_EQ(carrier.shares(class_bit(0) | class_bit(1), Duration::seconds(1)).count(1), 0U);
  EXPECT_NEAR(carrier.shares(class_bit(1), Duration::seconds(1)).at(1), 1, 0.001);
}

// A carrier that has become slower keeps a twentieth for classes without a guarantee.
TEST(ClassOrder, GuaranteesShrinkWithTheCarrier) {
  Carrier carrier(mbit(4));
  carrier.set(0, {.weight = 1});
  carrier.set(2, {.guaranteed = mbit(6)});
  carrier.set(3, {.guaranteed = mbit(2)});
  const auto all =
      carrier.shares(class_bit(0) | class_bit(2) | class_bit(3), Duration::seconds(20));
  EXPECT_NEAR(all.at(0), 0.05, 0.003);
  EXPECT_NEAR(all.at(2), 0.95 * 0.75, 0.003);
  EXPECT_NEAR(all.at(3), 0.95 * 0.25, 0.003);
}

TEST(ClassOrder, AMaximumHoldsEvenWhenNobodyElseSends) {
  Carrier carrier(mbit(10));
  carrier.set(2, {.weight = 1, .maximum = mbit(2)});
  EXPECT_NEAR(carrier.shares(class_bit(2), Duration::seconds(10)).at(2), 0.2, 0.002);
  EXPECT_EQ(carrier.order.open(carrier.now) | class_bit(2), schedule::kEveryClass);
  // A class that is shut tells when it opens.
  while (carrier.order.next(class_bit(2), carrier.now)) carrier.serve(class_bit(2));
  const Instant opens = carrier.order.opens_at(class_bit(2));
  EXPECT_GT(opens, carrier.now);
  EXPECT_FALSE(carrier.order.next(class_bit(2), opens - Duration::nanoseconds(1)));
  EXPECT_TRUE(carrier.order.next(class_bit(2), opens));
  // The other classes get what it may not take.
  carrier.set(0, {.weight = 1});
  const auto both = carrier.shares(class_bit(0) | class_bit(2), Duration::seconds(10));
  EXPECT_NEAR(both.at(0), 0.8, 0.003);
}

TEST(ClassOrder, RatesAreChangedWhileItRuns) {
  Carrier carrier(mbit(10));
  carrier.set(0, {.weight = 1});
  carrier.set(2, {.weight = 1, .maximum = mbit(1)});
  const ClassSet both = class_bit(0) | class_bit(2);
  EXPECT_NEAR(carrier.shares(both, Duration::seconds(5)).at(2), 0.1, 0.002);
  carrier.set(2, {.weight = 1, .maximum = mbit(3)});
  EXPECT_NEAR(carrier.shares(both, Duration::seconds(5)).at(2), 0.3, 0.002);
  carrier.set(2, {.weight = 4});
  EXPECT_NEAR(carrier.shares(both, Duration::seconds(5)).at(2), 0.8, 0.002);
}

TEST(ClassOrder, ExpectsWhatIsConfigured) {
  Carrier carrier(mbit(10));
  carrier.set(0, {.weight = 1});
  carrier.set(1, {.guaranteed = mbit(1)});
  carrier.set(2, {.weight = 2, .guaranteed = mbit(3)});
  EXPECT_EQ(carrier.order.expected_rate(0), mbit(2));
  EXPECT_EQ(carrier.order.expected_rate(1), mbit(1));
  EXPECT_EQ(carrier.order.expected_rate(2), mbit(7));
  carrier.set(2, {.weight = 2, .guaranteed = mbit(3), .maximum = mbit(4)});
  EXPECT_EQ(carrier.order.expected_rate(2), mbit(4));
}

TEST(ClassOrder, SourcesShareInProportionToTheirHosts) {
  Carrier carrier(mbit(10));
  carrier.set(2, {.weight = 1});
  const std::array<std::size_t, 3> hosts{1, 4, 5};
  std::array<std::uint64_t, 3> sent{};
  for (int i = 0; i < 10'000; ++i) {
    std::size_t next = 0;
    for (std::size_t s = 1; s < 3; ++s) {
      if (carrier.order.start(2, s) < carrier.order.start(2, next)) next = s;
    }
    carrier.order.on_sent(2, next, kPacket, kPacket, hosts[next], carrier.now);
    ++sent[next];
  }
  EXPECT_NEAR(static_cast<double>(sent[0]), 1'000, 2);
  EXPECT_NEAR(static_cast<double>(sent[1]), 4'000, 2);
}

}  // namespace
}  // namespace satrelay::gateway::class_order_test

// Which packets repairs give back. They are made by docs/stp-wire.md section 11, not by our sender.
#include "pep/stp/fec/fec_receiver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "pep/base/random.h"
#include "pep/stp/fec/fec_codec.h"
#include "tests/unit/pep/stp/fec/reference_code.h"

namespace satrelay::stp::test::fec_receiver_test {
namespace {

constexpr std::size_t kDatagram = 1472;
constexpr std::size_t kLargestFrames = kDatagram - 12 - kRepairOverhead - kCodedFrameSize;

class Repairs : public ::testing::Test {
 protected:
  struct Source {
    std::uint64_t number = 0;
    Bytes frames;
    bool is_lost = true;
  };

  void begin(std::size_t kept) {
    in_ = std::make_unique<FecReceiver>(codec_, budget_, kept, kDatagram);
  }
  FecReceiver& in() { return *in_; }
  const FecReceiver::Counters& counters() { return in_->counters(); }

  Bytes random_bytes(std::size_t size) {
    Bytes bytes(size);
    for (std::byte& b : bytes) b = static_cast<std::byte>(random.below(256));
    return bytes;
  }
  // Makes the next packet of the code. It has left, but not arrived.
  std::uint64_t make(std::size_t size) {
    sources.push_back({next_number++, random_bytes(size)});
    return sources.size() - 1;
  }
  void arrive(std::uint64_t index) {
    Source& source = sources[index];
    source.is_lost = false;
    received.record(source.number, now);
    in().handle_packet(static_cast<std::uint16_t>(first_index + index), source.number,
                       source.frames, received, now);
    take_repaired();
  }
  std::uint64_t send(std::size_t size, bool is_lost = false) {
    const std::uint64_t index = make(size);
    if (!is_lost) arrive(index);
    return index;
  }
  RepairFrame repair(std::uint64_t first, std::size_t count, std::uint16_t row) {
    symbol.clear();
    for (std::uint64_t i = first; i < first + count; ++i) {
      reference_add(reference_coefficient(row, static_cast<std::uint16_t>(first_index + i)),
                    reference_symbol(sources[i].number, sources[i].frames), symbol);
    }
    return {FecCode::kFlight, static_cast<std::uint16_t>(first_index + first),
            static_cast<std::uint16_t>(count), row, symbol};
  }
  void arrive(const RepairFrame& frame) {
    received.record(next_number++, now);
    in().handle_repair(frame, received, now);
    take_repaired();
  }
  void take_repaired() {
    std::set<std::uint64_t> numbers;
    for (const FecReceiver::Packet& packet : in().repaired()) {
      ASSERT_TRUE(received.is_missing(packet.number)) << packet.number;
      ASSERT_TRUE(numbers.insert(packet.number).second) << "twice: " << packet.number;
      const auto source = std::ranges::find(sources, packet.number, &Source::number);
      ASSERT_NE(source, sources.end());
      ASSERT_TRUE(source->is_lost);
      ASSERT_TRUE(std::ranges::equal(source->frames, packet.frames)) << packet.number;
      source->is_lost = false;
      ++given_back;
    }
    for (const std::uint64_t number : numbers) received.record_repaired(number);
  }
  std::size_t lost() const {
    return static_cast<std::size_t>(std::ranges::count(sources, true, &Source::is_lost));
  }
  // Sends repairs of a window until none of its packets is missing. Returns how many it took.
  std::size_t repair_all(std::uint64_t first, std::size_t count, std::uint16_t row = 0) {
    std::size_t sent = 0;
    while (lost() > 0 && sent < 200) {
      now += Duration::milliseconds(2);
      arrive(repair(first, count, static_cast<std::uint16_t>(row + sent++)));
    }
    return sent;
  }
  // Sends `count` packets. Those at `places` are lost.
  std::uint64_t window(std::size_t count, const std::set<std::size_t>& places,
                       std::size_t size = 50) {
    const std::uint64_t first = sources.size();
    for (std::size_t i = 0; i < count; ++i) send(size, places.contains(i));
    return first;
  }
  std::set<std::size_t> some(std::size_t of, std::size_t count) {
    std::set<std::size_t> places;
    while (places.size() < count) places.insert(random.below(of));
    return places;
  }

  Random random{11};
  FecCodec codec_;
  RepairBudget budget_;
  std::unique_ptr<FecReceiver> in_ =
      std::make_unique<FecReceiver>(codec_, budget_, 4096, kDatagram);
  ReceivedPackets received;
  std::vector<Source> sources;  // by index
  Bytes symbol;
  std::uint32_t first_index = 0;
  std::uint64_t next_number = 0;
  std::size_t given_back = 0;
  Instant now = Instant::from_nanoseconds(1'000'000'000);
};

TEST_F(Repairs, GiveBackWhatWasLostWhateverTheSizes) {
  std::size_t losses = 0, repairs = 0;
  for (std::size_t size = 1; size <= 64; ++size) {
    const std::uint64_t first = sources.size();
    const auto places = some(size, 1 + random.below(size));
    for (std::size_t i = 0; i < size; ++i) {
      send(1 + random.below(kLargestFrames), places.contains(i));
    }
    losses += places.size();
    repairs += repair_all(first, size, static_cast<std::uint16_t>(random.next()));
    ASSERT_EQ(lost(), 0U) << size;
    now += Duration::milliseconds(10);
  }
  EXPECT_EQ(given_back, losses);
  EXPECT_EQ(counters().used, losses);
  EXPECT_EQ(counters().malformed, 0U);
  // By chance, one repair in 255 adds nothing new.
  EXPECT_LE(repairs, losses + losses / 40);
}

TEST_F(Repairs, OfTheLargestWindowGiveBackWhatWasLost) {
  const auto places = some(kMaxCodedWindow, 100);
  const std::uint64_t first = window(kMaxCodedWindow, places, 30);
  const std::size_t sent = repair_all(first, kMaxCodedWindow);
  EXPECT_EQ(lost(), 0U);
  EXPECT_LE(sent, 102U);
}

TEST_F(Repairs, OfOnePacketAreCopies) {
  for (std::uint16_t row = 0; row < 300; ++row) {
    const std::uint64_t index = send(5, true);
    arrive(repair(index, 1, row));
    ASSERT_EQ(lost(), 0U) << row;
  }
}

TEST_F(Repairs, MayBeAnyOfTheWindow) {
  const std::uint64_t first = window(64, {3, 60, 63}, 700);
  for (const std::uint16_t row : std::initializer_list<std::uint16_t>{40'000, 7, 65'535})
    arrive(repair(first, 64, row));
  EXPECT_EQ(lost(), 0U);
}

// A repair that leaves while its window is open covers only the packets that have left.
TEST_F(Repairs, MayCoverDifferentPackets) {
  const std::uint64_t first = window(10, {2});
  window(10, {5});
  arrive(repair(first, 20, 0));
  EXPECT_EQ(lost(), 2U);
  arrive(repair(first, 10, 1));
  EXPECT_EQ(lost(), 0U) << "the shorter one tells the first, and the longer one then the second";
}

TEST_F(Repairs, MayComeBeforeTheirPackets) {
  for (int i = 0; i < 4; ++i) make(100);
  arrive(repair(0, 4, 9));
  EXPECT_EQ(lost(), 4U);
  arrive(3);
  arrive(1);
  EXPECT_EQ(lost(), 2U);
  arrive(0);
  EXPECT_EQ(lost(), 0U) << "the last is what is left of the repair";
  EXPECT_EQ(given_back, 1U);
  arrive(2);  // arrives late
  EXPECT_EQ(counters().used, 1U);
}

TEST_F(Repairs, AndPacketsMayComeInAnyOrder) {
  for (int round = 0; round < 200; ++round) {
    const std::uint64_t first = sources.size();
    const std::size_t count = 1 + random.below(40);
    for (std::size_t i = 0; i < count; ++i) make(1 + random.below(200));
    const auto gone = some(count, random.below(count + 1));
    std::vector<std::size_t> order;  // packets, then repairs
    for (std::size_t i = 0; i < count + gone.size() + 1; ++i) {
      if (!gone.contains(i)) order.push_back(i);
    }
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    for (const std::size_t what : order) {
      if (what >= count) {
        arrive(repair(first, count, static_cast<std::uint16_t>(what)));
      } else if (sources[first + what].is_lost) {
        arrive(first + what);
      } else {
        // A repair gave it back before it arrived.
        in().handle_packet(static_cast<std::uint16_t>(first + what), sources[first + what].number,
                           sources[first + what].frames, received, now);
        ASSERT_TRUE(in().repaired().empty());
      }
    }
    repair_all(first, count, 500);
    ASSERT_EQ(lost(), 0U) << round;
    now += Duration::milliseconds(20);
  }
  EXPECT_EQ(counters().malformed, 0U);
}

TEST_F(Repairs, WithMoreLossesThanRepairsGiveNothingBackAndNothingWrong) {
  const std::uint64_t first = window(64, some(64, 20));
  for (std::uint16_t row = 100; row < 119; ++row) arrive(repair(first, 64, row));
  EXPECT_EQ(lost(), 20U);
  EXPECT_EQ(counters().used, 0U);
  EXPECT_EQ(in().next_timeout(), now + FecReceiver::kTimeout);
  now += FecReceiver::kTimeout - Duration::nanoseconds(1);
  in().expire(now);
  EXPECT_EQ(counters().wasted, 0U);
  now += Duration::nanoseconds(1);
  in().expire(now);
  EXPECT_EQ(counters().wasted, 19U);
  EXPECT_TRUE(in().next_timeout().is_never());
}

TEST_F(Repairs, WithNothingMissingAreWasted) {
  const std::uint64_t first = window(10, {});
  for (std::uint16_t row = 0; row < 3; ++row) arrive(repair(first, 10, row));
  EXPECT_EQ(counters().wasted, 3U);
  EXPECT_TRUE(in().next_timeout().is_never());
}

TEST_F(Repairs, TheSameTwiceSaysNothingNew) {
  const std::uint64_t first = window(10, {1, 2});
  arrive(repair(first, 10, 0));
  arrive(repair(first, 10, 0));
  EXPECT_EQ(counters().wasted, 1U);
  EXPECT_EQ(lost(), 2U);
  arrive(repair(first, 10, 1));
  EXPECT_EQ(lost(), 0U);
}

TEST_F(Repairs, GiveNothingBackThatWasSentAgain) {
  const std::uint64_t first = window(10, {4});
  const RepairFrame late = repair(first, 10, 0);
  received.record(sources[first + 4].number, now);  // as if another repair had given it back
  in().handle_repair(late, received, now);
  EXPECT_TRUE(in().repaired().empty());
  EXPECT_EQ(counters().wasted, 1U);
  EXPECT_EQ(counters().used, 0U);
}

// --- what is kept --------------------------------------------------------------------------------

TEST_F(Repairs, ArePossibleWhileTheirPacketsAreKept) {
  begin(64);
  const std::uint64_t first = window(10, {4});
  window(54, {});
  const RepairFrame frame = repair(first, 10, 0);
  const Bytes copy = symbol;
  arrive(frame);
  EXPECT_EQ(lost(), 0U) << "the first of them is the oldest that is kept";
  const std::uint64_t second = window(10, {4});
  window(55, {});
  arrive(repair(second, 10, 0));
  EXPECT_EQ(lost(), 1U);
  EXPECT_EQ(counters().malformed, 0U);
  // Packets that are still kept can be repaired.
  const std::uint64_t third = window(10, {9});
  arrive(repair(third, 10, 0));
  EXPECT_EQ(lost(), 1U);
  EXPECT_TRUE(in().next_timeout().is_never()) << "no equation of packets that never come";
}

// A repair that waits does not need the packets that are no longer kept. The packet that it gives
// back takes no other packet's place.
TEST_F(Repairs, ThatWaitAreOfUseWhenTheirPacketsAreKeptNoMore) {
  begin(64);
  const std::uint64_t first = window(10, {4, 5});
  const RepairFrame one = repair(first, 10, 0);
  arrive(one);
  window(100, {});
  EXPECT_EQ(lost(), 2U);
  // The other missing packet arrives 100 packets late: too late to be kept, or to be an unknown.
  sources[first + 4].is_lost = false;
  received.record(sources[first + 4].number, now);
  in().handle_packet(static_cast<std::uint16_t>(first + 4), sources[first + 4].number,
                     sources[first + 4].frames, received, now);
  EXPECT_TRUE(in().repaired().empty());
  const std::uint64_t next = window(10, {0});
  arrive(repair(next, 10, 0));
  EXPECT_EQ(lost(), 1U) << "what came since is kept";
}

TEST_F(Repairs, GoOnWhenIndexesBeginAnew) {
  first_index = 65'000;
  std::size_t repairs = 0;
  for (std::uint64_t i = 0; i < 3'000; ++i) {
    const std::size_t count = 1 + random.below(60);
    const std::uint64_t first = window(count, some(count, std::min<std::size_t>(count, 2)), 20);
    repairs += repair_all(first, count, static_cast<std::uint16_t>(i * 31));
    ASSERT_EQ(lost(), 0U) << first;
    now += Duration::milliseconds(5);
    if (sources.size() > 70'000) break;
    // So old a packet is no longer expected back.
    if (sources.size() > 4'000) sources.front().is_lost = false;
  }
  EXPECT_GT(sources.size(), 66'000U);
  EXPECT_EQ(counters().malformed, 0U);
}

TEST_F(Repairs, GoOnAfterAnOutageOfAnyLength) {
  for (const std::uint64_t eaten : {100U, 5'000U, 20'000U, 33'000U, 50'000U, 61'000U, 100'000U}) {
    const std::uint64_t first = window(40, {1});
    repair_all(first, 40);
    ASSERT_EQ(lost(), 0U) << "before " << eaten;
    first_index += static_cast<std::uint32_t>(eaten);
    next_number += eaten;
    window(1, {});
    const std::uint64_t after = window(40, {7, 8});
    ASSERT_LE(repair_all(after, 40), 4U);
    ASSERT_EQ(lost(), 0U) << "after " << eaten;
    now += Duration::seconds(2);
  }
}

// A packet older than all that are kept must not be taken for one far ahead.
TEST_F(Repairs, AreNotUpsetByPacketsThatComeVeryLate) {
  begin(64);
  const std::uint64_t late = make(30);
  window(100, {});
  const std::uint64_t first = window(20, {3});
  arrive(late);
  arrive(repair(first, 20, 0));
  EXPECT_EQ(lost(), 0U);
}

// The same for a repair. A repair of one packet would be believed.
TEST_F(Repairs, ThatComeVeryLateUpsetNothing) {
  begin(64);
  const std::uint64_t late = send(30, true);
  window(100, {});
  const std::uint64_t first = window(20, {3});
  arrive(repair(late, 1, 0));
  EXPECT_EQ(counters().wasted, 1U);
  arrive(repair(first, 20, 0));
  EXPECT_EQ(lost(), 1U) << "but the late one";
}

// --- limits --------------------------------------------------------------------------------------

// The window has lost more packets than half of the places for unknowns. All its repairs have the
// same unknowns, so these are counted once.
TEST_F(Repairs, OfManyMissingPacketsAreCountedOnce) {
  const std::uint64_t first = window(400, some(400, FecReceiver::kMostEquations), 20);
  const std::size_t sent = repair_all(first, 400);
  EXPECT_EQ(lost(), 0U);
  EXPECT_LE(sent, FecReceiver::kMostEquations + 3);
}

TEST_F(Repairs, OfMorePacketsThanCanBeSolvedAreWasted) {
  const std::uint64_t first = window(400, some(400, FecReceiver::kMostEquations + 1), 20);
  for (std::uint16_t row = 0; row < 5; ++row) arrive(repair(first, 400, row));
  EXPECT_EQ(counters().wasted, 5U);
  EXPECT_TRUE(in().next_timeout().is_never());
}

TEST_F(Repairs, OfTooManyUnknownsTogetherMakeRoom) {
  for (int i = 0; i < 2; ++i) {
    const std::uint64_t first = window(300, some(300, 150), 20);
    for (std::uint16_t row = 0; row < 10; ++row) arrive(repair(first, 300, row));
  }
  EXPECT_EQ(counters().wasted, 10U) << "those of the first";
  const std::uint64_t second = 300;
  for (std::size_t i = 0; i < 300; ++i) sources[i].is_lost = false;
  repair_all(second, 300, 10);
  EXPECT_EQ(lost(), 0U);
}

TEST_F(Repairs, MoreThanThereIsPlaceForTakeThatOfTheOldest) {
  // Each repair lacks two packets, so it waits.
  for (std::size_t i = 0; i < FecReceiver::kMostEquations + 10; ++i) {
    const std::uint64_t first = window(4, {1}, 20);
    if (i % 2 == 0) continue;
    arrive(repair(first - 4, 8, 0));
    now += Duration::milliseconds(1);
  }
  EXPECT_EQ(counters().wasted, 0U);
  for (std::size_t i = 0; i < 200; ++i) {
    const std::uint64_t first = window(2, {0, 1}, 20);
    arrive(repair(first, 2, 0));
    now += Duration::milliseconds(1);
  }
  // As many equations wait as there are places for unknowns, with two unknowns each.
  EXPECT_GT(counters().wasted, 100U);
  const std::uint64_t last = window(5, {2}, 20);
  arrive(repair(last, 5, 0));
  EXPECT_FALSE(sources[last + 2].is_lost);
}

// When a repair times out, the places of its unknowns become free, even if others always wait.
TEST_F(Repairs, ThatHaveExpiredLeaveTheirPlace) {
  for (int i = 0; i < 400; ++i) {
    const std::uint64_t first = window(4, {1, 2}, 20);
    arrive(repair(first, 4, 0));
    // Much later, a second repair gives back the packets of an earlier window.
    if (i >= 2) {
      const std::uint64_t then = first - 8;
      arrive(repair(then, 4, 1));
      ASSERT_FALSE(sources[then + 1].is_lost) << i;
      ASSERT_FALSE(sources[then + 2].is_lost) << i;
    }
    // A window of which no packet is given back.
    const std::uint64_t vain = window(3, {0, 1, 2}, 20);
    arrive(repair(vain, 3, 0));
    for (std::uint64_t at = vain; at < vain + 3; ++at) sources[at].is_lost = false;
    window(1, {}, 20);
    now += Duration::milliseconds(400);
  }
  EXPECT_EQ(counters().malformed, 0U);
}

TEST_F(Repairs, HaveTimeForSoManyAdditions) {
  const std::uint64_t first = window(kMaxCodedWindow, {5, 6, 7}, 20);
  const RepairFrame frame = repair(first, kMaxCodedWindow, 0);
  // A hundred milliseconds' worth, at 5,000 additions in one. Scaling the first repair took one.
  std::int64_t left = 500'000 - 1;
  std::uint64_t too_many = 0;
  const auto send = [&](int repairs) {
    for (int i = 0; i < repairs; ++i) {
      in().handle_repair(frame, received, now);
      constexpr std::int64_t kLooks = (256 + kMaxCodedWindow) / 32;
      const bool may_look = left >= 0;
      if (may_look) left -= kLooks;
      if (!may_look || left < std::int64_t{kMaxCodedWindow}) {
        ++too_many;
        continue;
      }
      // One addition for each packet, and one for the first repair, which waits to be solved.
      left -= kMaxCodedWindow + 1;
    }
  };
  send(1'000);
  EXPECT_EQ(counters().overload, too_many);
  EXPECT_EQ(too_many, 1'000U - 500'000 / (kMaxCodedWindow + 105));
  now += Duration::milliseconds(2);
  left += 10'000;
  send(10);
  EXPECT_EQ(counters().overload, too_many);
  now += Duration::seconds(10);
  left = 500'000;
  send(1'000);
  EXPECT_EQ(counters().overload, too_many);
  now += Duration::seconds(1);
  EXPECT_LE(repair_all(first, kMaxCodedWindow, 1), 4U);
  EXPECT_EQ(lost(), 0U);
}

// A repair of few packets may cause all waiting repairs to be solved anew.
TEST_F(Repairs, HaveTimeForWhatSolvingThemTakes) {
  const Bytes noise = random_bytes(40);
  std::uint16_t row = 0;
  const auto few_of = [&](std::uint64_t first) {
    in().handle_repair({FecCode::kFlight, static_cast<std::uint16_t>(first), 100, row++, noise},
                       received, now);
  };
  for (std::uint16_t i = 0; i < 4'000; ++i) few_of(i % 150);
  EXPECT_GT(counters().overload, 1'000U) << "400,000 additions but for the solving";
  // The additions that arriving packets cause are owed too.
  const std::uint64_t before = counters().overload;
  for (std::uint16_t i = 0; i < 80; ++i) in().handle_packet(i, i, noise, received, now);
  now += Duration::milliseconds(1);
  few_of(100);
  EXPECT_EQ(counters().overload, before + 1);
}

// --- contradictions ------------------------------------------------------------------------------

TEST_F(Repairs, ShorterThanTheirPacketsAreMalformed) {
  const std::uint64_t first = window(4, {1}, 200);
  RepairFrame frame = repair(first, 4, 0);
  frame.symbol = frame.symbol.first(100);
  arrive(frame);
  EXPECT_EQ(counters().malformed, 1U);
  EXPECT_EQ(lost(), 1U);
  EXPECT_TRUE(in().next_timeout().is_never());
  arrive(repair(first, 4, 0));
  EXPECT_EQ(lost(), 0U);
}

TEST_F(Repairs, LongerThanADatagramAreMalformed) {
  const std::uint64_t first = window(4, {1}, 200);
  RepairFrame frame = repair(first, 4, 0);
  const Bytes longer(3'000);
  frame.symbol = longer;
  arrive(frame);
  EXPECT_EQ(counters().malformed, 1U);
}

TEST_F(Repairs, ThatAreSolvedAsNonsenseGiveNothingBack) {
  const std::uint64_t first = window(3, {1}, 200);
  const std::uint8_t factor = reference_coefficient(7, static_cast<std::uint16_t>(first + 1));
  for (const std::uint16_t length : std::initializer_list<std::uint16_t>{0, 300, 65'535}) {
    // The packet that the repair gives back would have an impossible length.
    const RepairFrame frame = repair(first, 3, 7);
    const auto actual = reference_symbol(sources[first + 1].number, sources[first + 1].frames);
    reference_add(factor, actual, symbol);  // takes the real symbol out
    Bytes nonsense = actual;
    nonsense[4] = static_cast<std::byte>(length >> 8U);
    nonsense[5] = static_cast<std::byte>(length);
    reference_add(factor, nonsense, symbol);
    RepairFrame sent = frame;
    sent.symbol = symbol;
    const std::uint64_t before = counters().malformed;
    arrive(sent);
    EXPECT_EQ(counters().malformed, before + 1) << length;
    EXPECT_EQ(lost(), 1U);
    EXPECT_TRUE(in().next_timeout().is_never());
  }
  arrive(repair(first, 3, 8));
  EXPECT_EQ(lost(), 0U);
}

TEST_F(Repairs, PacketsThatDoNotFitAreNotKept) {
  in().handle_packet(0, 0, Bytes(3'000), received, now);
  EXPECT_TRUE(in().repaired().empty());
  window(3, {1});
  arrive(repair(0, 3, 0));
  EXPECT_EQ(lost(), 0U);
}

// Whatever arrives, only missing packets are given back, none longer than a packet can be.
TEST(HostileRepairs, GiveBackNothingThatIsNotMissing) {
  const FecCodec codec;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    RepairBudget budget;
    FecReceiver in(codec, budget, 64, 200);
    ReceivedPackets received;
    Instant now = Instant::from_nanoseconds(1'000'000'000);
    std::uint64_t number = 0;
    std::uint64_t given = 0;
    const std::uint64_t span = 1 + random.below(seed % 4 == 0 ? 65'536 : 100);
    for (int i = 0; i < 5'000; ++i) {
      if (random.chance(0.2)) number += random.below(4);
      received.record(number, now);
      const auto index = static_cast<std::uint16_t>(random.below(span));
      Bytes bytes(7 + random.below(random.chance(0.1) ? 400 : 60));
      for (std::byte& b : bytes) b = static_cast<std::byte>(random.below(256));
      if (random.chance(0.5)) {
        in.handle_packet(index, number, bytes, received, now);
      } else {
        // Often it looks like a repair of one packet that is missing.
        store_u32(bytes.data(), static_cast<std::uint32_t>(number - random.below(20)));
        store_u16(bytes.data() + 4, static_cast<std::uint16_t>(random.below(bytes.size())));
        const auto count = static_cast<std::uint16_t>(
            1 + random.below(random.chance(0.9) ? 6 : std::uint64_t{kMaxCodedWindow}));
        in.handle_repair(
            {FecCode::kFlight, index, count, static_cast<std::uint16_t>(random.below(5)), bytes},
            received, now);
      }
      ++number;
      for (const FecReceiver::Packet& packet : in.repaired()) {
        ASSERT_TRUE(received.is_missing(packet.number));
        ASSERT_LE(packet.frames.size(), 400U);
        // Read all of it.
        ASSERT_GE(std::ranges::count(packet.frames, std::byte{0}), 0);
        ++given;
      }
      for (const FecReceiver::Packet& packet : in.repaired()) {
        if (received.is_missing(packet.number)) received.record_repaired(packet.number);
      }
      if (random.chance(0.3)) now += Duration::milliseconds(1);
      if (random.chance(0.001)) now += Duration::seconds(1);
      in.expire(now);
      ASSERT_TRUE(in.next_timeout() > now);
    }
    EXPECT_GT(given + in.counters().malformed, 0U);
    EXPECT_EQ(given, in.counters().used);
    in.clear();
    EXPECT_TRUE(in.next_timeout().is_never());
    EXPECT_EQ(in.used_in_session(), 0U);
  }
}

}  // namespace
}  // namespace satrelay::stp::test::fec_receiver_test

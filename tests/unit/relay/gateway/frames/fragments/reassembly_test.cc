// Datagrams from fragments: in any order, once each, within limits.
#include "relay/gateway/frames/fragments/reassembly.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "relay/sim/network/fragments.h"
#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::gateway::reassembly_test {
namespace {

using Addition = Reassembly::Addition;
using sim::Cut;
using sim::fragments_of;

constexpr std::size_t kMostFrame = 1522;
constexpr std::uint8_t kHopByHop = 0, kDestinationOptions = 60;

class ReassemblyTest : public testing::Test {
 protected:
  static wire::TcpHeader header() {
    wire::TcpHeader tcp;
    tcp.source_port = 40000;
    tcp.destination_port = 80;
    tcp.sequence = 1000;
    tcp.flags = wire::TcpFlags::kAck;
    return tcp;
  }
  static std::string text(std::size_t size) {
    std::string payload(size, 'x');
    for (std::size_t i = 0; i < size; ++i) payload[i] = static_cast<char>('a' + i % 23);
    return payload;
  }
  static FrameBytes v4(std::size_t payload = 1400, const std::string& from = "203.0.113.5") {
    FrameBytes frame = tcp_frame(from, "198.51.100.5", header(), host_to_server(), text(payload));
    // A fragment has no DF bit.
    store_u16(frame.data() + 14 + 6, 0);
    rewrite_checksum(frame);
    return frame;
  }
  static FrameBytes v6(std::size_t payload = 1400) {
    return tcp_frame("2001:db8::5", "2001:db8::6", header(), host_to_server(), text(payload));
  }
  static void rewrite_checksum(FrameBytes& frame) {
    const std::size_t size = (std::to_integer<std::size_t>(frame[14]) & 0xF) * 4;
    store_u16(frame.data() + 14 + 10, 0);
    const auto sum = wire::checksum_sum(ConstBytes(frame).subspan(14, size));
    store_u16(frame.data() + 14 + 10, static_cast<std::uint16_t>(~sum));
  }
  static FrameBytes with_traffic_class(FrameBytes frame, std::uint8_t traffic_class) {
    frame[15] = std::byte{traffic_class};
    rewrite_checksum(frame);
    return frame;
  }
  Addition add(const FrameBytes& frame) { return reassembly_.add(look_at(frame), frame, now_); }
  Addition add_all(const std::vector<FrameBytes>& fragments) {
    Addition last = Addition::kDropped;
    for (const FrameBytes& fragment : fragments) last = add(fragment);
    return last;
  }
  FrameBytes whole() const { return {reassembly_.whole().begin(), reassembly_.whole().end()}; }
  // Takes the fragments of the whole datagram.
  std::vector<FrameBytes> taken() {
    std::vector<FrameBytes> frames;
    while (const auto cell = reassembly_.take_fragment()) {
      const ConstBytes frame = reassembly_.frame(*cell);
      frames.emplace_back(frame.begin(), frame.end());
      reassembly_.release(*cell);
    }
    return frames;
  }
  std::uint64_t count(Counter counter) const { return counters_[counter]; }
  bool is_empty() const { return reassembly_.fragments() == 0 && reassembly_.datagrams() == 0; }

  Counters counters_;
  Reassembly reassembly_{HashKey{1, 2}, kMostFrame, counters_};
  Instant now_ = Instant::from_nanoseconds(1);
};

// The frame as it was before it was cut, except for the IPv4 fields about fragments.
FrameBytes with_identification(FrameBytes frame, std::uint16_t identification) {
  if (frame[12] != std::byte{8}) return frame;
  store_u16(frame.data() + 14 + 4, identification);
  store_u16(frame.data() + 14 + 10, 0);
  const auto sum = wire::checksum_sum(ConstBytes(frame).subspan(14, 20));
  store_u16(frame.data() + 14 + 10, static_cast<std::uint16_t>(~sum));
  return frame;
}

TEST_F(ReassemblyTest, InAnyOrderTheWholeIsWhatItWas) {
  std::mt19937 random(7);
  for (const FrameBytes& frame : {v4(), v6()}) {
    for (std::uint16_t id = 0; id < 100; ++id) {
      auto fragments = fragments_of(frame, {.size = 8U * (1 + id), .identification = id});
      if (fragments.size() > Reassembly::kMostFragmentsOfDatagram) continue;
      std::ranges::shuffle(fragments, random);
      for (std::size_t i = 0; i + 1 < fragments.size(); ++i) {
        ASSERT_EQ(add(fragments[i]), Addition::kHeld);
      }
      ASSERT_EQ(add(fragments.back()), Addition::kWhole);
      EXPECT_EQ(whole(), with_identification(frame, id));
      EXPECT_EQ(taken(), fragments) << "as they came";
      EXPECT_TRUE(is_empty());
    }
  }
}

TEST_F(ReassemblyTest, TheWholeHasTheHeadersOfTheFirstFragment) {
  // Hop-by-hop options before the Fragment header, and destination options behind it.
  const FrameBytes frame =
      sim::with_extension_header(sim::with_extension_header(v6(), kDestinationOptions), kHopByHop);
  const auto fragments = fragments_of(frame, {.size = 512, .unfragmentable = 8});
  ASSERT_EQ(add_all(fragments), Addition::kWhole);
  EXPECT_EQ(whole(), frame);
  reassembly_.end_whole();
  // IPv4 options, VLAN tags and padding behind the packet.
  FrameBytes tagged = v4(8);
  const FrameBytes tag = {std::byte{0x81}, std::byte{0}, std::byte{0}, std::byte{7}};
  auto cut = fragments_of(tagged, {.size = 16});
  for (FrameBytes& fragment : cut) {
    fragment.insert(fragment.begin() + 12, tag.begin(), tag.end());
    fragment.resize(64);
  }
  ASSERT_EQ(add_all(cut), Addition::kWhole);
  tagged = with_identification(tagged, 0);
  tagged.insert(tagged.begin() + 12, tag.begin(), tag.end());
  EXPECT_EQ(whole(), tagged);
  EXPECT_EQ(taken(), cut) << "with their padding";
}

TEST_F(ReassemblyTest, DatagramsAreToldApart) {
  const FrameBytes frame = v4();
  const auto one = fragments_of(frame, {.identification = 1});
  const auto two = fragments_of(frame, {.identification = 2});
  const auto other_source = fragments_of(v4(1400, "203.0.113.6"), {.identification = 1});
  auto other_vlan = one;
  const FrameBytes tag = {std::byte{0x81}, std::byte{0}, std::byte{0}, std::byte{7}};
  for (FrameBytes& each : other_vlan) each.insert(each.begin() + 12, tag.begin(), tag.end());
  for (std::size_t i = 0; i < one.size(); ++i) {
    for (const auto& fragments : {one, two, other_source, other_vlan}) {
      const bool completes = i + 1 == one.size();
      ASSERT_EQ(add(fragments[i]), completes ? Addition::kWhole : Addition::kHeld);
      if (completes) reassembly_.end_whole();
    }
  }
  EXPECT_EQ(count(Counter::kDatagramsReassembled), 4U);
  EXPECT_TRUE(is_empty());
}

TEST_F(ReassemblyTest, AFragmentThatComesTwiceCountsOnce) {
  for (const FrameBytes& frame : {v4(), v6()}) {
    const auto fragments = fragments_of(frame, {.identification = 3});
    ASSERT_EQ(fragments.size(), 3U);
    EXPECT_EQ(add(fragments[2]), Addition::kHeld);
    EXPECT_EQ(add(fragments[2]), Addition::kDropped);
    EXPECT_EQ(add(fragments[0]), Addition::kHeld);
    EXPECT_EQ(add(fragments[0]), Addition::kDropped);
    EXPECT_EQ(add(fragments[1]), Addition::kWhole);
    EXPECT_EQ(taken().size(), 3U);
  }
  EXPECT_EQ(count(Counter::kDroppedFragmentDuplicate), 4U);
}

// RFC 5722, RFC 8200 section 4.5.
TEST_F(ReassemblyTest, AnOverlapIsTheEndOfTheDatagram) {
  for (const FrameBytes& frame : {v4(), v6()}) {
    const auto fragments = fragments_of(frame, {.size = 576, .identification = 4});
    const auto finer = fragments_of(frame, {.size = 8 * 71, .identification = 4});
    auto changed = fragments[0];
    changed.back() ^= std::byte{1};
    std::vector<std::pair<FrameBytes, FrameBytes>> pairs = {
        {fragments[0], finer[1]},  // begins within
        {finer[1], fragments[0]},  // ends within
        {fragments[0], finer[0]},  // a part of the first one
        {finer[0], fragments[0]},  // all of the first one, and more
        {fragments[0], changed},   // other bytes
    };
    for (const auto& [first, second] : pairs) {
      const std::uint64_t before = count(Counter::kDroppedFragmentOverlap);
      ASSERT_EQ(add(first), Addition::kHeld);
      ASSERT_EQ(add(second), Addition::kDropped);
      EXPECT_EQ(count(Counter::kDroppedFragmentOverlap), before + 2);
      EXPECT_EQ(reassembly_.fragments(), 0U);
      // Later fragments of the datagram are dropped, too.
      for (const FrameBytes& fragment : fragments) EXPECT_EQ(add(fragment), Addition::kDropped);
      EXPECT_EQ(count(Counter::kDroppedFragmentOverlap), before + 5);
      now_ += Reassembly::kTimeout;
      reassembly_.handle_timeout(now_);
      ASSERT_TRUE(is_empty());
    }
    EXPECT_EQ(add_all(fragments), Addition::kWhole) << "once its time is over";
    reassembly_.end_whole();
  }
}

// RFC 1858 section 3, RFC 3128: the flags of a segment are in its second fragment, or a fragment
// overwrites them. The first trick hides nothing, as the whole datagram is judged. The second one
// is an overlap.
TEST_F(ReassemblyTest, TinyFragmentsHideNothing) {
  const auto tiny = fragments_of(v4(100), {.size = 8, .identification = 5});
  EXPECT_EQ(add_all(tiny), Addition::kWhole);
  reassembly_.end_whole();
  EXPECT_EQ(add(fragments_of(v4(100), {.size = 24, .identification = 5})[0]), Addition::kHeld);
  EXPECT_EQ(add(tiny[1]), Addition::kDropped);
  EXPECT_EQ(count(Counter::kDroppedFragmentOverlap), 2U);
}

TEST_F(ReassemblyTest, LengthsAndOffsetsThatCannotBeAreDropped) {
  for (const FrameBytes& frame : {v4(), v6()}) {
    const bool is_v4 = frame[12] == std::byte{8};
    const auto at_offset = [&](FrameBytes fragment, std::uint16_t offset, bool more) {
      if (is_v4) {
        store_u16(fragment.data() + 14 + 6,
                  static_cast<std::uint16_t>(offset / 8U | (more ? 0x2000U : 0U)));
        rewrite_checksum(fragment);
      } else {
        store_u16(fragment.data() + 14 + 40 + 2,
                  static_cast<std::uint16_t>(offset | (more ? 1U : 0U)));
      }
      return fragment;
    };
    const auto fragments = fragments_of(frame, {.size = 576, .identification = 6});
    const std::uint64_t before = count(Counter::kDroppedFragmentMalformed);
    // Not a multiple of 8 and not the last fragment; beyond 64 KiB.
    EXPECT_EQ(add(at_offset(fragments[2], 1152, true)), Addition::kDropped);
    EXPECT_EQ(add(at_offset(fragments[1], 65'000, false)), Addition::kDropped);
    EXPECT_EQ(add(at_offset(fragments[1], 65'000, true)), Addition::kDropped);
    EXPECT_EQ(count(Counter::kDroppedFragmentMalformed), before + 3);
    EXPECT_TRUE(is_empty()) << "they are of no datagram";
    // Behind the last fragment; a last fragment before another one; a second last fragment.
    EXPECT_EQ(add(fragments[2]), Addition::kHeld);
    EXPECT_EQ(add(at_offset(fragments[1], 2400, true)), Addition::kDropped);
    EXPECT_EQ(count(Counter::kDroppedFragmentMalformed), before + 5);
    now_ += Reassembly::kTimeout;
    EXPECT_EQ(add(fragments[1]), Addition::kHeld);
    EXPECT_EQ(add(at_offset(fragments[2], 8, false)), Addition::kDropped);
    EXPECT_EQ(count(Counter::kDroppedFragmentMalformed), before + 7);
    now_ += Reassembly::kTimeout;
    EXPECT_EQ(add(fragments[2]), Addition::kHeld);
    EXPECT_EQ(add(at_offset(fragments[1], 2400, false)), Addition::kDropped);
    EXPECT_EQ(count(Counter::kDroppedFragmentMalformed), before + 9);
    now_ += Reassembly::kTimeout;
    reassembly_.handle_timeout(now_);
  }
}

TEST_F(ReassemblyTest, TheLargestDatagramFits) {
  FrameBytes frame = v4(64);
  const auto head = fragments_of(frame, {.size = 64, .identification = 8})[0];
  // 65,515 bytes behind the IP header, in fragments of 1480.
  const auto part = [&](std::size_t offset, std::size_t size, bool more) {
    FrameBytes fragment(head.begin(), head.begin() + 34);
    fragment.resize(34 + size, static_cast<std::byte>(offset));
    store_u16(fragment.data() + 16, static_cast<std::uint16_t>(20 + size));
    store_u16(fragment.data() + 20,
              static_cast<std::uint16_t>(offset / 8U | (more ? 0x2000U : 0U)));
    rewrite_checksum(fragment);
    return fragment;
  };
  for (std::size_t offset = 0; offset < 65'120; offset += 1480) {
    ASSERT_EQ(add(part(offset, 1480, true)), Addition::kHeld);
  }
  EXPECT_EQ(add(part(65'120, 396, false)), Addition::kDropped) << "one byte too many";
  EXPECT_EQ(add(part(65'120, 395, false)), Addition::kWhole);
  EXPECT_EQ(whole().size(), 14U + 65'535U);
  reassembly_.end_whole();
  EXPECT_TRUE(is_empty());
}

// RFC 3168 section 5.3.
TEST_F(ReassemblyTest, CongestionThatOneFragmentSawIsSeen) {
  const auto fragments = fragments_of(v4(), {.identification = 9});
  const auto marked = [&](unsigned one, unsigned other, unsigned third) {
    auto copy = fragments;
    copy[0] = with_traffic_class(copy[0], static_cast<std::uint8_t>(0xB8 | one));
    copy[1] = with_traffic_class(copy[1], static_cast<std::uint8_t>(0xB8 | other));
    copy[2] = with_traffic_class(copy[2], static_cast<std::uint8_t>(0xB8 | third));
    return copy;
  };
  ASSERT_EQ(add_all(marked(2, 3, 2)), Addition::kWhole);
  EXPECT_EQ(look_at(whole()).ip.traffic_class, 0xBB);
  EXPECT_EQ(taken(), marked(2, 3, 2));
  ASSERT_EQ(add_all(marked(2, 2, 2)), Addition::kWhole);
  EXPECT_EQ(look_at(whole()).ip.traffic_class, 0xBA);
  reassembly_.end_whole();
  EXPECT_EQ(add_all(marked(0, 3, 2)), Addition::kDropped);
  EXPECT_EQ(count(Counter::kDroppedFragmentMalformed), 3U);
}

TEST_F(ReassemblyTest, WhatStaysIncompleteIsDroppedInTime) {
  const auto fragments = fragments_of(v4(), {.identification = 10});
  EXPECT_EQ(reassembly_.next_timeout(), Instant::never());
  const Instant begun = now_;
  EXPECT_EQ(add(fragments[1]), Addition::kHeld);
  now_ += Duration::seconds(10);
  EXPECT_EQ(add(fragments[2]), Addition::kHeld);
  EXPECT_EQ(reassembly_.next_timeout(), begun + Reassembly::kTimeout) << "from the first that came";
  now_ = begun + Reassembly::kTimeout;
  // Whether the timer was run or not.
  EXPECT_EQ(add(fragments[0]), Addition::kHeld);
  EXPECT_EQ(count(Counter::kDroppedFragmentTimeout), 2U);
  EXPECT_EQ(reassembly_.fragments(), 1U);
  now_ += Reassembly::kTimeout;
  reassembly_.handle_timeout(now_);
  EXPECT_EQ(count(Counter::kDroppedFragmentTimeout), 3U);
  EXPECT_TRUE(is_empty());
  EXPECT_EQ(reassembly_.next_timeout(), Instant::never());
}

TEST_F(ReassemblyTest, NoCallDropsMany) {
  for (std::size_t i = 0; i < Reassembly::kMostDatagrams; ++i) {
    const std::string source = "203.0.113." + std::to_string(i % 8);
    const auto id = static_cast<std::uint32_t>(i);
    ASSERT_EQ(add(fragments_of(v4(1400, source), {.identification = id})[0]), Addition::kHeld);
  }
  EXPECT_EQ(reassembly_.datagrams(), Reassembly::kMostDatagrams);
  now_ += Reassembly::kTimeout;
  std::size_t calls = 0;
  for (; reassembly_.next_timeout() <= now_; ++calls) {
    const std::uint64_t before = reassembly_.visited();
    reassembly_.handle_timeout(now_);
    EXPECT_LE(reassembly_.visited() - before, 32U);
  }
  EXPECT_EQ(calls, Reassembly::kMostDatagrams / 16);
  EXPECT_TRUE(is_empty());
}

TEST_F(ReassemblyTest, ADatagramOfTooManyFragmentsIsDropped) {
  const auto fragments = fragments_of(v4(1000), {.size = 8, .identification = 11});
  ASSERT_GT(fragments.size(), Reassembly::kMostFragmentsOfDatagram);
  for (std::size_t i = 0; i < Reassembly::kMostFragmentsOfDatagram; ++i) {
    ASSERT_EQ(add(fragments[i]), Addition::kHeld);
  }
  for (std::size_t i = Reassembly::kMostFragmentsOfDatagram; i < fragments.size(); ++i) {
    ASSERT_EQ(add(fragments[i]), Addition::kDropped);
  }
  EXPECT_EQ(count(Counter::kDroppedFragmentTooMany), fragments.size());
  EXPECT_EQ(reassembly_.fragments(), 0U);
}

TEST_F(ReassemblyTest, OfAHostTheOldestGivesWay) {
  const FrameBytes frame = v4();
  for (std::uint32_t id = 0; id <= Reassembly::kMostDatagramsOfHost; ++id) {
    ASSERT_EQ(add(fragments_of(frame, {.identification = id})[0]), Addition::kHeld);
  }
  EXPECT_EQ(reassembly_.datagrams(), Reassembly::kMostDatagramsOfHost);
  EXPECT_EQ(count(Counter::kDroppedFragmentNoRoom), 1U);
  const auto rest = [&](std::uint32_t id) {
    const auto fragments = fragments_of(frame, {.identification = id});
    (void)add(fragments[1]);
    return add(fragments[2]);
  };
  EXPECT_EQ(rest(1), Addition::kWhole);
  reassembly_.end_whole();
  EXPECT_EQ(rest(0), Addition::kHeld) << "its first fragment is gone";
}

// Nor do the fragments of one host take more than its share.
TEST_F(ReassemblyTest, OneHostLeavesRoomForOthers) {
  const auto theirs = fragments_of(v4(), {.identification = 1});
  ASSERT_EQ(add(theirs[0]), Addition::kHeld);
  for (std::uint32_t id = 0; id < 2'000; ++id) {
    const auto flood = fragments_of(v4(1400, "203.0.113.66"), {.size = 64, .identification = id});
    for (std::size_t i = 1; i < flood.size(); ++i) {
      ASSERT_EQ(add(flood[i]), Addition::kHeld);
      ASSERT_LE(reassembly_.fragments(), Reassembly::kMostFragmentsOfHost + 1);
    }
  }
  (void)add(theirs[1]);
  EXPECT_EQ(add(theirs[2]), Addition::kWhole);
}

// There are many sources, each within its share. A datagram with fragments that follow each other
// at once gets through.
TEST_F(ReassemblyTest, AFloodFromEverywhereStopsNobodyWhoseFragmentsFollowEachOther) {
  for (std::uint32_t i = 0; i < 5'000; ++i) {
    const std::string source =
        "10.0." + std::to_string(i / 200 % 200) + "." + std::to_string(i % 200);
    const auto flood = fragments_of(v4(1400, source), {.size = 400, .identification = i});
    for (std::size_t j = 1; j < flood.size(); ++j) ASSERT_EQ(add(flood[j]), Addition::kHeld);
    ASSERT_LE(reassembly_.fragments(), Reassembly::kMostFragments);
    ASSERT_LE(reassembly_.datagrams(), Reassembly::kMostDatagrams);
    if (i % 100 != 0) continue;
    ASSERT_EQ(add_all(fragments_of(v4(), {.identification = i})), Addition::kWhole);
    reassembly_.end_whole();
  }
  EXPECT_GT(count(Counter::kDroppedFragmentNoRoom), 0U);
}

TEST_F(ReassemblyTest, FragmentsThatWaitToBeSentAreNotTakenBack) {
  std::vector<Reassembly::Cell> taken;
  std::vector<FrameBytes> frames;
  std::size_t dropped = 0;
  for (std::uint32_t i = 0; taken.size() < Reassembly::kMostFragments && i < 1000; ++i) {
    const std::string source = "203.0.113." + std::to_string(i % 32);
    const auto fragments = fragments_of(v4(1400, source), {.identification = i});
    if (add_all(fragments) != Addition::kWhole) {
      ++dropped;
      continue;
    }
    frames.insert(frames.end(), fragments.begin(), fragments.end());
    while (const auto cell = reassembly_.take_fragment()) taken.push_back(*cell);
  }
  EXPECT_GE(taken.size(), Reassembly::kMostFragments - 2);
  EXPECT_GT(dropped, 0U);
  for (std::size_t i = 0; i < taken.size(); ++i) {
    EXPECT_TRUE(std::ranges::equal(reassembly_.frame(taken[i]), frames[i]));
    reassembly_.release(taken[i]);
  }
  now_ += Reassembly::kTimeout;
  while (reassembly_.next_timeout() <= now_) reassembly_.handle_timeout(now_);
  EXPECT_TRUE(is_empty());
}

// Whatever arrives, the accounts agree, and a whole datagram consists of the fragments that were
// sent.
TEST_F(ReassemblyTest, RandomFragmentsKeepTheAccountsRight) {
  std::mt19937 random(11);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  std::uint64_t added = 0, wholes = 0;
  for (int i = 0; i < 30'000; ++i) {
    const FrameBytes frame = below(2) == 0 ? v4(200 + below(3) * 100) : v6(200 + below(3) * 100);
    auto fragments =
        fragments_of(frame, {.size = std::size_t{8} << below(6), .identification = below(40)});
    FrameBytes fragment = fragments[below(static_cast<std::uint32_t>(fragments.size()))];
    if (below(10) == 0) fragment.back() ^= std::byte{1};
    now_ += Duration::milliseconds(below(20));
    reassembly_.handle_timeout(now_);
    ++added;
    if (add(fragment) != Addition::kWhole) continue;
    ++wholes;
    const Frame put = look_at(reassembly_.whole());
    ASSERT_EQ(put.kind, FrameKind::kTcp);
    added -= taken().size();
  }
  now_ += Reassembly::kTimeout;
  while (reassembly_.next_timeout() <= now_) reassembly_.handle_timeout(now_);
  EXPECT_TRUE(is_empty());
  EXPECT_GT(wholes, 10U);
  std::uint64_t dropped = 0;
  for (const Counter counter :
       {Counter::kDroppedFragmentOverlap, Counter::kDroppedFragmentDuplicate,
        Counter::kDroppedFragmentMalformed, Counter::kDroppedFragmentTooMany,
        Counter::kDroppedFragmentNoRoom, Counter::kDroppedFragmentTimeout}) {
    dropped += count(counter);
  }
  EXPECT_EQ(dropped, added) << "each is counted once";
}

}  // namespace
}  // namespace satrelay::gateway::reassembly_test

// Which frames a device cuts, which checksums it computes, and what happens to frames that it does
// not take.
#include "relay/dpdk/device/device_sender.h"

#include <algorithm>
#include <vector>

#include "pep/wire/checksum.h"
#include "pep/wire/segmenter.h"
#include "tests/unit/pep/wire/large_frame.h"
#include "tests/unit/relay/dpdk/device/packet_fixture.h"

namespace satrelay::dpdk::device_sender_test {
namespace {

using wire::LargeFrame;
using Bytes = std::vector<std::byte>;
constexpr std::size_t kMss = 1448;

struct Sent {
  Bytes frame;
  std::uint64_t flags = 0;
  std::size_t segment = 0;
  std::size_t l2 = 0, l3 = 0, l4 = 0;
};

// The device and its driver.
std::vector<Sent> taken;
std::size_t room = 0;     // messages that the device has room for
std::uint64_t never = 0;  // offloads that the driver refuses
std::size_t longest = 0;  // octets of the longest frame that it accepts; 0: no limit
std::size_t calls_to_prepare = 0;

std::uint16_t fake_prepare(std::uint16_t, std::uint16_t, rte_mbuf** packets, std::uint16_t count) {
  ++calls_to_prepare;
  for (std::uint16_t i = 0; i < count; ++i) {
    if ((packets[i]->ol_flags & never) != 0) return i;
    if (longest != 0 && packets[i]->pkt_len > longest) return i;
    // In a large frame, drivers of Intel's cards write a checksum without the length.
    if ((packets[i]->ol_flags & RTE_MBUF_F_TX_TCP_SEG) != 0) {
      std::byte* header = rte_pktmbuf_mtod(packets[i], std::byte*);
      store_u16(header + packets[i]->l2_len + packets[i]->l3_len + 16, 0xabcd);
    }
  }
  return count;
}

std::uint16_t fake_transmit(std::uint16_t, std::uint16_t, rte_mbuf** packets, std::uint16_t count) {
  const auto sent = static_cast<std::uint16_t>(std::min<std::size_t>(count, room));
  room -= sent;
  for (std::uint16_t i = 0; i < sent; ++i) {
    const rte_mbuf* first = packets[i];
    Sent each{.frame = {},
              .flags = first->ol_flags,
              .segment = first->tso_segsz,
              .l2 = first->l2_len,
              .l3 = first->l3_len,
              .l4 = first->l4_len};
    std::size_t pieces = 0;
    for (const rte_mbuf* m = first; m != nullptr; m = m->next, ++pieces) {
      const auto* data = rte_pktmbuf_mtod(m, const std::byte*);
      each.frame.insert(each.frame.end(), data, data + m->data_len);
    }
    EXPECT_EQ(pieces, first->nb_segs);
    EXPECT_EQ(each.frame.size(), first->pkt_len);
    taken.push_back(std::move(each));
    rte_pktmbuf_free(packets[i]);
  }
  return sent;
}

class DeviceSenderTest : public PacketTest {
 protected:
  void SetUp() override {
    taken.clear();
    room = 1'000;
    never = 0;
    longest = 0;
    calls_to_prepare = 0;
  }
  void TearDown() override { EXPECT_EQ(used(), 0U); }

  // Puts the pieces of a large frame into the burst, as this program would write them.
  static std::vector<Bytes> put(Burst& burst, const LargeFrame& large) {
    std::vector<Bytes> frames;
    const auto frame = large.write();
    auto segmenter = wire::Segmenter::of(
        frame, large.is_tcp ? wire::SegmentedProtocol::kTcp : wire::SegmentedProtocol::kUdp, kMss);
    while (!segmenter->done()) {
      Packet packet = pool().allocate();
      packet.set_size(segmenter->next_size());
      segmenter->write_next(packet.mutable_bytes());
      const ConstBytes bytes = packet.bytes();
      frames.emplace_back(bytes.begin(), bytes.end());
      burst.push(std::move(packet));
    }
    return frames;
  }
  static std::vector<Bytes> contents(const Burst& burst) {
    std::vector<Bytes> frames;
    for (std::size_t i = 0; i < burst.size(); ++i) {
      const ConstBytes bytes = burst.peek(i).bytes();
      frames.emplace_back(bytes.begin(), bytes.end());
    }
    return frames;
  }
  // Puts a segment into the burst, with its checksum left to the device. Returns the frame that
  // must leave.
  static Bytes put_left(Burst& burst, const LargeFrame& frame) {
    std::vector<Bytes> frames = put(burst, frame);
    Packet packet = burst.pop();
    const std::size_t from = 14 + 4 * std::size_t{frame.tags} + (frame.is_v4 ? 20 : 40);
    std::byte* tcp = packet.mutable_bytes().data() + from;
    store_u16(tcp + 16, 0);
    const std::uint16_t rest = wire::checksum_sum(packet.bytes().subspan(from));
    // The checksum field gets the sum of the pseudo-header.
    const auto whole = static_cast<std::uint16_t>(~load_u16(frames[0].data() + from + 16));
    store_u16(tcp + 16, wire::add_checksums(whole, static_cast<std::uint16_t>(~rest)));
    packet.leave_checksum(from);
    burst.push(std::move(packet));
    return frames[0];
  }

  static constexpr DeviceSender::Abilities kAll{.sums_tcp = true, .sums_ip = true, .pieces = 16};
  DeviceSender sender{0, 0, kAll, fake_prepare, fake_transmit};
};

TEST_F(DeviceSenderTest, ConsecutiveSegmentsAreOne) {
  for (const bool is_v4 : {true, false}) {
    taken.clear();
    const LargeFrame large{.is_v4 = is_v4, .tags = 1, .payload = 5 * kMss + 9};
    Burst burst;
    burst.push(packet_of(60, 1));
    put(burst, large);
    burst.push(packet_of(60, 2));
    EXPECT_EQ(sender.send(burst), 8U);
    ASSERT_EQ(taken.size(), 3U);
    const Sent& whole = taken[1];
    EXPECT_EQ(whole.segment, kMss);
    EXPECT_EQ(whole.l2, 18U);
    EXPECT_EQ(whole.l3, is_v4 ? 20U : 40U);
    EXPECT_EQ(whole.l4, 32U);
    EXPECT_NE(whole.flags & RTE_MBUF_F_TX_TCP_SEG, 0U);
    EXPECT_EQ((whole.flags & RTE_MBUF_F_TX_IP_CKSUM) != 0, is_v4);
    Bytes expected = large.write();
    store_u16(expected.data() + whole.l2 + whole.l3 + 16, 0xabcd);
    EXPECT_EQ(whole.frame, expected);
  }
  EXPECT_EQ(sender.counters().frames, 16U);
  EXPECT_EQ(sender.counters().large, 2U);
}

TEST_F(DeviceSenderTest, NoMorePiecesThanTheDeviceTakes) {
  Burst burst;
  put(burst, {.payload = 20 * kMss});
  EXPECT_EQ(sender.send(burst), 20U);
  EXPECT_EQ(taken.size(), 2U);
  DeviceSender plain{0, 0, {}, fake_prepare, fake_transmit};
  taken.clear();
  calls_to_prepare = 0;
  put(burst, {.payload = 3 * kMss});
  EXPECT_EQ(plain.send(burst), 3U);
  EXPECT_EQ(taken.size(), 3U);
  EXPECT_EQ(calls_to_prepare, 0U) << "nothing is left to it";
}

TEST_F(DeviceSenderTest, WhatFindsNoRoomStaysAsItWas) {
  Burst burst;
  std::vector<Bytes> frames = put(burst, {.payload = 4 * kMss});
  for (const Bytes& frame : put(burst, {.sequence = 1, .payload = 3 * kMss + 1})) {
    frames.push_back(frame);
  }
  Packet other = packet_of(60, 3);
  burst.push(std::move(other));
  frames.emplace_back(60, std::byte{3});
  room = 0;
  EXPECT_EQ(sender.send(burst), 0U);
  EXPECT_EQ(contents(burst), frames);
  room = 1;
  EXPECT_EQ(sender.send(burst), 4U);
  frames.erase(frames.begin(), frames.begin() + 4);
  EXPECT_EQ(contents(burst), frames);
  room = 10;
  EXPECT_EQ(sender.send(burst), 5U);
  EXPECT_EQ(taken.size(), 3U);
}

TEST_F(DeviceSenderTest, ChecksumsAreLeftToIt) {
  for (const bool is_v4 : {true, false}) {
    for (std::uint8_t tags = 0; tags <= 2; ++tags) {
      taken.clear();
      Burst burst;
      put_left(burst, {.is_v4 = is_v4, .tags = tags, .payload = 333});
      EXPECT_EQ(sender.send(burst), 1U);
      ASSERT_EQ(taken.size(), 1U);
      EXPECT_EQ(taken[0].flags & RTE_MBUF_F_TX_L4_MASK, RTE_MBUF_F_TX_TCP_CKSUM);
      EXPECT_NE(taken[0].flags & (is_v4 ? RTE_MBUF_F_TX_IPV4 : RTE_MBUF_F_TX_IPV6), 0U);
      EXPECT_EQ(taken[0].l2, 14U + 4U * tags);
      EXPECT_EQ(taken[0].l3, is_v4 ? 20U : 40U);
    }
  }
}

TEST_F(DeviceSenderTest, WhatTheDriverRefusesIsDoneHere) {
  never = RTE_MBUF_F_TX_TCP_SEG | RTE_MBUF_F_TX_TCP_CKSUM;
  Burst burst;
  std::vector<Bytes> frames{put_left(burst, {.is_v4 = false, .tags = 2, .payload = 333})};
  for (const Bytes& frame : put(burst, {.payload = 4 * kMss})) frames.push_back(frame);
  EXPECT_EQ(sender.send(burst), 5U);
  ASSERT_EQ(taken.size(), 5U);
  for (std::size_t i = 0; i < frames.size(); ++i) EXPECT_EQ(taken[i].frame, frames[i]) << i;
  EXPECT_EQ(sender.counters().refused, 0U);
}

TEST_F(DeviceSenderTest, WhatItNeverTakesIsDropped) {
  longest = 500;
  Burst burst;
  put_left(burst, {.payload = 1'000});
  Burst other;
  put_left(other, {.payload = 100});
  burst.push(other.pop());
  EXPECT_EQ(sender.send(burst), 2U);
  EXPECT_EQ(sender.counters().refused, 1U);
  EXPECT_EQ(sender.counters().frames, 1U);
  EXPECT_EQ(taken.size(), 1U);
}

TEST_F(DeviceSenderTest, FramesOfTwoOwnersAreNotJoined) {
  Burst burst;
  put(burst, {.payload = 3 * kMss});
  std::vector<Packet> others;
  Burst shared;
  while (!burst.empty()) {
    Packet packet = burst.pop();
    others.push_back(packet.share());
    shared.push(std::move(packet));
  }
  EXPECT_EQ(sender.send(shared), 3U);
  EXPECT_EQ(taken.size(), 3U);
}

}  // namespace
}  // namespace satrelay::dpdk::device_sender_test

// Packets, bursts and pools on a real EAL without devices.
#include <gtest/gtest.h>

#include <cstring>

#include "relay/dpdk/device/burst.h"
#include "relay/dpdk/device/memory.h"
#include "tests/unit/relay/dpdk/device/packet_fixture.h"

namespace satrelay::dpdk::packet_test {
namespace {

TEST_F(PacketTest, HasOneOwnerWhoGivesItBack) {
  {
    Packet packet = packet_of(60, 7);
    EXPECT_EQ(packet.size(), 60U);
    EXPECT_EQ(packet.bytes()[59], std::byte{7});
    EXPECT_GE(packet.room().size(), 1522U);
    Packet moved = std::move(packet);
    EXPECT_TRUE(moved);
    EXPECT_EQ(used(), 1U);
    moved = packet_of(61, 8);
    EXPECT_EQ(used(), 1U) << "the replaced packet is still held";
  }
  EXPECT_EQ(used(), 0U);
}

TEST_F(PacketTest, SharesBytesUntilTheLastOwnerIsGone) {
  Packet first = packet_of(60, 1);
  {
    Packet second = first.share();
    EXPECT_TRUE(first.is_shared());
    EXPECT_EQ(second.bytes().data(), first.bytes().data());
    Packet copy = pool().copy(first);
    EXPECT_NE(copy.bytes().data(), first.bytes().data());
    EXPECT_EQ(copy.size(), 60U);
    EXPECT_EQ(copy.bytes()[5], std::byte{1});
    EXPECT_FALSE(copy.is_shared());
  }
  EXPECT_FALSE(first.is_shared());
  first = Packet();
  EXPECT_EQ(used(), 0U);
}

TEST_F(PacketTest, CrossesAnEngineAsAHandle) {
  const std::uint64_t handle = packet_of(99, 3).to_handle();
  EXPECT_EQ(used(), 1U);
  EXPECT_EQ(Packet::adopt(handle).size(), 99U);
  EXPECT_EQ(used(), 0U);
}

Packet in_pieces(Packet first, Packet second) {
  rte_mbuf* head = first.release();
  EXPECT_EQ(rte_pktmbuf_chain(head, second.release()), 0);
  return Packet(head);
}

TEST_F(PacketTest, JoinsWhatADeviceHasPutInSeveralBuffers) {
  Packet packet = in_pieces(packet_of(1000, 1), packet_of(518, 2));
  EXPECT_TRUE(packet.is_in_pieces());
  EXPECT_EQ(used(), 2U);
  ASSERT_TRUE(packet.join_pieces());
  EXPECT_FALSE(packet.is_in_pieces());
  EXPECT_EQ(packet.size(), 1518U);
  EXPECT_EQ(packet.bytes()[999], std::byte{1});
  EXPECT_EQ(packet.bytes()[1000], std::byte{2});
  EXPECT_EQ(used(), 1U);
}

TEST_F(PacketTest, DoesNotJoinMoreThanABufferHolds) {
  {
    Packet packet = in_pieces(packet_of(1500, 1), packet_of(1500, 2));
    EXPECT_FALSE(packet.join_pieces());
    EXPECT_TRUE(packet.is_in_pieces());
  }
  EXPECT_EQ(used(), 0U) << "all pieces go with their owner";
}

TEST_F(PacketTest, SaysWhatTheDeviceHasFoundOfAChecksum) {
  Packet packet = packet_of(60, 1);
  EXPECT_FALSE(packet.checksum_is_verified());
  EXPECT_FALSE(packet.checksum_is_unfinished());
  const auto with = [&](std::uint64_t flags) {
    rte_mbuf* mbuf = packet.release();
    mbuf->ol_flags = flags;
    packet = Packet(mbuf);
  };
  with(RTE_MBUF_F_RX_L4_CKSUM_GOOD | RTE_MBUF_F_RX_IP_CKSUM_BAD);
  EXPECT_TRUE(packet.checksum_is_verified());
  with(RTE_MBUF_F_RX_L4_CKSUM_BAD);
  EXPECT_FALSE(packet.checksum_is_verified());
  EXPECT_FALSE(packet.checksum_is_unfinished());
  with(RTE_MBUF_F_RX_L4_CKSUM_NONE);
  EXPECT_FALSE(packet.checksum_is_verified());
  EXPECT_TRUE(packet.checksum_is_unfinished());
  packet.set_checked();
  EXPECT_TRUE(packet.checksum_is_verified());
  EXPECT_FALSE(packet.checksum_is_unfinished());
}

// Else a driver might call a checksum good that the device has not checked.
TEST_F(PacketTest, SaysWhetherTheDeviceHasFoundATransport) {
  const auto is_plain = [](std::uint32_t type) {
    Packet packet = packet_of(60, 1);
    rte_mbuf* mbuf = packet.release();
    mbuf->packet_type = type;
    return Packet(mbuf).is_plain_transport();
  };
  constexpr std::uint32_t kTcp = RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4 | RTE_PTYPE_L4_TCP;
  EXPECT_TRUE(is_plain(kTcp));
  EXPECT_TRUE(is_plain(RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV6_EXT | RTE_PTYPE_L4_UDP));
  EXPECT_FALSE(is_plain(0));
  EXPECT_FALSE(is_plain(RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4));
  EXPECT_FALSE(is_plain(RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4 | RTE_PTYPE_L4_FRAG));
  EXPECT_FALSE(is_plain(kTcp | RTE_PTYPE_TUNNEL_GRE | RTE_PTYPE_INNER_L4_TCP));
}

TEST_F(PacketTest, TellsWhoWroteItAndWhetherItWasChecked) {
  Burst burst;
  burst.push(packet_of(60, 1));
  EXPECT_TRUE(burst.peek(0).is_own());
  EXPECT_FALSE(burst.peek(0).is_checked());
  Packet packet = burst.pop();
  packet.set_received();
  packet.set_checked();
  // Nothing is known about a copy, except that it is not our own.
  burst.push(pool().copy(packet));
  burst.push(std::move(packet));
  EXPECT_FALSE(burst.peek(0).is_own());
  EXPECT_FALSE(burst.peek(0).is_checked());
  EXPECT_TRUE(burst.peek(1).is_checked());
  burst.drop(2);
  EXPECT_EQ(used(), 0U);
  EXPECT_TRUE(burst.empty());
  burst.push(packet_of(60, 1));
  EXPECT_TRUE(burst.peek(0).is_own()) << "a buffer forgets what it held before";
}

TEST_F(PacketTest, PoolEndsWithAnEmptyPacket) {
  std::vector<Packet> all;
  while (Packet packet = pool().allocate()) all.push_back(std::move(packet));
  EXPECT_EQ(all.size(), kPackets);
  EXPECT_FALSE(pool().copy(all[0]));
  all.clear();
  EXPECT_EQ(used(), 0U);
}

TEST_F(PacketTest, JumboPoolHoldsJumboFrames) {
  PacketPool jumbo("jumbo", kPackets, 9000);
  EXPECT_GE(jumbo.allocate().room().size(), 9022U);
}

TEST_F(PacketTest, PoolThatDoesNotFitSaysSo) {
  EXPECT_THROW(PacketPool("huge", 10'000'000, 9000), std::runtime_error);
}

TEST_F(PacketTest, BurstIsAQueueWithAnExplicitTail) {
  {
    Burst burst;
    for (std::uint8_t i = 0; i < Burst::kCapacity; ++i) burst.push(packet_of(60, i));
    EXPECT_TRUE(burst.full());
    for (std::uint8_t i = 0; i < 10; ++i) EXPECT_EQ(burst.pop().bytes()[0], std::byte{i});
    EXPECT_EQ(burst.size(), 22U);
    for (std::uint8_t i = 32; i < 42; ++i) burst.push(packet_of(60, i));
    EXPECT_TRUE(burst.full());
    for (std::uint8_t i = 10; i < 42; ++i) EXPECT_EQ(burst.pop().bytes()[0], std::byte{i});
    EXPECT_TRUE(burst.empty());
    burst.push(packet_of(60, 1));
    burst.push(packet_of(60, 2));
    EXPECT_EQ(burst.clear(), 2U);
    EXPECT_EQ(used(), 0U);
    burst.push(packet_of(60, 1));
  }
  EXPECT_EQ(used(), 0U) << "a burst that goes takes its packets along";
}

TEST_F(PacketTest, RuntimeDirectoryHasTheStatsSocket) {
  EXPECT_EQ(::access(Eal::stats_socket().c_str(), F_OK), 0) << Eal::stats_socket();
  EXPECT_TRUE(eal().notices().empty());
}

TEST(LargeMemory, IsWritableThroughout) {
  LargeMemory memory((std::size_t{8} << 20) + 1);
  EXPECT_EQ(memory.bytes().size(), (std::size_t{8} << 20) + 1);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.bytes().data()) % 4096, 0U);
  memory.bytes().front() = memory.bytes().back() = std::byte{1};
  EXPECT_FALSE(memory.backing().empty());
}

TEST(LargeMemory, MoreThanTheMachineHasIsRefused) {
  EXPECT_THROW(LargeMemory(std::size_t{1} << 50), std::runtime_error);
}

}  // namespace
}  // namespace satrelay::dpdk::packet_test

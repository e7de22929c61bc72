// How much hosts may send while memory is plentiful, shared by many, or short.
#include "relay/gateway/flows/hosts/host_windows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::gateway::host_windows_test {
namespace {

constexpr std::size_t kBlock = 1024;
constexpr std::size_t kReserve = kBlock / 2;
constexpr std::size_t kBlocks = 4096;  // 4 MiB
constexpr std::uint64_t kPromised = 1U << 20;
constexpr std::uint32_t kMost = 512;
constexpr std::uint64_t kPlenty = 1U << 30;  // so far may a host be ahead of the link

MemoryPlan plan_of() {
  MemoryPlan plan;
  plan.arena = ByteCount(kBlock * kBlocks);
  plan.block_size = kBlock;
  plan.lane_receive_limit = {kPromised};
  plan.host_window = 256 * 1024;
  plan.host_windows = 1U << 20;
  return plan;
}

tcp::Config config_of_host() {
  tcp::Config config;
  config.window_scale = 4;
  config.receive_limit = kBlock;
  return config;
}

class HostWindowsTest : public testing::Test {
 protected:
  Flow& add() { return add(arena_); }
  Flow& add(Arena& part) {
    const auto port = static_cast<std::uint16_t>(store_.size() + 1);
    auto flow =
        std::make_unique<Flow>(FlowKey{ip_of("203.0.113.5"), ip_of("198.51.100.5"), port, 80, {}},
                               std::make_shared<ActiveRule>(), Origin::kLan, config_of_host(), part,
                               tcp::Endpoint::Shared{&counters_, {}}, now_);
    return store_[store_.add(std::move(flow))];
  }
  HostWindowsTest() { arena_.set_promised(kPromised); }
  std::uint64_t first() const { return windows_.first(arena_, LanHosts::kNone); }
  bool has_place_for_host() const {
    return windows_.has_place_for_host(arena_, store_.half_open(), store_.half_open());
  }
  // Leaves `blocks` blocks free. The others are taken.
  void leave(std::size_t blocks) {
    while (arena_.free_blocks() > blocks) static_cast<void>(arena_.allocate());
  }
  // The window in the ACK of the host's next byte.
  std::uint64_t offered(Flow& f, std::uint64_t ahead) {
    if (f.endpoint.is_closed()) open(f);
    windows_.adjust(f, ahead, now_);
    const std::byte byte{};
    f.endpoint.handle_segment(segment(said_++, wire::TcpFlags::kAck), {&byte, 1}, now_);
    now_ += Duration::milliseconds(100);
    f.endpoint.handle_timeout(now_);
    while (f.endpoint.poll_segment(now_)) {
    }
    return f.endpoint.receiving().window();
  }
  void open(Flow& f) {
    said_ = 0;
    wire::TcpHeader syn = segment(0, wire::TcpFlags::kSyn);
    --syn.sequence;
    syn.options.mss = 1460;
    syn.options.window_scale = 0;
    f.endpoint.accept(syn, now_);
    acknowledgment_ = f.endpoint.poll_segment(now_)->header.sequence + 1;
    f.endpoint.handle_segment(segment(0, wire::TcpFlags::kAck), {}, now_);
  }
  wire::TcpHeader segment(std::uint32_t offset, std::uint8_t flags) const {
    wire::TcpHeader header;
    header.sequence = 1'001 + offset;
    header.acknowledgment = acknowledgment_;
    header.flags = flags;
    header.window = 50'000;
    return header;
  }

  std::vector<std::byte> memory_ = std::vector<std::byte>(kBlock * kBlocks);
  Arena arena_{memory_, kBlock, kReserve};
  tcp::Counters counters_;
  Instant now_ = Instant::from_nanoseconds(1'000'000'000);
  FlowStore store_{kMost, HashKey{1, 2}};
  LanHosts hosts_{kMost, HashKey{1, 2}};
  HostWindows windows_{plan_of(), store_, hosts_};
  std::uint32_t said_ = 0;
  std::uint32_t acknowledgment_ = 0;
};

TEST_F(HostWindowsTest, AFirstWindowIs64KiBWhileThereIsPlenty) {
  EXPECT_EQ(first(), 64U * 1024);
  EXPECT_TRUE(windows_.has_window(arena_, LanHosts::kNone));
  EXPECT_TRUE(windows_.has_place(arena_));
}

TEST_F(HostWindowsTest, ManyFlowsShareHalfOfWhatIsForHosts) {
  for (int i = 0; i < 32; ++i) add();
  EXPECT_EQ(first(), (1U << 19) / 32);
  for (int i = 32; i < 256; ++i) add();
  EXPECT_EQ(first(), 8U * 1024) << "and no less than is worth offering";
}

TEST_F(HostWindowsTest, NothingIsSpareThatIsPromisedToPeers) {
  const Flow& f = add();
  const std::size_t kept = (kPromised + kBlock * kBlocks / 32) / kBlock;
  leave(kept);
  EXPECT_EQ(first(), 0U);
  EXPECT_FALSE(windows_.has_window(arena_, LanHosts::kNone));
  EXPECT_TRUE(windows_.has_place(arena_)) << "of its own";
  EXPECT_TRUE(windows_.crowds_streams(f, 1));
  // The bytes that peers have stored take blocks, and are promised no longer.
  arena_.use_promise(kPromised);
  EXPECT_GT(windows_.memory_for_host(f), 512U * 1024 - kBlock);
}

TEST_F(HostWindowsTest, AFlowNeedsAReserveForEachOfItsStores) {
  leave(2);
  EXPECT_TRUE(windows_.has_place(arena_));
  leave(1);
  EXPECT_FALSE(windows_.has_place(arena_));
}

TEST_F(HostWindowsTest, AFullTableHasNoPlace) {
  while (store_.free_slots() > 0) add();
  EXPECT_FALSE(windows_.has_place(arena_));
}

TEST_F(HostWindowsTest, AHostIsOfferedAsMuchAsItMayBeAhead) {
  Flow& f = add();
  EXPECT_NEAR(static_cast<double>(offered(f, 6'000)), 6'000, 16);
  EXPECT_NEAR(static_cast<double>(offered(f, 100'000)), 100'000, kBlock);
  EXPECT_NEAR(static_cast<double>(offered(f, kPlenty)), 256.0 * 1024, 2 * kBlock)
      << "no more than is configured";
}

TEST_F(HostWindowsTest, ASmallWindowIsOfferedAnewSoon) {
  Flow& f = add();
  windows_.adjust(f, kPlenty, now_);
  EXPECT_TRUE(f.timers.retry_at.is_never());
  windows_.adjust(f, 6'000, now_);
  EXPECT_TRUE(f.timers.retry_at.is_never()) << "the link has no use for more";
  leave(0);
  windows_.adjust(f, kPlenty, now_);
  EXPECT_EQ(f.timers.retry_at, now_ + Duration::milliseconds(100));
  windows_.retry_later(f, now_);
  EXPECT_EQ(f.timers.retry_at, now_ + Duration::milliseconds(10)) << "the earlier one holds";
}

TEST_F(HostWindowsTest, AHostIsQueuedNoMoreThanItsTcpCanSend) {
  Flow& f = add();
  const std::uint64_t useful =
      std::min(f.endpoint.sending().congestion_window(), f.endpoint.sending().peer_window()) +
      4 * f.endpoint.sending().segment_size();
  EXPECT_EQ(HostWindows::allowance(f), useful);
  leave(0);
  EXPECT_EQ(windows_.memory_for_host(f), kReserve) << "its own";
}

// A host that was answered is not reset for lack of memory for its stream.
TEST_F(HostWindowsTest, WhoHasYetToAnswerHasAPlaceForItsStream) {
  while (arena_.free_reserves() > 3 * kStoresOfAFlow) {
    leave(arena_.free_blocks() - 1);
  }
  ASSERT_TRUE(has_place_for_host());
  const std::size_t free = arena_.free_reserves();
  std::size_t half_open = 0;
  for (; has_place_for_host(); ++half_open) {
    add();
  }
  EXPECT_GE(free, kStoresOfAStream * half_open + kStoresOfAStream);
  EXPECT_TRUE(windows_.has_place(arena_)) << "for a flow of the peer";
}

// --- of one host ---------------------------------------------------------------------------------

// However many flows a host has, its bytes take no more than half of the memory that the other
// hosts leave.
TEST_F(HostWindowsTest, AHostGetsHalfOfWhatTheOthersLeave) {
  Flow& greedy = add();
  greedy.lan.host = hosts_.add_flow(ip_of("203.0.113.5"));
  Flow& modest = add();
  modest.lan.host = hosts_.add_flow(ip_of("203.0.113.6"));
  const std::uint64_t all = windows_.memory_for_host(modest) * 2;
  EXPECT_GT(all, 2U << 20);
  // The host takes all that it can get, a block at a time.
  std::uint64_t taken = 0;
  while (!windows_.crowds_streams(greedy, kBlock)) {
    static_cast<void>(arena_.allocate());
    taken += kBlock;
    hosts_[greedy.lan.host].stored = taken;
  }
  EXPECT_NEAR(static_cast<double>(taken), static_cast<double>(all) / 2, 4.0 * kBlock);
  EXPECT_LE(windows_.memory_for_host(greedy), 2 * kBlock);
  EXPECT_LT(windows_.first(arena_, greedy.lan.host), 2 * kBlock)
      << "a new flow of it is not relayed";
  EXPECT_FALSE(windows_.crowds_streams(modest, kBlock));
  EXPECT_NEAR(static_cast<double>(windows_.memory_for_host(modest)), static_cast<double>(all) / 4,
              4.0 * kBlock);
  EXPECT_TRUE(windows_.has_window(arena_, modest.lan.host));
  windows_.adjust(greedy, kPlenty, now_);
  EXPECT_FALSE(greedy.timers.retry_at.is_never()) << "it is offered little";
}

// --- of parts ------------------------------------------------------------------------------------

// Another peer has taken all that it can get. The memory that a part keeps for streams and for
// blocks that are not full is in proportion to the part. So a new flow finds a window.
TEST_F(HostWindowsTest, ASmallPartHasAWindowForANewFlow) {
  Arena whole(memory_, kBlock, kReserve);
  std::vector<std::unique_ptr<Arena>> parts;
  constexpr std::size_t kPeers = 8;
  const std::uint64_t rest = memory_.size() - kPromised;
  for (std::size_t i = 0; i < kPeers; ++i) {
    parts.push_back(std::make_unique<Arena>(
        whole, Arena::Kept{.promised = kPromised / kPeers, .beside = rest / 2 / kPeers}));
  }
  EXPECT_TRUE(windows_.has_window(*parts[1], LanHosts::kNone));
  while (parts[0]->allocate() != kNoBlock) {
  }
  EXPECT_FALSE(windows_.has_window(*parts[0], LanHosts::kNone));
  EXPECT_TRUE(windows_.has_window(*parts[1], LanHosts::kNone));
  // Memory that was promised to the part's own peer is not for its hosts.
  const std::uint64_t most = windows_.first(*parts[1], LanHosts::kNone);
  EXPECT_LT(most, (rest / 2 / kPeers) / 4);
}

// Two peers are not promised the same of the reserves that are first come, first served.
TEST_F(HostWindowsTest, WhoHasYetToAnswerHasAPlaceWhateverOtherPeersBegin) {
  Arena whole(memory_, kBlock, kReserve);
  const Arena::Kept kept{.beside = 256 * kBlock, .reserves = 64};
  std::vector<std::unique_ptr<Arena>> parts;
  for (int i = 0; i < 2; ++i) parts.push_back(std::make_unique<Arena>(whole, kept));
  std::uint64_t half_open[2] = {};
  // A flow has the reserves of all its stores from the beginning, except those of its stream.
  const auto begin = [&](std::size_t peer) {
    Arena& part = *parts[peer];
    if (!windows_.has_place_for_host(part, half_open[peer], half_open[0] + half_open[1])) {
      return false;
    }
    for (std::size_t i = kStoresOfAStream; i < kStoresOfAFlow; ++i) {
      EXPECT_NE(part.take_reserve(), kNoReserve);
    }
    ++half_open[peer];
    return true;
  };
  for (bool more = true; more;) {
    more = begin(0);
    more = begin(1) || more;
  }
  EXPECT_GT(half_open[0], 200U);
  for (std::size_t peer = 0; peer < 2; ++peer) {
    for (std::uint64_t i = 0; i < half_open[peer] * kStoresOfAStream; ++i) {
      ASSERT_NE(parts[peer]->take_reserve(), kNoReserve) << peer << ' ' << i;
    }
  }
}

// A peer can begin flows within its part, whatever other peers have begun.
TEST_F(HostWindowsTest, WhatIsKeptForAPeerHasPlacesForItsFlows) {
  Arena whole(memory_, kBlock, kReserve);
  const Arena::Kept kept{.beside = 256 * kBlock, .reserves = 64};
  Arena greedy(whole, kept), modest(whole, kept);
  while (greedy.take_reserve() != kNoReserve) {
  }
  constexpr std::uint64_t kOfGreedy = 100'000;
  for (std::uint64_t mine = 0; mine < 64 / kStoresOfAFlow; ++mine) {
    ASSERT_TRUE(windows_.has_place_for_host(modest, mine, kOfGreedy + mine));
    for (std::size_t i = kStoresOfAStream; i < kStoresOfAFlow; ++i) {
      ASSERT_NE(modest.take_reserve(), kNoReserve);
    }
  }
  EXPECT_FALSE(windows_.has_place_for_host(modest, 64 / kStoresOfAFlow, kOfGreedy));
}

// Bytes of a host that are stored for one peer do not keep other peers from the host.
TEST_F(HostWindowsTest, APeerDoesNotKeepAnotherFromAHostOfBoth) {
  Arena whole(memory_, kBlock, kReserve);
  const Arena::Kept kept{.promised = kPromised / 2, .beside = 512 * kBlock};
  Arena greedy(whole, kept), modest(whole, kept);
  Flow& f = add(modest);
  f.lan.host = hosts_.add_flow(ip_of("203.0.113.5"));
  std::uint64_t taken = 0;
  for (; greedy.allocate() != kNoBlock; taken += kBlock) {
  }
  hosts_[f.lan.host].stored = taken;
  EXPECT_TRUE(windows_.has_window(modest, f.lan.host));
  EXPECT_GE(windows_.memory_for_host(f), 200 * kBlock);
  EXPECT_FALSE(windows_.crowds_streams(f, kBlock));
  // But the host gets no more than half of the memory that is kept for the peer.
  std::uint64_t of_modest = 0;
  for (; windows_.memory_for_host(f) > kReserve; of_modest += kBlock) {
    ASSERT_NE(modest.allocate(), kNoBlock);
    hosts_[f.lan.host].stored = taken + of_modest;
  }
  EXPECT_GE(of_modest, 200 * kBlock);
  EXPECT_LE(of_modest, 260 * kBlock);
}

TEST_F(HostWindowsTest, ManyFlowsTryAgainOneAfterTheOther) {
  std::vector<Flow*> flows;
  for (std::uint32_t i = 0; i < kMost; ++i) flows.push_back(&add());
  leave(0);
  for (Flow* f : flows) windows_.adjust(*f, kPlenty, now_);
  const Instant first = now_ + Duration::milliseconds(100);
  const auto within = [&](Duration time) {
    return std::ranges::count_if(flows, [&](Flow* f) { return f->timers.retry_at < first + time; });
  };
  EXPECT_EQ(within(Duration::milliseconds(10)), 100);
  EXPECT_EQ(within(Duration::milliseconds(52)), kMost);
  for (Flow* f : flows) windows_.retry_later(*f, now_);
  const Instant sooner = now_ + Duration::milliseconds(10);
  EXPECT_EQ(
      std::ranges::count_if(
          flows, [&](Flow* f) { return f->timers.retry_at < sooner + Duration::milliseconds(10); }),
      100);
}

}  // namespace
}  // namespace satrelay::gateway::host_windows_test

// What hosts may send while memory is plenty, shared by many, and short.
#include "relay/gateway/flows/host_windows.h"

#include <gtest/gtest.h>

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
  Flow& add() {
    const auto port = static_cast<std::uint16_t>(store_.size() + 1);
    auto flow =
        std::make_unique<Flow>(FlowKey{ip_of("203.0.113.5"), ip_of("198.51.100.5"), port, 80, {}},
                               std::make_shared<ActiveRule>(), Origin::kLan, config_of_host(),
                               arena_, tcp::Endpoint::Shared{&counters_, {}}, now_);
    return store_[store_.add(std::move(flow))];
  }
  // Others hold all but so many blocks.
  void leave(std::size_t blocks) {
    while (arena_.free_blocks() > blocks) static_cast<void>(arena_.allocate());
  }
  // The window that its host is told with the ACK of its next byte.
  std::uint64_t offered(Flow& f, Duration round_trip = {}) {
    if (f.endpoint.is_closed()) open(f);
    windows_.adjust(f, round_trip, now_);
    const std::byte byte{};
    f.endpoint.handle_segment(segment(said_++, wire::TcpFlags::kAck), {&byte, 1}, now_);
    now_ += Duration::milliseconds(100);
    f.endpoint.handle_timeout(now_);
    while (f.endpoint.poll_segment(now_)) {
    }
    return f.endpoint.receive_window();
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
  HostWindows windows_{plan_of(), arena_, store_};
  std::uint32_t said_ = 0;
  std::uint32_t acknowledgment_ = 0;
};

TEST_F(HostWindowsTest, AFirstWindowIs64KiBWhileThereIsPlenty) {
  EXPECT_EQ(windows_.first(), 64U * 1024);
  EXPECT_TRUE(windows_.has_window());
  EXPECT_TRUE(windows_.has_place());
}

TEST_F(HostWindowsTest, ManyFlowsShareHalfOfWhatIsForHosts) {
  for (int i = 0; i < 32; ++i) add();
  EXPECT_EQ(windows_.first(), (1U << 19) / 32);
  for (int i = 32; i < 256; ++i) add();
  EXPECT_EQ(windows_.first(), 8U * 1024) << "and no less than is worth offering";
}

TEST_F(HostWindowsTest, NothingIsSpareThatIsPromisedToPeers) {
  const std::size_t kept = (kPromised + kBlock * kBlocks / 32) / kBlock;
  leave(kept);
  EXPECT_EQ(windows_.first(), 0U);
  EXPECT_FALSE(windows_.has_window());
  EXPECT_TRUE(windows_.has_place()) << "of its own";
  EXPECT_TRUE(windows_.crowds_streams(1));
  // What the peers have stored takes blocks, and is promised no more.
  *windows_.stored_of_peers() = kPromised;
  EXPECT_GT(windows_.memory_for_host(), 512U * 1024);
}

TEST_F(HostWindowsTest, AFlowNeedsAReserveForEachOfItsStores) {
  leave(2);
  EXPECT_TRUE(windows_.has_place());
  leave(1);
  EXPECT_FALSE(windows_.has_place());
}

TEST_F(HostWindowsTest, AFullTableHasNoPlace) {
  while (store_.free_slots() > 0) add();
  EXPECT_FALSE(windows_.has_place());
}

// What the link takes in a round trip and 200 ms, so that all that a loss may make late is here.
TEST_F(HostWindowsTest, AHostIsOfferedAFlight) {
  Flow& f = add();
  EXPECT_NEAR(static_cast<double>(offered(f)), 64.0 * 1024, kBlock);
  constexpr double kRate = 300'000;  // a second
  f.heat(now_);                      // its host has sent something
  const auto drain = [&](int times) {
    for (int i = 0; i < times; ++i) {
      HostWindows::note_drained(f, static_cast<std::uint64_t>(kRate / 100), now_);
      now_ += Duration::milliseconds(10);
    }
  };
  struct Row {
    std::int64_t round_trip_ms;
    double seconds;
  };
  for (const Row& row : {Row{0, 0.4}, Row{100, 0.4}, Row{200, 0.4}, Row{550, 0.75}}) {
    drain(200);
    EXPECT_NEAR(static_cast<double>(offered(f, Duration::milliseconds(row.round_trip_ms))),
                kRate * row.seconds, kRate * row.seconds / 20 + kBlock)
        << row.round_trip_ms;
    drain(10);
  }
  drain(200);
  EXPECT_NEAR(static_cast<double>(offered(f, Duration::seconds(5))), 256.0 * 1024, 2 * kBlock)
      << "no more than is configured";
  now_ += Duration::seconds(10);
  Flow& other = add();
  EXPECT_NEAR(static_cast<double>(offered(other)), 64.0 * 1024, kBlock)
      << "a flow's rate is its own";
}

// Of what the link took at first it is not known how long it goes on.
TEST_F(HostWindowsTest, AFlightGrowsWithinTheFirstMilliseconds) {
  Flow& f = add();
  offered(f);
  f.heat(now_);
  for (int i = 0; i < 10; ++i) {
    HostWindows::note_drained(f, 10'000, now_);
    now_ += Duration::milliseconds(2);
  }
  // 100,000 in a sixteenth of a second at the least: more than the cap in 550 ms.
  EXPECT_NEAR(static_cast<double>(offered(f, Duration::milliseconds(550))), 256.0 * 1024,
              2 * kBlock);
}

TEST_F(HostWindowsTest, ASmallWindowIsOfferedAnewSoon) {
  Flow& f = add();
  windows_.adjust(f, {}, now_);
  EXPECT_TRUE(f.retry_at.is_never());
  leave(0);
  windows_.adjust(f, {}, now_);
  EXPECT_EQ(f.retry_at, now_ + Duration::milliseconds(100));
  HostWindows::retry_later(f, now_);
  EXPECT_EQ(f.retry_at, now_ + Duration::milliseconds(10)) << "the earlier one holds";
}

TEST_F(HostWindowsTest, AHostIsQueuedNoMoreThanItsTcpCanSend) {
  Flow& f = add();
  const std::uint64_t useful = std::min(f.endpoint.congestion_window(), f.endpoint.peer_window()) +
                               4 * f.endpoint.send_mss();
  EXPECT_EQ(HostWindows::allowance(f), useful);
  leave(0);
  EXPECT_EQ(windows_.memory_for_host(), kReserve) << "its own";
}

// A host that was answered is not reset for want of what its stream needs.
TEST_F(HostWindowsTest, WhoHasYetToAnswerHasAPlaceForItsStream) {
  while (arena_.free_reserves() > 3 * kStoresOfAFlow) {
    leave(arena_.free_blocks() - 1);
  }
  ASSERT_TRUE(windows_.has_place_for_host());
  const std::size_t free = arena_.free_reserves();
  std::size_t half_open = 0;
  for (; windows_.has_place_for_host(); ++half_open) {
    Flow& f = add();
    store_.count_half_open(f);
  }
  EXPECT_GE(free, kStoresOfAStream * half_open + kStoresOfAStream);
  EXPECT_TRUE(windows_.has_place()) << "for a flow of the peer";
}

}  // namespace
}  // namespace satrelay::gateway::host_windows_test

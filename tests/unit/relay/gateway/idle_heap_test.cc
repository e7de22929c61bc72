// How much of the heap an idle flow takes, with its stream and its places in tables, as malloc
// counts it. There may be 100,000 such flows.
#include <gtest/gtest.h>
#include <malloc.h>

#include <cstddef>

#include "pep/compress/block_codec.h"
#include "pep/stp/wire/frames.h"
#include "relay/gateway/flows/flow_deadline.h"
#include "tests/bench/world/crowd.h"

namespace satrelay::gateway::idle_heap_test {
namespace {

using bench::Crowd;

constexpr std::size_t kMost = 1024;
// Tables grow by doubling, and the first flows take memory that all flows use. So the test measures
// this many more flows, until there are twice as many.
constexpr std::size_t kFlows = 4096;

std::size_t heap_now() {
  const struct mallinfo2 heap = mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

class IdleHeapTest : public ::testing::Test {
 protected:
  IdleHeapTest()
      : crowd_({.flows = 2 * kFlows, .hosts = Crowd::Hosts::kAcknowledge, .opens = false}) {}
  void SetUp() override {
    if (heap_now() == 0) GTEST_SKIP() << "this allocator does not tell";
  }
  void idle() { crowd_.pass(kTrimAfter + Duration::seconds(1)); }
  // The client sends a block to each server, and the server acknowledges it.
  void send(std::size_t from, std::size_t end) {
    while (from < end) {
      from = crowd_.say(from, end, [](ByteWriter& frames, std::size_t flow) {
        frames.u8(static_cast<std::uint8_t>(stp::FrameType::kData) | stp::kDataHasLength);
        stp::write_varint(frames, Crowd::stream(flow));
        stp::write_varint(frames, 0);
        frames.u16(compress::kBlockHeaderSize + 1);
        const MutableBytes bytes = frames.reserve(compress::kBlockHeaderSize + 1);
        compress::write_block_header({compress::BlockKind::kRaw, 1}, bytes);
        bytes.back() = std::byte{'x'};
      });
      crowd_.settle();
      crowd_.acknowledge();
    }
  }
  Crowd crowd_;
};

TEST_F(IdleHeapTest, AFlowThatWasOpenedTakesNoMoreThanAKilobyte) {
  crowd_.open_flows(0, kFlows);
  crowd_.acknowledge();
  idle();
  const std::size_t before = heap_now();
  crowd_.open_flows(kFlows, 2 * kFlows);
  crowd_.acknowledge();
  const std::size_t opened = heap_now();
  idle();
  ASSERT_EQ(crowd_.flows(), 2 * kFlows);
  EXPECT_LE((heap_now() - before) / kFlows, kMost);
  EXPECT_GT((opened - before) / kFlows, kMost) << "it gives something back";
}

TEST_F(IdleHeapTest, AFlowThatHasCarriedBytesTakesAsMuchAsOneThatHasNot) {
  crowd_.open_flows(0, kFlows);
  crowd_.acknowledge();
  idle();
  const std::size_t before = heap_now();
  send(0, kFlows);
  EXPECT_GT(heap_now(), before + kFlows * 100) << "while bytes are under way it takes more";
  idle();
  crowd_.acknowledge();
  EXPECT_LE(heap_now(), before + kFlows * 8);
}

}  // namespace
}  // namespace satrelay::gateway::idle_heap_test

// What a relayed flow takes: of the arena, and of the heap beside it. Once idle, and once with a
// byte for its host that the host has not acknowledged: then its stores have grown.
#include <malloc.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <stdexcept>

#include "pep/compress/block_codec.h"
#include "pep/stp/wire/frames.h"
#include "relay/gateway/flows/memory_plan.h"
#include "tests/bench/crowd.h"

namespace satrelay::bench {
namespace {

struct Taken {
  double heap = 0;      // bytes
  double reserves = 0;  // bytes of the arena
  double blocks = 0;    // the same, beside the reserves
};

Taken taken_now(Crowd& crowd) {
  const struct mallinfo2 heap = mallinfo2();
  const gateway::ArenaUse use = crowd.engine().arena_use();
  const gateway::MemoryPlan plan = gateway::plan_memory(crowd.config());
  return {.heap = static_cast<double>(heap.uordblks + heap.hblkhd),
          .reserves = static_cast<double>(use.reserves * plan.reserve_size),
          .blocks = static_cast<double>(use.blocks() * plan.block_size)};
}

void print(std::size_t flows, const char* state, const Taken& before, const Taken& after) {
  const auto each = [&](double Taken::*what) {
    return (after.*what - before.*what) / static_cast<double>(flows);
  };
  std::printf("%7zu flows, %-22s heap %8.0f, arena: reserves %6.0f, blocks %6.0f bytes a flow\n",
              flows, state, each(&Taken::heap), each(&Taken::reserves), each(&Taken::blocks));
}

// A stream's header of a raw block, and its one byte.
void send_a_byte(Crowd& crowd, std::size_t flows) {
  for (std::size_t i = 0; i < flows;) {
    i = crowd.say(i, flows, [](ByteWriter& frames, std::size_t flow) {
      frames.u8(static_cast<std::uint8_t>(stp::FrameType::kData) | stp::kDataHasLength);
      stp::write_varint(frames, Crowd::stream(flow));
      stp::write_varint(frames, 0);
      frames.u16(compress::kBlockHeaderSize + 1);
      const MutableBytes bytes = frames.reserve(compress::kBlockHeaderSize + 1);
      compress::write_block_header({compress::BlockKind::kRaw, 1}, bytes);
      bytes.back() = std::byte{'x'};
    });
    crowd.settle();
  }
}

void measure(std::size_t flows) {
  Crowd crowd({.flows = flows, .opens = false});
  const Taken before = taken_now(crowd);
  crowd.open_flows(0, flows);
  const Taken opened = taken_now(crowd);
  if (crowd.flows() != flows) throw std::runtime_error("not all flows were taken");
  print(flows, "opened", before, opened);
  send_a_byte(crowd, flows);
  print(flows, "a byte towards the host", before, taken_now(crowd));
}

int run(int argc, char** argv) {
  CLI::App app{"What relayed flows take of the arena, and of the heap beside it"};
  bool quick = false;
  app.add_flag("--quick", quick, "With few flows only");
  CLI11_PARSE(app, argc, argv);
  measure(1);
  measure(1'000);
  if (!quick) measure(60'000);
  return 0;
}

}  // namespace
}  // namespace satrelay::bench

int main(int argc, char** argv) {
  try {
    return satrelay::bench::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_flows: %s\n", error.what());
    return 1;
  }
}

// What a relayed flow takes: of the arena, and of the heap beside it. Once idle, and once with a
// byte for its host that the host has not acknowledged: then its stores have grown. And what a peer
// takes that was never heard.
#include <malloc.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

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

void print(std::size_t flows, const char* state, const Taken& before, const Taken& after,
           nlohmann::json& json) {
  const auto each = [&](double Taken::*what) {
    return (after.*what - before.*what) / static_cast<double>(flows);
  };
  json["rows"].push_back({{"name", std::to_string(flows) + " flows, " + state},
                          {"heap_bytes", each(&Taken::heap)},
                          {"arena_bytes", each(&Taken::reserves) + each(&Taken::blocks)}});
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

void measure(std::size_t flows, nlohmann::json& json) {
  Crowd crowd({.flows = flows, .opens = false});
  const Taken before = taken_now(crowd);
  crowd.open_flows(0, flows);
  const Taken opened = taken_now(crowd);
  if (crowd.flows() != flows) throw std::runtime_error("not all flows were taken");
  print(flows, "opened", before, opened, json);
  send_a_byte(crowd, flows);
  print(flows, "a byte towards the host", before, taken_now(crowd), json);
}

double heap_with(std::size_t silent_peers) {
  const auto used = [] {
    const struct mallinfo2 heap = mallinfo2();
    return static_cast<double>(heap.uordblks + heap.hblkhd);
  };
  const double before = used();
  const Crowd crowd({.silent_peers = silent_peers, .opens = false});
  return used() - before;
}

void measure_peers(std::size_t peers, nlohmann::json& json) {
  const double each = (heap_with(peers) - heap_with(0)) / static_cast<double>(peers);
  json["rows"].push_back({{"name", std::to_string(peers) + " silent peers"}, {"heap_bytes", each}});
  std::printf("%7zu silent peers, heap %8.0f bytes a peer\n", peers, each);
}

int run(int argc, char** argv) {
  CLI::App app{"What relayed flows take of the arena, and of the heap beside it"};
  bool quick = false;
  std::string json_path;
  app.add_flag("--quick", quick, "With few flows only");
  app.add_option("--json", json_path, "Write the figures to this file as well");
  CLI11_PARSE(app, argc, argv);
  nlohmann::json json;
  measure(1, json);
  measure(1'000, json);
  if (!quick) measure(60'000, json);
  measure_peers(quick ? 10 : 300, json);
  if (json_path.empty()) return 0;
  std::ofstream file(json_path);
  file << json.dump(2) << "\n";
  file.flush();
  if (!file) throw std::runtime_error("cannot write " + json_path);
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

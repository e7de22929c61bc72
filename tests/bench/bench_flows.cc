// The memory of a relayed flow: in the arena, and on the heap. It is measured when the flow has
// just opened, and when it has been idle until it keeps only what it must. It is also measured with
// an unacknowledged byte for its host, for which the flow's stores have grown. Also the memory of a
// peer that is never heard.
#include <malloc.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "pep/compress/block_codec.h"
#include "pep/stp/wire/frames.h"
#include "relay/gateway/flows/flow_deadline.h"
#include "relay/gateway/flows/table/memory_plan.h"
#include "tests/bench/world/crowd.h"
#include "tests/bench/world/drive.h"
#include "tests/support/gateway_config.h"

namespace satrelay::bench {
namespace {

struct Taken {
  double heap = 0;      // Bytes.
  double reserves = 0;  // Bytes of the arena.
  double blocks = 0;    // Bytes of the arena beside the reserves.
};

double heap_now() {
  const struct mallinfo2 heap = mallinfo2();
  return static_cast<double>(heap.uordblks + heap.hblkhd);
}

Taken taken_now(Crowd& crowd) {
  const gateway::ArenaUse use = crowd.engine().arena_use();
  const gateway::MemoryPlan plan = gateway::plan_memory(crowd.config());
  return {.heap = heap_now(),
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

// The stream's header of a raw block, and its one byte.
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
  crowd.pass(gateway::kTrimAfter + Duration::seconds(1));
  print(flows, "idle", before, taken_now(crowd), json);
  send_a_byte(crowd, flows);
  print(flows, "a byte towards the host", before, taken_now(crowd), json);
}

// The heap of a gateway with that many peers that never answer.
double heap_with_silent(std::size_t peers) {
  config::Gateway config = test::gateway_config({.subnet = "192.0.2.0/24",
                                                 .next_hop = "192.0.2.2",
                                                 .rate = BitRate::bits_per_second(1'000'000'000)},
                                                {});
  for (std::size_t i = 0; i < peers; ++i) {
    const auto high = static_cast<std::uint8_t>(i >> 8);
    const auto low = static_cast<std::uint8_t>(i);
    config.peers.push_back(test::peer_config("silent-" + std::to_string(i),
                                             IpAddress::v4({10, 9, high, low}),
                                             {IpPrefix{IpAddress::v4({10, high, low, 0}), 24}}));
  }
  config.limits.memory = ByteCount(256U << 20);
  LargeMemory memory(256U << 20, 0);
  const double before = heap_now();
  Instant now = Instant::from_nanoseconds(1'000'000'000);
  gateway::Gateway engine(config,
                          gateway::Identity{.boot_epoch = 1, .secret = {3, 5}, .wan_mac = {}},
                          memory.bytes(), now);
  std::vector<std::byte> frame(2048);
  for (const Instant end = now + Duration::seconds(30); now < end;
       now += Duration::milliseconds(100)) {
    if (engine.next_timeout() <= now) engine.handle_timeout(now);
    while (engine.poll_frame(gateway::PortId::kWan, frame, now).size > 0) {
    }
  }
  return heap_now() - before;
}

void measure_peers(std::size_t peers, nlohmann::json& json) {
  const double one = heap_with_silent(1);
  const double all = heap_with_silent(1 + peers);
  const double each = (all - one) / static_cast<double>(peers);
  json["rows"].push_back({{"name", std::to_string(peers) + " silent peers"}, {"heap_bytes", each}});
  std::printf("%7zu silent peers, heap %8.0f bytes a peer\n", peers, each);
}

// Flows that come and go, 100,000 in a second of virtual time. All their TIME-WAITs are kept.
void measure_closes(std::size_t flows) {
  constexpr std::size_t kAtOnce = 1'000;
  Crowd crowd({.flows = flows, .opens = false});
  // The first flows make the tables grow.
  crowd.open_flows(0, kAtOnce);
  crowd.close_flows(0, kAtOnce);
  const Taken before = taken_now(crowd);
  const double begun = crowd.milliseconds();
  for (std::size_t i = kAtOnce; i < flows; i += kAtOnce) {
    crowd.open_flows(i, i + kAtOnce);
    crowd.close_flows(i, i + kAtOnce);
    crowd.pass(Duration::milliseconds(10));
  }
  const double count = static_cast<double>(flows - kAtOnce);
  if (crowd.flows() != 0) {
    throw std::runtime_error(std::to_string(crowd.flows()) + " flows are not over");
  }
  std::printf(
      "%7zu flows opened by the peer and closed: %.2f us each, %u in TIME-WAIT, heap %4.0f "
      "bytes each\n",
      flows, (crowd.milliseconds() - begun) * 1e3 / count,
      static_cast<unsigned>(time_waits_of(crowd.engine().status(crowd.now()))),
      (taken_now(crowd).heap - before.heap) / count);
}

int run(int argc, char** argv) {
  CLI::App app{
      "What relayed flows, their ends and silent peers take of the arena, and of the heap"};
  bool quick = false;
  std::string json_path;
  app.add_flag("--quick", quick, "With few flows only");
  app.add_option("--json", json_path, "Write the figures to this file as well");
  CLI11_PARSE(app, argc, argv);
  nlohmann::json json;
  measure(1, json);
  measure(1'000, json);
  if (!quick) measure(60'000, json);
  measure_closes(quick ? 5'000 : 200'000);
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

// The most processor time that one call of the engine takes with very many flows, event by event.
// Whatever a packet or an operator asks for, a packet of another flow must not wait long for it.
#include <malloc.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "pep/compress/block_codec.h"
#include "pep/stp/wire/frames.h"
#include "relay/gateway/snapshot_sum.h"
#include "tests/bench/world/codec_crowd.h"
#include "tests/bench/world/crowd.h"

namespace satrelay::bench {
namespace {

struct Case {
  const char* name;
  Crowd::Spec spec;
  std::function<void(Crowd& crowd)> work;
};

void say_all(Crowd& crowd, std::size_t count, std::size_t room, const Crowd::WriteFrame& write) {
  for (std::size_t i = 0; i < count;) {
    i = crowd.say(i, count, write, room);
    crowd.settle();
  }
}

void list_flows(Crowd& crowd, std::size_t count) {
  constexpr std::uint64_t kList = (1ULL << 18) + 1;
  const std::byte kind{0xc2};
  crowd.say(0, 1, [&](ByteWriter& frames, std::size_t) {
    stp::write_open(frames, {kList, ConstBytes(&kind, 1)});
  });
  std::vector<std::byte> list;
  for (std::size_t i = 0; i < count; ++i) {
    const auto entry = crowd.metadata(i);
    list.push_back(std::byte{0});
    list.push_back(static_cast<std::byte>(entry.size()));
    list.insert(list.end(), entry.begin(), entry.end());
  }
  // Sends all parts but the first, and then the first, so that the whole list is in order at once.
  constexpr std::size_t kPart = 1200;
  const auto send = [&](std::size_t at) {
    const std::size_t size = std::min(kPart, list.size() - at);
    crowd.say(0, 1, [&](ByteWriter& frames, std::size_t) {
      frames.u8(static_cast<std::uint8_t>(stp::FrameType::kData) | stp::kDataHasLength |
                (at + size == list.size() ? stp::kDataFin : 0U));
      stp::write_varint(frames, kList);
      stp::write_varint(frames, at);
      frames.u16(static_cast<std::uint16_t>(size));
      std::ranges::copy(ConstBytes(list).subspan(at, size), frames.reserve(size).begin());
    });
  };
  for (std::size_t at = kPart; at < list.size(); at += kPart) send(at);
  send(0);
  crowd.settle();
}

constexpr std::size_t kMissing = 24;
constexpr std::size_t kRepairingPeers = 32;

// A window of full packets with each 24th missing, and as many repairs as are missing.
void repair_window(Crowd& crowd) {
  lose_of_window(crowd, kMissing);
  std::vector<std::byte> symbol;
  for (std::uint16_t row = 0; row < stp::kMaxCodedWindow / kMissing; ++row) {
    crowd.say(0, 1, [&](ByteWriter& frames, std::size_t) {
      symbol.assign(frames.remaining() - stp::kRepairHeaderSize, static_cast<std::byte>(row));
      stp::write_repair(frames, {stp::FecCode::kFlight, 0, stp::kMaxCodedWindow, row, symbol});
    });
    if (row % 32 == 31) crowd.pass(Duration::milliseconds(100));
    const stp::Counters seen = crowd.engine().peers()[0].counters;
    if (row == 120 && seen.repair_overload + seen.repair_wasted > 3) {
      throw std::runtime_error("the repairs do not wait for each other");
    }
  }
}

// The same, with all repairs together.
void repair_window_at_once(Crowd& crowd) {
  lose_of_window(crowd, kMissing);
  repair_together(crowd, kMissing);
}

// The repairs of many peers come together.
void repair_of_many_peers(Crowd& crowd) {
  std::vector<std::size_t> peers(kRepairingPeers);
  for (std::size_t i = 0; i < peers.size(); ++i) {
    peers[i] = i;
    crowd.speak_as(i);
    lose_of_window(crowd, kMissing);
  }
  for (std::uint16_t row = 0; row < 8; row = static_cast<std::uint16_t>(row + 2)) {
    repair_of_peers(crowd, peers, row, 2);
    crowd.settle();
    crowd.pass(Duration::milliseconds(100));
  }
}

// Reports on peers as relay/satrelayd/workers/worker_report.cc does it, while nothing of it is in
// the cache.
void tell_peers(Crowd& crowd, std::size_t flows) {
  constexpr std::size_t kAtOnce = 16;
  const Instant now = Instant::from_nanoseconds(60'000'000'000);
  std::vector<gateway::PeerSnapshot> peers;
  for (int report = 0; report < 3; ++report) {
    peers.clear();
    for (std::size_t told = 0, last = kAtOnce; last == kAtOnce; told += last) {
      (void)crowd.engine().flows(0, flows, now);
      crowd.call([&] {
        auto lanes = crowd.engine().peers(told, kAtOnce);
        last = lanes.size();
        gateway::append_lanes(peers, std::move(lanes));
        if (last == kAtOnce) return;
        (void)crowd.engine().status(now);
        (void)crowd.engine().histograms();
      });
    }
  }
}

// A host that takes tiny segments and has a large window acknowledges all that is in flight, again
// and again.
void acknowledge_tiny_segments(Crowd& crowd) {
  constexpr std::size_t kBytes = std::size_t{4} << 20;
  Octets block(1400);
  compress::write_block_header(
      {compress::BlockKind::kRaw,
       static_cast<std::uint32_t>(block.size() - compress::kBlockHeaderSize)},
      block);
  for (std::size_t at = 0; at < kBytes; at += block.size()) {
    crowd.say(0, 1,
              [&](ByteWriter& frames, std::size_t) { Crowd::write_data(frames, 0, at, block); });
  }
  for (std::size_t sent = 0; sent < kBytes - kBytes / 16;) {
    crowd.settle();
    const std::size_t before = std::exchange(sent, crowd.sent_to_server(0));
    if (sent == before) throw std::runtime_error("the host gets no more");
    crowd.from_lan(crowd.data_of_server(0, 0, {}, sent));
  }
}

// Each packet of one of very many peers announces another capacity.
void announce_capacities(Crowd& crowd) {
  std::uint64_t sequence = 0;
  for (int round = 0; round < 50; ++round) {
    crowd.say_together(10, [&](ByteWriter& frames, std::size_t) {
      ++sequence;
      stp::write_rate(frames,
                      {.sequence = sequence,
                       .capacity = BitRate::bits_per_second(500'000'000 + sequence % 2 * 1'000)});
    });
    crowd.settle();
  }
}

// Rows for work on octets; each row has its own flows.
void add_work(std::vector<Case>& list) {
  constexpr std::size_t kStreams = 200;
  const Crowd::Spec streams{.flows = kStreams};
  const auto complete = [](const char* name, const Crowd::Spec& spec, const Octets& blocks,
                           std::size_t packets) {
    return Case{name, spec,
                [=](Crowd& crowd) { bench::complete(crowd, spec.flows, blocks, packets); }};
  };
  const Octets block_of_text = compressed(text(compress::kMaxPlainBlock));
  list.push_back(complete("blocks of text, whole by 1 packet", streams, block_of_text, 1));
  list.push_back(complete("blocks of text, whole by 10 packets", streams, block_of_text, 10));
  list.push_back(complete("blocks of zeros, whole by 10 packets", streams,
                          compressed(zeros(compress::kMaxPlainBlock)), 10));
  list.push_back(
      complete("40 small blocks a stream", streams, repeated(compressed(text(300)), 40), 10));
  list.push_back(
      complete("1,024 blocks of nothing in 2,048 streams", {.flows = 2048}, marks(1024), 32));
  list.push_back(
      complete("1,024 blocks of an octet in 2,048 streams", {.flows = 2048}, raw_octets(1024), 32));
  list.push_back(
      {"blocks of text, memory short", {.flows = 600, .memory = 32U << 20}, [=](Crowd& crowd) {
         bench::complete(crowd, 600, block_of_text, 10);
         crowd.pass(Duration::seconds(2));
       }});
  list.push_back({"50 hosts of text, 20 Mbit/s",
                  {.flows = 50, .rate = BitRate::bits_per_second(20'000'000)},
                  [](Crowd& crowd) { send_text(crowd, 50, 60'000); }});
  list.push_back({"500 hosts of text, 1 Gbit/s", {.flows = 500}, [](Crowd& crowd) {
                    send_text(crowd, 500, 60'000);
                  }});
  list.push_back({"one ACK of a host with an MSS of 48",
                  {.flows = 1, .mss = 48, .window_scale = 10},
                  acknowledge_tiny_segments});
  list.push_back({"a RATE in each packet, 1,000 peers",
                  {.flows = 0, .silent_peers = 999},
                  announce_capacities});
}

std::vector<Case> cases(std::size_t flows) {
  const Crowd::Spec many{.flows = flows};
  const Crowd::Spec none{.flows = 0};
  std::vector<Case> list;
  list.push_back({"OPEN, as many as fit", none, [=](Crowd& crowd) { crowd.open_flows(0, flows); }});
  list.push_back({"START_CREDIT, as many as fit", many, [](Crowd& crowd) {
                    for (std::size_t i = 0; i < 10; ++i) {
                      crowd.say(
                          0, 1000,
                          [&](ByteWriter& frames, std::size_t n) {
                            stp::write_start_credit(frames, {1 + i * 1000 + n, 1000 + n % 2});
                          },
                          stp::kMaxStartCreditFrameSize);
                    }
                    crowd.settle();
                  }});
  list.push_back({"STREAM_CREDIT, as many as fit", many, [=](Crowd& crowd) {
                    say_all(crowd, flows, stp::kMaxStreamCreditFrameSize,
                            [](ByteWriter& frames, std::size_t i) {
                              stp::write_stream_credit(frames, {Crowd::stream(i), 1U << 21});
                            });
                  }});
  list.push_back({"a byte of each stream", many, [=](Crowd& crowd) {
                    say_all(crowd, flows, 16, [](ByteWriter& frames, std::size_t i) {
                      frames.u8(static_cast<std::uint8_t>(stp::FrameType::kData) |
                                stp::kDataHasLength);
                      stp::write_varint(frames, Crowd::stream(i));
                      stp::write_varint(frames, 0);
                      frames.u16(1);
                      frames.u8(0);
                    });
                  }});
  list.push_back(
      {"RESET, as many as fit", many, [=](Crowd& crowd) {
         say_all(crowd, flows, stp::kMaxResetFrameSize, [](ByteWriter& frames, std::size_t i) {
           stp::write_reset(frames, {Crowd::stream(i), stp::ResetReason::kHostReset, 0});
         });
       }});
  list.push_back(
      {"RESET of streams never opened", none, [=](Crowd& crowd) {
         say_all(crowd, flows, stp::kMaxResetFrameSize, [](ByteWriter& frames, std::size_t i) {
           stp::write_reset(frames, {Crowd::stream(i), stp::ResetReason::kHostReset, 0});
         });
         crowd.pass(Duration::seconds(125));
       }});
  list.push_back({"the peer is started anew", many, [](Crowd& crowd) { crowd.restart_peer(); }});
  list.push_back({"the peer closes", many, [](Crowd& crowd) {
                    crowd.say(0, 1, [](ByteWriter& frames, std::size_t) {
                      stp::write_close(frames, {stp::ResetReason::kShutdown});
                    });
                    crowd.settle();
                  }});
  list.push_back({"the peer falls silent", many, [](Crowd& crowd) {
                    crowd.pass(Duration::seconds(4), /*peer_speaks=*/false);
                    crowd.pass(Duration::seconds(1));
                  }});
  list.push_back({"the peer is given up", many, [](Crowd& crowd) {
                    crowd.pass(crowd.config().stp.give_up_after + Duration::seconds(4), false);
                  }});
  list.push_back({"it had been sent something", many, [=](Crowd& crowd) {
                    const std::array<std::byte, 1> payload{std::byte{'x'}};
                    for (std::size_t i = 0; i < flows; ++i) {
                      crowd.from_lan(crowd.data_of_server(i, 0, payload));
                    }
                    crowd.pass(crowd.config().stp.give_up_after + Duration::seconds(4), false);
                  }});
  list.push_back({"the peer lists flows", none, [=](Crowd& crowd) { list_flows(crowd, flows); }});
  list.push_back({"reload", many, [](Crowd& crowd) {
                    crowd.reload(crowd.config());
                    crowd.settle();
                  }});
  list.push_back({"SYNs repeated all at once",
                  {.flows = flows, .hosts = Crowd::Hosts::kSilent},
                  [](Crowd& crowd) { crowd.pass(Duration::seconds(2)); }});
  list.push_back({"all idle at once",
                  {.flows = flows, .idle_timeout = Duration::seconds(600)},
                  [](Crowd& crowd) { crowd.pass(Duration::seconds(605)); }});
  const auto in_flight = [](Crowd& crowd) {
    crowd.pass(Duration::seconds(605));
    crowd.forget();
  };
  list.push_back({"all in flight is reported",
                  {.flows = flows, .idle_timeout = Duration::seconds(600)},
                  [=](Crowd& crowd) {
                    in_flight(crowd);
                    crowd.report([](std::uint64_t) { return true; });
                    crowd.settle();
                  }});
  list.push_back({"every other is lost, and comes late",
                  {.flows = flows, .idle_timeout = Duration::seconds(600)},
                  [=](Crowd& crowd) {
                    in_flight(crowd);
                    crowd.report([](std::uint64_t number) { return number % 2 == 0; });
                    crowd.settle();
                    crowd.report([](std::uint64_t) { return true; });
                    crowd.settle();
                  }});
  list.push_back({"all flows change their class, it its rate", many, [](Crowd& crowd) {
                    config::Gateway next = crowd.config();
                    next.classes = {{.name = "voice"}};
                    next.rules[0].traffic_class = "voice";
                    crowd.reload(next);
                    crowd.settle();
                    auto result = gateway::Gateway::ClassResult::kUnknownClass;
                    crowd.call([&] {
                      result = crowd.engine().set_class(
                          "voice", {.maximum = BitRate::bits_per_second(1'000'000)}, crowd.now());
                    });
                    if (result != gateway::Gateway::ClassResult::kSet) {
                      throw std::runtime_error("the class is not set");
                    }
                    crowd.settle();
                  }});
  list.push_back({"a host is found on the LAN",
                  {.flows = flows, .hosts = Crowd::Hosts::kUnknown, .one_server = true},
                  [](Crowd& crowd) {
                    crowd.from_lan(crowd.server_frame(0));
                    crowd.settle();
                  }});
  list.push_back({"frames while others are looked for",
                  {.flows = flows, .hosts = Crowd::Hosts::kUnknown},
                  [](Crowd& crowd) {
                    for (std::size_t i = 0; i < 1000; ++i) crowd.from_lan(crowd.server_frame(i));
                    crowd.settle();
                  }});
  list.push_back({"a page of flows, one flow", many, [=](Crowd& crowd) {
                    const Instant now = Instant::from_nanoseconds(60'000'000'000);
                    constexpr std::size_t kAtOnce = 96;  // relay/ops/stats/flow_pages.h asks so.
                    for (std::size_t i = 0; i + kAtOnce <= flows; i += kAtOnce) {
                      crowd.call([&] { (void)crowd.engine().flows(i, kAtOnce, now); });
                    }
                    for (std::size_t id = 1; id < flows; id += flows / 100) {
                      crowd.call([&] { (void)crowd.engine().flow(id, now); });
                    }
                    crowd.call([&] { (void)crowd.engine().flow(1U << 30, now); });
                  }});
  list.push_back({"a step of the report of 300 peers",
                  {.flows = flows, .silent_peers = 299},
                  [=](Crowd& crowd) { tell_peers(crowd, flows); }});
  list.push_back({"a REPAIR over a whole window", none, repair_window});
  list.push_back({"32 of them together", none, repair_window_at_once});
  list.push_back({"2 of each of 32 peers together",
                  {.flows = 0, .speaking_peers = kRepairingPeers},
                  repair_of_many_peers});
  list.push_back({"drain", many, [](Crowd& crowd) {
                    const Instant now = Instant::from_nanoseconds(60'000'000'000);
                    crowd.call(
                        [&] { crowd.engine().set_admission(gateway::Admission::kDraining, now); });
                    crowd.call([&] { (void)crowd.engine().unfinished_flows(); });
                  }});
  add_work(list);
  return list;
}

int run(int argc, char** argv) {
  CLI::App app("The most time that one call takes with many flows", "bench_steps");
  bool quick = false;
  std::size_t flows = 60'000;
  int repeats = 5;
  std::string only;
  app.add_flag("--quick", quick, "few flows, once: only to see that it works");
  app.add_option("--flows", flows, "that there are");
  app.add_option("--repeats", repeats, "of which the least counts");
  app.add_option("--only", only, "events whose name holds this");
  CLI11_PARSE(app, argc, argv);
  if (quick) {
    flows = 2'000;
    repeats = 1;
  }
  std::printf(
      "The longest call of the engine with %zu flows: milliseconds of the thread, least of\n"
      "%d repeats, objects visited (0: not counted), and work on octets in nominal "
      "microseconds.\n\n"
      "%-42s %9s %9s %9s %9s\n",
      flows, repeats, "event", "ms", "objects", "work", "calls");
  for (const Case& each : cases(flows)) {
    if (std::string(each.name).find(only) == std::string::npos) continue;
    Worst least{.milliseconds = 1e9};
    std::uint64_t calls = 0;
    for (int i = 0; i < repeats; ++i) {
      Crowd crowd(each.spec);
      if (crowd.flows() != each.spec.flows) {
        std::fprintf(stderr, "%s: only %zu flows\n", each.name, crowd.flows());
        return 1;
      }
      const std::uint64_t before = crowd.calls();
      each.work(crowd);
      calls = crowd.calls() - before;
      least.milliseconds = std::min(least.milliseconds, crowd.worst().milliseconds);
      least.visited = crowd.worst().visited;
      least.worked = crowd.worst().worked;
    }
    std::printf("%-42s %9.3f %9llu %9llu %9llu\n", each.name, least.milliseconds,
                static_cast<unsigned long long>(least.visited),
                static_cast<unsigned long long>(least.worked / 1000),
                static_cast<unsigned long long>(calls));
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace satrelay::bench

int main(int argc, char** argv) {
  mallopt(M_MXFAST, 0);  // As in satrelayd.
  try {
    return satrelay::bench::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_steps: %s\n", error.what());
    return 1;
  }
}

// The cost of hosts and peers that scatter their data or reports as far as the protocol allows.
// They send one byte, or report one packet number, at a time, in the order of bit-reversed numbers.
// So each is in the middle of the largest gap that is left. Measures nanoseconds of each, and the
// heap beside the arena.
#include <malloc.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "pep/base/arena.h"
#include "pep/base/check.h"
#include "pep/stp/numbers/received_packets.h"
#include "pep/tcp/endpoint.h"
#include "tests/bench/stopwatch.h"

namespace satrelay::bench {
namespace {

struct Row {
  std::string name;
  double mean = 0;        // Nanoseconds for a segment or packet.
  double worst_turn = 0;  // The same for the slowest 256 in a row.
  std::size_t heap = 0;   // Bytes taken beyond the arena, at the end.
};

constexpr unsigned kWindowBits = 22;  // 4 MiB.
constexpr std::size_t kTurn = 256;

std::uint32_t reversed(std::uint32_t value, unsigned bits) {
  std::uint32_t result = 0;
  for (unsigned i = 0; i < bits; ++i) result |= (value >> i & 1U) << (bits - 1 - i);
  return result;
}

// Calls `work(n)` for each n below `count`.
template <typename Work>
Row measure(std::string name, std::size_t count, Work work) {
  Row row;
  row.name = std::move(name);
  const std::size_t heap = mallinfo2().uordblks + mallinfo2().hblkhd;
  double total = 0;
  std::size_t counted = 0;
  for (std::size_t i = 0; i < count; i += kTurn) {
    Stopwatch watch;
    watch.start();
    for (std::size_t j = 0; j < kTurn; ++j) work(static_cast<std::uint32_t>(i + j));
    if (!watch.stop()) continue;
    const double turn = watch.nanoseconds();
    total += turn;
    counted += kTurn;
    row.worst_turn = std::max(row.worst_turn, turn / static_cast<double>(kTurn));
  }
  row.mean = total / static_cast<double>(std::max<std::size_t>(counted, 1));
  const std::size_t now = mallinfo2().uordblks + mallinfo2().hblkhd;
  row.heap = now > heap ? now - heap : 0;
  return row;
}

wire::TcpOptions usual_options() {
  wire::TcpOptions options;
  options.mss = 1460;
  options.window_scale = 7;
  options.sack_permitted = true;
  return options;
}

Row one_byte_segments(std::size_t count) {
  std::vector<std::byte> memory(16 << 20);
  Arena arena(memory, 4096);
  tcp::Config config;
  config.receive_limit = 1U << kWindowBits;
  config.window_scale = 7;
  tcp::Endpoint endpoint(config, arena);
  const Instant now = Instant::from_nanoseconds(1'000'000'000);
  wire::TcpHeader header;
  header.flags = wire::TcpFlags::kSyn;
  header.window = 65535;
  header.options = usual_options();
  endpoint.accept(header, now);
  while (endpoint.poll_segment(now)) continue;
  header.flags = wire::TcpFlags::kAck;
  header.sequence = 1;
  header.acknowledgment = 1;
  header.options = {};
  endpoint.handle_segment(header, {}, now);
  while (endpoint.poll_segment(now)) continue;
  // The window opens to its scaled size with the first byte.
  const std::array<std::byte, 1> byte{};
  endpoint.handle_segment(header, byte, now);
  while (endpoint.poll_segment(now)) continue;
  return measure("TCP: one-byte segments from a host", count, [&](std::uint32_t n) {
    header.sequence = 3 + 2 * reversed(n, kWindowBits - 1);
    endpoint.handle_segment(header, byte, now);
    while (endpoint.poll_segment(now)) continue;
  });
}

Row one_byte_reports(std::size_t count) {
  std::vector<std::byte> memory(16 << 20);
  Arena arena(memory, 4096);
  tcp::Config config;
  config.send_limit = 1U << kWindowBits;
  config.initial_rto = Duration::seconds(60);
  tcp::Endpoint endpoint(config, arena);
  Instant now = Instant::from_nanoseconds(1'000'000'000);
  endpoint.connect(usual_options(), now);
  while (endpoint.poll_segment(now)) continue;
  wire::TcpHeader header;
  header.flags = wire::TcpFlags::kSyn | wire::TcpFlags::kAck;
  header.acknowledgment = 1;
  header.window = 65535;
  header.options = usual_options();
  endpoint.handle_segment(header, {}, now);
  header.flags = wire::TcpFlags::kAck;
  header.sequence = 1;
  header.options = {};
  // Round trips of full acknowledgment, until the congestion window is as large as the buffer.
  const std::vector<std::byte> content(1U << 16);
  std::uint64_t sent = 0;
  for (int round = 0; round < 40; ++round) {
    while (endpoint.write(content) > 0) continue;
    std::uint64_t flight = 0;
    while (const auto segment = endpoint.poll_segment(now)) {
      sent = std::max(sent, segment->payload_offset + segment->payload_size);
      flight += segment->payload_size;
    }
    if (flight + content.size() > config.send_limit) break;
    now += Duration::milliseconds(1);
    header.acknowledgment = static_cast<std::uint32_t>(1 + sent);
    endpoint.handle_segment(header, {}, now);
  }
  const auto una = static_cast<std::uint32_t>(1 + endpoint.sending().acknowledged());
  SATRELAY_CHECK(sent - endpoint.sending().acknowledged() > (1U << (kWindowBits - 1)));
  header.acknowledgment = una;
  header.options.sack_count = 4;
  return measure("TCP: one-byte SACK blocks, four in an ACK", count, [&](std::uint32_t n) {
    for (std::uint32_t i = 0; i < 4; ++i) {
      const std::uint32_t at = una + 1 + 2 * reversed(4 * n + i, kWindowBits - 2);
      header.options.sack[i] = {at, at + 1};
    }
    endpoint.handle_segment(header, {}, now);
    while (endpoint.poll_segment(now)) continue;
  });
}

Row scattered_packets(std::size_t count) {
  constexpr unsigned kJumpBits = 22;
  stp::ReceivedPackets packets;
  const Instant now = Instant::from_nanoseconds(1'000'000'000);
  packets.record(2U << kJumpBits, now);
  return measure("STP: packet numbers of a peer", count, [&](std::uint32_t n) {
    const std::uint64_t number = 1 + 2 * reversed(n, kJumpBits);
    if (packets.has_place(number)) packets.record(number, now);
  });
}

int run(int argc, char** argv) {
  CLI::App app("What scattered segments, reports and packets cost", "bench_scattered");
  bool quick = false;
  app.add_flag("--quick", quick, "a few thousand of each");
  CLI11_PARSE(app, argc, argv);
  const std::size_t count = quick ? 1U << 12 : 1U << 17;
  std::printf("%8s %12s %10s\n", "mean ns", "worst ns*", "heap KB");
  for (const Row& row :
       {one_byte_segments(count), one_byte_reports(count), scattered_packets(count)}) {
    std::printf("%8.0f %12.0f %10.1f  %s\n", row.mean, row.worst_turn,
                static_cast<double>(row.heap) / 1024, row.name.c_str());
  }
  std::printf("* mean of the dearest %zu in a row\n", kTurn);
  return 0;
}

}  // namespace
}  // namespace satrelay::bench

int main(int argc, char** argv) { return satrelay::bench::run(argc, argv); }

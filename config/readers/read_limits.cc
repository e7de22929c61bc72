#include "config/readers/read_limits.h"

#include <algorithm>

#include "config/keys/kinds.h"

namespace satrelay::config {
namespace {

constexpr Bounds<ByteCount> kMemory{ByteCount(1ULL << 20), ByteCount(1ULL << 40)};
constexpr Bounds<ByteCount> kFlowMemory{ByteCount(64ULL << 10), ByteCount(16ULL << 30)};
// RFC 7323 section 2.3: no window beyond 1 GiB can be advertised.
constexpr Bounds<ByteCount> kHostWindow{ByteCount(16ULL << 10), ByteCount(1ULL << 30)};
constexpr Bounds<Duration> kFlowTimeout{Duration::seconds(1), Duration::seconds(604'800)};
constexpr Bounds<std::uint64_t> kFlows{1, 10'000'000};

}  // namespace

const Keys<Limits>& limits_keys() {
  static const Keys<Limits> keys({
      key<Limits>({.name = "flows",
                   .help = "Relayed connections at a time; more are bridged.",
                   .fallback = "65536, or fewer if a memory that is given serves fewer"},
                  &Limits::flows, whole<std::uint32_t>(kFlows)),
      key<Limits>(
          {.name = "half_open",
           .reload = Reload::kLive,
           .help = "Connections with an incomplete handshake; more SYNs are answered with cookies.",
           .fallback = "4096, at most flows",
           .allowed = "1 to flows"},
          &Limits::half_open, whole<std::uint32_t>(kFlows)),
      key<Limits>({.name = "time_wait",
                   .help = "Closed connections that are kept for 30 s, to answer late segments."},
                  &Limits::time_wait, whole<std::uint32_t>({1, 100'000'000})),
      key<Limits>(
          {.name = "memory",
           .help = "Memory for stored bytes, allocated at the start.",
           .fallback =
               "four seconds of all links both ways, at least 64 MiB and 4 KiB for each of flows"},
          &Limits::memory, size(kMemory, "from the links")),
      key<Limits>({.name = "flow_memory",
                   .help = "The most that one flow stores in each direction.",
                   .allowed = "64KiB to 16GiB, at most memory"},
                  &Limits::flow_memory, size(kFlowMemory, "from memory")),
      key<Limits>({.name = "host_window",
                   .help = "The largest window advertised to a host.",
                   .fallback = "1.25 s of the fastest link's send_rate, at least 4 MiB"},
                  &Limits::host_window, size(kHostWindow, "from the links")),
      key<Limits>({.name = "idle_timeout",
                   .reload = Reload::kLive,
                   .help = "A flow without a byte for so long is reset.",
                   .fallback = "124min"},
                  &Limits::idle_timeout, duration(kFlowTimeout)),
      key<Limits>({.name = "half_close_timeout",
                   .reload = Reload::kLive,
                   .help = "The host of a half-closed flow is probed after so much silence.",
                   .fallback = "10min"},
                  &Limits::half_close_timeout, duration(kFlowTimeout)),
  });
  return keys;
}

const Keys<Tcp>& tcp_keys() {
  static const Keys<Tcp> keys({
      key<Tcp>({.name = "congestion",
                .reload = Reload::kLive,
                .help = "Congestion control of what is sent to hosts."},
               &Tcp::congestion, word(Tcp().congestion)),
      key<Tcp>({.name = "ecn",
                .reload = Reload::kLive,
                .help = "Explicit congestion notification with hosts that ask for it."},
               &Tcp::ecn, either("on", "off", Tcp().ecn)),
  });
  return keys;
}

Limits read_limits(const Value& value) {
  const Fields fields = limits_keys().fields(value);
  Limits limits;
  limits_keys().read(fields, limits);
  // A default must not contradict a smaller limit that the file gives.
  if (fields.find("memory") != nullptr && fields.find("flows") == nullptr) {
    const std::uint64_t served = limits.memory.value() / kMemoryOfAFlow.value();
    limits.flows = static_cast<std::uint32_t>(std::min<std::uint64_t>(limits.flows, served));
  }
  if (fields.find("half_open") == nullptr) {
    limits.half_open = std::min(limits.half_open, limits.flows);
  }
  return limits;
}

Tcp read_tcp(const Value& value) {
  Tcp tcp;
  tcp_keys().read(tcp_keys().fields(value), tcp);
  return tcp;
}

}  // namespace satrelay::config

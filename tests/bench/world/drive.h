// Shows frames to a gateway and takes frames from it: as many at a time as there are, as a worker
// does. An older gateway, which has no such functions, gets them one by one.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "relay/gateway/gateway.h"
#include "tests/bench/world/bulk_host.h"

namespace satrelay::bench {

// Full frames a turn, and the most that are shown at once.
inline constexpr std::size_t kBurst = 32;

// The ports check and write the hosts' TCP checksums, if the gateway supports such ports.
template <typename Identity>
void let_ports_sum(Identity& identity) {
  if constexpr (requires { identity.lan_port_sums; }) identity.lan_port_sums = true;
}

// Limits TIME-WAITs, if the gateway has a limit of its own for them.
template <typename Limits>
void limit_time_waits(Limits& limits, [[maybe_unused]] std::uint32_t most) {
  if constexpr (requires { limits.time_wait; }) limits.time_wait = most;
}
template <typename Status>
std::uint64_t time_waits_of(const Status& status) {
  if constexpr (requires { status.time_wait; }) return status.time_wait;
  return 0;
}

// `frame(i)` is frame i of `count`. `verified`: the port has found the frames' checksums right.
template <typename Engine, typename Frames>
void show(Engine& engine, gateway::PortId port, std::size_t count, Frames frame, Instant now,
          [[maybe_unused]] bool verified = false) {
  if constexpr (requires { engine.handle_frames(port, {}, {}, now); }) {
    std::array<typename Engine::Arrived, kBurst> frames;
    std::array<typename Engine::Handled, kBurst> handled;
    for (std::size_t i = 0; i < count;) {
      const std::size_t part = std::min(count - i, kBurst);
      for (std::size_t j = 0; j < part; ++j) {
        frames[j] = {.bytes = frame(i + j)};
        if constexpr (requires { frames[j].checksum; }) {
          if (verified) frames[j].checksum = decltype(frames[j].checksum)::kVerified;
        }
      }
      engine.handle_frames(port, std::span(frames).first(part), std::span(handled).first(part),
                           now);
      i += part;
    }
  } else {
    for (std::size_t i = 0; i < count; ++i) engine.handle_frame(port, frame(i), now);
  }
}

// Takes the frames that the gateway wants to send, as far as there is room in `out`.
template <typename Engine>
void ask(Engine& engine, gateway::PortId port, FrameBatch& out, Instant now) {
  if constexpr (requires { engine.poll_frames(port, {}, {}, now); }) {
    std::array<MutableBytes, kBurst> rooms;
    std::array<gateway::Polled, kBurst> polled;
    while (!out.full()) {
      const std::size_t part = std::min(out.left(), kBurst);
      for (std::size_t j = 0; j < part; ++j) rooms[j] = out.room(j);
      const std::size_t count = engine.poll_frames(port, std::span(rooms).first(part),
                                                   std::span(polled).first(part), now);
      for (std::size_t j = 0; j < count; ++j) out.push(polled[j].size);
      if (count < part) return;
    }
  } else {
    while (!out.full()) {
      const std::size_t size = engine.poll_frame(port, out.room(), now).size;
      if (size == 0) return;
      out.push(size);
    }
  }
}

}  // namespace satrelay::bench

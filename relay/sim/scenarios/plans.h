// Plans for the programs that hosts run. Each plan has a name.
#pragma once

#include <cstdint>

#include "relay/sim/hosts/application.h"

namespace satrelay::sim {

// Sends, half-closes at once, and reads to the end (`nc -N`).
inline Plan sender(std::uint64_t bytes) {
  Plan plan;
  plan.send_bytes = bytes;
  return plan;
}
// Reads to the end, then closes.
inline Plan receiver() {
  Plan plan;
  plan.finish = Finish::kWhenPeerFinished;
  return plan;
}
// Sends a request, then reads until the server has finished, and closes.
inline Plan requester(std::uint64_t request_bytes) {
  Plan plan;
  plan.send_bytes = request_bytes;
  plan.finish = Finish::kWhenPeerFinished;
  return plan;
}
// Sends its response once it has the whole request.
inline Plan responder(std::uint64_t request_bytes, std::uint64_t response_bytes) {
  Plan plan;
  plan.send_bytes = response_bytes;
  plan.send_after = request_bytes;
  return plan;
}
// Sends first, as SMTP, SSH and MySQL servers do, and closes after the client.
inline Plan greeter(std::uint64_t greeting_bytes) {
  Plan plan;
  plan.send_bytes = greeting_bytes;
  plan.finish = Finish::kWhenPeerFinished;
  return plan;
}
// Sends its response only after the client has half-closed.
inline Plan half_close_user(std::uint64_t response_bytes) {
  Plan plan;
  plan.send_bytes = response_bytes;
  plan.send_after_end = true;
  return plan;
}
inline Plan slow(Plan plan, BitRate read_rate, Duration pause = Duration::zero()) {
  plan.read_rate = read_rate;
  plan.read_pause = pause;
  return plan;
}
// Writes `chunk` bytes every `interval`.
inline Plan typist(std::uint64_t bytes, std::uint64_t chunk, Duration interval) {
  Plan plan;
  plan.send_bytes = bytes;
  plan.chunk = chunk;
  plan.interval = interval;
  return plan;
}
inline Plan resetter_after_sending(std::uint64_t bytes) {
  Plan plan;
  plan.send_bytes = bytes;
  plan.finish = Finish::kAbortWhenSent;
  return plan;
}
inline Plan resetter_after_receiving(std::uint64_t bytes) {
  Plan plan;
  plan.finish = Finish::kAbortWhenReceived;
  plan.abort_at = bytes;
  return plan;
}

}  // namespace satrelay::sim

#include "pep/tcp/input/path_errors.h"

#include <algorithm>
#include <optional>

#include "pep/tcp/ending/ending.h"

namespace satrelay::tcp {
namespace {

// Converts `sequence` to a stream position. nullopt if no segment in flight can begin there.
std::optional<std::uint64_t> outstanding_position(const Tcb& tcb, std::uint32_t sequence) {
  if (!tcb.lifecycle.is_synchronised()) return std::nullopt;
  const std::int64_t position = tcb.send_space.to_position(sequence, tcb.sender.una());
  if (position < static_cast<std::int64_t>(tcb.sender.una()) ||
      position >= static_cast<std::int64_t>(tcb.sender.next())) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(position);
}

}  // namespace

void handle_packet_too_big(Tcb& tcb, std::uint32_t sequence, std::uint16_t segment_limit,
                           Instant now) {
  // Before the handshake is complete, no data that could be too big is in flight.
  const auto position = outstanding_position(tcb, sequence);
  if (!position) return;
  const std::uint16_t limit = std::max(segment_limit, kSmallestPathSegment);
  if (limit >= tcb.negotiation.segment_limit) return;
  tcb.negotiation.segment_limit = limit;
  ++tcb.counters().path_mtu_reductions;
  tcb.sender.handle_smaller_path(*position, tcb.negotiation.segment_size(), tcb.around, now);
}

bool handle_path_error(Tcb& tcb, std::uint32_t sequence, PathError error) {
  const bool opening = tcb.state() == State::kSynSent ||
                       (tcb.state() == State::kSynReceived && !tcb.opening.syn_held);
  const bool outstanding = opening ? sequence == tcb.send_space.initial_sequence()
                                   : outstanding_position(tcb, sequence).has_value();
  if (!outstanding) {
    ++tcb.counters().path_errors_rejected;
    return false;
  }
  ++tcb.counters().path_errors_in;
  if (tcb.state() != State::kSynSent) return false;
  if (error == PathError::kPassing) {
    tcb.opening.path_error_heard = true;
    return false;
  }
  fail(tcb, error == PathError::kHard ? CloseReason::kRefused : CloseReason::kUnreachable);
  return true;
}

}  // namespace satrelay::tcp

#include "pep/tcp/input/acceptability.h"

#include <algorithm>

namespace satrelay::tcp {

bool is_acceptable(const Tcb& tcb, const Placement& placement) {
  const auto next = static_cast<std::int64_t>(tcb.receiver.next());
  const auto edge = std::max(next, static_cast<std::int64_t>(tcb.receiver.edge()));
  // If a peer has filled the window, the sequence numbers of its pure ACKs are at the right edge of
  // the window. If the window is closed, a segment at RCV.NXT is acceptable for its ACK, though its
  // data is dropped.
  if (placement.begin > edge) return false;
  return placement.occupies_sequence() ? placement.end > next : placement.begin >= next;
}

bool repeats_recent(const Tcb& tcb, const Placement& placement) {
  const Receiver& receiver = tcb.receiver;
  const auto next = static_cast<std::int64_t>(receiver.next());
  const auto window = static_cast<std::int64_t>(receiver.edge() - receiver.stream().consumed());
  return placement.begin < next && placement.begin >= next - std::max<std::int64_t>(window, 1) &&
         placement.end <= next;
}

bool has_plausible_ack(const Tcb& tcb, const wire::TcpHeader& header) {
  const Sender& sender = tcb.sender;
  const std::int64_t ack = tcb.send_space.to_position(header.acknowledgment, sender.una());
  return ack <= static_cast<std::int64_t>(sender.next()) &&
         ack >= static_cast<std::int64_t>(sender.una()) -
                    static_cast<std::int64_t>(sender.peer().largest());
}

bool answers_our_ack(const Tcb& tcb, std::int64_t reset_position) {
  const std::uint64_t told = tcb.receiver.acknowledged();
  if (told == tcb.receiver.next() || reset_position < 0) return false;
  const auto position = static_cast<std::uint64_t>(reset_position);
  return position == told || position == tcb.last_ack_sent;
}

}  // namespace satrelay::tcp

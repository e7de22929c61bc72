#include "pep/tcp/questions/peer_questions.h"

#include <cstdint>

namespace satrelay::tcp {

using wire::TcpFlags;

// RFC 9293 section 3.8.4: the sequence number of a keep-alive is the one before RCV.NXT, and it may
// carry one garbage byte.
bool note_keep_alive(Tcb& tcb, const wire::TcpHeader& header, const Placement& placement) {
  if (tcb.state() == State::kTimeWait || header.has(TcpFlags::kFin)) return false;
  if (placement.begin != static_cast<std::int64_t>(tcb.receiver.next()) - 1) return false;
  if (placement.payload_end > placement.begin + 1) return false;
  // A probe of a closed window looks like a keep-alive. But the host that sends it waits for the
  // window to open, which is common if the link is slower than the LAN. So the probe is not counted
  // as a keep-alive. If the receive limit is 0, however, the window is closed because the far host
  // offers no window. Then the probe asks about the far host, and is counted.
  if (tcb.receive_window() == 0 && tcb.receiver.window().limit() > 0) return true;
  tcb.questions.note_keep_alive();
  ++tcb.counters().keep_alives_in;
  return true;
}

bool leave_question(Tcb& tcb, const Placement& placement, Instant now) {
  if (!tcb.questions.leaves()) return false;
  const bool has_byte = placement.payload_end > placement.begin;
  // The same limit holds for all answers to empty segments (Arrival::handle_unacceptable()).
  if (!has_byte && !tcb.challenges.allow(now)) return true;
  tcb.questions.note(has_byte ? Question::kWithByte : Question::kEmpty);
  return true;
}

void note_stray_answer(Tcb& tcb, const wire::TcpHeader& header, const Placement& placement) {
  const bool nothing_new = !placement.occupies_sequence() &&
                           placement.begin == static_cast<std::int64_t>(tcb.receiver.next()) &&
                           header.acknowledgment == tcb.send_space.to_sequence(tcb.sender.next());
  if (!nothing_new || tcb.sender.una() != tcb.sender.next()) return;
  if (tcb.negotiation.window_of(header) == tcb.sender.peer_window())
    tcb.questions.note_stray_answer();
}

}  // namespace satrelay::tcp

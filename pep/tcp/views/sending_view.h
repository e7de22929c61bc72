// A view of the sending half of an endpoint for its owner.
#pragma once

#include <cstdint>

#include "pep/base/containers/byte_queue.h"
#include "pep/base/time.h"
#include "pep/tcp/block/tcb.h"

namespace satrelay::tcp {

// Valid as long as the endpoint exists. Use: endpoint.sending().writable().
class SendingView {
 public:
  explicit SendingView(const Tcb& tcb) : tcb_(tcb) {}

  // --- our stream, in bytes ---
  // Bytes that may be written before send_limit is reached.
  std::uint64_t writable() const { return tcb_.sender.writable(tcb_.profile()); }
  // Bytes written and not yet acknowledged by the peer.
  std::uint64_t unacknowledged() const { return queue().size(); }
  // Bytes that the peer has acknowledged. The value is 0 again once the peer has acknowledged the
  // FIN, or the connection has ended.
  std::uint64_t acknowledged() const { return queue().begin(); }
  // Bytes that were sent at least once; the FIN counts as one more.
  std::uint64_t sent() const { return tcb_.sender.next(); }
  // close() was called, and the peer has acknowledged data and FIN.
  bool has_finished() const { return tcb_.sender.fin_acknowledged(); }
  // Whether segments carry an urgent pointer, as the peer has not acknowledged all urgent data.
  bool is_urgent() const { return tcb_.sender.is_urgent(); }
  // Whether the peer has acknowledged no retransmission, or answered no probe, for more than 100 s
  // (Sender::sends_in_vain()).
  bool is_in_vain() const { return tcb_.sender.sends_in_vain(); }

  // --- the way to the peer ---
  // Largest payload of a segment.
  std::uint16_t segment_size() const { return tcb_.negotiation.segment_size(); }
  std::uint64_t peer_window() const { return tcb_.sender.peer_window(); }              // bytes
  std::uint64_t congestion_window() const { return tcb_.sender.congestion_window(); }  // bytes
  // Smoothed RTT; zero before the first sample.
  Duration smoothed_rtt() const { return tcb_.sender.recovery().rtt().smoothed(); }

  // --- memory ---
  // Size of the reserve that Memory::own() took, in bytes; 0 if there is none.
  std::uint64_t own_memory() const {
    return queue().has_reserve() ? queue().arena().reserve_size() : 0;
  }
  // Bytes that write() can store without a further block of the arena.
  std::uint64_t own_room() const { return queue().room(0); }

 private:
  const ByteQueue& queue() const { return tcb_.sender.queue(); }

  const Tcb& tcb_;
};

}  // namespace satrelay::tcp

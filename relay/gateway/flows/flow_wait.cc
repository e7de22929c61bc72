#include "relay/gateway/flows/flow_wait.h"

#include <array>
#include <cstddef>

namespace satrelay::gateway {
namespace {

bool is_heard(const Lane& lane) { return lane.session.peer_state() == stp::PeerState::kAlive; }

// Returns why bytes for the host wait. `queued` of them are in the endpoint's send buffer, and
// `ready` more are in the stream.
Wait wait_at_host(const Flow& f, std::uint64_t queued, std::uint64_t ready) {
  const bool compressed = f.block.kind != compress::BlockKind::kRaw;
  if (queued == 0 && compressed && ready < f.block.remaining) return Wait::kRestOfBlock;
  if (queued >= f.endpoint.sending().peer_window()) return Wait::kHostWindow;
  if (queued >= f.endpoint.sending().congestion_window()) return Wait::kHostPath;
  return ready > 0 && !f.timers.retry_at.is_never() ? Wait::kMemory : Wait::kAcknowledgment;
}

}  // namespace

std::string_view to_string(Wait wait) {
  constexpr std::array<std::string_view, 14> kWords = {
      "handshake",   "peer",      "source",         "our_window", "credit",
      "store",       "link",      "acknowledgment", "lost_bytes", "rest_of_block",
      "host_window", "host_path", "memory",         "nothing"};
  return kWords.at(static_cast<std::size_t>(wait));
}

Wait wait_towards_peer(const Flow& f, const Lane& lane) {
  const bool is_mute = f.endpoint.is_closed() && !f.rare().deferred_reset;
  if (is_mute || f.state.has_lost_stream()) return Wait::kNothing;
  if (!f.state.is_established()) return Wait::kHandshake;
  if (f.state.host_end() == FlowState::HostEnd::kDelivered) return Wait::kNothing;
  if (!f.state.has_stream() || !is_heard(lane)) return Wait::kPeer;
  const stp::Session& session = lane.session;
  if (session.streams().unsent(f.stream) > 0) {
    return session.streams().credit(f.stream) == 0 ? Wait::kCredit : Wait::kLink;
  }
  if (f.endpoint.received().readable() > 0) {
    return session.streams().send_room(f.stream) == 0 ? Wait::kStore : Wait::kLink;
  }
  if (f.endpoint.received().stored() > 0) return Wait::kLostBytes;
  if (session.streams().unacknowledged(f.stream) > 0 ||
      f.state.host_end() != FlowState::HostEnd::kOpen)
    return Wait::kAcknowledgment;
  return f.endpoint.receiving().window() < f.endpoint.sending().segment_size() ? Wait::kOurWindow
                                                                               : Wait::kSource;
}

Wait wait_towards_host(const Flow& f, const Lane& lane) {
  if (f.endpoint.is_closed() || f.endpoint.sending().has_finished()) return Wait::kNothing;
  if (!f.state.is_established()) return Wait::kHandshake;
  const bool open = f.state.has_stream();
  const Reassembler* const stored =
      open ? lane.session.streams().received(f.inbound_stream()) : nullptr;
  const std::uint64_t ready = stored != nullptr ? stored->readable() : 0;
  const std::uint64_t queued = f.endpoint.sending().unacknowledged();
  if (queued > 0 || ready > 0) return wait_at_host(f, queued, ready);
  if (f.state.has_passed_far_end()) return Wait::kAcknowledgment;  // the FIN is not acknowledged
  if (stored == nullptr || !is_heard(lane)) return Wait::kPeer;
  return stored->stored() > 0 ? Wait::kLostBytes : Wait::kSource;
}

}  // namespace satrelay::gateway

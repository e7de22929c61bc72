#include "relay/gateway/flows/deferred_reset.h"

#include <algorithm>

namespace satrelay::gateway {
namespace {

using Stage = DeferredReset::Stage;

// Limits of the interval between two visits of the flow. A visit checks the time limits, and
// whether other flows need the memory.
constexpr Duration kLongestLook = Duration::seconds(1);
constexpr Duration kShortestLook = Duration::milliseconds(25);

}  // namespace

std::optional<Stage> first_stage(const Flow& f, const stp::Session& session) {
  const std::uint64_t waits = f.endpoint.received().readable();
  if (waits == 0 && f.bytes.from_lan == 0) return std::nullopt;
  // If our host has sent its FIN before, the stream has an end, and no reset block can follow. The
  // RST then waits until the peer has all bytes and the end.
  const bool has_ended = f.endpoint.receiving().has_finished();
  if (!has_ended && session.agreed().reset_marks()) return Stage::kToStream;
  const bool is_there = has_ended ? f.state.host_end() == FlowState::HostEnd::kDelivered
                                  : session.streams().unacknowledged(f.stream) == 0;
  if (waits == 0 && is_there) return std::nullopt;
  return Stage::kHeld;
}

bool has_queued(const Flow& f) {
  const tcp::Endpoint& host = f.endpoint;
  if (host.state() == tcp::State::kSynSent) return host.sending().unacknowledged() > 0;
  return host.is_synchronised() &&
         (host.sending().unacknowledged() > 0 ||
          (f.state.has_passed_far_end() && !host.sending().has_finished()));
}

std::uint64_t left_before_reset(const Flow& f, const stp::Session& session) {
  const Stage stage = f.rare().deferred_reset->stage;
  if (stage == Stage::kToHost) {
    const bool owes_end = f.state.has_passed_far_end() && !f.endpoint.sending().has_finished();
    return f.endpoint.sending().unacknowledged() + (owes_end ? 1U : 0U);
  }
  const bool owes_end = stage == Stage::kHeld
                            ? f.endpoint.receiving().has_finished() &&
                                  f.state.host_end() != FlowState::HostEnd::kDelivered
                            : f.state.host_end() != FlowState::HostEnd::kDelivered;
  return f.endpoint.received().readable() + session.streams().unacknowledged(f.stream) +
         (owes_end ? 1U : 0U);
}

bool is_overdue(DeferredReset& word, std::uint64_t left, Instant now) {
  if (left < word.left) word.progressed = now;
  word.left = left;
  // If `left` is zero, the receiver of these bytes has all of them. If the receiver is the far
  // gateway, it limits how long the far host may take to acknowledge the bytes.
  const bool stands_still = left > 0 && now >= word.progressed + kLastWordPatience;
  return stands_still || now >= word.began + kLastWordLimit;
}

// The session has an event when a stream with an end has arrived completely, but none for a stream
// without an end. So a flow with such a stream is visited at short intervals.
Duration pause_of(const Flow& f, const stp::Session& session) {
  if (f.rare().deferred_reset->stage != Stage::kHeld || f.endpoint.receiving().has_finished())
    return kLongestLook;
  return std::clamp(session.path().smoothed_rtt() / 8, kShortestLook, kLongestLook);
}

}  // namespace satrelay::gateway

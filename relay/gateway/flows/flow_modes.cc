#include "relay/gateway/flows/flow_modes.h"

#include <algorithm>

#include "relay/gateway/flows/bytes/urgent.h"
#include "relay/gateway/flows/hosts/host_questions.h"

namespace satrelay::gateway {

using config::AckMode;
using config::CloseMode;
using config::WindowMode;

void hold_back(Flow& f, Instant now) {
  if (f.modes.ack == AckMode::kEndToEnd) f.endpoint.hold_acknowledgments(0, now);
  if (f.modes.close == CloseMode::kConfirmed) f.endpoint.hold_fin();
}

void confirm(Flow& f, stp::Session& session, Instant now) {
  stp::Confirmation ours;
  tell_questions(f, session, ours);
  ours.urgent = urgent_notice(f, session);
  if (!f.modes.any()) {
    if (ours != stp::Confirmation{}) session.streams().confirm(f.stream, ours, now);
    return;
  }
  FlowRare& told = f.make_rare();
  told.host_acknowledged = std::max(told.host_acknowledged, f.endpoint.sending().acknowledged());
  // The peer answers the client with our server's DSCP and TTL, so these values must reach the peer
  // before `answered` does.
  ours.answered = f.state.is_established() && !f.owes_marks();
  ours.ended = f.endpoint.sending().has_finished();
  // A field that no mode needs stays 0, since zero fields cost no bytes.
  if (f.modes.ack == AckMode::kEndToEnd) ours.delivered = told.host_acknowledged;
  if (f.modes.window == WindowMode::kMirror && f.state.is_established()) {
    ours.window =
        f.endpoint.is_closed() ? told.confirmed_window : f.endpoint.sending().peer_window();
    told.confirmed_window = ours.window;
  }
  session.streams().confirm(f.stream, ours, now);
}

void follow(Flow& f, const stp::Session& session, const stp::Confirmation& far, Instant now) {
  follow_questions(f, session, far, now);
  if (far.answered && !f.state.is_established()) f.assume_usual_marks();
  if (far.answered) f.endpoint.answer(now);
  if (f.modes.ack == AckMode::kEndToEnd) {
    f.endpoint.hold_acknowledgments(far.ended ? tcp::Endpoint::kNoHold : far.delivered, now);
  }
  if (far.ended) f.endpoint.release_fin(now);
  if (far.answered || f.rare().far_window) {
    f.make_rare().far_window = far.answered ? std::optional(far.window) : std::nullopt;
  }
}

bool all_confirmed(const Flow& f, const stp::Session& session) {
  if (!f.modes.any()) return true;
  if (!session.streams().confirmed(f.stream)) return false;
  if (f.modes.ack == AckMode::kLocal && f.modes.close == CloseMode::kLocal) return true;
  // Each host waits for an acknowledgment until the other host has received everything.
  return f.endpoint.sending().has_finished() && session.streams().confirmation(f.stream).ended;
}

std::uint64_t mirrored_window(const Flow& f) {
  // The far host has not answered yet: use the largest window of TCP without scaling.
  constexpr std::uint64_t kUnknown = 65'535;
  if (f.modes.window == WindowMode::kRewrite) return ~std::uint64_t{0};
  return f.rare().far_window.value_or(kUnknown);
}

}  // namespace satrelay::gateway

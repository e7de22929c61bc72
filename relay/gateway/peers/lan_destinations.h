// To which MACs hosts address their frames, told to the peer and heard from it. What is to be told
// waits in a queue, as 10,000 connections may change at once: ten messages a second leave. A later
// word about the same two hosts takes the place of one that still waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "pep/base/time.h"
#include "pep/stp/session.h"
#include "relay/gateway/peers/lan_destination.h"
#include "relay/gateway/peers/messages.h"

namespace satrelay::gateway {

class LanDestinations {
 public:
  static constexpr std::size_t kMostWaiting = 64;

  // `session` and `messages` must outlive it.
  LanDestinations(stp::Session& session, Messages& messages)
      : session_(session), messages_(messages) {}

  bool are_understood() const { return session_.destinations(); }
  // False, and no effect: the peer does not understand it, is not there, or too much waits.
  bool tell(const LanDestination& told, Instant now);
  // A message of the peer on this stream, which ends.
  void handle_opened(stp::StreamId stream, Instant now);
  std::optional<LanDestination> take() { return std::exchange(heard_, std::nullopt); }
  void handle_timeout(Instant now) { send(now); }
  Instant next_timeout() const { return waiting_.empty() ? Instant::never() : next_; }
  // The peer is another, or gone.
  void forget_session() { waiting_.clear(); }

 private:
  static constexpr Duration kBetween = Duration::milliseconds(100);

  void send(Instant now);

  stp::Session& session_;
  Messages& messages_;
  std::vector<LanDestination> waiting_;  // the first is the next
  Instant next_;                         // no sooner
  std::optional<LanDestination> heard_;
};

}  // namespace satrelay::gateway

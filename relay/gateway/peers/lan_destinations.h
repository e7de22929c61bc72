// Tells the peer to which MACs hosts of this LAN address their frames, and receives the same
// message from the peer. The MAC may change for 10,000 connections at the same time, so the
// messages wait in a queue, and at most ten a second are sent. A later message about the same two
// hosts replaces a waiting message.
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

  // `session` and `messages` must outlive this object.
  LanDestinations(stp::Session& session, Messages& messages)
      : session_(session), messages_(messages) {}

  bool are_understood() const { return session_.agreed().destinations(); }
  // Returns false, without any effect, if the peer does not understand the message or is not alive,
  // or if too many messages wait.
  bool tell(const LanDestination& told, Instant now);
  // Handles a message of the peer on this stream, and ends the stream.
  void handle_opened(stp::StreamId stream, Instant now);
  std::optional<LanDestination> take() { return std::exchange(heard_, std::nullopt); }
  void handle_timeout(Instant now) { send(now); }
  Instant next_timeout() const { return waiting_.empty() ? Instant::never() : next_; }
  // Call this when the peer has a new boot epoch, or has closed.
  void forget_session() { waiting_.clear(); }

 private:
  static constexpr Duration kBetween = Duration::milliseconds(100);

  void send(Instant now);

  stp::Session& session_;
  Messages& messages_;
  std::vector<LanDestination> waiting_;  // the first entry is sent next
  Instant next_;                         // when the next message may be sent
  std::optional<LanDestination> heard_;
};

}  // namespace satrelay::gateway

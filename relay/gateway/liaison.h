// What a gateway tells one peer beside the flows: whether it takes new ones. A message is the
// metadata of a stream of its own (docs/stp.md section 15), so that it is repaired as an OPEN is;
// who has taken it ends the stream with RESET, reason none.
#pragma once

#include <cstdint>

#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "pep/stp/session.h"
#include "relay/gateway/admission.h"

namespace satrelay::gateway {

class Liaison {
 public:
  // `session` must outlive the liaison. `context` marks its streams in the session's events.
  Liaison(stp::Session& session, std::uint32_t context) : session_(session), context_(context) {}

  // Tells the peer, now or when it is alive.
  void announce(Admission admission, Instant now);
  // A stream that the peer has opened: true if it was a message, and not a flow.
  bool handle_opened(stp::StreamId stream, Instant now);
  // Events of the session that are not about a stream.
  void handle_event(const stp::Event& event, Instant now);
  void handle_timeout(Instant now);
  Instant next_timeout() const { return retry_at_; }

  std::uint32_t context() const { return context_; }
  Admission peer_admission() const { return peer_admission_; }

 private:
  void say(Instant now);

  stp::Session& session_;
  std::uint32_t context_;
  Admission admission_ = Admission::kOpen;
  std::uint32_t sequence_ = 0;  // of our announcements; 0: none yet
  Instant retry_at_ = Instant::never();
  Admission peer_admission_ = Admission::kOpen;
  std::uint32_t peer_sequence_ = 0;
};

}  // namespace satrelay::gateway

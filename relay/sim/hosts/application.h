// A plan says what a program on a host does with one TCP connection. An outcome says what happened.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "pep/base/time.h"
#include "pep/base/units.h"
#include "pep/tcp/endpoint.h"
#include "relay/sim/hosts/pattern.h"

namespace satrelay::sim {

enum class Finish : std::uint8_t {
  kWhenSent,           // half-closes once everything is written
  kWhenPeerFinished,   // half-closes only after the peer's FIN
  kAbortWhenSent,      // sends a RST once all its bytes are acknowledged
  kAbortWhenReceived,  // sends a RST once `abort_at` bytes have arrived
};

struct Plan {
  Pattern content;               // content that this side sends
  Pattern expected;              // content that the peer sends
  std::uint64_t send_bytes = 0;  // total number of bytes to send
  std::uint64_t send_after = 0;  // sends only once this many bytes have been received
  bool send_after_end = false;   // sends only after the peer's FIN
  std::uint64_t chunk = 0;       // number of bytes that are written at a time, if `interval` is set
  Duration interval = Duration::zero();
  BitRate read_rate;                       // zero means as fast as bytes arrive
  Duration read_pause = Duration::zero();  // pause before the first read
  Finish finish = Finish::kWhenSent;
  std::uint64_t abort_at = 0;
  // Once the program has read this many bytes, it does nothing more, as if it hung or were stopped.
  std::optional<std::uint64_t> dead_after;
  Duration abort_after = Duration::infinite();  // sends a RST this long after the start
  // After this time without progress, the host sends a RST and sets `gave_up`.
  Duration patience = Duration::seconds(1'500);
  // After this time without progress, the host sends a keep-alive.
  Duration keep_alive = Duration::infinite();
  bool forgives = false;  // unanswered keep-alives do not end the connection
  bool record_arrivals = false;
};

struct Arrival {
  Instant when;
  std::uint64_t received = 0;  // number of bytes received up to `when`
};

struct Outcome {
  bool started = false;  // the client opened the connection, or the server accepted it
  Instant started_at;
  bool established = false;
  Instant established_at;
  std::uint64_t written = 0;
  std::uint64_t received = 0;
  Instant first_byte_at;
  bool closed = false;    // close() was called
  bool aborted = false;   // the program reset the connection, as its plan says
  bool gave_up = false;   // patience ran out: the connection hung
  bool vanished = false;  // the host disappeared
  bool saw_end = false;   // the program saw the peer's FIN, after all the peer's bytes
  Instant saw_end_at;
  bool sent_all = false;  // the peer acknowledged all bytes and the FIN
  // Time at which the peer had acknowledged our FIN and the peer's FIN had arrived, whether it was
  // read or not.
  Instant closed_at;
  bool asks_nothing = false;  // all bytes that were sent are acknowledged
  bool ended = false;
  Instant ended_at;
  tcp::CloseReason reason = tcp::CloseReason::kNone;
  std::optional<std::uint64_t> first_wrong_byte;
  // The value of `received` when it first exceeded the number of bytes that the other program had
  // written. nullopt if it never did.
  std::optional<std::uint64_t> first_early_byte;
  bool end_came_early = false;  // the peer's FIN was seen before the other program closed
  // Number of bytes that arrived in order at this host, whether they were read or not.
  std::uint64_t arrived = 0;
  // The number of acknowledged bytes when it first exceeded the number of bytes that had arrived at
  // the other host. This is an error only if the rule says `ack: end-to-end`.
  std::optional<std::uint64_t> first_early_acknowledgment;
  const Outcome* peer = nullptr;
  std::vector<Arrival> arrivals;

  bool was_reset() const {
    return reason == tcp::CloseReason::kResetByPeer || reason == tcp::CloseReason::kRefused;
  }
};

class Application {
 public:
  // `outcome` must outlive the application.
  Application(const Plan& plan, Outcome& outcome, Instant now);

  // Reads and writes as much as possible. Call this after anything that may change the endpoint.
  void run(tcp::Endpoint& endpoint, Instant now);
  Instant next_timeout() const { return next_timeout_; }
  bool ended() const { return outcome_->ended; }

 private:
  void read(tcp::Endpoint& endpoint, Instant now);
  void write(tcp::Endpoint& endpoint, Instant now);
  void abort_if_planned(tcp::Endpoint& endpoint, Instant now);
  void note_acknowledged(const tcp::Endpoint& endpoint, Instant now);
  bool is_dead() const { return plan_.dead_after && outcome_->received >= *plan_.dead_after; }
  void note_end(const tcp::Endpoint& endpoint, Instant now);
  void want(Instant when) { next_timeout_ = earlier(next_timeout_, when); }

  Plan plan_;
  Outcome* outcome_;
  Instant next_timeout_;
  Instant last_progress_;
  Instant ask_at_;  // time of the next keep-alive
  std::uint64_t last_acknowledged_ = 0;
  Instant read_allowed_;  // for a slow reader: time of the next read
  Instant next_chunk_;    // for a paced writer: time of the next chunk
  // For a paced writer: number of bytes that it may have written so far.
  std::uint64_t allowed_ = 0;
};

}  // namespace satrelay::sim

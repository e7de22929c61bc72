// What a program on a host does with one TCP connection, as a plan, and what became of it.
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
  kWhenSent,           // half-close as soon as everything is written
  kWhenPeerFinished,   // waits for the peer's end first
  kAbortWhenSent,      // RST after the last byte
  kAbortWhenReceived,  // RST once `abort_at` bytes have arrived
};

struct Plan {
  Pattern content;               // of what this side sends
  Pattern expected;              // of what the peer sends
  std::uint64_t send_bytes = 0;  // in all
  std::uint64_t send_after = 0;  // only once this many bytes have been received
  bool send_after_end = false;   // only once the peer has finished
  std::uint64_t chunk = 0;       // with `interval`: writes this many bytes at a time
  Duration interval = Duration::zero();
  BitRate read_rate;                       // zero: as fast as bytes come
  Duration read_pause = Duration::zero();  // before the first read
  Finish finish = Finish::kWhenSent;
  std::uint64_t abort_at = 0;
  // Having read this much it does nothing any more, as a program that hangs or is stopped.
  std::optional<std::uint64_t> dead_after;
  Duration abort_after = Duration::infinite();   // RST this long after the start
  Duration patience = Duration::seconds(1'500);  // without progress; then RST and `gave_up`
  Duration keep_alive = Duration::infinite();    // asks the peer after so long without progress
  bool forgives = false;  // never ends the connection because nobody has answered
  bool record_arrivals = false;
};

struct Arrival {
  Instant when;
  std::uint64_t received = 0;  // bytes in all by then
};

struct Outcome {
  bool started = false;  // the client asked for the connection, or the server got one
  Instant started_at;
  bool established = false;
  Instant established_at;
  std::uint64_t written = 0;
  std::uint64_t received = 0;
  Instant first_byte_at;
  bool closed = false;    // close() was called
  bool aborted = false;   // as planned
  bool gave_up = false;   // patience was at an end: the connection hung
  bool vanished = false;  // the host disappeared under it
  bool saw_end = false;   // the peer's FIN, after all its bytes
  Instant saw_end_at;
  bool sent_all = false;      // own bytes and FIN acknowledged
  Instant closed_at;          // when that was so, and the peer's FIN had come, read or not
  bool asks_nothing = false;  // all that it has sent is acknowledged
  bool ended = false;
  Instant ended_at;
  tcp::CloseReason reason = tcp::CloseReason::kNone;
  std::optional<std::uint64_t> first_wrong_byte;
  // What the other program had not written when it was read here, if anything.
  std::optional<std::uint64_t> first_early_byte;
  bool end_came_early = false;  // before the other program had closed
  std::uint64_t arrived = 0;    // bytes in order at this host, read or not
  // What the other host had not got when it was acknowledged here; not an error unless the rule
  // says `ack: end-to-end`.
  std::optional<std::uint64_t> first_early_acknowledgment;
  const Outcome* peer = nullptr;
  std::vector<Arrival> arrivals;

  bool was_reset() const {
    return reason == tcp::CloseReason::kResetByPeer || reason == tcp::CloseReason::kRefused;
  }
};

class Application {
 public:
  // `outcome` outlives the application.
  Application(const Plan& plan, Outcome& outcome, Instant now);

  // Reads and writes what it can; to be called after anything that may have changed the endpoint.
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
  Instant ask_at_;  // next keep-alive
  std::uint64_t last_acknowledged_ = 0;
  Instant read_allowed_;       // slow reader: not before
  Instant next_chunk_;         // paced writer: not before
  std::uint64_t allowed_ = 0;  // paced writer: bytes released so far
};

}  // namespace satrelay::sim

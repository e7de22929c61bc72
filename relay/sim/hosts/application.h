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
  kWhenSent,           // half-closes as soon as everything is written
  kWhenPeerFinished,   // half-closes only after the peer's FIN
  kAbortWhenSent,      // RST after the last byte
  kAbortWhenReceived,  // RST once `abort_at` bytes have arrived
};

struct Plan {
  Pattern content;               // content that this side sends
  Pattern expected;              // content that the peer sends
  std::uint64_t send_bytes = 0;  // in total
  std::uint64_t send_after = 0;  // sends only once this many bytes have been received
  bool send_after_end = false;   // sends only after the peer's FIN
  std::uint64_t chunk = 0;       // bytes written at a time, if `interval` is set
  Duration interval = Duration::zero();
  BitRate read_rate;                       // zero: as fast as bytes arrive
  Duration read_pause = Duration::zero();  // before the first read
  Finish finish = Finish::kWhenSent;
  std::uint64_t abort_at = 0;
  // Once the program has read this many bytes, it does nothing more, as if it hung or were stopped.
  std::optional<std::uint64_t> dead_after;
  Duration abort_after = Duration::infinite();  // RST this long after the start
  // Longest time without progress, before RST and `gave_up`.
  Duration patience = Duration::seconds(1'500);
  Duration keep_alive = Duration::infinite();  // time without progress before a keep-alive
  bool forgives = false;                       // unanswered keep-alives do not end the connection
  bool record_arrivals = false;
};

struct Arrival {
  Instant when;
  std::uint64_t received = 0;  // total bytes by then
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
  bool aborted = false;   // the program reset the connection, as planned
  bool gave_up = false;   // patience ran out: the connection hung
  bool vanished = false;  // the host disappeared
  bool saw_end = false;   // the program saw the peer's FIN, after all the peer's bytes
  Instant saw_end_at;
  bool sent_all = false;  // the peer acknowledged all bytes and the FIN
  // When the peer had acknowledged the FIN, and the peer's FIN had arrived, read or not.
  Instant closed_at;
  bool asks_nothing = false;  // all bytes sent are acknowledged
  bool ended = false;
  Instant ended_at;
  tcp::CloseReason reason = tcp::CloseReason::kNone;
  std::optional<std::uint64_t> first_wrong_byte;
  // How many bytes were read here when this number first exceeded the bytes that the other program
  // had written. nullopt: never.
  std::optional<std::uint64_t> first_early_byte;
  bool end_came_early = false;  // the peer's FIN was seen before the other program closed
  std::uint64_t arrived = 0;    // bytes that arrived in order at this host, read or not
  // How many bytes were acknowledged here when this number first exceeded the bytes that had
  // arrived at the other host. An error only if the rule says `ack: end-to-end`.
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

  // Reads and writes as much as possible. Must be called after anything that may change the
  // endpoint.
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
  Instant read_allowed_;       // slow reader: next read
  Instant next_chunk_;         // paced writer: next chunk
  std::uint64_t allowed_ = 0;  // paced writer: bytes that may be written so far
};

}  // namespace satrelay::sim

// Finds out which boot (start of the program) of the peer is running, and agrees on keys with it.
// Handles HELLOs in both directions, the states of the peer, and CLOSE (docs/stp.md sections 4, 5
// and 16).
//
// The functions handle_hello() and open_of_newcomer() return what has changed. The session then
// builds its association anew, or ends it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "pep/stp/connection/close_sequence.h"
#include "pep/stp/connection/handshake.h"
#include "pep/stp/connection/handshake_budgets.h"
#include "pep/stp/connection/hello_admission.h"
#include "pep/stp/connection/hello_turns.h"
#include "pep/stp/connection/key_exchange.h"
#include "pep/stp/connection/key_mismatch_timer.h"
#include "pep/stp/connection/protection.h"
#include "pep/stp/connection/security.h"
#include "pep/stp/counters.h"
#include "pep/stp/path/rate_gate.h"
#include "pep/stp/types.h"
#include "pep/stp/wire/capabilities.h"
#include "pep/stp/wire/frames.h"
#include "pep/stp/wire/packet.h"
#include "pep/stp/wire/packet_observer.h"

namespace satrelay::stp {

class Connection {
 public:
  struct Config {
    Handshake::Config handshake;
    std::uint8_t lane = 0;
    const std::optional<Security>& security;  // nullopt if the session does not encrypt
    HelloBudget* hello_budget = nullptr;      // nullptr if the session has its own budget
    std::uint32_t budget_peer = 0;
    HandshakeBudgets octets = {};
    Duration suspect_after;
  };
  // `counters` must outlive the connection.
  Connection(const Config& config, Counters& counters, Instant now);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // --- the peer
  PeerState state() const { return state_; }
  bool is_alive() const { return state_ == PeerState::kAlive; }
  bool connected() const { return is_alive() || state_ == PeerState::kSuspect; }
  Instant alive_since() const { return alive_since_; }  // only valid while the peer is alive
  // Writes the counters of the connection's parts.
  void write_counts(Counters& counters) const;
  // The HELLO of the most recently established peer.
  const HelloFrame& peer() const { return handshake_.peer(); }
  // The capabilities that both ends have offered.
  Capabilities agreed() const { return handshake_.agreed(); }
  bool doubts_key(Instant now) const { return !is_alive() && key_mismatch_.holds(now); }
  void suspect() { state_ = PeerState::kSuspect; }
  // A packet of the session has arrived. Returns true if the peer was suspect until now.
  bool on_heard(Instant now);

  // --- HELLOs that arrive
  // The state of the session on which the handling of a HELLO depends.
  struct Situation {
    std::uint64_t next = 0;  // number of our next packet
    bool is_silent = false;  // the path has been silent for a long time, so the peer may be suspect
    // Whether another session may begin. False while too many ended sessions have streams that are
    // not freed yet (RetiredStreams).
    bool may_begin = true;
    Instant now;
  };
  enum class Change : std::uint8_t {
    kNothing,
    kHeard,  // the peer is alive, and knows our boot epoch
    // A newcomer (handshake.h) has sent HELLO, and there was no newcomer before. The peer may have
    // restarted.
    kNewcomer,
    kBegun,  // a session has begun, and any other session has ended
  };
  struct Heard {
    Change change = Change::kNothing;
    bool has_restarted = false;  // with kBegun: another session existed until now
    bool wants_proof = false;    // with kBegun: the peer wants proof that we are running now
    Duration rtt;                // RTT sample; zero if there is none
  };
  Heard handle_hello(ConstBytes datagram, const PacketHeader& header, const Situation& situation);
  // Reads the HELLO that HelloAdmission holds, if a turn for it is available (turns.h).
  Heard hear_held_hello(const Situation& situation);
  bool holds_hello() const { return admission_.holds_hello(); }
  Instant next_held_hello() const { return admission_.next(); }

  // --- HELLOs that leave
  // A packet of another session has arrived. Its sender gets a HELLO, at a limited rate.
  void answer_stranger(Instant now) { handshake_.answer_stranger(now); }
  // To be called before packet `next` is sent. Asks the peer for a HELLO if the peer is silent, or
  // may lack the current key.
  void greet_again(std::uint64_t next, Instant now);
  bool needs_keys(std::uint64_t next, Instant now) const {
    return protection_.is_worn_out(next) || protection_.is_unconfirmed(next, suspect_after_, now);
  }
  bool hello_leaves(const RateGate& gate, Instant now) {
    return turns_.hello_leaves(greeted(), gate, now);
  }
  Instant next_hello(const RateGate& gate) const { return turns_.next_hello(greeted(), gate); }
  struct Hello {
    HelloFrame frame;
    HelloKeys keys;
    std::uint32_t number = 0;
  };
  // Makes the HELLO to send now. Valid until the next call.
  Hello make_hello(std::uint64_t stream_credit, Instant now);
  // Completes the packet that contains the HELLO of make_hello().
  void close_hello(MutableBytes packet);
  // Bytes of credit that our HELLO grants to the peer, for all streams of the lane together.
  std::uint64_t promised() const { return promised_; }
  void promise(std::uint64_t lane_credit);
  // Whether there is a newcomer that has not proved yet to be the peer.
  bool has_newcomer() const { return handshake_.newcomer() != 0; }

  // --- packets of the session
  Protection& protection() { return protection_; }
  const Protection& protection() const { return protection_; }
  struct Opened {
    std::uint64_t number = 0;
    ConstBytes frames;
    Heard heard;
  };
  // Opens a packet of the newcomer. Such a packet proves that the newcomer knows our epoch, as an
  // answer to our HELLO would. Returns nullopt if another machine has sent the packet. If the peer
  // has switched to a new key, the old key is kept for the time `keep`.
  std::optional<Opened> open_of_newcomer(const PacketHeader& header, ConstBytes datagram,
                                         Duration keep, Instant now);
  bool newcomer_recognizes(std::uint16_t tag) const {
    return has_newcomer() && newcomer_.recognizes(tag);
  }
  // Forgets the newcomer if it has sent neither a HELLO nor proof for a long time.
  void expire(Instant now) { handshake_.expire(now); }
  void set_observer(PacketObserver* observer);
  void set_secrets(const crypto::Psk& psk, const std::optional<crypto::Psk>& other);

  // --- the end
  // We close the session. `next` is the number of our next packet.
  void close(std::uint64_t next);
  // The peer's CLOSE has arrived.
  void close_by_peer();
  // Whether we have closed, and send only CLOSE. False if the peer has closed.
  bool has_closed() const { return close_sequence_.said(); }
  CloseSequence& close_sequence() { return close_sequence_; }
  bool close_leaves(const RateGate& gate, Instant now) {
    return turns_.close_leaves(close_sequence_, gate, now);
  }
  Instant next_close(const RateGate& gate, Instant now) const {
    return turns_.next_close(close_sequence_, gate, now);
  }

 private:
  HelloTurns::Peer greeted() const { return {handshake_, is_alive()}; }
  std::optional<ReceivedHello> parse(ConstBytes datagram, std::uint32_t number, bool may_begin);
  bool is_admitted(const ReceivedHello& hello, Instant now);
  Heard hear(const ReceivedHello& received, const Situation& situation);
  std::optional<KeyExchange::Reading> read_keys(const ReceivedHello& hello, bool is_silent,
                                                Instant now);
  Heard begin(Instant now);
  void take_keys(const std::optional<SessionKeys>& of_our_offer, std::uint64_t next, Instant now);
  void take_accepted_keys();

  Counters& counters_;
  std::uint64_t epoch_;
  Duration suspect_after_;
  PeerState state_ = PeerState::kConnecting;
  Instant alive_since_;
  Handshake handshake_;
  HelloTurns turns_;
  KeyMismatchTimer key_mismatch_;
  HelloAdmission admission_;
  std::optional<KeyExchange> key_exchange_;  // only in a session that encrypts
  Protection protection_;
  Protection newcomer_;  // for the session that begins if the newcomer proves to be the peer
  bool newcomer_has_mac_ = false;  // the newcomer's HELLO had a MAC
  CloseSequence close_sequence_;
  std::uint64_t promised_ = 0;
};

}  // namespace satrelay::stp

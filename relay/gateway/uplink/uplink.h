// What leaves by the WAN port, and in which order: what a session must say first, then bytes of
// streams and bridged frames, class by class, each when a carrier has room for it. Knows the
// carriers, the classes of traffic, the bridged frames that wait, and of each peer its session.
//
// A bridged frame is shown to admit(); poll() says who sends next, and next_turn() when to ask.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "config/model/schema.h"
#include "pep/base/bytes.h"
#include "pep/base/containers/ready_set.h"
#include "pep/base/time.h"
#include "pep/schedule/turn.h"
#include "pep/stp/session.h"
#include "relay/gateway/frames/fragments/released_fragments.h"
#include "relay/gateway/frames/frame.h"
#include "relay/gateway/frames/keyed_hash.h"
#include "relay/gateway/shares/link_share.h"
#include "relay/gateway/uplink/carrier.h"
#include "relay/gateway/uplink/class_change.h"
#include "relay/gateway/uplink/command_result.h"
#include "relay/gateway/uplink/held_frames.h"
#include "relay/gateway/uplink/own_traffic.h"
#include "relay/gateway/uplink/polled.h"
#include "relay/gateway/uplink/traffic_classes.h"

namespace satrelay::gateway {

// The way from a session to the port, which is not the uplink's affair.
class SessionPort {
 public:
  struct Written {
    std::size_t frame = 0;     // bytes; 0: the session has nothing to say
    std::size_t datagram = 0;  // of them, the session's
  };
  virtual ~SessionPort() = default;
  virtual bool is_reachable(std::size_t peer) const = 0;
  // Polls the peer's session and puts the headers before its packet.
  virtual Written write_packet(std::size_t peer, const schedule::Turn& turn, MutableBytes out,
                               Instant now) = 0;
  // As many of those that follow at once as its session writes in one run, each into one of
  // `rooms`. `frame_header`: bytes of headers before each.
  struct Run {
    std::size_t count = 0;
    std::size_t frame_header = 0;
  };
  virtual Run write_run(std::size_t peer, const schedule::Turn& turn,
                        std::span<const MutableBytes> rooms, std::span<stp::RunPacket> packets,
                        Instant now) = 0;
};

class Uplink final : public OwnFrames {
 public:
  // What becomes of a bridged frame.
  enum class BridgeOutcome : std::uint8_t {
    kLeaves,  // at once, which is booked
    kWaits,   // in held_slot()
    kNoRoom,
  };

  // `released` and `port` must outlive it.
  Uplink(const config::Gateway& config, std::size_t sessions, HashKey secret,
         ReleasedFragments& released, SessionPort& port, Instant now);

  // The carrier of a link that is configured.
  Carrier& carrier(std::string_view link);
  const std::vector<std::unique_ptr<Carrier>>& carriers() const { return carriers_; }
  // In the order of the sessions. `datagram_overhead`: IP and UDP headers. `lanes`: to its peer, of
  // all workers. All outlive the uplink's last poll.
  void add_session(Carrier& carrier, stp::Session& session, std::uint16_t datagram_overhead,
                   unsigned lanes = 1);

  // The sessions that may have something to say: no others are asked.
  ReadySet& ready_set() { return ready_set_; }
  const ReadySet& ready_set() const { return ready_set_; }

  // --- bridged frames --------------------------------------------------------------------------
  BridgeOutcome admit(schedule::ClassId id, const Frame& frame, std::size_t ip_bytes, Instant now);
  // Of those that had to wait, how many were dropped since this was last asked.
  struct Drops {
    std::uint64_t crowded = 0;  // gave way to others
    std::uint64_t late = 0;     // had waited too long
  };
  Drops take_drops() { return std::exchange(drops_, {}); }
  // A control frame of layer 2: whether it leaves at once, whoever waits, which is booked.
  bool pass_control(std::size_t ip_bytes, Instant now);
  std::size_t held_slot() const { return held_slot_; }  // of the last frame that had to wait
  const HeldFrames& held() const { return held_; }

  // --- frames of the gateway itself -------------------------------------------------------------
  bool take(OwnFrame kind, bool known, std::size_t frame_size, Instant now) override;
  // When one of so many octets that was taken may leave, whoever waits; and it does.
  Instant next_own(std::size_t frame_size) const;
  void book_own(std::size_t frame_size, Instant now);

  // --- output ----------------------------------------------------------------------------------
  Polled poll(MutableBytes out, Instant now);
  // Once it goes_on(): the next frames, as far as the session that has the turn writes them in one
  // run. Zero says nothing of poll().
  std::size_t poll_run(std::span<const MutableBytes> rooms, std::span<Polled> polled, Instant now);
  // Anything may be different from now on; until then only packets have left.
  void interrupt() { lone_peer_.reset(); }
  // Nothing is different since a session has sent, and it is that one's turn again: nobody else
  // need be asked before poll(). What sessions tell may not make others want to send: who goes
  // before the uplink is asked first in each call, and then no more.
  bool goes_on() const { return lone_peer_.has_value(); }
  // When something that waits in a class may be able to leave.
  Instant next_turn(Instant now) const;

  // --- rates -----------------------------------------------------------------------------------
  CapacityResult set_capacity(std::string_view link, LinkWay way, BitRate capacity, Instant now);
  void set_most_rate(std::size_t peer, BitRate most, Instant now);  // zero: all there is
  // As set_capacity() and set_most_rate() have it; zero: as configured, or no such link.
  BitRate commanded_capacity(std::string_view link, LinkWay way) const;
  BitRate most_rate(std::size_t peer) const { return lines_[peer].most_rate; }
  // What the operator allows to be sent to it, if that is below what is configured; else zero.
  BitRate commanded(std::size_t peer) const;
  // The peer has announced another capacity.
  void handle_capacity(std::size_t peer, Instant now) { apply_capacity(peer, now); }

  // --- several workers on a link (relay/gateway/shares) -----------------------------------------
  void write_demands(Demands& demands, Instant now) const;
  void take_shares(const Shares& shares, Instant now);
  // Before anything is asked at `now`: a share may have expired.
  void look_at_shares(Instant now) {
    if (now >= shares_until_) expire_shares(now);
  }

  // Of the link's sessions, the longest (control::RateController::train()).
  ByteCount train(std::size_t link) const;

  // --- classes ---------------------------------------------------------------------------------
  TrafficClasses& classes() { return classes_; }
  const TrafficClasses& classes() const { return classes_; }
  ClassResult set_class(std::string_view name, const ClassChange& change, Instant now);
  std::size_t waiting_hosts(schedule::ClassId id) const;
  // Of the class's bridged frames, those that wait.
  std::size_t held_frames(schedule::ClassId id) const;
  std::uint64_t held_bytes(schedule::ClassId id) const;
  // What of the links and classes can change at run time.
  void reconfigure(const config::Gateway& next, const ClassDictionaries& dictionaries, Instant now);

 private:
  struct Line {
    Carrier& carrier;
    stp::Session& session;
    std::uint16_t datagram_overhead = 0;
    unsigned lanes = 1;      // to its peer, of all workers
    BitRate most_rate = {};  // as the operator says; zero: all there is
    BitRate capacity = {};   // all told, as last applied
    BitRate limit = {};      // the same, if that is less than the carrier carries
    std::uint64_t sent = 0;  // bytes, as the carrier counts them
    BitRate used = {};       // as its controller has found, as last applied; zero: nothing
    bool has_found = false;  // it has, as last applied
  };
  using Choice = Carrier::Choice;
  static constexpr std::size_t kBridgedSource = 0;

  void limit_line(Line& line);
  void apply_rate(Carrier& carrier, Instant now);
  void apply_capacity(Carrier& carrier, Instant now);
  void apply_capacity(std::size_t peer, Instant now);
  // The peer's controller may have found that the link carries something else.
  void follow(std::size_t peer, Instant now);
  static BitRate used_by(const Line& line);
  void apply_classes(Instant now);
  void expire_shares(Instant now);
  void fall_back(Carrier& carrier, Instant now);
  static BitRate lane_fallback(const Line& line);
  schedule::ClassId turn_of(schedule::ClassId id) const;
  schedule::ClassId counted_as(schedule::ClassId turn) const;
  HeldFrames::Terms held_terms(schedule::ClassId turn) const;
  // (uplink_turns.cc)
  std::optional<Choice> choose(const Carrier& carrier, schedule::ClassSet bridged,
                               Instant now) const;
  std::optional<Choice> bridged_turn(Instant now) const;
  bool choose_all(Instant now);
  bool lone_peer_waits() const;
  std::size_t poll_lone_peer(MutableBytes out, Instant now);
  void note_lone_peer();
  std::size_t poll_sessions(MutableBytes out, Instant now);
  std::size_t poll_session(std::size_t index, MutableBytes out, Instant now);
  void debit_relayed(std::size_t peer, std::size_t datagram, Instant now);
  void debit_run(std::size_t peer, schedule::ClassId id, std::span<const stp::RunPacket> packets,
                 Instant now);
  template <typename Takes, typename Book>
  void book(std::size_t ip_bytes, Instant now, Takes&& takes, Book&& book_at);
  void debit_bridged(const Choice& turn, std::uint64_t lead, std::size_t ip_bytes, Instant now);
  Polled release_held(const Choice& turn, MutableBytes out, Instant now);
  Polled give_up_dropped();
  static std::size_t ip_bytes_of(std::size_t frame_size);
  bool speaks_on(const Carrier& carrier) const;
  std::optional<Choice> way_out(schedule::ClassId turn, Instant now) const;

  const HashKey secret_;
  const config::FairHosts fair_hosts_;
  ReleasedFragments& released_;
  SessionPort& port_;
  TrafficClasses classes_;
  std::vector<std::unique_ptr<Carrier>> carriers_;  // as the links are configured
  std::vector<Line> lines_;                         // by session
  ReadySet ready_set_;                              // the same
  const bool has_bridged_share_;  // bridged frames without a class are a class of their own
  HeldFrames held_;
  std::size_t held_slot_ = 0;
  Drops drops_;
  Instant shares_until_ = Instant::never();  // the first of them
  bool sessions_first_ = false;
  std::size_t next_peer_ = 0;  // whose turn it is
  // Nobody else had anything to say, and all that it has to send is of one class.
  std::optional<std::size_t> lone_peer_;
};

}  // namespace satrelay::gateway

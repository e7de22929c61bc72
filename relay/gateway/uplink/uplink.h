// Orders the frames that leave by the WAN port: first the control of sessions, then bytes of
// streams and bridged frames, class by class. Each frame leaves when a carrier has room for it. The
// uplink knows the carriers, the classes of traffic, the bridged frames that wait, and the session
// of each peer.
//
// Call admit() for each bridged frame. poll() writes or releases the next frame, and next_turn()
// says when to ask again.
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

// The way from a session to the port. The uplink does not know it.
class SessionPort {
 public:
  struct Written {
    std::size_t frame = 0;  // bytes; 0: the session has nothing to send
    // Bytes of the session's packet in it.
    std::size_t datagram = 0;
  };
  virtual ~SessionPort() = default;
  virtual bool is_reachable(std::size_t peer) const = 0;
  // Polls the peer's session and puts the headers before its packet.
  virtual Written write_packet(std::size_t peer, const schedule::Turn& turn, MutableBytes out,
                               Instant now) = 0;
  // Writes as many of the packets that follow at once as the session writes in one run, each into
  // one of `rooms`. `frame_header`: bytes of headers before each packet.
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
  // The fate of a bridged frame.
  enum class BridgeOutcome : std::uint8_t {
    kLeaves,  // at once, and is booked
    kWaits,   // in held_slot()
    kNoRoom,
  };

  // `released` and `port` must outlive the uplink.
  Uplink(const config::Gateway& config, std::size_t sessions, HashKey secret,
         ReleasedFragments& released, SessionPort& port, Instant now);

  // The carrier of a configured link.
  Carrier& carrier(std::string_view link);
  const std::vector<std::unique_ptr<Carrier>>& carriers() const { return carriers_; }
  // Call in the order of the sessions. `datagram_overhead`: IP and UDP headers. `lanes`: lanes to
  // the peer, of all workers. `carrier` and `session` must outlive the uplink's last poll.
  void add_session(Carrier& carrier, stp::Session& session, std::uint16_t datagram_overhead,
                   unsigned lanes = 1);

  // The sessions that may have something to send. Only these are asked.
  ReadySet& ready_set() { return ready_set_; }
  const ReadySet& ready_set() const { return ready_set_; }

  // --- bridged frames --------------------------------------------------------------------------
  BridgeOutcome admit(schedule::ClassId id, const Frame& frame, std::size_t ip_bytes, Instant now);
  // Bridged frames that had to wait and were dropped, since the last call.
  struct Drops {
    std::uint64_t crowded = 0;  // gave way to other frames
    std::uint64_t late = 0;     // had waited too long
  };
  Drops take_drops() { return std::exchange(drops_, {}); }
  // For a control frame of layer 2. True if it leaves at once, before all frames that wait; it is
  // booked then.
  bool pass_control(std::size_t ip_bytes, Instant now);
  std::size_t held_slot() const { return held_slot_; }  // of the last frame that had to wait
  const HeldFrames& held() const { return held_; }

  // --- frames of the gateway itself -------------------------------------------------------------
  bool take(OwnFrame kind, bool known, std::size_t frame_size, Instant now) override;
  // When a frame of so many octets that take() has granted may leave, before all frames that wait.
  // book_own() books it as it leaves.
  Instant next_own(std::size_t frame_size) const;
  void book_own(std::size_t frame_size, Instant now);

  // --- output ----------------------------------------------------------------------------------
  Polled poll(MutableBytes out, Instant now);
  // Only while goes_on(): writes the next frames, as many as the session with the turn writes in
  // one run. After 0, poll() may still find a frame.
  std::size_t poll_run(std::span<const MutableBytes> rooms, std::span<Polled> polled, Instant now);
  // Any of the uplink's decisions may change from now on. Before this call only packets have left.
  void interrupt() { lone_peer_.reset(); }
  // True if the last session to send may send again: no event has changed the order since, so no
  // other session need be asked before poll(). The caller asks for frames that leave before the
  // uplink's at the beginning of a call, and not again while this is true.
  bool goes_on() const { return lone_peer_.has_value(); }
  // When a frame or stream that waits in a class may be able to leave.
  Instant next_turn(Instant now) const;

  // --- rates -----------------------------------------------------------------------------------
  CapacityResult set_capacity(std::string_view link, LinkWay way, BitRate capacity, Instant now);
  // Zero: no limit.
  void set_most_rate(std::size_t peer, BitRate most, Instant now);
  // The limits of set_capacity() and set_most_rate(). Zero: as configured, or no such link.
  BitRate commanded_capacity(std::string_view link, LinkWay way) const;
  BitRate most_rate(std::size_t peer) const { return lines_[peer].most_rate; }
  // The rate that the operator allows towards the peer, if it is below the configured rate; else
  // zero.
  BitRate commanded(std::size_t peer) const;
  // The peer has announced another capacity.
  void handle_capacity(std::size_t peer, Instant now) { apply_capacity(peer, now); }

  // --- several workers on a link (relay/gateway/shares) -----------------------------------------
  void write_demands(Demands& demands, Instant now) const;
  void take_shares(const Shares& shares, Instant now);
  // Call before any other call at `now`: a share may have expired.
  void look_at_shares(Instant now) {
    if (now >= shares_until_) expire_shares(now);
  }

  // The longest train of the link's sessions (control::RateController::train()).
  ByteCount train(std::size_t link) const;

  // --- classes ---------------------------------------------------------------------------------
  TrafficClasses& classes() { return classes_; }
  const TrafficClasses& classes() const { return classes_; }
  ClassResult set_class(std::string_view name, const ClassChange& change, Instant now);
  std::size_t waiting_hosts(schedule::ClassId id) const;
  // Bridged frames that wait in this class.
  std::size_t held_frames(schedule::ClassId id) const;
  std::uint64_t held_bytes(schedule::ClassId id) const;
  // Takes over the settings of links and classes that can change at run time.
  void reconfigure(const config::Gateway& next, const ClassDictionaries& dictionaries, Instant now);

 private:
  struct Line {
    Carrier& carrier;
    stp::Session& session;
    std::uint16_t datagram_overhead = 0;
    unsigned lanes = 1;      // to its peer, of all workers
    BitRate most_rate = {};  // the operator's limit; zero: none
    BitRate capacity = {};   // the least of all limits, as last applied
    // `capacity` if it is below the carrier's; else zero.
    BitRate limit = {};
    std::uint64_t sent = 0;  // bytes, as the carrier counts them
    // By its controller, as last applied; zero: not known.
    BitRate used = {};
    // Whether its controller has found the capacity, as last applied.
    bool has_found = false;
  };
  using Choice = Carrier::Choice;
  static constexpr std::size_t kBridgedSource = 0;

  void limit_line(Line& line);
  void apply_rate(Carrier& carrier, Instant now);
  void apply_capacity(Carrier& carrier, Instant now);
  void apply_capacity(std::size_t peer, Instant now);
  // The peer's controller may have found that the link carries another rate.
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
  std::vector<std::unique_ptr<Carrier>> carriers_;  // in the order of the configured links
  std::vector<Line> lines_;                         // by session
  ReadySet ready_set_;                              // by session
  // True if bridged frames without a class are a class of their own.
  const bool has_bridged_share_;
  HeldFrames held_;
  std::size_t held_slot_ = 0;
  Drops drops_;
  // The earliest end of a share.
  Instant shares_until_ = Instant::never();
  bool sessions_first_ = false;
  // The session that is asked first.
  std::size_t next_peer_ = 0;
  // No other source had anything to send, and all that this session sends is of one class.
  std::optional<std::size_t> lone_peer_;
};

}  // namespace satrelay::gateway

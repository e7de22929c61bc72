// Orders the frames that leave by the WAN port: first the control of sessions, then bytes of
// streams and bridged frames, class by class. Each frame leaves when a carrier has room for it. The
// uplink knows the carriers, the classes of traffic, the bridged frames that wait, and the session
// of each lane.
//
// Call admit() for each bridged frame. poll() writes or releases the next frames, and next_turn()
// says when to ask again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "config/model/schema.h"
#include "pep/base/bytes.h"
#include "pep/base/containers/ready_set.h"
#include "pep/base/time.h"
#include "pep/base/typed_id.h"
#include "pep/schedule/turn.h"
#include "pep/stp/session.h"
#include "relay/gateway/frames/fragments/released_fragments.h"
#include "relay/gateway/frames/frame.h"
#include "relay/gateway/frames/keyed_hash.h"
#include "relay/gateway/ids.h"
#include "relay/gateway/shares/link_share.h"
#include "relay/gateway/uplink/carrier.h"
#include "relay/gateway/uplink/class_change.h"
#include "relay/gateway/uplink/command_result.h"
#include "relay/gateway/uplink/held_frames.h"
#include "relay/gateway/uplink/line.h"
#include "relay/gateway/uplink/own_traffic.h"
#include "relay/gateway/uplink/polled.h"
#include "relay/gateway/uplink/traffic_classes.h"

namespace satrelay::gateway {

// The way from a lane's session to the port. The uplink does not know it.
class SessionPort {
 public:
  struct Written {
    std::size_t count = 0;         // 0: the session has nothing to send
    std::size_t frame_header = 0;  // bytes of headers before each packet
    bool had_events = false;       // the session had events, which are handled now
  };
  virtual ~SessionPort() = default;
  virtual bool is_reachable(LaneId lane) const = 0;
  // Polls the lane's session and puts the headers before its packets. Each frame goes into one of
  // `rooms`, and its packet is described in one of `packets`, which has as many places.
  virtual Written write_packets(LaneId lane, const schedule::Turn& turn,
                                std::span<const MutableBytes> rooms,
                                std::span<stp::PolledPacket> packets, Instant now) = 0;
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
  Uplink(const config::Gateway& config, std::size_t lanes, HashKey secret,
         ReleasedFragments& released, SessionPort& port, Instant now);

  using Carriers = IdVector<LinkId, std::unique_ptr<Carrier>>;
  Carrier& carrier(LinkId link) { return *carriers_[link]; }
  const Carriers& carriers() const { return carriers_; }
  // Call in the order of the lanes. `links`: the links that carry the lane, which is exactly one
  // today. `datagram_overhead`: IP and UDP headers. `lanes`: lanes to the peer, of all workers.
  // `links` and `session` must outlive the uplink's last poll.
  void add_lane(std::span<const LinkId> links, stp::Session& session,
                std::uint16_t datagram_overhead, unsigned lanes = 1);

  // The lanes that may have something to send. Only these are asked.
  ReadySet<LaneId>& ready_set() { return ready_set_; }
  const ReadySet<LaneId>& ready_set() const { return ready_set_; }

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
  // Writes or releases the next frames. Returns how many: several, if they are packets of a lane
  // that keeps its turn. Each is in one of `rooms`, of which there is at least one, and `polled`
  // has as many places. A frame that is not written comes alone.
  std::size_t poll(std::span<const MutableBytes> rooms, std::span<Polled> polled, Instant now);
  // When a frame or stream that waits in a class may be able to leave.
  Instant next_turn(Instant now) const;

  // --- rates -----------------------------------------------------------------------------------
  CapacityResult set_capacity(std::string_view link, LinkWay way, BitRate capacity, Instant now);
  // Zero: no limit.
  void set_most_rate(LaneId lane, BitRate most, Instant now);
  // The limits of set_capacity() and set_most_rate(). Zero: as configured, or no such link.
  BitRate commanded_capacity(std::string_view link, LinkWay way) const;
  BitRate most_rate(LaneId lane) const { return lines_[lane].most_rate; }
  // The rate that the operator allows on the lane, if it is below the configured rate; else
  // zero.
  BitRate commanded(LaneId lane) const;
  // The peer has announced another capacity.
  void handle_capacity(LaneId lane, Instant now) { apply_capacity(lane, now); }

  // --- several workers on a link (relay/gateway/shares) -----------------------------------------
  void write_demands(Demands& demands, Instant now) const;
  void take_shares(const Shares& shares, Instant now);
  // Call before any other call at `now`: a share may have expired.
  void look_at_shares(Instant now) {
    if (now >= shares_until_) expire_shares(now);
  }

  // The longest train of the link's sessions (control::RateController::train()).
  ByteCount train(LinkId link) const;

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
  using Choice = Carrier::Choice;

  Carrier* find(std::string_view link) const;
  void apply_rate(Carrier& carrier, Instant now);
  void apply_capacity(Carrier& carrier, Instant now);
  void apply_capacity(LaneId lane, Instant now);
  // The lane's controller may have found that the link carries another rate.
  void follow(LaneId lane, Instant now);
  void apply_classes(Instant now);
  void expire_shares(Instant now);
  void fall_back(Carrier& carrier, Instant now);
  schedule::ClassId turn_of(schedule::ClassId id) const;
  schedule::ClassId counted_as(schedule::ClassId turn) const;
  HeldFrames::Terms held_terms(schedule::ClassId turn) const;
  // (uplink_turns.cc)
  std::optional<Choice> choose(const Carrier& carrier, schedule::ClassSet bridged,
                               Instant now) const;
  std::optional<Choice> bridged_turn(Instant now) const;
  bool choose_all(Instant now);
  bool is_lone(LaneId lane) const;
  bool waits_only_in(LaneId lane, schedule::ClassId id) const {
    return lines_[lane].session.waiting() == schedule::class_bit(id);
  }
  std::size_t poll_lanes(std::span<const MutableBytes> rooms, std::span<Polled> polled,
                         Instant now);
  std::size_t poll_lane(LaneId lane, std::span<const MutableBytes> rooms, std::span<Polled> polled,
                        Instant now);
  void debit(LaneId lane, std::span<const stp::PolledPacket> packets, Instant now);
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
  Carriers carriers_;
  IdVector<LaneId, Line> lines_;
  ReadySet<LaneId> ready_set_;
  // True if bridged frames without a class are a class of their own.
  const bool has_bridged_share_;
  HeldFrames held_;
  std::size_t held_slot_ = 0;
  Drops drops_;
  // The earliest end of a share.
  Instant shares_until_ = Instant::never();
  bool sessions_first_ = false;
  // The lane that is asked first.
  LaneId next_lane_;
};

}  // namespace satrelay::gateway

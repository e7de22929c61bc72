// Orders the frames that are sent on the WAN port. Control packets of sessions are first. Bytes of
// streams and bridged frames follow in the order of their classes (ClassOrder). A frame is sent
// when a carrier has room for it.
//
// Call admit() for each bridged frame. poll() writes or releases the next frames, and next_turn()
// says when to call poll() again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "config/model/schema.h"
#include "pep/base/bytes.h"
#include "pep/base/containers/ready_set.h"
#include "pep/base/time.h"
#include "pep/schedule/turn.h"
#include "pep/stp/session.h"
#include "relay/gateway/frames/fragments/released_fragments.h"
#include "relay/gateway/frames/frame.h"
#include "relay/gateway/frames/keyed_hash.h"
#include "relay/gateway/ids.h"
#include "relay/gateway/uplink/carrier.h"
#include "relay/gateway/uplink/held_frames.h"
#include "relay/gateway/uplink/own_traffic.h"
#include "relay/gateway/uplink/polled.h"
#include "relay/gateway/uplink/rates/class_turns.h"
#include "relay/gateway/uplink/rates/lane_rates.h"
#include "relay/gateway/uplink/rates/uplink_parts.h"
#include "relay/gateway/uplink/rates/worker_shares.h"
#include "relay/gateway/uplink/session_port.h"
#include "relay/gateway/uplink/traffic_classes.h"

namespace satrelay::gateway {

class Uplink final : public OwnFrames {
 public:
  // The result of admit() for a bridged frame.
  enum class BridgeOutcome : std::uint8_t {
    kLeaves,  // send it at once; it was charged to a carrier
    kWaits,   // keep it in slot held_slot(), where it waits
    kNoRoom,
  };

  // `released` and `port` must outlive the uplink.
  Uplink(const config::Gateway& config, std::size_t lanes, HashKey secret,
         ReleasedFragments& released, SessionPort& port, Instant now);

  Carrier& carrier(LinkId link) { return *parts_.carriers[link]; }
  const Carriers& carriers() const { return parts_.carriers; }
  // Call this for each lane, in the order of the lanes. `links`: the links that carry the lane;
  // today there is exactly one. `datagram_overhead`: size of the IP and UDP headers. `lanes`:
  // number of lanes to the peer at all workers. `links` and `session` must exist until the last
  // poll.
  void add_lane(std::span<const LinkId> links, stp::Session& session,
                std::uint16_t datagram_overhead, unsigned lanes = 1);

  // The lanes that may have something to send. Other lanes are not polled.
  ReadySet<LaneId>& ready_set() { return parts_.ready_set; }
  const ReadySet<LaneId>& ready_set() const { return parts_.ready_set; }

  // --- bridged frames --------------------------------------------------------------------------
  BridgeOutcome admit(schedule::ClassId id, const Frame& frame, std::size_t ip_bytes, Instant now);
  // Numbers of waiting bridged frames that were dropped since the last call.
  struct Drops {
    std::uint64_t crowded = 0;  // dropped to make room for other frames
    std::uint64_t late = 0;     // dropped since they had waited too long
  };
  Drops take_drops() { return std::exchange(drops_, {}); }
  // For a control frame of layer 2. If it may be sent, charges it to a carrier and returns true:
  // the caller sends it before all frames that wait. Returns false if no carrier has room, or if
  // the budget for control frames is used up.
  bool pass_control(std::size_t ip_bytes, Instant now);
  std::size_t held_slot() const { return held_slot_; }  // slot of the last frame that had to wait
  const HeldFrames& held() const { return parts_.held; }

  // --- frames of the gateway itself -------------------------------------------------------------
  bool take(OwnFrame kind, bool known, std::size_t frame_size, Instant now) override;
  // If take() has allowed a frame of the gateway, next_own() returns when it may be sent, before
  // all frames that wait. Call book_own() when the frame is sent: it charges the frame to a
  // carrier. `frame_size`: size in octets.
  Instant next_own(std::size_t frame_size) const;
  void book_own(std::size_t frame_size, Instant now);

  // --- output ----------------------------------------------------------------------------------
  // Returns the number of next frames: polled[i] describes frame i, which is written into rooms[i]
  // if it is kWritten. A frame of another kind (kHeld, kDropped) is the only frame of its call.
  // Several frames are written only if one lane alone has something to send. `rooms` must not be
  // empty, and `polled` must have as many elements as `rooms`.
  std::size_t poll(std::span<const MutableBytes> rooms, std::span<Polled> polled, Instant now);
  // When a frame or stream that waits in a class may be sent.
  Instant next_turn(Instant now) const;

  // --- parts that the gateway calls directly -----------------------------------------------------
  LaneRates& rates() { return rates_; }
  const LaneRates& rates() const { return rates_; }
  WorkerShares& shares() { return shares_; }
  const WorkerShares& shares() const { return shares_; }
  ClassTurns& turns() { return turns_; }
  const ClassTurns& turns() const { return turns_; }
  TrafficClasses& classes() { return parts_.classes; }
  const TrafficClasses& classes() const { return parts_.classes; }
  // Applies the settings of links and classes that can change at run time.
  void reconfigure(const config::Gateway& next, const ClassDictionaries& dictionaries, Instant now);

 private:
  using Choice = Carrier::Choice;

  // Defined in uplink_turns.cc, except ip_bytes_of() and speaks_on():
  std::optional<Choice> choose(const Carrier& carrier, schedule::ClassSet bridged,
                               Instant now) const;
  std::optional<Choice> bridged_turn(Instant now) const;
  bool choose_all(Instant now);
  bool is_lone(LaneId lane) const;
  bool waits_only_in(LaneId lane, schedule::ClassId id) const {
    return parts_.lines[lane].session.waiting() == schedule::class_bit(id);
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
  UplinkParts parts_;
  // Each of these objects uses only the objects above it.
  ClassTurns turns_{parts_};
  WorkerShares shares_;
  LaneRates rates_{parts_, turns_, shares_};
  std::size_t held_slot_ = 0;
  Drops drops_;
  bool sessions_first_ = false;
  // The lane that is polled first.
  LaneId next_lane_;
};

}  // namespace satrelay::gateway

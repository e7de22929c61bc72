// The interface of a rate controller of the satellite side. Complete Knowledge and the algorithms
// of the papers implement it. Each session (lane) has a controller of its own. The session reports
// to the controller what was sent and what feedback reports contain. The controller returns a rate,
// a window and a priority, which the session enforces. A controller never sees the session, and
// `now` never goes backwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>

#include "pep/base/time.h"
#include "pep/base/units.h"

namespace satrelay::control {

// One feedback report, as the sender interprets it. Bytes include the overhead of the link, as the
// modem counts them.
struct FeedbackSample {
  ByteCount newly_delivered;  // reported as received for the first time
  std::uint64_t packets_delivered = 0;
  std::uint64_t packets_lost = 0;               // newly declared lost
  std::uint64_t low_priority_packets_lost = 0;  // lost packets of low priority
  // Bytes that were sent, and are neither reported as received nor declared lost.
  ByteCount in_flight;
  Duration rtt;       // zero if the report gave no sample
  Duration interval;  // since the previous report
  // `sent` and `arrived` belong to the newest packet in any report so far: when it was sent, and
  // when it arrived, by the receiver's clock. `received` is the sum of all bytes of this session
  // that had arrived by then. Differences between two samples give the rate of arrival and the
  // growth of the forward queue, however long the report intervals and the delay on the way back
  // are.
  Instant sent;
  Instant arrived;
  ByteCount received;
  // The number of the newest packet: how many calls of on_sent() came before the call for this
  // packet.
  std::uint64_t number = 0;
  // Bytes that the carrier's pacer counted as not sent yet, just after the newest packet was sent.
  // The count includes this packet. The bytes before the packet are rounded down
  // (SentPacket::booked_before()). If the link carries the paced rate, it had at most this number
  // of bytes left to send.
  ByteCount booked;
  // The part of the delay `arrived` - `sent` that a gateway's machine has caused by running late.
  Duration lateness;
  // Packets that this sample or an earlier one counted as lost, although they had reached the
  // receiver: the receiver's port had no room for them. The sender must believe the peer about this
  // value and `lateness`.
  std::uint64_t packets_lost_at_receiver = 0;
  Instant now;
};

// Why the rate fell.
enum class CutCause : std::uint8_t {
  kDelay,       // the queue on the path to the peer grew
  kLoss,        // too many packets were lost on the way
  kController,  // the controller's algorithm had another reason
  kAnnounced,   // the peer has announced a lower capacity
  kCommanded,   // the operator has commanded a lower rate
  kConfigured,  // the configuration has changed
};
inline constexpr std::size_t kCutCauses = 6;

// The drop priority of a packet (TP-S section 3), which is carried in the DSCP of the outer IP
// header. A router that knows the priorities drops kStartLow first, then kStartHigh, kLow, kHigh.
enum class Priority : std::uint8_t { kHigh = 0, kLow = 1, kStartHigh = 2, kStartLow = 3 };
constexpr bool is_low(Priority priority) {
  return priority == Priority::kLow || priority == Priority::kStartLow;
}
// Returns the code point: best effort, or one of three in pool 2, which is for local use (RFC 2474
// section 6).
constexpr std::uint8_t dscp_of(Priority priority) {
  constexpr std::uint8_t kPoints[] = {0, 0b000'011, 0b000'111, 0b001'011};
  return kPoints[static_cast<std::size_t>(priority)];
}
// The priority that a router reads from a code point; kHigh for all other code points.
constexpr Priority priority_of(std::uint8_t dscp) {
  for (const Priority p : {Priority::kLow, Priority::kStartHigh, Priority::kStartLow}) {
    if (dscp_of(p) == dscp) return p;
  }
  return Priority::kHigh;
}

// A packet with retransmitted stream bytes is a kRetransmission, whatever else it carries.
enum class Purpose : std::uint8_t { kControl, kNewData, kRetransmission };

// Describes the beginning of a session with a peer, when nothing is in flight.
struct StartSample {
  Duration rtt;      // of the handshake, or a guess if the handshake gave no sample
  ByteCount packet;  // length of a full packet, including the overhead of the link
  Instant now;
};

class RateController {
 public:
  static constexpr ByteCount kNoWindow = ByteCount(std::numeric_limits<std::uint64_t>::max());

  virtual ~RateController() = default;
  virtual void on_start(const StartSample&) {}
  virtual void on_feedback(const FeedbackSample& sample) = 0;
  // Capacity that the operator, the modem or the peer has announced.
  virtual void on_capacity(BitRate capacity) = 0;
  // Called when a packet with `accounted` bytes on the link is sent. Returns the packet's priority.
  virtual Priority on_sent(Purpose purpose, ByteCount accounted, Instant now) {
    (void)purpose, (void)accounted, (void)now;
    return Priority::kHigh;
  }
  // The rate at which the pacer may send, including the overhead of the link; never zero.
  virtual BitRate rate() const = 0;
  // Why the controller itself last reduced rate(). The session calls this as soon as rate() has
  // fallen. nullopt if rate() fell only because a short trial at a higher rate has ended.
  virtual std::optional<CutCause> cut_cause() const { return CutCause::kController; }
  // rate() without short trials at a higher rate.
  virtual BitRate sustained_rate() const { return rate(); }
  // The capacity of the link, if this controller finds it. Zero if the capacity is unknown or was
  // announced.
  virtual BitRate capacity() const { return {}; }
  // Bytes that may be debited to the carrier's pacer beyond its burst, for a train that must be
  // sent at once. The value seldom changes.
  virtual ByteCount lead() const { return ByteCount(0); }
  // Bytes of the train that is sent to measure the link, until its result is known; else zero.
  virtual ByteCount train() const { return ByteCount(0); }
  // Returns true once if the receiver should report on the last packets as soon as possible.
  virtual bool take_question() { return false; }
  // Bytes of streams must not be sent before this time.
  virtual Instant holds_until() const { return Instant(); }
  // New data waits while this many bytes are in flight, including the overhead of the link.
  virtual ByteCount window() const { return kNoWindow; }
  // Several packets may be sent at one instant. Returns whether the functions above keep returning
  // the same values once the first of these packets was sent. An override that returns true must
  // guarantee that.
  virtual bool is_steady() const { return false; }
};

}  // namespace satrelay::control

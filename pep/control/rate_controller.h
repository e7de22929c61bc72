// The contract of a rate controller of the satellite side. Each session (lane) has one. Complete
// Knowledge and the papers' algorithms look alike behind it. The session tells it what was sent and
// what feedback reports say. It answers with a rate, a window and a priority, which the session
// enforces. A controller never sees the session, and `now` never goes backwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>

#include "pep/base/time.h"
#include "pep/base/units.h"

namespace satrelay::control {

// One feedback report, as the sender understood it. Bytes are accounted as the modem counts them.
struct FeedbackSample {
  ByteCount newly_delivered;  // reported as received for the first time
  std::uint64_t packets_delivered = 0;
  std::uint64_t packets_lost = 0;               // newly declared lost
  std::uint64_t low_priority_packets_lost = 0;  // lost packets of low priority
  ByteCount in_flight;                          // sent, and neither reported nor given up
  Duration rtt;                                 // zero if the report gave no sample
  Duration interval;                            // since the previous report
  // The newest packet in any report: when it was sent, and when it arrived, by the receiver's
  // clock. `received` is all that had arrived in this session by then. Differences between two
  // samples give the rate of arrival and the growth of the queue on the way there, whatever the
  // intervals of the reports and the delay on the way back.
  Instant sent;
  Instant arrived;
  ByteCount received;
  std::uint64_t number = 0;  // of that packet: how many calls of on_sent() came before its own
  // Bytes that the carrier had booked when that packet had left, including the packet. The link had
  // at most that much to send.
  ByteCount booked;
  // The part of `arrived` less `sent` for which a gateway's own machine is responsible, not the
  // link: it did not run meanwhile.
  Duration lateness;
  // Packets that this sample or an earlier one counted as lost, though they had reached the
  // receiver. Its port had no room for them. For both values, the sender must believe the peer.
  std::uint64_t packets_lost_at_receiver = 0;
  Instant now;
};

// Why the rate fell.
enum class CutCause : std::uint8_t {
  kDelay,       // the queue on the way grew
  kLoss,        // too much was lost on the way
  kController,  // the controller's algorithm has another reason
  kAnnounced,   // the peer has announced that no more arrives
  kCommanded,   // the operator has commanded it
  kConfigured,  // the configuration has changed
};
inline constexpr std::size_t kCutCauses = 6;

// The priority of a packet that leaves (TP-S section 3). Carried in the DSCP of the outer IP
// header; a router that knows them drops kStartLow first, then kStartHigh, kLow, kHigh.
enum class Priority : std::uint8_t { kHigh = 0, kLow = 1, kStartHigh = 2, kStartLow = 3 };
constexpr bool is_low(Priority priority) {
  return priority == Priority::kLow || priority == Priority::kStartLow;
}
// The code points: best effort, and three of pool 2, which is for local use (RFC 2474 section 6).
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

// A packet that carries stream bytes again is a retransmission, whatever else it carries.
enum class Purpose : std::uint8_t { kControl, kNewData, kRetransmission };

// A session with a peer begins, and nothing is in flight.
struct StartSample {
  Duration rtt;      // of the handshake, or a guess if the handshake gave none
  ByteCount packet;  // a full one, accounted
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
  // A packet leaves at `now`, with `accounted` bytes on the link. Returns its priority.
  virtual Priority on_sent(Purpose purpose, ByteCount accounted, Instant now) {
    (void)purpose, (void)accounted, (void)now;
    return Priority::kHigh;
  }
  // The rate that the pacer may send, in accounted bits; never zero.
  virtual BitRate rate() const = 0;
  // Why the controller itself last reduced rate(). The session asks as soon as the rate has fallen.
  // nullopt: that was not a cut, but the end of a trial at a higher rate.
  virtual std::optional<CutCause> cut_cause() const { return CutCause::kController; }
  // rate() without short trials at a higher rate.
  virtual BitRate sustained_rate() const { return rate(); }
  // The capacity of the link, if this controller finds it. Zero: not known, or announced.
  virtual BitRate capacity() const { return {}; }
  // Bytes that may be booked on the carrier beyond what it carries in time, for a train that must
  // leave at once. The value changes seldom.
  virtual ByteCount lead() const { return ByteCount(0); }
  // Length of the train that has left to measure the link, until its result is known.
  virtual ByteCount train() const { return ByteCount(0); }
  // True once if the report on the packets that have just left should come as soon as possible.
  virtual bool take_question() { return false; }
  // Bytes of streams wait until this time.
  virtual Instant holds_until() const { return Instant(); }
  // New data waits while so many accounted bytes are in flight.
  virtual ByteCount window() const { return kNoWindow; }
  // Whether these values stay the same while several packets leave at one instant, from the first
  // packet on. An override that returns true must make sure of that.
  virtual bool is_steady() const { return false; }
};

}  // namespace satrelay::control

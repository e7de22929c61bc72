// The contract of a rate controller of the satellite side: one per session (lane), behind which
// Complete Knowledge and the papers' algorithms look alike. It is told what the sender sends and
// what feedback reports say, and answers with a rate, a window and a priority; the session enforces
// them. A controller never sees the session, and `now` never goes backwards.
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
  ByteCount newly_delivered;  // first reported as received
  std::uint64_t packets_delivered = 0;
  std::uint64_t packets_lost = 0;               // newly declared lost
  std::uint64_t low_priority_packets_lost = 0;  // those of them that were sent at low priority
  ByteCount in_flight;                          // sent, and neither reported nor given up
  Duration rtt;                                 // zero if the report gave no sample
  Duration interval;                            // since the previous report
  // The newest packet of which a report spoke: when it was sent, and when it arrived, by the
  // receiver's clock. `received` is all that had arrived in this session. Differences between two
  // samples give the rate of arrival and the growth of the queue on the way there, whatever the
  // intervals of the reports and the delay on the way back.
  Instant sent;
  Instant arrived;
  ByteCount received;
  std::uint64_t number = 0;  // of that packet: how many on_sent() had been told of before it
  // The carrier had booked so much when that packet had left, the packet included: the link had as
  // much to send, or less.
  ByteCount booked;
  // What is the doing of the gateways' own machines and no sign of the link. So much of `arrived`
  // less `sent` may be, since one of them was not run meanwhile:
  Duration lateness;
  // And so many of the packets that this sample or an earlier one called lost had reached the
  // receiver, whose port had no room for them. The last word on either is the peer's.
  std::uint64_t packets_lost_at_receiver = 0;
  Instant now;
};

// Why less is sent than before.
enum class CutCause : std::uint8_t {
  kDelay,       // the queue on the way grew
  kLoss,        // too much was lost on the way
  kController,  // its algorithm has another reason
  kAnnounced,   // the peer says that no more arrives
  kCommanded,   // the operator has said so
  kConfigured,  // the configuration has changed
};
inline constexpr std::size_t kCutCauses = 6;

// The priority of a packet that leaves (TP-S section 3). Carried in the DSCP of the outer IP
// header; a router that knows them drops kStartLow first, then kStartHigh, kLow, kHigh.
enum class Priority : std::uint8_t { kHigh = 0, kLow = 1, kStartHigh = 2, kStartLow = 3 };
constexpr bool is_low(Priority priority) {
  return priority == Priority::kLow || priority == Priority::kStartLow;
}
// The code points: best effort, and three of pool 2, which is left to local use (RFC 2474
// section 6).
constexpr std::uint8_t dscp_of(Priority priority) {
  constexpr std::uint8_t kPoints[] = {0, 0b000'011, 0b000'111, 0b001'011};
  return kPoints[static_cast<std::size_t>(priority)];
}
// What a router takes a code point for; kHigh for all others.
constexpr Priority priority_of(std::uint8_t dscp) {
  for (const Priority p : {Priority::kLow, Priority::kStartHigh, Priority::kStartLow}) {
    if (dscp_of(p) == dscp) return p;
  }
  return Priority::kHigh;
}

// A packet that carries stream bytes once more is a retransmission, whatever else it carries.
enum class Purpose : std::uint8_t { kControl, kNewData, kRetransmission };

// A session with a peer begins, and nothing is in flight.
struct StartSample {
  Duration rtt;      // of the handshake, or a guess if that gave none
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
  // A packet leaves at `now`; `accounted` bytes on the link. Answers its priority.
  virtual Priority on_sent(Purpose purpose, ByteCount accounted, Instant now) {
    (void)purpose, (void)accounted, (void)now;
    return Priority::kHigh;
  }
  // What the pacer may send, accounted bits; never zero.
  virtual BitRate rate() const = 0;
  // Why rate() has last fallen of the controller's own accord, asked as soon as it has; nullopt: it
  // was no cut, but the end of a trial of more.
  virtual std::optional<CutCause> cut_cause() const { return CutCause::kController; }
  // The same without what is tried for a moment.
  virtual BitRate sustained_rate() const { return rate(); }
  // What the link is believed to carry, by who finds that out; zero: it is not known, or was told.
  virtual BitRate capacity() const { return {}; }
  // So much may be booked on the carrier beyond what it carries in time: for what must leave at
  // once. The answer changes seldom.
  virtual ByteCount lead() const { return ByteCount(0); }
  // The length of the train that has left to measure the link, until it is known what became of it.
  virtual ByteCount train() const { return ByteCount(0); }
  // True once when the report on what has just left should come as soon as it can.
  virtual bool take_question() { return false; }
  // Bytes of streams wait until then.
  virtual Instant holds_until() const { return Instant(); }
  // New data waits while so many accounted bytes are in flight.
  virtual ByteCount window() const { return kNoWindow; }
  // Whether these answers stay the same while several packets leave at one instant, from the first
  // of them on. Who says so has thought of it.
  virtual bool is_steady() const { return false; }
};

}  // namespace satrelay::control

// Connects a session with its rate controller. It tells the controller which packets were sent and
// what happened to them: bytes as the modem counts them, in flight and received, and losses by
// priority. It also enforces the controller's rate with two pacers. One pacer keeps the
// controller's rate, and belongs to the session. The other is the pacer of the carrier, which the
// session shares with other peers and bridged frames. Data may be sent if both pacers are open.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "pep/base/sequence.h"
#include "pep/base/time.h"
#include "pep/base/units.h"
#include "pep/control/pacer.h"
#include "pep/control/rate_controller.h"
#include "pep/stp/numbers/sent_ledger.h"
#include "pep/stp/path/rate_cuts.h"
#include "pep/stp/wire/feedback_frame.h"

namespace satrelay::stp {

class RateGate {
 public:
  // `datagram_overhead` is the size of the IP and UDP headers in bytes.
  RateGate(control::Pacer& carrier, control::RateController& controller,
           std::uint32_t datagram_overhead)
      : carrier_(carrier),
        controller_(controller),
        own_(carrier.for_rate(controller.rate())),
        datagram_overhead_(datagram_overhead) {
    cuts_.begin(controller.sustained_rate());
  }

  // Begins a new session, with nothing in flight.
  void clear() { seen_ = {}; }
  // Call update() at `now` before calling functions that tell whether data may be sent at `now`.
  void update(Duration rtt, std::size_t datagram, Instant now) {
    if (!seen_.started) {
      seen_.started = true;
      controller_.on_start({rtt, accounted(datagram), now});
      cuts_.begin(controller_.sustained_rate());
    }
    look_at_rate();
    follow_controller(now);
  }

  // Limits the rate of this session, if several sessions share the peer's rate. Zero means no such
  // limit. The controller always works with the whole rate.
  void set_share(BitRate share, Instant now) {
    if (share == share_) return;
    share_ = share;
    own_.take_share(own_rate(), now);
  }
  // Whether the session's data is held back by its share of the rate. The carrier's pacer is not
  // considered.
  bool shut_by_share(Instant now) const {
    return !share_.is_zero() && share_ < controller_.rate() && !own_.can_send(now);
  }

  // Sets the capacity of the link, and the reason for the change.
  void set_capacity(BitRate capacity, control::CutCause cause) {
    controller_.on_capacity(capacity);
    cuts_.look(controller_.sustained_rate(), [cause] { return std::optional(cause); });
  }
  const RateCuts& cuts() const { return cuts_; }

  // Converts a size to bytes as the modem counts them.
  ByteCount accounted(std::size_t datagram) const {
    return carrier_.overhead().accounted(datagram + datagram_overhead_);
  }

  bool open(Instant now) const { return has_room(now) && now >= controller_.holds_until(); }
  // Whether data may be sent by the session's own rate and the controller. The carrier's pacer is
  // not considered.
  bool open_but_for_carrier(Instant now) const {
    return own_.can_send(now) && now >= controller_.holds_until();
  }
  // The limits for packets that are sent one after the other at one instant.
  struct Room {
    // A packet may be sent if the carrier will be free at this time or earlier.
    Instant carrier_until;
    Instant own_until;
    ByteCount window;
  };
  // To be called after update() and after the first of these packets. Returns nullopt if the
  // controller must be asked before each packet.
  std::optional<Room> room(Instant now) const {
    if (!controller_.is_steady() || now < controller_.holds_until()) return std::nullopt;
    return Room{.carrier_until = carrier_.open_until(now, controller_.lead()),
                .own_until = own_.open_until(now),
                .window = controller_.window()};
  }
  // Whether open() and window_open() hold for the next packet.
  bool has_room(const Room& room) const {
    return carrier_.free_at() <= room.carrier_until && own_.free_at() <= room.own_until &&
           seen_.in_flight < room.window;
  }
  Instant opens_at() const {
    return later(later(carrier_.next_send(controller_.lead()), own_.next_send()),
                 controller_.holds_until());
  }
  // How long the carrier still needs for all packets sent so far.
  Duration booked(Instant now) const {
    return std::max(Duration::zero(), carrier_.free_at() - now);
  }
  // When the carrier and the session's own pacer have finished all packets sent so far.
  Instant free_at() const { return later(carrier_.free_at(), own_.free_at()); }
  // Whether the carrier's pacer is open, for packets that the controller does not hold back.
  bool carrier_open(Instant now) const { return carrier_.can_send(now); }
  Instant carrier_opens_at() const { return carrier_.next_send(); }
  // Whether the carrier's pacer is open for a packet that must not wait behind data. Without a
  // size, the answer holds for a packet of any size.
  bool control_open(Instant now, std::size_t datagram) const {
    return carrier_.can_send_urgent(datagram + datagram_overhead_, now, controller_.lead());
  }
  bool control_open(Instant now) const { return control_opens_at() <= now; }
  Instant control_opens_at(std::size_t datagram) const {
    return carrier_.next_urgent(datagram + datagram_overhead_, controller_.lead());
  }
  Instant control_opens_at() const {
    return carrier_.next_urgent(control::Pacer::kLongPacket, controller_.lead());
  }
  bool window_open() const { return seen_.in_flight < controller_.window(); }
  BitRate rate() const { return controller_.sustained_rate(); }
  // The part of the controller's current rate that this session may use.
  BitRate own_rate() const {
    const BitRate rate = controller_.rate();
    return share_.is_zero() ? rate : std::min(rate, share_);
  }
  // The rate that is allowed now. Packet trains may be faster.
  BitRate steady_rate() const { return std::min(rate(), own_rate()); }
  BitRate found_capacity() const { return controller_.capacity(); }
  ByteCount train() const { return controller_.train(); }
  control::Priority last_priority() const { return seen_.last_priority; }
  ByteCount in_flight() const { return seen_.in_flight; }

  // A packet that is in the ledger is sent. Returns its priority.
  control::Priority on_sent(control::Purpose purpose, std::size_t datagram, Instant now) {
    seen_.in_flight += accounted(datagram);
    return seen_.last_priority = controller_.on_sent(purpose, accounted(datagram), now);
  }
  // Returns true once if the next packet should ask for a report on this packet.
  bool take_question() { return controller_.take_question(); }
  // A packet that is not in the ledger is sent (HELLO or CLOSE).
  void on_unlisted() { seen_.last_priority = control::Priority::kHigh; }
  // Debits any packet that is sent, including HELLO and CLOSE. The carrier books the whole packet.
  // Control frames are sent even if the session's own rate is used up. At a low rate they alone
  // could use up this rate, and data would wait for ever. So the session's pacer limits how much
  // control frames may overdraw. `is_open` may be true only if both pacers are open. If it is
  // false, this function checks them.
  void debit(std::size_t datagram, Instant now, bool is_open = false) {
    if (is_open || has_room(now)) {
      own_.on_sent(datagram + datagram_overhead_, now);
    } else {
      own_.on_sent_regardless(datagram + datagram_overhead_, now);
    }
    carrier_.on_sent(datagram + datagram_overhead_, now);
  }

  // A report or a timer has shown that the packet has arrived or is lost.
  void on_delivered(const SentPacket& packet) {
    ++seen_.pending.packets_delivered;
    seen_.in_flight -= accounted(packet.bytes);
    count_delivered(packet);
  }
  void on_delivered_late(const SentPacket& packet) { count_delivered(packet); }
  // The packet is lost, but that says nothing about the current link: it was a probe of the path
  // MTU, or was lost in an outage.
  void on_gone(const SentPacket& packet) { seen_.in_flight -= accounted(packet.bytes); }
  // `at_peer` says whether the packet was lost at the peer's port.
  void on_lost(const SentPacket& packet, bool at_peer) {
    ++seen_.pending.packets_lost;
    if (at_peer) {
      ++seen_.pending.packets_lost_at_receiver;
      seen_.received += accounted(packet.bytes);
    }
    if (packet.low_priority) ++seen_.pending.low_priority_packets_lost;
    seen_.in_flight -= accounted(packet.bytes);
  }
  // Corrects earlier calls of on_lost(): `packets` of these losses occurred at the peer's port.
  void on_excused(std::uint64_t packets) { seen_.pending.packets_lost_at_receiver += packets; }
  struct Times {
    Duration rtt;  // zero if the report gave no RTT sample
    Duration interval;
    Duration lateness;  // lateness of the newest packet in the report
  };
  // The report was applied to all its packets. `newest` is the packet report.highest; nullptr if
  // the ledger no longer contains it.
  void on_report(const FeedbackFrame& report, const SentPacket* newest, const Times& times,
                 Instant now) {
    note_received(report);
    control::FeedbackSample sample = seen_.pending;
    seen_.pending = {};
    sample.in_flight = seen_.in_flight;
    sample.rtt = times.rtt;
    sample.interval = times.interval;
    sample.now = now;
    // The parts of one report, and reports out of order, may name the same packet again.
    if (newest != nullptr && (!seen_.reported || report.highest > seen_.last_number)) {
      seen_.reported = true;
      // The low 32 bits of arrived_us wrap after 71 minutes, and the time between two reports may
      // be longer.
      const std::int64_t passed_us = (newest->sent - seen_.last_report_packet).to_microseconds();
      seen_.peer_clock_us = unwrap_sequence<32>(
          report.arrived_us, seen_.peer_clock_us + static_cast<std::uint64_t>(passed_us));
      seen_.last_report_packet = newest->sent;
      seen_.last_lateness = times.lateness;
      seen_.last_booked =
          accounted(newest->bytes) + carrier_.rate().bytes_in(newest->booked_before());
      seen_.last_number = report.highest;
      seen_.last_arrival =
          Instant() + Duration::microseconds(static_cast<std::int64_t>(seen_.peer_clock_us));
    }
    sample.sent = seen_.last_report_packet;
    sample.arrived = seen_.last_arrival;
    sample.lateness = seen_.last_lateness;
    sample.booked = seen_.last_booked;
    sample.received = seen_.received;
    sample.number = seen_.last_number;
    controller_.on_feedback(sample);
    look_at_rate();
    follow_controller(now);
  }

 private:
  void follow_controller(Instant now) { own_.set_rate(own_rate(), now); }
  bool has_room(Instant now) const {
    return carrier_.can_send(now, controller_.lead()) && own_.can_send(now);
  }
  // The sustained rate ignores packet trains. So the end of a train never counts as a cut.
  void look_at_rate() {
    cuts_.look(controller_.sustained_rate(), [this] { return controller_.cut_cause(); });
  }
  void count_delivered(const SentPacket& packet) {
    seen_.pending.newly_delivered += accounted(packet.bytes);
    seen_.delivered_payload += packet.bytes;
    seen_.delivered_accounted += accounted(packet.bytes).value();
  }
  // The peer counts UDP payload. The bytes that the modem counted are estimated from the packets in
  // this report.
  void note_received(const FeedbackFrame& report) {
    if (report.bytes_received > seen_.reported_bytes && seen_.delivered_payload > 0) {
      const std::uint64_t added = report.bytes_received - seen_.reported_bytes;
      seen_.received += ByteCount(static_cast<std::uint64_t>(
          static_cast<double>(added) * static_cast<double>(seen_.delivered_accounted) /
          static_cast<double>(seen_.delivered_payload)));
      seen_.reported_bytes = report.bytes_received;
      seen_.delivered_payload = seen_.delivered_accounted = 0;
    }
  }

  control::Pacer& carrier_;
  control::RateController& controller_;
  control::Pacer own_;
  BitRate share_;
  std::uint32_t datagram_overhead_;
  RateCuts cuts_;

  // State that belongs to one session with one peer.
  struct Seen {
    bool started = false;
    bool reported = false;  // a report has named a packet that was still in the ledger
    control::Priority last_priority = control::Priority::kHigh;
    ByteCount in_flight;
    ByteCount received;
    // The count of UDP payload, as the peer reports it, that is already included in `received`.
    std::uint64_t reported_bytes = 0;
    // UDP payload of the packets that were delivered since `reported_bytes` was set.
    std::uint64_t delivered_payload = 0;
    std::uint64_t delivered_accounted = 0;
    Instant last_report_packet;  // send time of the newest packet that a report has named
    std::uint64_t last_number = 0;
    std::uint64_t peer_clock_us = 0;
    Instant last_arrival;
    Duration last_lateness;
    ByteCount last_booked;
    control::FeedbackSample pending;
  };
  Seen seen_;
};

}  // namespace satrelay::stp

// What a session sends and what became of it, as its rate controller wants to know it: bytes as the
// modem counts them, in flight and received, losses by priority. And the controller's answer
// enforced: a pacer for its rate, which the session has to itself, beside that of the carrier,
// which it shares with other peers and bridged frames. Data leaves when both are open.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "pep/base/sequence.h"
#include "pep/base/time.h"
#include "pep/base/units.h"
#include "pep/control/pacer.h"
#include "pep/control/rate_controller.h"
#include "pep/stp/packets/sent_ledger.h"
#include "pep/stp/wire/feedback_frame.h"

namespace satrelay::stp {

class RateGate {
 public:
  // `datagram_overhead`: IP and UDP headers.
  RateGate(control::Pacer& carrier, control::RateController& controller,
           std::uint32_t datagram_overhead)
      : carrier_(carrier),
        controller_(controller),
        own_(carrier.for_rate(controller.rate())),
        datagram_overhead_(datagram_overhead) {}

  // A new session: nothing is in flight.
  void clear() {
    started_ = false;
    in_flight_ = received_ = ByteCount(0);
    reported_bytes_ = 0;
    last_report_packet_ = {};
    peer_clock_us_ = 0;
    pending_ = {};
  }
  // Before anything is asked about data at `now`.
  void update(Duration rtt, std::size_t datagram, Instant now) {
    if (!started_) {
      started_ = true;
      controller_.on_start({rtt, accounted(datagram), now});
    }
    own_.set_rate(controller_.rate(), now);
  }

  bool open(Instant now) const { return carrier_.can_send(now) && own_.can_send(now); }
  Instant opens_at() const { return later(carrier_.next_send(), own_.next_send()); }
  // When all that has left is on the carrier.
  Instant free_at() const { return later(carrier_.free_at(), own_.free_at()); }
  bool window_open() const { return in_flight_ < controller_.window(); }
  BitRate rate() const { return controller_.rate(); }
  control::Priority last_priority() const { return last_priority_; }
  ByteCount in_flight() const { return in_flight_; }

  // A packet that stands in the ledger leaves; its priority.
  control::Priority on_sent(control::Purpose purpose, std::size_t datagram, Instant now) {
    in_flight_ += accounted(datagram);
    return last_priority_ = controller_.on_sent(purpose, accounted(datagram), now);
  }
  // Any packet leaves, HELLO and CLOSE included. Control leaves even if there is no room, and must
  // not keep data waiting for ever at a rate that it could fill alone: what it may owe is limited.
  void debit(std::size_t datagram, Instant now) {
    const bool has_room = open(now);
    for (control::Pacer* pacer : {&carrier_, &own_}) {
      if (has_room) {
        pacer->on_sent(datagram + datagram_overhead_, now);
      } else {
        pacer->on_bridged(datagram + datagram_overhead_, now);
      }
    }
  }

  // What a report, or time, says of packets.
  void on_delivered(const SentPacket& packet) {
    ++pending_.packets_delivered;
    in_flight_ -= accounted(packet.bytes);
    count_delivered(packet);
  }
  void on_delivered_late(const SentPacket& packet) { count_delivered(packet); }
  // Lost, though not to the link as it is: a probe of the path MTU, or in an outage.
  void on_gone(const SentPacket& packet) { in_flight_ -= accounted(packet.bytes); }
  void on_lost(const SentPacket& packet) {
    ++pending_.packets_lost;
    if (packet.low_priority) ++pending_.low_priority_packets_lost;
    in_flight_ -= accounted(packet.bytes);
  }
  // The report has been applied to all packets. `newest`: the packet report.highest, nullptr if it
  // is forgotten. `rtt`: zero if the report gave no sample.
  void on_report(const FeedbackFrame& report, const SentPacket* newest, Duration rtt,
                 Duration interval, Instant now) {
    note_received(report);
    control::FeedbackSample sample = pending_;
    pending_ = {};
    sample.in_flight = in_flight_;
    sample.rtt = rtt;
    sample.interval = interval;
    sample.now = now;
    // Parts of one report, and reports that overtook each other, show the same packet again.
    if (newest != nullptr && newest->sent > last_report_packet_) {
      // Its low 32 bits go round in 71 minutes, and reports may be further apart.
      const std::int64_t passed_us = (newest->sent - last_report_packet_).to_microseconds();
      peer_clock_us_ = unwrap_sequence<32>(report.arrived_us,
                                           peer_clock_us_ + static_cast<std::uint64_t>(passed_us));
      last_report_packet_ = newest->sent;
      last_arrival_ = Instant() + Duration::microseconds(static_cast<std::int64_t>(peer_clock_us_));
    }
    sample.sent = last_report_packet_;
    sample.arrived = last_arrival_;
    sample.received = received_;
    controller_.on_feedback(sample);
    own_.set_rate(controller_.rate(), now);
  }

 private:
  ByteCount accounted(std::size_t datagram) const {
    return carrier_.overhead().accounted(datagram + datagram_overhead_);
  }
  void count_delivered(const SentPacket& packet) {
    pending_.newly_delivered += accounted(packet.bytes);
    delivered_payload_ += packet.bytes;
    delivered_accounted_ += accounted(packet.bytes).value();
  }
  // The peer counts UDP payload. What the modem counted follows from the mix of packets that this
  // report is about.
  void note_received(const FeedbackFrame& report) {
    if (report.bytes_received > reported_bytes_ && delivered_payload_ > 0) {
      const std::uint64_t added = report.bytes_received - reported_bytes_;
      received_ += ByteCount(static_cast<std::uint64_t>(static_cast<double>(added) *
                                                        static_cast<double>(delivered_accounted_) /
                                                        static_cast<double>(delivered_payload_)));
      reported_bytes_ = report.bytes_received;
      delivered_payload_ = delivered_accounted_ = 0;
    }
  }

  control::Pacer& carrier_;
  control::RateController& controller_;
  control::Pacer own_;
  std::uint32_t datagram_overhead_;
  bool started_ = false;
  control::Priority last_priority_ = control::Priority::kHigh;
  ByteCount in_flight_;
  ByteCount received_;
  std::uint64_t reported_bytes_ = 0;     // of `received_`, as the peer counts them
  std::uint64_t delivered_payload_ = 0;  // of packets reported since, UDP payload
  std::uint64_t delivered_accounted_ = 0;
  Instant last_report_packet_;  // when the newest packet was sent of which a report spoke
  std::uint64_t peer_clock_us_ = 0;
  Instant last_arrival_;
  control::FeedbackSample pending_;
};

}  // namespace satrelay::stp

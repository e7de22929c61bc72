// Joins the parts of a session. session.cc has the public functions; session_burst.cc and
// session_send.cc, the sending side; session_timers.cc, timers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "pep/stp/fec/repair_planner.h"
#include "pep/stp/packet_receiver.h"
#include "pep/stp/packets/control_writer.h"
#include "pep/stp/packets/packet_builder.h"
#include "pep/stp/packets/stream_writer.h"
#include "pep/stp/session.h"
#include "pep/stp/session_core.h"

namespace satrelay::stp {

struct Session::Impl : SessionCore {
  Impl(const Config& settings, Arena& blocks, control::Pacer& carrier,
       control::RateController& controller, StreamSource& source, Instant start)
      : SessionCore(settings, blocks, carrier, controller, start), writer(source, work) {}

  // --- time, and work of which each call does a part (session_timers.cc)
  bool work_waits() const {
    return !retired_streams.empty() || streams->work_waits() || !path().reports.empty() ||
           repairs_wait();
  }
  void go_on();
  template <typename Visit>
  void visit_timers(Visit&& visit) const;
  void run_timers();
  void run_probe_timer();
  void suspect_peer();
  void run_linger();
  Instant next_timeout() const;
  Instant next_departure() const;

  // --- bursts of packets (session_burst.cc)
  // The answers that hold for the packets of one burst.
  struct Burst {
    std::size_t limit = 0;   // the largest datagram
    bool may_send = false;   // there is room on the carrier, at least for control
    bool is_open = false;    // data may leave
    bool only_data = false;  // nothing else can be due
    // Set behind the first packet. The packets below `end` follow it without another look.
    std::optional<RateGate::Room> room = std::nullopt;
    std::uint64_t end = 0;
    StreamWriter::Wrote wrote = {};  // in the last packet
  };
  std::size_t poll_packets(std::span<const MutableBytes> rooms, std::size_t before,
                           std::span<PolledPacket> packets);
  std::size_t begin_burst(Burst& burst, MutableBytes room);
  bool goes_on(Burst& burst);
  bool keep_answers(Burst& burst);
  bool only_data_follows() const;

  // --- the sending side (session_send.cc)
  std::size_t send_close(MutableBytes out);
  std::size_t send_hello(MutableBytes out);
  std::size_t send_mtu_probe(MutableBytes out);
  std::size_t write_packet(Burst& burst, PacketBuilder& packet, MutableBytes room);
  std::size_t finish_packet(PacketBuilder& packet, const Coverage& coverage,
                            const std::optional<RateGate::Room>& room);
  std::size_t count_out(ConstBytes packet,
                        const std::optional<RateGate::Room>& room = std::nullopt);
  void write_control(PacketBuilder& packet);
  bool mtu_probe_waits() const;
  bool report_waits() const {
    return association->received.next() > 0 && now >= path().feedback.due() &&
           path().gate.carrier_open(now);
  }
  bool credits_wait() const;
  bool control_waits() const;
  bool data_allowed() const;
  // Whether nothing of a stream waits that could be sent.
  bool idle() const { return streams->sending().idle(writer.turn().open); }
  // Whether poll_packets() would write data if the pacers allowed it.
  bool data_waits() const { return data_allowed() && !idle(); }
  // Whether poll_packets() writes data now.
  bool data_leaves() const {
    return writer.turn().streams && path().gate.open(now) && data_waits();
  }
  std::uint64_t most_in_flight() const;
  std::size_t next_limit();

  // --- forward error correction
  // Requires `fec`.
  RepairPlanner repair_planner() const {
    return RepairPlanner({.fec = *fec,
                          .path = path(),
                          .streams = *streams,
                          .turn = writer.turn(),
                          .next = association->ledger.next(),
                          .stp_overhead = stp_overhead(),
                          .now = now});
  }
  std::size_t send_repair(MutableBytes out);
  std::size_t finish_repair(PacketBuilder& packet, schedule::ClassId stream_class);
  Instant next_repair() const;

  PacketReceiver receiver{*this};
  StreamWriter writer;
};

}  // namespace satrelay::stp

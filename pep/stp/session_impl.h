// Joins the rooms of pep/stp: the peer, the packets in both directions, and the streams. All that
// belongs to one peer is an Association and its Streams, which are built anew for the next.
//
// session.cc begins and ends associations, and has the public functions; session_receive.cc, the
// receiving side; session_send.cc, the sending side; session_burst.cc, bursts of packets;
// session_timers.cc, timers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "pep/base/work_count.h"
#include "pep/stp/association.h"
#include "pep/stp/connection/capacity_announcement.h"
#include "pep/stp/connection/connection.h"
#include "pep/stp/connection/peer_events.h"
#include "pep/stp/fec/fec.h"
#include "pep/stp/fec/repair_budget.h"
#include "pep/stp/fec/repair_planner.h"
#include "pep/stp/packets/changes.h"
#include "pep/stp/packets/control_writer.h"
#include "pep/stp/packets/packet_builder.h"
#include "pep/stp/packets/stream_writer.h"
#include "pep/stp/path/late_sendings.h"
#include "pep/stp/recovery/recovery.h"
#include "pep/stp/session.h"
#include "pep/stp/streams/retired_streams.h"
#include "pep/stp/streams/stream_table.h"
#include "pep/stp/streams/streams.h"
#include "pep/stp/wire/frames.h"
#include "pep/stp/wire/packet.h"

namespace satrelay::stp {

struct Session::Impl {
  Impl(const Config& settings, Arena& blocks, control::Pacer& carrier,
       control::RateController& rate_controller, StreamSource& source, Instant start);

  // --- the peer (session.cc)
  void begin_anew();
  void begin_with(SentLedger unused, const RateGate& gate);
  Path& path() { return association->path(); }
  const Path& path() const { return association->path(); }
  void renew_promise();
  Connection::Situation situation() const {
    return {.next = association->ledger.next(),
            .is_silent = path().probes.silent(now),
            .may_begin = !retired_streams.full(),
            .now = now};
  }
  // Follows what the connection has found out about the peer.
  void follow(const Connection::Heard& heard);
  void begin_session(bool has_restarted);
  void heard();
  void close();
  void close_by_peer();

  // --- time, and work of which each call does a part (session_timers.cc)
  // The streams, for a call that changes something.
  Streams& change(Changes::Kind kind) {
    changes.note(kind);
    return *streams;
  }
  Streams& change(Changes::Kind kind, Instant at) {
    now = at;
    return change(kind);
  }
  void begin_call(Instant at, std::uint64_t most = kSettledAtOnce) {
    change(Changes::Kind::kAny, at);
    enough_settled = work.total() + most;
  }
  bool work_waits() const {
    return !retired_streams.empty() || streams->work_waits() || !path().reports.empty() ||
           repairs_wait();
  }
  bool repairs_wait() const { return fec != nullptr && fec->work_waits(); }
  void work_off_repairs();
  void go_on();
  template <typename Visit>
  void visit_timers(Visit&& visit) const;
  void run_timers();
  void run_probe_timer();
  void suspect_peer();
  void run_linger();
  Instant next_timeout() const;
  Instant next_departure() const;

  // --- the receiving side (session_receive.cc)
  struct FrameHandler;
  void handle_packet(ConstBytes datagram);
  void handle_frames(ConstBytes datagram, const PacketHeader& header);
  // Opens a packet of the session. A packet of the newcomer may begin a new session. nullopt if it
  // is dropped and counted.
  struct Opened {
    std::uint64_t number = 0;
    ConstBytes frames;
  };
  std::optional<Opened> open_packet(ConstBytes datagram, const PacketHeader& header);
  enum class GapMay : std::uint8_t { kBeDisorder, kBeRepaired };
  void on_packet_recorded(std::uint64_t number, bool gap, bool eliciting, GapMay may);
  void handle_protection(std::uint64_t number, ConstBytes frames,
                         const std::optional<RepairFrame>& repair);
  void handle_repair(const RepairFrame& repair);
  void settle_known(FecReceiver& receiver);
  void use_repaired(FecReceiver& receiver);

  // --- the fate of our packets
  Recovery recovery() {
    return Recovery({association->ledger, path(), *streams, fec.get(), own_capacity, late_sendings,
                     counters, work, enough_settled, now});
  }

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
  std::size_t datagram_limit() const;
  std::size_t next_limit();

  // --- forward error correction
  bool may_repair() const { return fec != nullptr && connection.agreed().repairs(); }
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
  // Octets of a packet around its frames.
  std::size_t stp_overhead() const { return kHeaderSize + connection.protection().trailer_size(); }
  std::size_t send_repair(MutableBytes out);
  std::size_t finish_repair(PacketBuilder& packet, schedule::ClassId stream_class);
  Instant next_repair() const;

  Config config;
  Arena& arena;
  Instant now;          // time of the last call
  Reception reception;  // of the packet that this call is about
  Changes changes;
  LateSendings late_sendings;
  Counters counters;
  WorkCount work;
  std::uint64_t enough_settled = 0;  // the count of `work` at which this call has settled enough

  Connection connection;
  PeerEvents peer_events;
  CapacityAnnouncement own_capacity;  // of the direction towards us

  // The state with that peer. Both always exist, and are built anew together for the next peer
  // (begin_anew()).
  std::optional<Association> association;
  std::optional<Streams> streams;

  // These outlive the association.
  StreamWriter writer;
  OwnRepairs own_repairs;
  std::unique_ptr<Fec> fec;        // keeps its memory and counters; nullptr: off
  OwnIds own_ids;                  // the relay never sees an id twice
  RetiredStreams retired_streams;  // the streams of sessions that are over
};

}  // namespace satrelay::stp

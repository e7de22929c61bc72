// The sending side of a session. Packets that are sent one after the other at one instant are a
// burst, and one loop writes them. begin_burst() makes the general checks once, before the first
// packet. The burst continues as long as the results hold for the next packet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "pep/base/bytes.h"
#include "pep/schedule/class_set.h"
#include "pep/schedule/turn.h"
#include "pep/stp/demand.h"
#include "pep/stp/fec/repair_planner.h"
#include "pep/stp/packets/packet_builder.h"
#include "pep/stp/packets/stream_writer.h"
#include "pep/stp/path/rate_gate.h"
#include "pep/stp/session.h"
#include "pep/stp/session_core.h"
#include "pep/stp/session_timers.h"

namespace satrelay::stp {

class PacketSender {
 public:
  // All arguments must outlive this object.
  PacketSender(SessionCore& core, const Demand& demand, SessionTimers& timers, StreamWriter& writer)
      : core_(core), demand_(demand), timers_(timers), writer_(writer) {}

  // See Session::poll_packets().
  std::size_t poll(std::span<const MutableBytes> rooms, std::size_t before,
                   std::span<PolledPacket> packets);

 private:
  // The results of checks that hold for all packets of a burst.
  struct Burst {
    std::size_t limit = 0;   // size of the largest datagram
    bool may_send = false;   // the carrier is open, at least for control frames
    bool is_open = false;    // data may be sent
    bool only_data = false;  // only data can be due
    bool may_cover = true;   // a code may cover packets of data
    // Set after the first packet. Packets with numbers below `end` may follow it without these
    // checks.
    std::optional<RateGate::Room> room = std::nullopt;
    std::uint64_t end = 0;
    // The last packet:
    StreamWriter::Wrote wrote = {};
    Coverage coverage = {};       // only valid if a code covers the packet
    bool only_data_sent = false;  // only data was sent, and everything else waits for time or input
    std::uint64_t epoch = 0;      // epoch of Changes before the packet
  };

  // kChecked: the packet follows another one of its burst, so that the results in Burst hold for
  // it. The compiler then leaves the checks out.
  enum class Check : bool { kUnchecked, kChecked };

  std::size_t begin_burst(Burst& burst, MutableBytes room);
  bool goes_on(Burst& burst);
  bool keep_answers(Burst& burst);
  bool only_data_follows() const;
  std::size_t next_limit();
  std::size_t send_hello(MutableBytes out);
  std::size_t send_close(MutableBytes out);
  std::size_t send_mtu_probe(MutableBytes out);
  std::size_t send_repair(MutableBytes out);
  std::size_t finish_repair(PacketBuilder& packet, schedule::ClassId stream_class);
  template <Check Kind>
  std::size_t write_packet(Burst& burst, const StreamWriter::Job& job, MutableBytes room);
  void cover(Burst& burst, PacketBuilder& packet, MutableBytes out);
  void write_control(PacketBuilder& packet);
  void pad_every_second_ping(PacketBuilder& packet);
  template <Check Kind>
  std::size_t finish_packet(PacketBuilder& packet, const Coverage& coverage);
  void add_to_repairs(const PacketBuilder& packet, const Coverage& coverage);
  std::size_t count_out(ConstBytes packet, bool is_checked);

  SessionCore& core_;
  const Demand& demand_;
  SessionTimers& timers_;
  StreamWriter& writer_;
};

}  // namespace satrelay::stp

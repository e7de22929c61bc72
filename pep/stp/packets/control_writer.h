// Writes the frames of a packet other than stream data: PING, reports, credit, announcements, RESET
// and CONFIRM.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pep/base/time.h"
#include "pep/stp/connection/capacity_announcement.h"
#include "pep/stp/counters.h"
#include "pep/stp/numbers/received_packets.h"
#include "pep/stp/packets/packet_builder.h"
#include "pep/stp/path/path.h"
#include "pep/stp/streams/streams.h"

namespace satrelay::stp {

class ControlWriter {
 public:
  // The packet to fill, and the sources of its content. The session creates one Job for each
  // packet.
  struct Job {
    PacketBuilder& packet;
    Path& path;
    ReceivedPackets& received;
    Streams& streams;
    CapacityAnnouncement& own_capacity;
    Counters& counters;
    Instant now;
    std::size_t stp_overhead = 0;       // bytes of header and trailer in an STP packet
    std::size_t datagram_overhead = 0;  // bytes of the UDP and IP headers
    bool tells_reception = false;       // whether the peer understands RECEPTION
    // Whether stream bytes wait, and whether stream bytes are sent in this packet.
    bool data_waits = false;
    bool data_leaves = false;
    // Whether the path loses packets in bursts, and the number of packets of the peer that were
    // recovered with repairs.
    bool lost_in_bursts = false;
    std::uint64_t repaired = 0;
  };
  explicit ControlWriter(const Job& job) : job_(job), frames_(job.packet.frames()) {}

  // `credits_wait` says whether a credit frame is due, and `report_waits` whether a report is due.
  void write(bool credits_wait, bool report_waits);

 private:
  ReportCost cost_since(std::size_t before) const;
  void write_report();
  void write_lane_credits();
  void write_capacity();
  void write_resets();
  void write_stream_credits();
  void write_confirmations();
  void write_next_of(ConfirmList& confirms);
  void write_settled_below();

  Job job_;
  ByteWriter& frames_;
};

}  // namespace satrelay::stp

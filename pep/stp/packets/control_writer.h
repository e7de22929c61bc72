// Writes the frames of a packet that are not about bytes of streams: questions for reports,
// reports, credit, announcements, RESET and CONFIRM.
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
  // The packet to fill, and the sources of its content. The session makes one of these for a
  // packet.
  struct Job {
    PacketBuilder& packet;
    Path& path;
    ReceivedPackets& received;
    Streams& streams;
    CapacityAnnouncement& own_capacity;
    Counters& counters;
    Instant now;
    std::size_t stp_overhead = 0;       // octets of a packet around its frames
    std::size_t datagram_overhead = 0;  // octets of UDP and IP around a packet
    bool tells_reception = false;       // the peer understands RECEPTION
    // Whether bytes of streams wait, and whether they leave in this packet.
    bool data_waits = false;
    bool data_leaves = false;
    // What FEC knows: whether the path loses packets in bursts, and how many packets of this
    // session repairs have given back.
    bool lost_in_bursts = false;
    std::uint64_t repaired = 0;
  };
  explicit ControlWriter(const Job& job) : job_(job), frames_(job.packet.frames()) {}

  // `credits_wait`: a frame of credit is due. `report_waits`: so is a report.
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

// Decides which packets are covered by a code, and which repairs leave (docs/stp.md section 11). It
// keeps no state: a session makes one for a call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "pep/base/time.h"
#include "pep/schedule/class_set.h"
#include "pep/schedule/turn.h"
#include "pep/stp/fec/fec.h"
#include "pep/stp/fec/fec_sender.h"
#include "pep/stp/packets/packet_builder.h"
#include "pep/stp/path/path.h"
#include "pep/stp/streams/stream.h"
#include "pep/stp/streams/streams.h"
#include "pep/stp/wire/frames.h"

namespace satrelay::stp {

// How a packet is covered.
struct Coverage {
  FecCode code = FecCode::kFlight;
  FecSender::Plan plan = {};
  bool is_last_flight = false;
};

class RepairPlanner {
 public:
  struct Job {
    Fec& fec;
    const Path& path;
    const Streams& streams;
    const schedule::Turn& turn;    // of the next packet
    std::uint64_t next = 0;        // its number
    std::size_t stp_overhead = 0;  // octets of a packet around its frames
    Instant now;
  };
  explicit RepairPlanner(const Job& job) : job_(job) {}

  // Whether the next packet of data shall be covered, and by which code.
  std::optional<FecCode> code() const;
  // Covers the packet, which is still empty.
  Coverage protect(PacketBuilder& packet, FecCode code) const;
  // The packet is complete. `first_class`: of its first bytes; nullopt: it has none.
  // `prompt_share`: repair bytes for each byte of a prompt flow; 0: derived from the loss.
  void add(const PacketBuilder& packet, const Coverage& coverage,
           std::optional<schedule::ClassId> first_class, double prompt_share);
  // Writes the next repair that is due and of use. Returns the class of the packets that it is for;
  // nullopt if there is none.
  std::optional<schedule::ClassId> write_repair(PacketBuilder& packet);
  // When a repair is due.
  Instant next_repair() const;
  // When a window ends, when its repairs are too late, or when memory can be freed.
  Instant next_timeout() const;
  void handle_timeout();

 private:
  bool lasts(const Stream& stream) const;
  bool is_ending(const Stream& stream) const;
  bool is_short(const Stream& stream) const;
  bool may_end(const Stream& stream) const;
  bool wants_protection(const Stream* first) const;
  FecSender::Waiting waiting() const;
  bool is_useful(const FecSender::Purpose& purpose) const;
  bool is_doubtful() const;
  // The stream that comes first in the next packet, as far as is known.
  const Stream* first_stream() const {
    return job_.streams.sending().first(job_.turn.open, job_.turn.first);
  }
  std::uint64_t sharers(const Stream& stream) const {
    return job_.streams.sending().schedule().sharers(stream);
  }
  std::uint64_t flight() const { return job_.path.flight().value(); }

  Job job_;
};

}  // namespace satrelay::stp

// Decides which packets a code covers, and which repairs are sent (docs/stp.md section 11). It has
// no state of its own: the session creates an object for each call.
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

// Which code covers a packet, and the settings for its window.
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
    const schedule::Turn& turn;    // says which streams may send in the next packet
    std::uint64_t next = 0;        // number of the next packet
    std::size_t stp_overhead = 0;  // bytes of header and trailer in a packet
    Instant now;
  };
  explicit RepairPlanner(const Job& job) : job_(job) {}

  // The code that should cover the next packet of data; nullopt if none should.
  std::optional<FecCode> code() const;
  // Covers the packet, which must still be empty.
  Coverage protect(PacketBuilder& packet, FecCode code) const;
  // Adds a complete packet to its code. `first_class` is the class of its first stream bytes;
  // nullopt if the packet has no stream bytes. `prompt_share` is the number of repair bytes for
  // each byte of a prompt flow. 0 means that the number is calculated from the loss.
  void add(const PacketBuilder& packet, const Coverage& coverage,
           std::optional<schedule::ClassId> first_class, double prompt_share);
  // Writes the next useful repair that is due. Returns the class of the packets that it covers;
  // nullopt if there is no such repair.
  std::optional<schedule::ClassId> write_repair(PacketBuilder& packet);
  // When a repair is due.
  Instant next_repair() const;
  // The earliest time at which a window ends, its repairs are too late, or memory can be freed.
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
  // Predicts which stream has the first bytes in the next packet; nullptr if no stream has bytes to
  // send.
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

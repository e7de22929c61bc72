// Fills packets with frames of streams. OPENs come first, then copies of bytes that were lost
// repeatedly, then ends of streams, then lost and new bytes, class by class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "pep/base/time.h"
#include "pep/base/work_count.h"
#include "pep/schedule/class_set.h"
#include "pep/schedule/turn.h"
#include "pep/stp/packets/packet_builder.h"
#include "pep/stp/path/loss_rate.h"
#include "pep/stp/streams/stream_source.h"
#include "pep/stp/streams/streams.h"

namespace satrelay::stp {

class StreamWriter {
 public:
  // The packet to fill, and the sources of its content.
  struct Job {
    PacketBuilder& packet;
    Streams& streams;
    const LossRate& loss;
    Instant now;
    bool only_new = false;  // only_new_follows() was true, so only new bytes are written
  };
  struct Totals {
    std::uint64_t new_bytes = 0;
    std::uint64_t retransmitted_bytes = 0;  // includes copies
    std::uint64_t copies = 0;
  };

  // `source` and `work` must outlive this object.
  StreamWriter(StreamSource& source, WorkCount& work) : source_(source), work_(work) {}

  // Begins a burst of packets. `turn` says which stream bytes they may contain. All packets of the
  // burst are sent at one instant.
  void begin(const schedule::Turn& turn) {
    turn_ = turn;
    sent_.clear();
    packet_begin_ = 0;
    filler_ = nullptr;
  }
  const schedule::Turn& turn() const { return turn_; }
  enum class Wrote : std::uint8_t {
    kMoreOfTheSame,  // the rest of the packet has bytes of one stream, which has more bytes to send
    kAnything,
  };
  // Fills the next packet of the burst.
  Wrote write(const Job& job);
  // Whether the next packet can only contain new bytes of the class that has the turn.
  bool only_new_follows(const Streams& streams, Instant now) const;
  // The number of stream bytes written since begin(). The list has an element for each class in
  // each packet, in the order of the packets.
  std::span<const schedule::ClassBytes> sent() const { return sent_; }
  // The part of sent() for the last packet.
  std::span<schedule::ClassBytes> packet_classes() {
    return std::span(sent_).subspan(packet_begin_);
  }
  const Totals& totals() const { return totals_; }
  // The packet contains a REPAIR frame of `bytes` bytes, which covers packets of this class.
  void count_repair(schedule::ClassId stream_class, std::size_t bytes) {
    sent_.push_back({.stream_class = stream_class, .bytes = bytes, .booked = bytes});
  }

 private:
  enum class RepairCap : std::uint8_t { kShare, kNone };

  [[nodiscard]] bool write_opens(const Job& job);
  void write_copies(const Job& job);
  void write_fins(const Job& job);
  Wrote write_class(const Job& job, schedule::ClassId stream_class);
  // Retransmits the first lost bytes of the stream. Returns how many bytes were written.
  std::size_t write_first_lost(const Job& job, Stream& stream);
  void write_lost(const Job& job, schedule::ClassId stream_class, RepairCap cap);
  Wrote write_new(const Job& job, schedule::ClassId stream_class);
  bool write_more(const Job& job, Stream& stream);
  void ask_source(const Job& job, Stream& stream);
  std::size_t write_data(const Job& job, Stream& stream, std::uint64_t offset,
                         std::uint64_t available, unsigned times_lost);
  void count_class(const Stream& stream, std::size_t bytes);

  // Prompt streams share no packet with other streams, since another code covers them.
  bool may_join(const Stream& stream) const { return !prompt_ || *prompt_ == stream.prompt; }

  StreamSource& source_;
  WorkCount& work_;
  // Whether the packet has bytes of prompt streams; nullopt if it has no stream bytes yet.
  std::optional<bool> prompt_;
  schedule::Turn turn_;
  std::vector<schedule::ClassBytes> sent_;
  std::size_t packet_begin_ = 0;  // where the last packet begins in `sent_`
  // The stream that filled the last packet of the burst with new bytes; nullptr if there is none.
  // `sure_` is the rest of its SendingSide::sure_bytes(), or zero if that was not called yet.
  const Stream* filler_ = nullptr;
  std::uint64_t sure_ = 0;
  Totals totals_;
};

}  // namespace satrelay::stp

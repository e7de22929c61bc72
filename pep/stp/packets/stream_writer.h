// What of streams goes into a packet: OPENs before anything else, then copies of what was lost
// again and again, ends, and the bytes, lost and new, class by class.
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
#include "pep/stp/packets/loss_rate.h"
#include "pep/stp/packets/packet_builder.h"
#include "pep/stp/streams/stream_source.h"
#include "pep/stp/streams/streams.h"

namespace satrelay::stp {

class StreamWriter {
 public:
  // What a packet is made of, and from what.
  struct Job {
    PacketBuilder& packet;
    Streams& streams;
    const LossRate& loss;
    Instant now;
  };
  struct Totals {
    std::uint64_t new_bytes = 0;
    std::uint64_t retransmitted_bytes = 0;  // copies included
    std::uint64_t copies = 0;
  };

  // Both outlive this.
  StreamWriter(StreamSource& source, WorkCount& work) : source_(source), work_(work) {}

  // What the next packet may carry.
  void begin(const schedule::Turn& turn) {
    turn_ = turn;
    sent_.clear();
    filler_ = nullptr;
  }
  const schedule::Turn& turn() const { return turn_; }
  void write(const Job& job);
  // Whether the next packet can carry nothing of streams but new bytes of the class that has the
  // turn; then this does the same with less asking.
  bool only_new(const Streams& streams, Instant now) const;
  enum class Wrote : std::uint8_t {
    kMoreOfTheSame,  // of one stream, of which more is left; all else is as it was
    kAnything,
  };
  Wrote write_only_new(const Job& job);
  // What went into the packets since begin().
  std::span<const schedule::ClassBytes> sent() const { return sent_; }
  const Totals& totals() const { return totals_; }
  // A repair of packets of the class is in the packet.
  void count_repair(schedule::ClassId stream_class, std::size_t bytes) {
    sent_.push_back({stream_class, bytes, bytes});
  }

 private:
  enum class RepairCap : std::uint8_t { kShare, kNone };

  [[nodiscard]] bool write_opens(const Job& job);
  void write_copies(const Job& job);
  void write_fins(const Job& job);
  void write_class(const Job& job, schedule::ClassId stream_class);
  // Sends the first lost bytes of the stream again, and returns how many fitted.
  std::size_t write_first_lost(const Job& job, Stream& stream);
  void write_lost(const Job& job, schedule::ClassId stream_class, RepairCap cap);
  Wrote write_new(const Job& job, schedule::ClassId stream_class);
  bool write_more(const Job& job, Stream& stream);
  void ask_source(const Job& job, Stream& stream);
  std::size_t write_data(const Job& job, Stream& stream, std::uint64_t offset,
                         std::uint64_t available, unsigned times_lost);
  void count_class(const Stream& stream, std::size_t bytes);

  // Prompt streams and others share no packet: each is covered in its own way.
  bool may_join(const Stream& stream) const { return !prompt_ || *prompt_ == stream.prompt; }

  StreamSource& source_;
  WorkCount& work_;
  std::optional<bool> prompt_;  // the packet has bytes of such streams
  schedule::Turn turn_;
  std::vector<schedule::ClassBytes> sent_;
  // Whose new bytes filled the last packet since begin(), and Streams::sure_bytes() of it; zero: it
  // was not asked yet.
  const Stream* filler_ = nullptr;
  std::uint64_t sure_ = 0;
  Totals totals_;
};

}  // namespace satrelay::stp

// The streams of one association: their table, how many are open, and which ids the peer has used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "pep/base/arena.h"
#include "pep/base/check.h"
#include "pep/base/incremental_scan.h"
#include "pep/base/work_count.h"
#include "pep/stp/streams/stream.h"
#include "pep/stp/streams/stream_table.h"
#include "pep/stp/streams/streams_config.h"
#include "pep/stp/types.h"

namespace satrelay::stp {

class StreamSet {
 public:
  // With kMemory, the stream gets a reserve of memory for each half, and the arena must have two
  // free reserves. With kNothing, the stream gets no reserve, as it is reset at once.
  enum class Own : std::uint8_t { kNothing, kMemory };

  // `arena` and `work` must outlive this object.
  StreamSet(const StreamsConfig& config, Arena& arena, WorkCount& work)
      : max_streams_(config.max_streams),
        reserves_(config.reserves),
        arena_(arena),
        work_(work),
        // The slots beyond max_streams are for streams that wait for the end of their reset, and
        // for streams that are refused.
        table_(arena, config.max_streams + config.max_streams / 4 + 64, config.hash_secret) {}

  Stream* find(std::uint64_t id) const { return table_.find(id); }
  // The stream if the relay may use it. nullptr while its OPEN has not arrived, and after it is
  // reset or released.
  Stream* visible(StreamId id) const {
    Stream* stream = table_.find(static_cast<std::uint64_t>(id));
    return stream != nullptr && stream->visible() && !stream->released ? stream : nullptr;
  }
  // The stream in the slot `index`. nullptr if the stream with this generation no longer exists.
  Stream* present(std::uint32_t index, std::uint16_t generation) const {
    Stream& stream = table_.at(index);
    return stream.phase != Stream::Phase::kFree && stream.generation == generation ? &stream
                                                                                   : nullptr;
  }
  bool full() const { return table_.full(); }
  std::size_t open_count() const { return open_count_; }  // streams in kOpen and kAwaitingOpen
  // Whether one more stream may be opened, and the arena has reserves for it.
  bool has_place() const {
    return open_count_ < max_streams_ && (!reserves_ || arena_.free_reserves() >= 2);
  }
  // The ids that the peer has used.
  PeerIds& peer_ids() { return peer_ids_; }

  // Returns a free slot for a new stream; nullptr if no slot is free. Members may have the values
  // of the last stream in this slot.
  [[nodiscard]] Stream* insert(std::uint64_t id, Own own) {
    Stream* stream = table_.insert(id);
    if (stream == nullptr) return nullptr;
    SATRELAY_CHECK(own == Own::kNothing || !reserves_ || stream->own_memory());
    return stream;
  }
  // Frees the slot. The caller has removed the stream from all lists.
  void erase(Stream& stream) {
    stream.phase = Stream::Phase::kFree;
    stream.generation = (stream.generation + 1) & Stream::kGenerationMask;
    table_.erase(stream);
  }
  // Call count_open() when a stream is opened, or begins to wait for its OPEN. Call count_over()
  // when the stream is reset or ends.
  void count_open() { ++open_count_; }
  void count_over() { --open_count_; }

  // The slots, both used and free.
  std::size_t slot_count() const { return table_.slot_count(); }
  const Stream& at(std::uint32_t index) const { return table_.at(index); }
  void add_held(BlocksHeld& held) const { table_.add_held(held); }
  // begin() starts a visit to all open streams. Each call of visit_open() visits some of them.
  void begin(IncrementalScan& scan) const { scan.begin(table_.slot_count()); }
  template <typename Visit>
  void visit_open(IncrementalScan& scan, Visit&& visit) {
    // Number of slots that one step visits.
    constexpr std::size_t kStreamsPerStep = 256;
    scan.step(table_.slot_count(), kStreamsPerStep, [&](std::size_t i) {
      work_.add();
      Stream& stream = table_.at(static_cast<std::uint32_t>(i));
      if (stream.phase == Stream::Phase::kOpen) visit(stream);
    });
  }

  // Moves the table out, as the association has ended.
  StreamTable take_table() { return std::move(table_); }

 private:
  std::uint32_t max_streams_;
  bool reserves_;
  Arena& arena_;
  WorkCount& work_;
  StreamTable table_;
  PeerIds peer_ids_;
  std::size_t open_count_ = 0;
};

}  // namespace satrelay::stp

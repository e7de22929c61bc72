// The streams of one association that exist: their table, how many are open, and which ids of the
// peer have been used.
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
  // kMemory: with a reserve for each half, which the arena must have. kNothing: without, for a
  // stream that is reset at once.
  enum class Own : std::uint8_t { kNothing, kMemory };

  // `arena` and `work` outlive this object.
  StreamSet(const StreamsConfig& config, Arena& arena, WorkCount& work)
      : max_streams_(config.max_streams),
        reserves_(config.reserves),
        arena_(arena),
        work_(work),
        // Slots beyond max_streams are for streams that wait for the end of their reset, and for
        // refusals.
        table_(arena, config.max_streams + config.max_streams / 4 + 64, config.hash_secret) {}

  Stream* find(std::uint64_t id) const { return table_.find(id); }
  // The stream as the relay sees it: nullptr while its OPEN is awaited, and once it is reset or
  // released.
  Stream* visible(StreamId id) const {
    Stream* stream = table_.find(static_cast<std::uint64_t>(id));
    return stream != nullptr && stream->visible() && !stream->released ? stream : nullptr;
  }
  // The stream in the slot `index`; nullptr if the stream of `generation` is gone.
  Stream* present(std::uint32_t index, std::uint16_t generation) const {
    Stream& stream = table_.at(index);
    return stream.phase != Stream::Phase::kFree && stream.generation == generation ? &stream
                                                                                   : nullptr;
  }
  bool full() const { return table_.full(); }
  std::size_t open_count() const { return open_count_; }  // kOpen and kAwaitingOpen
  // Whether there are a place and memory for one more stream that carries bytes.
  bool has_place() const {
    return open_count_ < max_streams_ && (!reserves_ || arena_.free_reserves() >= 2);
  }
  // The ids of the peer that have been used.
  PeerIds& peer_ids() { return peer_ids_; }

  // A free slot, in the state in which the last stream has left it; nullptr: there is none.
  [[nodiscard]] Stream* insert(std::uint64_t id, Own own) {
    Stream* stream = table_.insert(id);
    if (stream == nullptr) return nullptr;
    SATRELAY_CHECK(own == Own::kNothing || !reserves_ || stream->own_memory());
    return stream;
  }
  // Frees the slot. The caller has taken the stream out of all lists.
  void erase(Stream& stream) {
    stream.phase = Stream::Phase::kFree;
    stream.generation = (stream.generation + 1) & Stream::kGenerationMask;
    table_.erase(stream);
  }
  // A stream is open, or awaits its OPEN, from now on. It is reset or over from now on.
  void count_open() { ++open_count_; }
  void count_over() { --open_count_; }

  // The slots, whether they are free or not.
  std::size_t slot_count() const { return table_.slot_count(); }
  const Stream& at(std::uint32_t index) const { return table_.at(index); }
  void add_held(BlocksHeld& held) const { table_.add_held(held); }
  // Begins to visit all streams, and visits some more that are open.
  void begin(IncrementalScan& scan) const { scan.begin(table_.slot_count()); }
  template <typename Visit>
  void visit_open(IncrementalScan& scan, Visit&& visit) {
    // Streams in one step. Some streams take longer than others.
    constexpr std::size_t kStreamsPerStep = 256;
    scan.step(table_.slot_count(), kStreamsPerStep, [&](std::size_t i) {
      work_.add();
      Stream& stream = table_.at(static_cast<std::uint32_t>(i));
      if (stream.phase == Stream::Phase::kOpen) visit(stream);
    });
  }

  // The association is over.
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

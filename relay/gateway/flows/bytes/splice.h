// Moves bytes between the two halves of a flow, through the block codec. Splice does not know how
// flows open or end.
#pragma once

#include <array>
#include <memory>
#include <optional>

#include "pep/base/arena.h"
#include "pep/base/histogram.h"
#include "pep/base/stopwatch.h"
#include "pep/base/time.h"
#include "pep/base/work_budget.h"
#include "pep/compress/block_codec.h"
#include "pep/compress/effort.h"
#include "relay/gateway/flows/bytes/inbound_reader.h"
#include "relay/gateway/flows/flow.h"
#include "relay/gateway/peers/dictionaries.h"
#include "relay/gateway/peers/shared_dictionaries.h"

namespace satrelay::gateway {

enum class SpliceResult : std::uint8_t {
  kDone,       // all bytes were moved, or the receiving half has no more room
  kNoMemory,   // memory is short: try again later
  kSpent,      // the call's budget of work is spent: go on in the next call
  kMalformed,  // the peer's stream breaks the block format
  kReset,      // all bytes were moved, and the far host has reset its connection behind them
};

class Splice {
 public:
  // `compress_level` is a level of zstd, or kAutoLevel. `stopwatch` may be nullptr. `dictionaries`
  // are the dictionaries with which the peers may compress blocks. `budget` must outlive this
  // object.
  Splice(int compress_level, const Dictionaries& dictionaries, WorkBudget& budget,
         const Stopwatch* stopwatch);

  // Call this before the first block that is compressed with the dictionary.
  void make_room_for(const compress::DictionaryLevels& dictionary) {
    encoder_.make_room_for(dictionary);
  }

  // Maximum number of plain bytes in a block. The far gateway holds a compressed block until it is
  // complete, and passes on the bytes of a raw block as they arrive.
  struct Largest {
    std::size_t compressed = 0;
    std::size_t raw = 0;
  };
  // Moves one block of the host's bytes to the stream. Called when the pacer asks for a block. Uses
  // the dictionary if there is one and it saves bytes.
  [[nodiscard]] SpliceResult to_stream(Flow& flow, stp::Session& session, const Largest& largest,
                                       SharedDictionary& dictionary, Instant now);
  // Moves about `useful` bytes of the stream to the host's endpoint. The last compressed block may
  // exceed this number. Moves fewer bytes if the budget of work is spent. `memory` is the number of
  // plain bytes for which there is memory now. The function subtracts the bytes that it moves.
  [[nodiscard]] SpliceResult to_host(Flow& flow, stp::Session& session, std::uint64_t useful,
                                     std::uint64_t& memory, Instant now);

  // Reads the stream of a flow after our host has reset its connection. Drops the bytes, so that
  // their credit returns to the peer.
  [[nodiscard]] SpliceResult drop(Flow& flow, stp::Session& session, Instant now);

  const compress::CodecCounters& counters() const { return counters_; }
  const Histogram& block_times() const { return block_times_; }  // ns

 private:
  struct Encoded {
    std::size_t size = 0;
    bool with_dictionary = false;
  };
  enum class Way : std::uint8_t { kWithout, kWith, kBoth };  // whether the dictionary is used
  static Way choose(SharedDictionary& dictionary, std::size_t size);
  // Leaves the result in encoded_, if compression pays.
  std::optional<Encoded> compress(ConstBytes plain, SharedDictionary& dictionary, Way way);
  std::optional<Encoded> compress_both_ways(ConstBytes plain, SharedDictionary& dictionary);
  enum class Attempt : std::uint8_t {
    kWritten,
    kDoesNotPay,  // nothing was written, and the attempt took `time_ns`
    kNoRoom,      // nothing was written: the stream had no memory for the block
  };
  bool worth_a_try(const Flow& flow, std::size_t size, std::size_t least, ConstBytes sample);
  Attempt compressed_to_stream(Flow& flow, stp::Session& session, std::size_t size,
                               SharedDictionary& dictionary, std::uint64_t& time_ns, Instant now);
  std::size_t raw_to_stream(Flow& flow, stp::Session& session, std::size_t size, Instant now);
  void count(Flow& flow, const compress::CodecCounters& block);
  bool next_block(Flow& flow, InboundReader& inbound, SpliceResult& result);
  SpliceResult raw_to_host(Flow& flow, InboundReader& inbound, std::uint64_t most, Instant now);
  static bool has_room(const Flow& flow, std::uint64_t left, std::uint64_t memory);
  SpliceResult compressed_to_host(Flow& flow, InboundReader& inbound, std::uint64_t most,
                                  Instant now);

  const Dictionaries& dictionaries_;
  WorkBudget& budget_;
  const bool chooses_level_;
  const Stopwatch* stopwatch_;
  compress::Effort effort_;
  compress::BlockEncoder encoder_;
  compress::BlockDecoder decoder_;
  compress::CodecCounters counters_;
  Histogram block_times_{compress::kBlockCompression.bounds};
  using Buffer = std::array<std::byte, compress::kMaxPlainBlock>;
  std::unique_ptr<Buffer> plain_ = std::make_unique<Buffer>();
  std::unique_ptr<Buffer> encoded_ = std::make_unique<Buffer>();
  std::unique_ptr<Buffer> other_encoded_ = std::make_unique<Buffer>();
};

}  // namespace satrelay::gateway

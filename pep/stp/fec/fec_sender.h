// The sending half of forward error correction: gathers protected packets into blocks as they
// leave, keeps of each block nothing but its repair symbols, and says when these may leave.
//
// A block ends with 64 packets or a span of 128 numbers, when nothing has followed for 2 ms, and
// after 10 ms; but while more waits to be sent, only once its repairs are an eighth of it at most
// (a slow carrier has few packets in 10 ms), and after 100 ms at the latest. Its repairs use idle
// capacity first, spread over milliseconds because losses come in bursts. While bytes of short
// flows wait they stay behind for 1,024 packets: a flow that is over by then has lost no time to
// them, and one that has become bulk by then never pays for them. Bulk they pass, one in eight
// packets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "pep/base/bytes.h"
#include "pep/base/range_set.h"
#include "pep/base/time.h"
#include "pep/stp/fec/fec_codec.h"
#include "pep/stp/fec/fec_policy.h"
#include "pep/stp/wire/repair_frame.h"

namespace satrelay::stp {

class FecSender {
 public:
  // What else the carrier has to do.
  enum class Waiting : std::uint8_t { kNothing, kBulk, kShort };

  // For whom a block is sent.
  struct Purpose {
    std::uint32_t stream = 0;
    std::uint16_t generation = 0;
    bool several = false;  // streams, or none: `stream` means nothing
    bool opens = false;    // an OPEN is in it
    void merge(const Purpose& other) {
      several =
          several || other.several || stream != other.stream || generation != other.generation;
      opens = opens || other.opens;
    }
  };

  // `codec` and `policy` outlive this. No datagram is larger than `max_datagram`.
  FecSender(const FecCodec& codec, const FecPolicy& policy, std::size_t max_datagram);

  // Whether one more packet can be protected.
  bool has_room() const { return has_open_ || count_ < kBlocks; }
  // A protected packet leaves, its numbers ascending; has_room().
  void add(std::uint64_t number, ConstBytes frames, const Purpose& purpose, Instant now);
  // Ends blocks whose time has come, and drops those that no repair could help any more. Returns
  // how many repairs were dropped.
  std::size_t advance(Waiting waiting, std::uint64_t next_number, Duration round_trip, Instant now);

  // Whether a repair may leave as packet `next_number`.
  bool ready(Waiting waiting, std::uint64_t next_number, Instant now) const;
  // When a repair may leave, if nothing else is sent; `now` if it may at once.
  Instant next_repair(Waiting waiting, std::uint64_t next_number, Instant now) const;
  // When advance() has something to do.
  Instant next_timeout(Waiting waiting, Duration round_trip) const;
  // The block whose repair is next; there is one if ready().
  const Purpose& next_purpose() const { return front().purpose; }
  // Gives up the rest of the next block's repairs; how many.
  std::size_t drop_next();
  // Writes a REPAIR frame for packet `own_number`; false if it does not fit into `out`.
  bool write(ByteWriter& out, std::uint64_t own_number, Instant now);

  // The blocks whose repairs may have been on the way still at `then`, when the receiver wrote a
  // report, as ranges of packets, ascending. What it reports missing of them is not lost yet.
  // Valid until the next call.
  std::span<const Range> repairable(Instant then);

  void clear();

 private:
  static constexpr std::size_t kBlocks = 32;
  static constexpr std::size_t kHistory = 256;
  static constexpr Duration kLull = Duration::milliseconds(2);
  static constexpr Duration kBlockTime = Duration::milliseconds(10);
  static constexpr Duration kLongestBlockTime = Duration::milliseconds(100);
  static constexpr std::size_t kShare = 8;  // one repair to so many packets, while others wait
  static constexpr std::uint64_t kCourtesy = 1024;  // packets of short flows that go before repairs
  static constexpr Duration kGap = Duration::milliseconds(1);
  static constexpr Duration kSpread = Duration::milliseconds(6);

  struct Block {
    std::uint64_t first = 0;
    BlockMembers members;
    std::size_t sources = 0;
    std::size_t symbol_size = 0;  // of the longest source
    std::size_t repairs = 0;      // kept while open, to be sent once closed
    std::size_t sent = 0;
    Purpose purpose;
    Instant opened;
    Instant last_added;
    Instant closed;
    std::uint64_t closed_before = 0;  // packet number
  };
  struct Sent {
    Range packets;
    Instant last_repair;
  };

  Block& block(std::size_t i) { return blocks_[(first_ + i) % kBlocks]; }
  Block& open_block() { return block(count_ - 1); }
  const Block& open_block() const { return blocks_[(first_ + count_ - 1) % kBlocks]; }
  const Block& front() const { return blocks_[first_]; }
  bool front_is_closed() const { return count_ > 1 || (count_ == 1 && !has_open_); }
  std::byte* symbol(const Block& block, std::size_t row) const {
    const auto slot = static_cast<std::size_t>(&block - blocks_.data());
    return symbols_.get() + (slot * FecCodec::kMaxRepairs + row) * stride_;
  }
  std::size_t repairs_for(const Block& block, std::size_t sources) const;
  Instant close_at(Waiting waiting) const;
  void open(std::uint64_t number, const Purpose& purpose, Instant now);
  void close(std::uint64_t next_number, Instant now);
  void pop_front();
  void note_sent(const Block& block, Instant now);

  const FecCodec& codec_;
  const FecPolicy& policy_;
  std::size_t stride_;
  std::unique_ptr<std::byte[]> symbols_;
  std::unique_ptr<std::byte[]> source_;  // the packet at hand as a padded symbol
  std::array<Block, kBlocks> blocks_;    // a ring; the newest may be open
  std::size_t first_ = 0;
  std::size_t count_ = 0;
  bool has_open_ = false;
  std::size_t pending_ = 0;  // repairs of closed blocks
  std::uint64_t last_repair_number_ = 0;
  Instant next_on_idle_ = Instant::from_nanoseconds(0);
  std::array<Sent, kHistory> history_;  // a ring
  std::size_t history_count_ = 0;
  std::array<Range, kHistory> repairable_;
};

}  // namespace satrelay::stp

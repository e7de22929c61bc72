// The receiving half of forward error correction: keeps copies of the last protected packets, and
// gives back those that were lost as soon as a block's packets and repairs suffice.
//
// All memory is taken at the start. A packet is kept until one with a number 2,048 higher takes its
// place, a block until it is whole, or is the oldest of eight and another one begins.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "pep/stp/fec/fec_codec.h"
#include "pep/stp/packets/received_packets.h"
#include "pep/stp/wire/repair_frame.h"

namespace satrelay::stp {

class FecReceiver {
 public:
  static constexpr std::size_t kKeptPackets = 2048;
  static constexpr std::size_t kBlocks = 8;
  // After this a block's missing packets have been sent again long since.
  static constexpr Duration kBlockTimeout = Duration::seconds(1);
  // How long a gap among protected packets is left to repair before it is reported at once: a
  // block's time and that of its repairs.
  static constexpr Duration kPatience = Duration::milliseconds(20);

  struct Packet {
    std::uint64_t number = 0;
    ConstBytes frames;
  };
  struct Counters {
    std::uint64_t used = 0;       // packets given back
    std::uint64_t wasted = 0;     // repairs of which nothing came
    std::uint64_t malformed = 0;  // symbols that contradict their packets
  };

  FecReceiver(FecCodec& codec, std::size_t max_datagram);

  // A protected packet arrived and is recorded.
  void handle_packet(std::uint64_t number, ConstBytes frames, const ReceivedPackets& received,
                     Instant now);
  // Packet `number` arrived, is recorded, and carried `frame`.
  void handle_repair(const RepairFrame& frame, std::uint64_t number,
                     const ReceivedPackets& received, Instant now);
  // What the last call gave back: packets that were lost, in ascending order; valid until the
  // next call.
  std::span<const Packet> repaired() const { return std::span(repaired_).first(repaired_count_); }

  // Drops blocks whose time is over.
  void expire(Instant now);
  Instant next_timeout() const;
  const Counters& counters() const { return counters_; }
  std::uint64_t used_in_session() const { return counters_.used - used_before_; }
  void clear();

 private:
  struct Kept {
    std::uint64_t number = kEmpty;
    std::uint16_t size = 0;  // of the symbol
  };
  static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};
  struct Block {
    bool in_use = false;
    std::uint64_t first = 0;
    BlockMembers members;
    std::size_t symbol_size = 0;
    std::size_t repairs = 0;
    std::array<std::uint8_t, FecCodec::kMaxRepairs> rows{};
    Instant opened;
  };
  struct Missing {
    std::array<std::uint8_t, FecCodec::kMaxRepairs> places{};
    std::array<std::uint64_t, FecCodec::kMaxRepairs> numbers{};
    std::size_t count = 0;   // may exceed what fits
    std::size_t wanted = 0;  // of them not recorded as received
  };

  std::byte* kept_symbol(std::uint64_t number) const {
    return kept_symbols_.get() + number % kKeptPackets * stride_;
  }
  const Kept* find(std::uint64_t number) const {
    const Kept& kept = kept_[number % kKeptPackets];
    return kept.number == number ? &kept : nullptr;
  }
  std::byte* repair_symbol(const Block& block, std::size_t i) const {
    const auto slot = static_cast<std::size_t>(&block - blocks_.data());
    return repair_symbols_.get() + (slot * FecCodec::kMaxRepairs + i) * stride_;
  }
  Missing missing_of(std::uint64_t first, const BlockMembers& members,
                     const ReceivedPackets& received) const;
  Block* block_for(std::uint64_t first, const BlockMembers& members, std::size_t symbol_size,
                   Instant now);
  void decode(Block& block, const Missing& missing, const ReceivedPackets& received);
  void drop(Block& block);

  FecCodec& codec_;
  std::size_t stride_;
  std::unique_ptr<std::byte[]> kept_symbols_;
  std::unique_ptr<std::byte[]> repair_symbols_;
  std::unique_ptr<std::byte[]> solved_;
  std::array<Kept, kKeptPackets> kept_;
  std::array<Block, kBlocks> blocks_;
  std::size_t blocks_in_use_ = 0;
  std::array<Packet, FecCodec::kMaxRepairs> repaired_;
  std::size_t repaired_count_ = 0;
  Counters counters_;
  std::uint64_t used_before_ = 0;  // clear()
};

}  // namespace satrelay::stp

// Records what each packet in flight carried: a ring indexed by packet number, 64 bytes a packet.
// It starts small and doubles up to its limit. It consists of chunks, so that growing copies no
// packets. It holds references and no bytes: lost data is sent again from the state of its stream.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "pep/base/time.h"

namespace satrelay::stp {

enum class ItemKind : std::uint8_t {
  kData,
  kDataAndFin,
  kOpen,
  kReset,
  kStreamCredit,
  kLaneCredit,
  kRate,         // offset: its sequence number
  kConfirm,      // the same
  kStartCredit,  // the same
};

// One item in a packet that must be sent again if the packet is lost.
struct SentItem {
  std::uint64_t offset = 0;
  std::uint32_t stream = 0;  // slot in the stream table
  std::uint16_t length = 0;
  std::uint16_t packed = 0;  // kind, losses and generation: 4, 3 and 9 bits

  static constexpr unsigned kMaxLosses = 7;
  static constexpr std::uint16_t kGenerationMask = 0x1ff;
  // `losses`: how often its bytes had been lost when the packet was sent, up to kMaxLosses.
  static constexpr SentItem make(ItemKind kind, std::uint32_t stream, std::uint16_t generation,
                                 std::uint64_t offset = 0, std::uint16_t length = 0,
                                 unsigned losses = 0) {
    return {offset, stream, length,
            static_cast<std::uint16_t>((static_cast<unsigned>(kind) << 12) | (losses << 9) |
                                       (generation & kGenerationMask))};
  }
  constexpr ItemKind kind() const { return static_cast<ItemKind>(packed >> 12); }
  constexpr unsigned losses() const { return (packed >> 9) & kMaxLosses; }
  // A slot is used again only after the last packets of its stream are settled, at least a round
  // trip later. Nine bits tell the streams of a slot apart. If a peer leaves a packet unreported
  // for very long, the generation may come round. So SendHalf ignores ranges that its stream has
  // never sent.
  constexpr std::uint16_t generation() const { return packed & kGenerationMask; }
};

struct SentPacket {
  static constexpr std::size_t kInlineItems = 3;
  Instant sent;
  std::array<SentItem, kInlineItems> items;
  std::uint16_t bytes = 0;  // UDP payload
  std::uint8_t item_count = 0;
  bool eliciting : 1 = false;     // asks for a report
  bool low_priority : 1 = false;  // chosen by the rate controller
  bool covered : 1 = false;       // by a code that can repair it
  bool prompt : 1 = false;        // that code is the one of prompt flows
  std::uint32_t overflow : 21 = 0;
  std::uint32_t booked_steps : 11 = 0;

  // The time that the carrier still needed for earlier packets when it got this one: in steps of
  // 2.1 ms, at most 4.3 s. Data finds next to nothing booked. Packets that may run ahead of data
  // do.
  void set_booked_before(Duration time) {
    const std::int64_t steps = std::max(time, Duration::zero()).to_nanoseconds() >> kStepBits;
    booked_steps = static_cast<std::uint32_t>(std::min(steps, kMostSteps)) & kMostSteps;
  }
  Duration booked_before() const {
    return Duration::nanoseconds(static_cast<std::int64_t>(booked_steps) << kStepBits);
  }

 private:
  static constexpr unsigned kStepBits = 21;
  static constexpr std::int64_t kMostSteps = 2047;
};
static_assert(sizeof(SentPacket) == 64);

class SentLedger {
 public:
  static constexpr std::size_t kMaxItems = 16;
  // SentPacket::overflow can number so many.
  static constexpr std::uint32_t kMostPackets = 1U << 21;

  // `max_packets`: at most kMostPackets.
  explicit SentLedger(std::size_t max_packets);
  // An empty ledger with the memory of this one: to free that memory may take long.
  [[nodiscard]] SentLedger renewed() && {
    next_ = 0;
    overflow_used_ = 0;
    free_overflow_ = kNone;
    return std::move(*this);
  }

  std::uint64_t next() const { return next_; }  // number of the next packet
  // Whether one more packet fits while all from `oldest_unresolved` on must be kept.
  bool has_room(std::uint64_t oldest_unresolved) const {
    return next_ - oldest_unresolved < max_packets_;
  }
  // Records packet next() and moves on. Requires has_room(oldest_unresolved).
  SentPacket& append(Instant sent, std::size_t bytes, bool eliciting,
                     std::span<const SentItem> items, std::uint64_t oldest_unresolved) {
    if (next_ % kChunk == 0) begin_chunk(oldest_unresolved);
    SentPacket& packet = at(next_);
    packet.sent = sent;
    packet.bytes = static_cast<std::uint16_t>(bytes);
    packet.item_count = static_cast<std::uint8_t>(items.size());
    packet.eliciting = eliciting;
    packet.low_priority = packet.covered = packet.prompt = false;
    packet.booked_steps = 0;
    if (items.size() == 1) {  // the usual case
      packet.items[0] = items[0];
    } else {
      put_items(packet, items);
    }
    ++next_;
    return packet;
  }
  // nullptr if the packet was never sent or its slot has been used again.
  const SentPacket* find(std::uint64_t number) const {
    if (number >= next_ || chunk_of(next_ - 1) - chunk_of(number) > mask_) return nullptr;
    const Chunk* chunk = ring_[chunk_of(number) & mask_].get();
    return chunk == nullptr ? nullptr : &(*chunk)[number % kChunk];
  }
  // Calls the function for each item of a packet. Items beyond the third exist only until the
  // packet is settled.
  template <typename Function>
  void for_each_item(const SentPacket& packet, Function&& function) const {
    const std::size_t in_place =
        packet.item_count < SentPacket::kInlineItems ? packet.item_count : SentPacket::kInlineItems;
    for (std::size_t i = 0; i < in_place; ++i) function(packet.items[i]);
    for (std::size_t i = in_place; i < packet.item_count; ++i) {
      // Copies the item: the function may grow the pool.
      const SentItem item = overflow(packet.overflow).items[i - SentPacket::kInlineItems];
      function(item);
    }
  }
  // Frees the overflow room of a packet that is acknowledged or lost.
  void settle(std::uint64_t number);

 private:
  static constexpr std::size_t kChunk = 256;
  using Chunk = std::array<SentPacket, kChunk>;
  struct Overflow {
    std::array<SentItem, kMaxItems - SentPacket::kInlineItems> items;
    std::uint32_t next_free = kNone;
  };
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::size_t kOverflowChunk = 64;
  using OverflowChunk = std::array<Overflow, kOverflowChunk>;

  static std::uint64_t chunk_of(std::uint64_t number) { return number / kChunk; }
  SentPacket& at(std::uint64_t number) {
    return (*ring_[chunk_of(number) & mask_])[number % kChunk];
  }
  const Overflow& overflow(std::uint32_t i) const {
    return (*overflow_[i / kOverflowChunk])[i % kOverflowChunk];
  }
  Overflow& overflow(std::uint32_t i) {
    return (*overflow_[i / kOverflowChunk])[i % kOverflowChunk];
  }
  void begin_chunk(std::uint64_t oldest_unresolved);
  void put_items(SentPacket& packet, std::span<const SentItem> items);
  std::uint32_t take_overflow();

  std::size_t max_packets_;
  std::vector<std::unique_ptr<Chunk>> ring_;  // by the chunk's number; its size is a power of two
  std::uint64_t mask_;
  std::uint64_t next_ = 0;
  std::vector<std::unique_ptr<OverflowChunk>> overflow_;
  std::uint32_t overflow_used_ = 0;  // number of entries taken so far
  std::uint32_t free_overflow_ = kNone;
};

}  // namespace satrelay::stp

// Records the content of each packet in flight, in a ring that is indexed by packet number, with 64
// bytes per packet. The ring starts small, and doubles up to its limit. It consists of chunks, so
// no packets are copied when it grows. A record holds references instead of bytes: lost data is
// retransmitted from the state of its stream.
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
  kRate,         // offset is the sequence number of the frame
  kConfirm,      // offset is the sequence number of the frame
  kStartCredit,  // offset is the sequence number of the frame
};

// One item of a packet. It must be retransmitted if the packet is lost.
struct SentItem {
  std::uint64_t offset = 0;
  std::uint32_t stream = 0;  // slot in the stream table
  std::uint16_t length = 0;
  std::uint16_t packed = 0;  // kind, losses and generation: 4, 3 and 9 bits

  static constexpr unsigned kMaxLosses = 7;
  static constexpr std::uint16_t kGenerationMask = 0x1ff;
  // `losses` says how many times the bytes had been lost before this packet was sent. It is at most
  // kMaxLosses.
  static constexpr SentItem make(ItemKind kind, std::uint32_t stream, std::uint16_t generation,
                                 std::uint64_t offset = 0, std::uint16_t length = 0,
                                 unsigned losses = 0) {
    return {offset, stream, length,
            static_cast<std::uint16_t>((static_cast<unsigned>(kind) << 12) | (losses << 9) |
                                       (generation & kGenerationMask))};
  }
  constexpr ItemKind kind() const { return static_cast<ItemKind>(packed >> 12); }
  constexpr unsigned losses() const { return (packed >> 9) & kMaxLosses; }
  // Distinguishes successive streams in the same slot. A slot is used again only when the last
  // packets of its stream are settled, which takes at least a round trip. If the peer leaves a
  // packet unreported for very long, the nine bits may repeat. So SendHalf ignores ranges that its
  // stream has never sent.
  constexpr std::uint16_t generation() const { return packed & kGenerationMask; }
};

struct SentPacket {
  static constexpr std::size_t kInlineItems = 3;
  Instant sent;
  std::array<SentItem, kInlineItems> items;
  std::uint16_t bytes = 0;  // bytes of UDP payload
  std::uint8_t item_count = 0;
  bool eliciting : 1 = false;     // asks for a report
  bool low_priority : 1 = false;  // the rate controller gave the packet low priority
  bool covered : 1 = false;       // covered by a code, which may recover it
  bool prompt : 1 = false;        // covered by the code of prompt flows
  std::uint32_t overflow : 21 = 0;
  std::uint32_t booked_steps : 11 = 0;

  // How long the carrier still needed for earlier packets when this packet was sent. Stored in
  // steps of 2.1 ms, up to 4.3 s. The time is nearly zero for data, which waits for the pacer. It
  // may be long for packets that do not wait for the pacer.
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
  // Upper limit of `max_packets`, as SentPacket::overflow has 21 bits.
  static constexpr std::uint32_t kMostPackets = 1U << 21;

  // `max_packets` must not exceed kMostPackets.
  explicit SentLedger(std::size_t max_packets);
  // Returns an empty ledger that uses the memory of this one, since it may take long to free that
  // memory.
  [[nodiscard]] SentLedger renewed() && {
    next_ = 0;
    overflow_used_ = 0;
    free_overflow_ = kNone;
    return std::move(*this);
  }

  std::uint64_t next() const { return next_; }  // number of the next packet
  // Whether one more packet fits, if all packets from `oldest_unresolved` on must be kept.
  bool has_room(std::uint64_t oldest_unresolved) const {
    return next_ - oldest_unresolved < max_packets_;
  }
  // Records the packet next(), and increments next(). has_room(oldest_unresolved) must hold.
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
  // Returns nullptr if the packet was never sent, or if its slot was used again.
  const SentPacket* find(std::uint64_t number) const {
    if (number >= next_ || chunk_of(next_ - 1) - chunk_of(number) > mask_) return nullptr;
    const Chunk* chunk = ring_[chunk_of(number) & mask_].get();
    return chunk == nullptr ? nullptr : &(*chunk)[number % kChunk];
  }
  // Calls the function for each item of a packet. After the packet is settled, only its first three
  // items exist.
  template <typename Function>
  void for_each_item(const SentPacket& packet, Function&& function) const {
    const std::size_t in_place =
        packet.item_count < SentPacket::kInlineItems ? packet.item_count : SentPacket::kInlineItems;
    for (std::size_t i = 0; i < in_place; ++i) function(packet.items[i]);
    for (std::size_t i = in_place; i < packet.item_count; ++i) {
      // Copy the item, as the function may let the pool grow.
      const SentItem item = overflow(packet.overflow).items[i - SentPacket::kInlineItems];
      function(item);
    }
  }
  // Frees the overflow entry of a packet that is acknowledged or lost.
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
  std::vector<std::unique_ptr<Chunk>> ring_;  // indexed by chunk number; its size is a power of two
  std::uint64_t mask_;
  std::uint64_t next_ = 0;
  std::vector<std::unique_ptr<OverflowChunk>> overflow_;
  std::uint32_t overflow_used_ = 0;  // number of entries that were ever used
  std::uint32_t free_overflow_ = kNone;
};

}  // namespace satrelay::stp

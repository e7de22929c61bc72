#include "pep/stp/numbers/sent_ledger.h"

#include <algorithm>
#include <bit>

#include "pep/base/check.h"

namespace satrelay::stp {

SentLedger::SentLedger(std::size_t max_packets)
    : max_packets_(std::bit_ceil(std::max(max_packets, kChunk))), ring_(1), mask_(0) {
  SATRELAY_CHECK(max_packets_ <= kMostPackets);
}

void SentLedger::put_items(SentPacket& packet, std::span<const SentItem> items) {
  SATRELAY_CHECK(items.size() <= kMaxItems);
  const std::size_t in_place = std::min(items.size(), SentPacket::kInlineItems);
  std::copy_n(items.begin(), in_place, packet.items.begin());
  if (items.size() > in_place) {
    packet.overflow = take_overflow() & (kMostPackets - 1);
    const auto rest = items.subspan(in_place);
    std::copy(rest.begin(), rest.end(), overflow(packet.overflow).items.begin());
  }
}

// Provides the chunk for packet next_, and keeps all chunks from the oldest unresolved packet on.
void SentLedger::begin_chunk(std::uint64_t oldest_unresolved) {
  const std::uint64_t chunk = chunk_of(next_);
  if (chunk - chunk_of(oldest_unresolved) > mask_) {
    SATRELAY_CHECK(ring_.size() * kChunk <= max_packets_);
    std::vector<std::unique_ptr<Chunk>> larger(ring_.size() * 2);
    const std::uint64_t larger_mask = larger.size() - 1;
    // The ring grows only if all of its chunks are in use.
    for (std::uint64_t n = chunk - ring_.size(); n < chunk; ++n) {
      larger[n & larger_mask] = std::move(ring_[n & mask_]);
    }
    ring_ = std::move(larger);
    mask_ = larger_mask;
  }
  std::unique_ptr<Chunk>& place = ring_[chunk & mask_];
  if (place == nullptr) place = std::make_unique<Chunk>();
}

std::uint32_t SentLedger::take_overflow() {
  if (free_overflow_ != kNone) {
    const std::uint32_t taken = free_overflow_;
    free_overflow_ = overflow(taken).next_free;
    return taken;
  }
  if (overflow_used_ == overflow_.size() * kOverflowChunk) {
    overflow_.push_back(std::make_unique<OverflowChunk>());
  }
  return overflow_used_++;
}

void SentLedger::settle(std::uint64_t number) {
  SentPacket& packet = at(number);
  if (packet.item_count > SentPacket::kInlineItems) {
    overflow(packet.overflow).next_free = free_overflow_;
    free_overflow_ = packet.overflow;
    packet.item_count = SentPacket::kInlineItems;
  }
}

}  // namespace satrelay::stp

#include "pep/stp/sent_ledger.h"

#include <algorithm>
#include <bit>

#include "pep/base/check.h"

namespace satrelay::stp {

namespace {
constexpr std::size_t kInitialPackets = 256;
}

SentLedger::SentLedger(std::size_t max_packets)
    : max_packets_(std::bit_ceil(std::max(max_packets, kInitialPackets))),
      ring_(kInitialPackets),
      mask_(kInitialPackets - 1) {
  overflow_.reserve(kInitialPackets);
  free_overflow_.reserve(kInitialPackets);
}

SentPacket& SentLedger::append(Instant sent, std::size_t bytes, bool eliciting,
                               std::span<const SentItem> items, std::uint64_t oldest_unresolved) {
  SATRELAY_CHECK(items.size() <= kMaxItems);
  if (next_ - oldest_unresolved >= ring_.size()) grow(oldest_unresolved);
  SentPacket& packet = ring_[next_ & mask_];
  packet.sent = sent;
  packet.bytes = static_cast<std::uint16_t>(bytes);
  packet.eliciting = eliciting;
  packet.low_priority = false;
  packet.item_count = static_cast<std::uint8_t>(items.size());
  const std::size_t in_place = std::min(items.size(), SentPacket::kInlineItems);
  std::copy_n(items.begin(), in_place, packet.items.begin());
  if (items.size() > in_place) {
    if (free_overflow_.empty()) {
      free_overflow_.push_back(static_cast<std::uint32_t>(overflow_.size()));
      overflow_.emplace_back();
      free_overflow_.reserve(overflow_.capacity());
    }
    packet.overflow = free_overflow_.back();
    free_overflow_.pop_back();
    const auto rest = items.subspan(in_place);
    std::copy(rest.begin(), rest.end(), overflow_[packet.overflow].begin());
  }
  ++next_;
  return packet;
}

void SentLedger::settle(std::uint64_t number) {
  SentPacket& packet = ring_[number & mask_];
  if (packet.item_count > SentPacket::kInlineItems) {
    free_overflow_.push_back(packet.overflow);
    packet.item_count = SentPacket::kInlineItems;
  }
}

void SentLedger::grow(std::uint64_t oldest_unresolved) {
  SATRELAY_CHECK(ring_.size() < max_packets_);
  std::vector<SentPacket> larger(ring_.size() * 2);
  const std::uint64_t larger_mask = larger.size() - 1;
  for (std::uint64_t n = oldest_unresolved; n < next_; ++n) {
    larger[n & larger_mask] = ring_[n & mask_];
  }
  ring_ = std::move(larger);
  mask_ = larger_mask;
}

void SentLedger::clear() {
  next_ = 0;
  overflow_.clear();
  free_overflow_.clear();
}

}  // namespace satrelay::stp

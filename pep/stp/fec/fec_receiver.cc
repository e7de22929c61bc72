#include "pep/stp/fec/fec_receiver.h"

#include <algorithm>
#include <cstring>

namespace satrelay::stp {

FecReceiver::FecReceiver(FecCodec& codec, std::size_t max_datagram)
    : codec_(codec),
      stride_(FecCodec::padded(kSymbolLengthSize + max_datagram)),
      // Not initialised: memory that is never used costs nothing.
      kept_symbols_(new std::byte[kKeptPackets * stride_]),
      repair_symbols_(new std::byte[kBlocks * FecCodec::kMaxRepairs * stride_]),
      solved_(new std::byte[FecCodec::kMaxRepairs * stride_]) {}

void FecReceiver::handle_packet(std::uint64_t number, ConstBytes frames,
                                const ReceivedPackets& received, Instant now) {
  repaired_count_ = 0;
  const std::size_t size = kSymbolLengthSize + frames.size();
  if (size > stride_) return;
  std::byte* symbol = kept_symbol(number);
  store_u16(symbol, static_cast<std::uint16_t>(frames.size()));
  std::memcpy(symbol + kSymbolLengthSize, frames.data(), frames.size());
  std::memset(symbol + size, 0, FecCodec::padded(size) - size);
  kept_[number % kKeptPackets] = {number, static_cast<std::uint16_t>(size)};
  if (blocks_in_use_ == 0) return;
  expire(now);
  // A late packet may be the one that its block lacked.
  for (Block& block : blocks_) {
    if (!block.in_use || number < block.first || number - block.first >= BlockMembers::kMaxSpan ||
        !block.members.contains(static_cast<std::size_t>(number - block.first))) {
      continue;
    }
    const Missing missing = missing_of(block.first, block.members, received);
    if (missing.wanted == 0) {
      drop(block);
    } else if (missing.count <= block.repairs) {
      decode(block, missing, received);
    }
    return;
  }
}

void FecReceiver::handle_repair(const RepairFrame& frame, std::uint64_t number,
                                const ReceivedPackets& received, Instant now) {
  repaired_count_ = 0;
  expire(now);
  if (frame.distance > number || frame.symbol.size() > stride_) {
    ++counters_.malformed;
    return;
  }
  const std::uint64_t first = number - frame.distance;
  const Missing missing = missing_of(first, frame.members, received);
  if (missing.wanted == 0) {
    ++counters_.wasted;
    return;
  }
  Block* block = block_for(first, frame.members, frame.symbol.size(), now);
  if (block == nullptr) {
    ++counters_.malformed;
    return;
  }
  const auto rows = std::span(block->rows).first(block->repairs);
  if (std::ranges::find(rows, frame.row) != rows.end()) {
    ++counters_.wasted;
    return;
  }
  std::byte* symbol = repair_symbol(*block, block->repairs);
  std::memcpy(symbol, frame.symbol.data(), frame.symbol.size());
  std::memset(symbol + frame.symbol.size(), 0,
              FecCodec::padded(frame.symbol.size()) - frame.symbol.size());
  block->rows[block->repairs++] = frame.row;
  if (missing.count <= block->repairs) decode(*block, missing, received);
}

// What has to be calculated, and whether anybody needs it. A packet that arrived but is not kept
// any more counts as missing too.
FecReceiver::Missing FecReceiver::missing_of(std::uint64_t first, const BlockMembers& members,
                                             const ReceivedPackets& received) const {
  Missing missing;
  members.for_each([&](std::size_t at, std::size_t place) {
    const std::uint64_t number = first + at;
    if (find(number) != nullptr) return;
    if (missing.count < missing.places.size()) {
      missing.places[missing.count] = static_cast<std::uint8_t>(place);
      missing.numbers[missing.count] = number;
    }
    ++missing.count;
    if (received.is_missing(number)) ++missing.wanted;
  });
  return missing;
}

// The block's place, which may be new; nullptr if it is known otherwise.
FecReceiver::Block* FecReceiver::block_for(std::uint64_t first, const BlockMembers& members,
                                           std::size_t symbol_size, Instant now) {
  Block* place = nullptr;
  for (Block& block : blocks_) {
    if (!block.in_use) {
      if (place == nullptr || place->in_use) place = &block;
    } else if (block.first == first) {
      const bool same = block.members == members && block.symbol_size == symbol_size;
      return same ? &block : nullptr;
    } else if (place == nullptr || (place->in_use && block.opened < place->opened)) {
      place = &block;
    }
  }
  if (place->in_use) drop(*place);
  *place = Block();
  place->in_use = true;
  place->first = first;
  place->members = members;
  place->symbol_size = symbol_size;
  place->opened = now;
  ++blocks_in_use_;
  return place;
}

void FecReceiver::decode(Block& block, const Missing& missing, const ReceivedPackets& received) {
  const std::size_t count = missing.count;
  const std::size_t padded = FecCodec::padded(block.symbol_size);
  const auto rows = std::span<const std::uint8_t>(block.rows).first(count);
  std::array<std::byte*, FecCodec::kMaxRepairs> repairs;
  std::array<std::byte*, FecCodec::kMaxRepairs> solved;
  for (std::size_t i = 0; i < count; ++i) {
    repairs[i] = repair_symbol(block, i);
    solved[i] = solved_.get() + i * stride_;
  }
  bool fits = true;
  block.members.for_each([&](std::size_t at, std::size_t place) {
    const Kept* kept = find(block.first + at);
    if (kept == nullptr) return;
    if (kept->size > block.symbol_size) {
      fits = false;
      return;
    }
    codec_.add(place, ConstBytes(kept_symbol(kept->number), FecCodec::padded(kept->size)), rows,
               std::span(repairs).first(count));
  });
  if (fits) {
    codec_.solve(rows, std::span<const std::uint8_t>(missing.places).first(count),
                 std::span(repairs).first(count), std::span(solved).first(count), padded);
  }
  for (std::size_t i = 0; i < count && fits; ++i) {
    const std::size_t length = load_u16(solved[i]);
    if (length == 0 || length > block.symbol_size - kSymbolLengthSize) {
      fits = false;
    } else if (received.is_missing(missing.numbers[i])) {
      repaired_[repaired_count_++] = {missing.numbers[i],
                                      ConstBytes(solved[i] + kSymbolLengthSize, length)};
    }
  }
  if (!fits) {
    ++counters_.malformed;
    repaired_count_ = 0;
    drop(block);
    return;
  }
  counters_.used += repaired_count_;
  block.repairs = 0;
  drop(block);
}

void FecReceiver::drop(Block& block) {
  counters_.wasted += block.repairs;
  block.in_use = false;
  --blocks_in_use_;
}

void FecReceiver::expire(Instant now) {
  if (blocks_in_use_ == 0) return;
  for (Block& block : blocks_) {
    if (block.in_use && now >= block.opened + kBlockTimeout) drop(block);
  }
}

Instant FecReceiver::next_timeout() const {
  Instant at = Instant::never();
  if (blocks_in_use_ == 0) return at;
  for (const Block& block : blocks_) {
    if (block.in_use) at = earlier(at, block.opened + kBlockTimeout);
  }
  return at;
}

void FecReceiver::clear() {
  for (Kept& kept : kept_) kept.number = kEmpty;
  for (Block& block : blocks_) block.in_use = false;
  blocks_in_use_ = 0;
  repaired_count_ = 0;
  used_before_ = counters_.used;
}

}  // namespace satrelay::stp

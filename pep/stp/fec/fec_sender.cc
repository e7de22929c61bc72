#include "pep/stp/fec/fec_sender.h"

#include <algorithm>
#include <cstring>

#include "pep/base/check.h"

namespace satrelay::stp {

FecSender::FecSender(const FecCodec& codec, const FecPolicy& policy, std::size_t max_datagram)
    : codec_(codec),
      policy_(policy),
      stride_(FecCodec::padded(kSymbolLengthSize + max_datagram)),
      // Not initialised: memory that is never used costs nothing.
      symbols_(new std::byte[kBlocks * FecCodec::kMaxRepairs * stride_]),
      source_(new std::byte[stride_]) {}

std::size_t FecSender::repairs_for(const Block& block, std::size_t sources) const {
  return std::max<std::size_t>(policy_.repairs_for(sources), block.purpose.opens ? 1 : 0);
}

void FecSender::open(std::uint64_t number, const Purpose& purpose, Instant now) {
  SATRELAY_CHECK(count_ < kBlocks);
  ++count_;
  has_open_ = true;
  Block& block = open_block();
  block = Block();
  block.first = number;
  block.purpose = purpose;
  block.opened = now;
  block.repairs = repairs_for(block, FecCodec::kMaxSources);
  for (std::size_t row = 0; row < block.repairs; ++row) {
    std::memset(symbol(block, row), 0, stride_);
  }
}

void FecSender::add(std::uint64_t number, ConstBytes frames, const Purpose& purpose, Instant now) {
  const std::size_t size = kSymbolLengthSize + frames.size();
  SATRELAY_CHECK(size <= stride_);
  if (has_open_ && number - open_block().first >= BlockMembers::kMaxSpan) close(number, now);
  // A block that was begun without repairs has none for an OPEN.
  if (has_open_ && purpose.opens && open_block().repairs == 0) close(number, now);
  if (!has_open_) {
    if (count_ == kBlocks) return;
    open(number, purpose, now);
  }
  Block& block = open_block();
  const std::size_t padded = FecCodec::padded(size);
  store_u16(source_.get(), static_cast<std::uint16_t>(frames.size()));
  std::memcpy(source_.get() + kSymbolLengthSize, frames.data(), frames.size());
  std::memset(source_.get() + size, 0, padded - size);
  std::array<std::byte*, FecCodec::kMaxRepairs> rows;
  for (std::size_t row = 0; row < block.repairs; ++row) rows[row] = symbol(block, row);
  codec_.add(block.sources, ConstBytes(source_.get(), padded),
             std::span(rows).first(block.repairs));
  block.members.insert(static_cast<std::size_t>(number - block.first));
  block.symbol_size = std::max(block.symbol_size, size);
  block.purpose.merge(purpose);
  block.last_added = now;
  ++block.sources;
  const bool cheap = repairs_for(block, block.sources) * kShare <= block.sources;
  if (block.sources == FecCodec::kMaxSources || (now - block.opened >= kBlockTime && cheap)) {
    close(number + 1, now);
  }
}

void FecSender::close(std::uint64_t next_number, Instant now) {
  Block& block = open_block();
  has_open_ = false;
  block.repairs = std::min(block.repairs, repairs_for(block, block.sources));
  if (block.repairs == 0) {
    --count_;
    return;
  }
  block.closed = now;
  block.closed_before = next_number;
  pending_ += block.repairs;
}

Instant FecSender::close_at(Waiting waiting) const {
  if (!has_open_) return Instant::never();
  const Block& block = open_block();
  return waiting == Waiting::kNothing ? earlier(block.last_added + kLull, block.opened + kBlockTime)
                                      : block.opened + kLongestBlockTime;
}

void FecSender::pop_front() {
  pending_ -= front().repairs - front().sent;
  first_ = (first_ + 1) % kBlocks;
  --count_;
}

std::size_t FecSender::drop_next() {
  const std::size_t unsent = front().repairs - front().sent;
  pop_front();
  return unsent;
}

std::size_t FecSender::advance(Waiting waiting, std::uint64_t next_number, Duration round_trip,
                               Instant now) {
  if (now >= close_at(waiting)) close(next_number, now);
  std::size_t dropped = 0;
  // A report on its packets is here before a repair could be there.
  while (front_is_closed() && now >= front().closed + round_trip) dropped += drop_next();
  return dropped;
}

bool FecSender::ready(Waiting waiting, std::uint64_t next_number, Instant now) const {
  if (!front_is_closed()) return false;
  const std::uint64_t since = next_number - last_repair_number_;
  switch (waiting) {
    case Waiting::kNothing:
      return now >= next_on_idle_;
    case Waiting::kBulk:
      return since >= kShare;
    case Waiting::kShort:
      return next_number >= front().closed_before + kCourtesy &&
             since > front().sources / (front().repairs + 1);
  }
  return false;
}

Instant FecSender::next_repair(Waiting waiting, std::uint64_t next_number, Instant now) const {
  if (ready(waiting, next_number, now)) return now;
  return front_is_closed() && waiting == Waiting::kNothing ? next_on_idle_ : Instant::never();
}

Instant FecSender::next_timeout(Waiting waiting, Duration round_trip) const {
  const Instant at = close_at(waiting);
  return front_is_closed() ? earlier(at, front().closed + round_trip) : at;
}

bool FecSender::write(ByteWriter& out, std::uint64_t own_number, Instant now) {
  Block& block = blocks_[first_];
  RepairFrame frame;
  frame.distance = own_number - block.first;
  frame.row = static_cast<std::uint8_t>(block.sent);
  frame.members = block.members;
  if (out.remaining() < kMaxRepairOverhead - kSymbolLengthSize + block.symbol_size ||
      frame.distance > kMaxRepairDistance) {
    return false;
  }
  write_repair_header(out, frame, block.symbol_size);
  out.bytes(ConstBytes(symbol(block, block.sent), block.symbol_size));
  note_sent(block, now);
  ++block.sent;
  --pending_;
  last_repair_number_ = own_number;
  next_on_idle_ = now + std::min(kGap, kSpread / static_cast<std::int64_t>(pending_ + 1));
  if (block.sent == block.repairs) pop_front();
  return true;
}

void FecSender::note_sent(const Block& block, Instant now) {
  if (block.sent == 0) ++history_count_;
  history_[(history_count_ - 1) % kHistory] = {{block.first, block.first + block.members.span()},
                                               now};
}

std::span<const Range> FecSender::repairable(Instant then) {
  std::size_t begin = kHistory;
  const std::size_t oldest = history_count_ > kHistory ? history_count_ - kHistory : 0;
  for (std::size_t i = history_count_; i > oldest; --i) {
    const Sent& sent = history_[(i - 1) % kHistory];
    if (sent.last_repair <= then) break;
    repairable_[--begin] = sent.packets;
  }
  return std::span(repairable_).subspan(begin);
}

void FecSender::clear() {
  first_ = count_ = pending_ = history_count_ = 0;
  has_open_ = false;
  last_repair_number_ = 0;
}

}  // namespace satrelay::stp

#include "pep/stp/fec/prompt_sender.h"

#include <cstring>

#include "pep/base/check.h"

namespace satrelay::stp {

PromptSender::PromptSender(const FecCodec& codec, std::size_t max_datagram)
    : codec_(codec),
      stride_(symbol_stride(max_datagram)),
      // Not initialised: memory that is never used costs nothing.
      bytes_(new std::byte[kSums * stride_]),
      source_(stride_) {
  clear();
}

void PromptSender::begin(Sum& sum) {
  sum = {};
  sum.first = next_index_;
  sum.row = next_row_++;
}

void PromptSender::add(std::uint64_t number, ConstBytes frames, double share, Instant now) {
  SATRELAY_CHECK(kSymbolHeaderSize + frames.size() <= stride_);
  const std::size_t size = source_.assign(number, frames);
  for (std::size_t slot = 0; slot < kSums; ++slot) {
    Sum& sum = sums_[slot];
    // A repair that nobody has asked for so long stands for what has arrived long since.
    if (sum.count == kLongest) begin(sum);
    if (sum.count++ == 0) sum.first_number = number;
    sum.size = std::max(sum.size, size);
    if (const std::size_t padded = FecCodec::padded(sum.size); padded > sum.begun) {
      std::memset(bytes(slot) + sum.begun, 0, padded - sum.begun);
      sum.begun = padded;
    }
    codec_.add(FecCodec::coefficient(sum.row, next_index_), source_.padded(size), bytes(slot));
  }
  ++next_index_;
  window_end_ = number + 1;
  earn(static_cast<double>(frames.size()) * share, now);
  is_covered_ = false;
  last_added_ = now;
}

void PromptSender::earn(double bytes, Instant now) {
  const Duration passed = std::min(now - earned_until_, Duration::seconds(10));
  earned_ = std::min(earned_ + bytes + kAllowance * passed.to_seconds(), kMostEarned);
  earned_until_ = now;
}

Instant PromptSender::due() const {
  if (is_covered_) return Instant::never();
  const auto cost = static_cast<double>(kRepairHeaderSize + sums_[oldest_].size);
  if (earned_ >= cost) return last_added_;
  // What is missing comes with time.
  const Duration wait =
      Duration::microseconds(static_cast<std::int64_t>((cost - earned_) / kAllowance * 1e6));
  return later(last_added_ + kLull, earned_until_ + wait);
}

bool PromptSender::write(ByteWriter& out, Instant now) {
  Sum& sum = sums_[oldest_];
  is_covered_ = true;
  if (sum.count == 0 || out.remaining() < kRepairHeaderSize + sum.size) return false;
  RepairFrame frame;
  frame.code = FecCode::kPrompt;
  frame.first = sum.first;
  frame.count = static_cast<std::uint16_t>(sum.count);
  frame.row = sum.row;
  frame.symbol = ConstBytes(bytes(oldest_), sum.size);
  write_repair(out, frame);
  earn(0, now);
  earned_ = std::max(0.0, earned_ - static_cast<double>(kRepairHeaderSize + sum.size));
  window_begin_ = sum.first_number;
  last_repair_ = now;
  any_sent_ = true;
  begin(sum);
  oldest_ = (oldest_ + 1) % kSums;
  return true;
}

void PromptSender::clear() {
  for (Sum& sum : sums_) begin(sum);
  oldest_ = 0;
  earned_ = 0;
  is_covered_ = true;
  any_sent_ = false;
}

}  // namespace satrelay::stp

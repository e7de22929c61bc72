#include "pep/stp/fec/prompt_sender.h"

#include <cstring>

#include "pep/base/check.h"

namespace satrelay::stp {

PromptSender::PromptSender(const FecCodec& codec, std::size_t max_datagram)
    : codec_(codec), stride_(symbol_stride(max_datagram)), source_(stride_) {
  clear();
}

void PromptSender::begin(Sum& sum) {
  sum = {};
  sum.first = next_index_;
  sum.row = next_row_++;
}

void PromptSender::add(std::uint64_t number, ConstBytes frames, double share, Instant now) {
  SATRELAY_CHECK(kSymbolHeaderSize + frames.size() <= stride_);
  if (!bytes_) bytes_.reset(new std::byte[kSums * stride_]);
  const std::size_t size = source_.assign(number, frames);
  for (std::size_t slot = 0; slot < kSums; ++slot) {
    Sum& sum = sums_[slot];
    // This sum covers very many packets, and most of them have arrived long ago. So the sum begins
    // again.
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
  grow_allowance(now);
  earned_ = std::min(earned_ + static_cast<double>(frames.size()) * share, kMostEarned);
  is_covered_ = false;
  last_added_ = now;
}

void PromptSender::grow_allowance(Instant now) {
  const Duration passed = std::min(now - allowed_until_, Duration::seconds(10));
  allowance_ += kAllowance * passed.to_seconds();
  allowed_until_ = now;
  // At most kKept bytes of the allowance are kept for the next lull. The rest is added to the
  // earned bytes.
  const double spare = std::max(0.0, allowance_ - kKept);
  allowance_ -= spare;
  earned_ = std::min(earned_ + spare, kMostEarned);
}

Instant PromptSender::due() const {
  if (is_covered_) return Instant::never();
  const auto cost = static_cast<double>(kRepairHeaderSize + sums_[oldest_].size);
  if (earned_ >= cost) return last_added_;
  // If the earned bytes are not enough, the repair waits for a lull, and until the allowance covers
  // the missing bytes. Without the wait for a lull, the first packets of a burst would use up the
  // allowance.
  const double missing = std::max(0.0, cost - earned_ - allowance_);
  const Duration wait =
      Duration::microseconds(static_cast<std::int64_t>(missing / kAllowance * 1e6));
  return later(last_added_ + kLull, allowed_until_ + wait);
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
  grow_allowance(now);
  const auto cost = static_cast<double>(kRepairHeaderSize + sum.size);
  const double of_earned = std::min(cost, earned_);
  earned_ -= of_earned;
  allowance_ = std::max(0.0, allowance_ - (cost - of_earned));
  window_begin_ = sum.first_number;
  last_repair_ = now;
  any_sent_ = true;
  begin(sum);
  oldest_ = (oldest_ + 1) % kSums;
  return true;
}

void PromptSender::clear() {
  bytes_.reset();
  for (Sum& sum : sums_) begin(sum);
  oldest_ = 0;
  earned_ = allowance_ = 0;
  is_covered_ = true;
  any_sent_ = false;
}

}  // namespace satrelay::stp

#include "relay/link/serializer.h"

#include <algorithm>

namespace satrelay::link {

Serializer::Serializer(BitRate rate, ByteCount queue) : queue_(queue) { set_rate(rate); }

void Serializer::set_rate(BitRate rate) {
  rate_ = rate;
  remainder_ = 0;
  queue_time_ = rate.time_for(limit());
}

ByteCount Serializer::limit() const {
  if (queue_ != ByteCount(0)) return queue_;
  return std::max(rate_.bytes_in(Duration::milliseconds(100)), ByteCount(std::uint64_t{64} << 10));
}

std::optional<Instant> Serializer::enqueue(std::uint32_t accounted_bytes, Instant now) {
  if (rate_.is_zero()) return later(now, busy_until_);
  if (busy_until_ < now) {
    busy_until_ = now;
    remainder_ = 0;
  }
  // The product exceeds 64 bits only for frames of more than 2 GB, which no network carries.
  const std::uint64_t scaled = std::uint64_t{accounted_bytes} * 8U * 1'000'000'000U + remainder_;
  const std::uint64_t rate = rate_.to_bits_per_second();
  const Duration time = Duration::nanoseconds(static_cast<std::int64_t>(scaled / rate));
  if (busy_until_ > now && busy_until_ - now + time > queue_time_) return std::nullopt;
  remainder_ = scaled % rate;
  busy_until_ += time;
  return busy_until_;
}

}  // namespace satrelay::link

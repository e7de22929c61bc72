#include "relay/satrelayd/commands/capture.h"

#include <algorithm>
#include <utility>

namespace satrelay::satrelayd {
namespace {

// The size of the ring in bytes. The reader empties the ring every 10 ms. At 10 Gbit/s, the ring
// holds the frames of more than this interval.
constexpr std::size_t kRingSize = 16U << 20;

}  // namespace

CaptureRing::CaptureRing(std::size_t size) : memory_(size) {}

void CaptureRing::copy_in(std::uint64_t at, ConstBytes bytes) {
  const std::size_t begin = at % memory_.size();
  const std::size_t first = std::min(bytes.size(), memory_.size() - begin);
  std::ranges::copy(bytes.first(first), memory_.begin() + static_cast<std::ptrdiff_t>(begin));
  std::ranges::copy(bytes.subspan(first), memory_.begin());
}

bool CaptureRing::push(const ops::CaptureRecord& record, ConstBytes bytes) {
  const std::uint64_t written = written_.load(std::memory_order_relaxed);
  const std::uint64_t used = written - taken_.load(std::memory_order_acquire);
  if (memory_.size() - used < sizeof record + bytes.size()) return false;
  copy_in(written, std::as_bytes(std::span(&record, 1)));
  copy_in(written + sizeof record, bytes);
  written_.store(written + sizeof record + bytes.size(), std::memory_order_release);
  return true;
}

ConstBytes CaptureRing::readable() const {
  const std::uint64_t taken = taken_.load(std::memory_order_relaxed);
  const auto size = static_cast<std::size_t>(written_.load(std::memory_order_acquire) - taken);
  const std::size_t begin = taken % memory_.size();
  return ConstBytes(memory_).subspan(begin, std::min(size, memory_.size() - begin));
}

void CaptureRing::take(std::size_t size) {
  taken_.store(taken_.load(std::memory_order_relaxed) + size, std::memory_order_release);
}

// Calls sees() again under the lock: since the caller called sees(), another capture may have
// begun.
void CaptureTap::see(ops::CapturePlace place, ops::CaptureWay way, ConstBytes frame, Instant now) {
  const std::lock_guard lock(writers_);
  if (!sees(place)) return;
  const auto* bytes = reinterpret_cast<const unsigned char*>(frame.data());
  const auto size = static_cast<unsigned>(frame.size());
  if (!what_.filter.empty() && bpf_filter(what_.filter.data(), bytes, size, size) == 0) return;
  ops::CaptureRecord record;
  record.time = what_.epoch + static_cast<std::uint64_t>((now - Instant()).to_nanoseconds());
  record.original = size;
  record.captured = static_cast<std::uint32_t>(std::min(frame.size(), what_.longest));
  record.way = way;
  if (!ring_->push(record, frame.first(record.captured))) ++lost_;
}

void CaptureTap::settle() {
  switch (state_.load(std::memory_order_acquire)) {
    case State::kStarting: {
      place_.store(what_.place, std::memory_order_relaxed);
      // The reader's thread may have called stop(), so begin only if the state is still kStarting.
      State expected = State::kStarting;
      state_.compare_exchange_strong(expected, State::kOn, std::memory_order_acq_rel);
      return;
    }
    case State::kStopping: {
      const std::lock_guard lock(writers_);
      state_.store(State::kOff, std::memory_order_release);
      return;
    }
    case State::kOff:
    case State::kOn:
      return;
  }
}

void CaptureTap::start(What what) {
  what_ = std::move(what);
  ring_ = std::make_unique<CaptureRing>(kRingSize);
  lost_ = 0;
  state_.store(State::kStarting, std::memory_order_release);
}

void CaptureTap::stop() { state_.store(State::kStopping, std::memory_order_release); }

}  // namespace satrelay::satrelayd

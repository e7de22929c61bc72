// Further copies of bytes that were lost repeatedly: which bytes, and when the copies are due. The
// copies are sent at intervals, so that one burst of losses does not drop all of them. If the queue
// is full, a copy is not made: it would only have saved a round trip.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "pep/base/time.h"

namespace satrelay::stp {

class CopyQueue {
 public:
  static constexpr std::size_t kRoom = 256;
  static constexpr Duration kSpread = Duration::milliseconds(5);

  struct Copy {
    std::uint64_t offset = 0;
    std::uint32_t stream = 0;  // slot in the stream table
    std::uint16_t generation = 0;
    std::uint16_t length = 0;
    unsigned more = 0;  // number of copies to send after this one
    Instant due;
  };

  // The number of further copies for bytes that were lost `times_lost` times. Such losses are rare,
  // so the copies cost little. Without them, the stream would more often wait for another
  // retransmission, and need more memory.
  static unsigned copies(unsigned times_lost) {
    return times_lost < 3 ? 0 : times_lost == 3 ? 1 : 3;
  }

  bool empty() const { return size_ == 0; }
  const Copy& front() const { return (*copies_)[head_]; }
  Instant first_due() const { return empty() ? Instant::never() : front().due; }
  void push(const Copy& copy) {
    if (size_ == kRoom) return;
    if (copies_ == nullptr) copies_ = std::make_unique<Copies>();
    (*copies_)[(head_ + size_) % kRoom] = copy;
    ++size_;
  }
  void pop() {
    head_ = (head_ + 1) % kRoom;
    --size_;
  }

 private:
  using Copies = std::array<Copy, kRoom>;
  std::unique_ptr<Copies> copies_;  // a ring; allocated with the first copy
  std::size_t head_ = 0;
  std::size_t size_ = 0;
};

}  // namespace satrelay::stp

// How many bytes of a stream may be sent before its first STREAM_CREDIT (START_CREDIT frames,
// docs/stp.md section 6). HELLO contains the first limit. While readers leave bytes unread, the
// receiver lowers the limit, as readers of new streams may also leave bytes unread. Only the newest
// announcement counts.
#pragma once

#include <cstdint>

#include "pep/stp/wire/frames.h"

namespace satrelay::stp {

// The receiving side, which grants the credit.
class StartCredit {
 public:
  // `full` is the limit in HELLO.
  explicit StartCredit(std::uint64_t full) : full_(full), current_(full) {}
  std::uint64_t current() const { return current_; }
  bool lowered() const { return current_ < full_; }
  // Changes the limit to `wanted` if the difference is large enough to announce. Returns true if it
  // has changed.
  bool change(std::uint64_t wanted) {
    const bool tells = wanted < current_ - current_ / 4 || wanted > current_ + current_ / 4 ||
                       (wanted == full_ && current_ != full_);
    if (!tells) return false;
    current_ = wanted;
    ++sequence_;
    due_ = true;
    return true;
  }
  void on_lost(std::uint64_t sequence) {
    if (sequence == sequence_) due_ = true;
  }
  bool due() const { return due_; }
  StartCreditFrame take() {
    due_ = false;
    return {sequence_, current_};
  }

 private:
  std::uint64_t full_ = 0;
  std::uint64_t current_ = 0;
  std::uint64_t sequence_ = 0;
  bool due_ = false;
};

// The sending side, which obeys the limit.
class GrantedStartCredit {
 public:
  void start(std::uint64_t full) { *this = {full, 0}; }
  // Returns true if the limit has changed.
  bool accept(const StartCreditFrame& frame) {
    if (frame.sequence <= sequence_) return false;
    sequence_ = frame.sequence;
    const bool changed = frame.limit != limit_;
    limit_ = frame.limit;
    return changed;
  }
  std::uint64_t limit() const { return limit_; }

  GrantedStartCredit() = default;

 private:
  GrantedStartCredit(std::uint64_t limit, std::uint64_t sequence)
      : limit_(limit), sequence_(sequence) {}
  std::uint64_t limit_ = 0;
  std::uint64_t sequence_ = 0;
};

}  // namespace satrelay::stp

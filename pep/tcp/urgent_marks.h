// Where the data of one direction is urgent (RFC 9293 section 3.8.5, RFC 6093). A mark is the
// offset of the octet behind the urgent one, as Linux sets the pointer.
//
// Only the last mark may lie beyond what there is of the stream. A later one takes its place then,
// as a host forgets a pointer to what it does not have yet when it gets one to more.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace satrelay::tcp {

class UrgentMarks {
 public:
  // No window is larger than 1 GiB (RFC 7323 section 2.3), and no pointer leads farther beyond one.
  static constexpr std::uint64_t kMostAhead = (std::uint64_t{1} << 30U) + 0xffff;
  // A host that marks each segment must not make a flow large. Beyond these the latest mark takes
  // the place of the one before it, whose octet becomes an ordinary one.
  static constexpr std::size_t kMost = 8;

  enum class Added : std::uint8_t {
    kNothing,  // it is no news
    kMark,
    kMoved,   // the one before it gave way, of which the octet is yet to come
    kMerged,  // the one before it gave way, and its octet becomes an ordinary one
  };
  // `end`: up to there the stream is there already.
  Added add(std::uint64_t mark, std::uint64_t end) {
    if (mark <= std::max(end, last())) return Added::kNothing;
    Added added = count_ == kMost ? Added::kMerged : Added::kMark;
    if (last() > end) added = Added::kMoved;
    if (added == Added::kMark) ++count_;
    marks_[count_ - 1] = mark;
    return added;
  }
  // What lies up to `position` is over.
  void pass(std::uint64_t position) {
    std::size_t over = 0;
    while (over < count_ && marks_[over] <= position) passed_ = marks_[over++];
    if (over == 0) return;
    std::move(marks_.begin() + static_cast<std::ptrdiff_t>(over), marks_.end(), marks_.begin());
    count_ -= over;
  }

  bool empty() const { return count_ == 0; }
  // The first beyond `position`; 0: none.
  std::uint64_t after(std::uint64_t position) const {
    for (std::size_t i = 0; i < count_; ++i) {
      if (marks_[i] > position) return marks_[i];
    }
    return 0;
  }
  std::uint64_t passed() const { return passed_; }  // the last that is over; 0: none

 private:
  std::uint64_t last() const { return count_ == 0 ? 0 : marks_[count_ - 1]; }

  std::array<std::uint64_t, kMost> marks_{};  // ascending
  std::size_t count_ = 0;
  std::uint64_t passed_ = 0;
};

}  // namespace satrelay::tcp

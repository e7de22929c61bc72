// Elements that take turns in a round. If an element was away for a whole round, it gets its next
// turn before the elements in the round (ahead of the round), like a new flow in FQ-CoDel (RFC 8290
// section 4.2). So an element that sends rarely does not wait for elements that send all the time.
// Turns ahead of the round do not advance the round. So no element gets more turns in this way than
// the elements in the round.
#pragma once

#include <cstdint>

namespace satrelay::stp {

// The state of an element that is in a round, or may return to it.
struct RoundPlace {
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  std::uint64_t left_at = kNever;  // value of served_ when the element left
  bool is_ahead = false;
};

// For each `T` there must be a function RoundPlace& round_place(T&).
template <typename T, typename List>
class Round {
 public:
  bool empty() const { return ahead_.empty() && waiting_.empty(); }
  T* front() const { return ahead_.empty() ? waiting_.front() : ahead_.front(); }
  T* back() const { return waiting_.empty() ? ahead_.back() : waiting_.back(); }

  // Adds the element. `others` is the number of bytes that the waiting elements may send in one
  // round.
  void add(T& one, std::uint64_t others) {
    RoundPlace& place = round_place(one);
    place.is_ahead = place.left_at != RoundPlace::kNever && served_ - place.left_at >= others;
    list_of(one).push_back(one);
  }
  // Removes the element from the round.
  void remove(T& one) {
    list_of(one).remove(one);
    RoundPlace& place = round_place(one);
    place.is_ahead = false;
    place.left_at = served_;
  }
  void on_served(T& one, std::uint64_t bytes) {
    if (!round_place(one).is_ahead) served_ += bytes;
  }
  // Ends the turn of the element.
  void move_to_back(T& one) {
    bool& is_ahead = round_place(one).is_ahead;
    if (!is_ahead) return waiting_.move_to_back(one);
    ahead_.remove(one);
    is_ahead = false;
    waiting_.push_back(one);
  }
  // Puts the element before all others, even if it was not away for a whole round.
  void move_to_front(T& one) {
    list_of(one).remove(one);
    round_place(one).is_ahead = true;
    ahead_.push_front(one);
  }

 private:
  List& list_of(T& one) { return round_place(one).is_ahead ? ahead_ : waiting_; }

  List ahead_, waiting_;
  // Number of bytes that elements in the round have sent. Bytes in turns ahead of the round do not
  // count.
  std::uint64_t served_ = 0;
};

}  // namespace satrelay::stp

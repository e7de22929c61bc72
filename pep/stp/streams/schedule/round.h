// A round of elements that take turns. An element that was away for a whole round gets its turn
// before the elements in the round. So an element that sends rarely does not wait for elements that
// send all the time, as with the new flows of FQ-CoDel (RFC 8290 section 4.2). Turns ahead of the
// round do not advance the round. So an element that goes ahead does not get more turns than an
// element in the round.
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

  // Adds the element. `others` is the sum of the bytes that all waiting elements may send in one
  // turn each.
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
  // Puts the element before all others, however many bytes it has been served.
  void move_to_front(T& one) {
    list_of(one).remove(one);
    round_place(one).is_ahead = true;
    ahead_.push_front(one);
  }

 private:
  List& list_of(T& one) { return round_place(one).is_ahead ? ahead_ : waiting_; }

  List ahead_, waiting_;
  // Bytes served to elements in the round; turns ahead of it do not count.
  std::uint64_t served_ = 0;
};

}  // namespace satrelay::stp

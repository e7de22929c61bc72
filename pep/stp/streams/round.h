// A round of those that wait for their turns, and ahead of it those that have missed one: whoever
// sends seldom does not wait for those that send all the time, as with FQ-CoDel's fresh flows (RFC
// 8290 section 4.2). What is served ahead of a round is no part of it. So those ahead bring no
// round to its end for each other, and who waits in it has as many turns as any of them.
#pragma once

#include <cstdint>

namespace satrelay::stp {

// Of an element, as long as it is in a round or may come back to it.
struct RoundPlace {
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  std::uint64_t left_at = kNever;  // so much of the round had been served
  bool is_ahead = false;
};

// `T`: has RoundPlace& round_place(T&).
template <typename T, typename List>
class Round {
 public:
  bool empty() const { return ahead_.empty() && waiting_.empty(); }
  T* front() const { return ahead_.empty() ? waiting_.front() : ahead_.front(); }
  T* back() const { return waiting_.empty() ? ahead_.back() : waiting_.back(); }

  // `others`: bytes of one turn of each that waits.
  void add(T& one, std::uint64_t others) {
    RoundPlace& place = round_place(one);
    place.is_ahead = place.left_at != RoundPlace::kNever && served_ - place.left_at >= others;
    list_of(one).push_back(one);
  }
  // No part of the round any more.
  void remove(T& one) {
    list_of(one).remove(one);
    RoundPlace& place = round_place(one);
    place.is_ahead = false;
    place.left_at = served_;
  }
  void on_served(T& one, std::uint64_t bytes) {
    if (!round_place(one).is_ahead) served_ += bytes;
  }
  // Its turn has ended.
  void move_to_back(T& one) {
    bool& is_ahead = round_place(one).is_ahead;
    if (!is_ahead) return waiting_.move_to_back(one);
    ahead_.remove(one);
    is_ahead = false;
    waiting_.push_back(one);
  }
  // Ahead of all, whatever it has had.
  void move_to_front(T& one) {
    list_of(one).remove(one);
    round_place(one).is_ahead = true;
    ahead_.push_front(one);
  }

 private:
  List& list_of(T& one) { return round_place(one).is_ahead ? ahead_ : waiting_; }

  List ahead_, waiting_;
  std::uint64_t served_ = 0;  // bytes, of those in the round
};

}  // namespace satrelay::stp

// A round of elements that wait for their turns. Elements that have missed a round go ahead of it.
// So an element that seldom sends does not wait for those that send all the time, as with
// FQ-CoDel's new flows (RFC 8290 section 4.2). Turns ahead of a round are no part of it: they bring
// no round to its end. So an element in the round has as many turns as any that goes ahead.
#pragma once

#include <cstdint>

namespace satrelay::stp {

// The place of an element that is in a round, or may come back to it.
struct RoundPlace {
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  std::uint64_t left_at = kNever;  // the bytes that the round had served when the element left
  bool is_ahead = false;
};

// `T`: has RoundPlace& round_place(T&).
template <typename T, typename List>
class Round {
 public:
  bool empty() const { return ahead_.empty() && waiting_.empty(); }
  T* front() const { return ahead_.empty() ? waiting_.front() : ahead_.front(); }
  T* back() const { return waiting_.empty() ? ahead_.back() : waiting_.back(); }

  // `others`: bytes of one turn for each element that waits.
  void add(T& one, std::uint64_t others) {
    RoundPlace& place = round_place(one);
    place.is_ahead = place.left_at != RoundPlace::kNever && served_ - place.left_at >= others;
    list_of(one).push_back(one);
  }
  // The element leaves the round.
  void remove(T& one) {
    list_of(one).remove(one);
    RoundPlace& place = round_place(one);
    place.is_ahead = false;
    place.left_at = served_;
  }
  void on_served(T& one, std::uint64_t bytes) {
    if (!round_place(one).is_ahead) served_ += bytes;
  }
  // The element's turn has ended.
  void move_to_back(T& one) {
    bool& is_ahead = round_place(one).is_ahead;
    if (!is_ahead) return waiting_.move_to_back(one);
    ahead_.remove(one);
    is_ahead = false;
    waiting_.push_back(one);
  }
  // The element goes ahead of all others, whatever it has had.
  void move_to_front(T& one) {
    list_of(one).remove(one);
    round_place(one).is_ahead = true;
    ahead_.push_front(one);
  }

 private:
  List& list_of(T& one) { return round_place(one).is_ahead ? ahead_ : waiting_; }

  List ahead_, waiting_;
  std::uint64_t served_ = 0;  // bytes served to elements in the round
};

}  // namespace satrelay::stp

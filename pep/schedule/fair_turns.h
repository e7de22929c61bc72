// Deficit round robin in which new flows go first: the scheduler of FQ-CoDel (RFC 8290 section
// 4.2). A flow that sends less than its share never waits for flows that send more.
#pragma once

#include <cstdint>

#include "pep/base/containers/intrusive_list.h"

namespace satrelay::schedule {

// `T` must have a hook, std::int64_t deficit, bool is_fresh and bool empty() const.
template <typename T, ListHook<T> T::*Hook>
class FairTurns {
 public:
  // Adds `one`, which has something to send and is in no list. If `is_fresh` is false, `one` is
  // placed behind all other members.
  void add(T& one, std::int64_t quantum, bool is_fresh = true) {
    one.deficit = quantum;
    one.is_fresh = is_fresh;
    list_of(one).push_back(one);
  }
  void remove(T& one) { list_of(one).remove(one); }
  static bool contains(const T& one) { return List::contains(one); }
  bool empty() const { return fresh_.empty() && old_.empty(); }
  // The member that next() checks first; nullptr if there is none.
  T* front() const { return fresh_.empty() ? old_.front() : fresh_.front(); }

  // Returns the member that sends next; nullptr if no member has anything to send. If a member has
  // nothing to send when its turn comes, the member is removed, and `forget(T&)` is called for it.
  template <typename Forget>
  T* next(std::int64_t quantum, Forget&& forget) {
    while (T* const one = front()) {
      List& list = list_of(*one);
      // A fresh member that has become empty moves behind the old members, and is not removed yet.
      // If it was removed, it could be added as fresh again at once, and would always be served
      // first.
      const bool passes = one->is_fresh && !old_.empty();
      if (one->empty() && !passes) {
        list.remove(*one);
        forget(*one);
        continue;
      }
      if (!one->empty() && one->deficit > 0) return one;
      if (one->deficit <= 0) one->deficit += quantum;
      list.remove(*one);
      one->is_fresh = false;
      old_.push_back(*one);
    }
    return nullptr;
  }

 private:
  using List = IntrusiveList<T, Hook>;
  List& list_of(const T& one) { return one.is_fresh ? fresh_ : old_; }

  List fresh_, old_;
};

}  // namespace satrelay::schedule

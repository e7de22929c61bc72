// A doubly linked list through hooks inside its elements: O(1), no allocation, and an element knows
// whether it is in the list.
#pragma once

namespace satrelay {

template <typename T>
struct ListHook {
  // The first element's previous and the last one's next are these themselves; nullptr: in no list.
  T* previous = nullptr;
  T* next = nullptr;
  bool linked() const { return next != nullptr; }
};

template <typename T, ListHook<T> T::*Hook>
class IntrusiveList {
 public:
  bool empty() const { return head_ == nullptr; }
  T* front() const { return head_; }
  T* back() const { return tail_; }
  static bool contains(const T& element) { return (element.*Hook).linked(); }

  void push_back(T& element) {
    ListHook<T>& hook = element.*Hook;
    if (hook.linked()) return;
    hook = {tail_ != nullptr ? tail_ : &element, &element};
    (tail_ != nullptr ? (tail_->*Hook).next : head_) = &element;
    tail_ = &element;
  }
  void push_front(T& element) {
    ListHook<T>& hook = element.*Hook;
    if (hook.linked()) return;
    hook = {&element, head_ != nullptr ? head_ : &element};
    (head_ != nullptr ? (head_->*Hook).previous : tail_) = &element;
    head_ = &element;
  }
  void remove(T& element) {
    ListHook<T>& hook = element.*Hook;
    if (!hook.linked()) return;
    const bool is_first = head_ == &element;
    const bool is_last = tail_ == &element;
    if (is_first) {
      head_ = is_last ? nullptr : hook.next;
      if (head_ != nullptr) (head_->*Hook).previous = head_;
    } else {
      (hook.previous->*Hook).next = is_last ? hook.previous : hook.next;
    }
    if (is_last) {
      tail_ = is_first ? nullptr : hook.previous;
    } else if (!is_first) {
      (hook.next->*Hook).previous = hook.previous;
    }
    hook = {};
  }
  void move_to_back(T& element) {
    if (tail_ == &element) return;
    remove(element);
    push_back(element);
  }
  void move_to_front(T& element) {
    if (head_ == &element) return;
    remove(element);
    push_front(element);
  }

 private:
  T* head_ = nullptr;
  T* tail_ = nullptr;
};

}  // namespace satrelay

// A doubly linked list through hooks inside its elements: O(1), no allocation, and an element knows
// whether it is in the list.
#pragma once

namespace satrelay {

template <typename T>
struct ListHook {
  T* previous = nullptr;
  T* next = nullptr;
  bool linked = false;
};

template <typename T, ListHook<T> T::*Hook>
class IntrusiveList {
 public:
  bool empty() const { return head_ == nullptr; }
  T* front() const { return head_; }
  T* back() const { return tail_; }
  static bool contains(const T& element) { return (element.*Hook).linked; }

  void push_back(T& element) {
    ListHook<T>& hook = element.*Hook;
    if (hook.linked) return;
    hook = {tail_, nullptr, true};
    (tail_ != nullptr ? (tail_->*Hook).next : head_) = &element;
    tail_ = &element;
  }
  void push_front(T& element) {
    ListHook<T>& hook = element.*Hook;
    if (hook.linked) return;
    hook = {nullptr, head_, true};
    (head_ != nullptr ? (head_->*Hook).previous : tail_) = &element;
    head_ = &element;
  }
  void remove(T& element) {
    ListHook<T>& hook = element.*Hook;
    if (!hook.linked) return;
    (hook.previous != nullptr ? (hook.previous->*Hook).next : head_) = hook.next;
    (hook.next != nullptr ? (hook.next->*Hook).previous : tail_) = hook.previous;
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

// A doubly linked list through hooks in its elements. All operations are O(1) and allocate nothing,
// and an element knows whether it is in the list.
#pragma once

namespace satrelay {

template <typename T>
struct ListHook {
  // `previous` of the first element and `next` of the last one point to the element itself. Both
  // are nullptr if the element is in no list.
  T* previous = nullptr;
  T* next = nullptr;
  bool linked() const { return next != nullptr; }
};

// Finds the hook of an element in one of its members. Other policies may create hooks on demand:
// then find() returns nullptr until of() has created the hook.
template <typename T, ListHook<T> T::*Hook>
struct MemberHook {
  static const ListHook<T>* find(const T& element) { return &(element.*Hook); }
  static ListHook<T>& of(T& element) { return element.*Hook; }
};

template <typename T, typename Hook>
class HookedList {
 public:
  bool empty() const { return head_ == nullptr; }
  T* front() const { return head_; }
  T* back() const { return tail_; }
  static bool contains(const T& element) {
    const ListHook<T>* hook = Hook::find(element);
    return hook != nullptr && hook->linked();
  }

  void push_back(T& element) {
    ListHook<T>& hook = Hook::of(element);
    if (hook.linked()) return;
    hook = {tail_ != nullptr ? tail_ : &element, &element};
    (tail_ != nullptr ? Hook::of(*tail_).next : head_) = &element;
    tail_ = &element;
  }
  void push_front(T& element) {
    ListHook<T>& hook = Hook::of(element);
    if (hook.linked()) return;
    hook = {&element, head_ != nullptr ? head_ : &element};
    (head_ != nullptr ? Hook::of(*head_).previous : tail_) = &element;
    head_ = &element;
  }
  void remove(T& element) {
    if (!contains(element)) return;
    ListHook<T>& hook = Hook::of(element);
    const bool is_first = head_ == &element;
    const bool is_last = tail_ == &element;
    if (is_first) {
      head_ = is_last ? nullptr : hook.next;
      if (head_ != nullptr) Hook::of(*head_).previous = head_;
    } else {
      Hook::of(*hook.previous).next = is_last ? hook.previous : hook.next;
    }
    if (is_last) {
      tail_ = is_first ? nullptr : hook.previous;
    } else if (!is_first) {
      Hook::of(*hook.next).previous = hook.previous;
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

template <typename T, ListHook<T> T::*Hook>
using IntrusiveList = HookedList<T, MemberHook<T, Hook>>;

}  // namespace satrelay

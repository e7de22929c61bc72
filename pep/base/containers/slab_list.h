// A list that grows and shrinks at its end. Its elements never move. They are allocated in slabs of
// many elements, because each heap allocation costs some octets for bookkeeping and alignment.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace satrelay {

template <typename T, std::size_t InSlab = 32>
class SlabList {
 public:
  SlabList() = default;
  SlabList(SlabList&& other) noexcept
      : slabs_(std::move(other.slabs_)), size_(std::exchange(other.size_, 0)) {}
  SlabList& operator=(SlabList&& other) noexcept {
    std::swap(slabs_, other.slabs_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~SlabList() {
    while (size_ > 0) pop_back();
  }

  std::size_t size() const { return size_; }
  T& operator[](std::size_t index) const { return *place(index); }
  template <typename... Arguments>
  T& emplace_back(Arguments&&... arguments) {
    if (size_ == slabs_.size() * InSlab) slabs_.push_back(std::make_unique<Slab>());
    T* const made =
        ::new (slabs_.back()->at(size_ % InSlab)) T(std::forward<Arguments>(arguments)...);
    ++size_;
    return *made;
  }
  void pop_back() {
    place(--size_)->~T();
    if (size_ % InSlab == 0) slabs_.pop_back();
  }

 private:
  struct Slab {
    void* at(std::size_t index) { return &octets[index * sizeof(T)]; }
    alignas(T) std::array<std::byte, InSlab * sizeof(T)> octets;
  };
  T* place(std::size_t index) const {
    return std::launder(static_cast<T*>(slabs_[index / InSlab]->at(index % InSlab)));
  }
  std::vector<std::unique_ptr<Slab>> slabs_;
  std::size_t size_ = 0;
};

}  // namespace satrelay

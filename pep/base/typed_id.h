// Ids with a type for each kind of thing, and tables indexed by them. The compiler rejects an id of
// another kind.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "pep/base/image/image.h"

namespace satrelay {

// The id of one thing: its index. `Kind` is a tag that distinguishes kinds and needs no definition.
// A default TypedId is the id of the first thing.
template <typename Kind>
class TypedId {
 public:
  constexpr TypedId() = default;
  explicit constexpr TypedId(std::size_t index) : number_(static_cast<std::uint32_t>(index)) {}

  constexpr std::size_t index() const { return number_; }
  constexpr std::uint32_t number() const { return number_; }
  constexpr TypedId next() const { return TypedId(index() + 1); }
  void image(Image& image) { image(number_); }

  friend constexpr auto operator<=>(const TypedId&, const TypedId&) = default;

 private:
  std::uint32_t number_ = 0;
};

// The ids [first, end), in ascending order. This class replaces std::views::iota, because Clang 14
// does not parse the views of libstdc++ 12.
template <typename Id>
class IdRange {
 public:
  constexpr IdRange(Id first, Id end) : first_(first), end_(end) {}

  class Iterator {
   public:
    constexpr explicit Iterator(Id id) : id_(id) {}
    constexpr Id operator*() const { return id_; }
    constexpr Iterator& operator++() {
      id_ = id_.next();
      return *this;
    }
    friend constexpr bool operator==(const Iterator&, const Iterator&) = default;

   private:
    Id id_;
  };
  constexpr Iterator begin() const { return Iterator(first_); }
  constexpr Iterator end() const { return Iterator(end_); }

 private:
  Id first_, end_;
};

template <typename Id>
constexpr IdRange<Id> id_range(Id first, Id end) {
  return {first, end};
}

// A vector indexed by TypedId, with one item for each id from the first on.
template <typename Id, typename Item>
class IdVector {
 public:
  IdVector() = default;
  explicit IdVector(std::size_t count, const Item& item = Item()) : items_(count, item) {}
  IdVector(std::initializer_list<Item> items) : items_(items) {}

  decltype(auto) operator[](Id id) { return items_[id.index()]; }
  decltype(auto) operator[](Id id) const { return items_[id.index()]; }
  // Returns the id of the new item.
  Id push_back(Item item) {
    items_.push_back(std::move(item));
    return Id(items_.size() - 1);
  }
  void reserve(std::size_t count) { items_.reserve(count); }
  void clear() { items_.clear(); }

  std::size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  auto ids() const { return id_range(Id(), Id(items_.size())); }
  decltype(auto) front() const { return items_.front(); }
  decltype(auto) back() { return items_.back(); }
  auto begin() { return items_.begin(); }
  auto end() { return items_.end(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }

  friend bool operator==(const IdVector&, const IdVector&) = default;

 private:
  std::vector<Item> items_;
};

}  // namespace satrelay

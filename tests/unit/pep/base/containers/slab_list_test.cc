// The elements of a list keep their addresses while the list grows and shrinks at its end.
#include "pep/base/containers/slab_list.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace satrelay::slab_list_test {
namespace {

struct Counted {
  Counted(int& count, int number) : all_(count), value(number) { ++all_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --all_; }
  int& all_;
  int value;
};

using List = SlabList<Counted, 4>;

TEST(SlabList, ElementsStayWhereTheyAre) {
  int all = 0;
  List list;
  std::vector<const Counted*> places;
  for (int i = 0; i < 11; ++i) places.push_back(&list.emplace_back(all, i));
  EXPECT_EQ(list.size(), 11U);
  EXPECT_EQ(all, 11);
  for (std::size_t i = 0; i < 11; ++i) {
    EXPECT_EQ(&list[i], places[i]);
    EXPECT_EQ(list[i].value, static_cast<int>(i));
  }
}

TEST(SlabList, ShrinksAtItsEndAndGrowsAgain) {
  int all = 0;
  List list;
  for (int i = 0; i < 9; ++i) list.emplace_back(all, i);
  for (int i = 0; i < 5; ++i) list.pop_back();
  EXPECT_EQ(list.size(), 4U);
  EXPECT_EQ(all, 4);
  EXPECT_EQ(list.emplace_back(all, 40).value, 40);
  EXPECT_EQ(list[3].value, 3);
  EXPECT_EQ(list[4].value, 40);
}

TEST(SlabList, ElementsGoWithTheListAndMoveWithIt) {
  int all = 0;
  {
    List list;
    for (int i = 0; i < 6; ++i) list.emplace_back(all, i);
    const Counted* const third = &list[2];
    List other(std::move(list));
    EXPECT_EQ(&other[2], third);
    EXPECT_EQ(all, 6);
    list = List();
    list.emplace_back(all, 7);
    list = std::move(other);
    EXPECT_EQ(&list[2], third);
    EXPECT_EQ(list.size(), 6U);
  }
  EXPECT_EQ(all, 0);
}

}  // namespace
}  // namespace satrelay::slab_list_test

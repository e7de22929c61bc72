#include "pep/base/typed_id.h"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

namespace satrelay::typed_id_test {
namespace {

using Room = TypedId<struct RoomKind>;
using Guest = TypedId<struct GuestKind>;

TEST(TypedId, IsNoNumberOfAnotherKind) {
  static_assert(!std::is_convertible_v<Room, Guest> && !std::is_convertible_v<std::size_t, Room>);
  static_assert(!std::is_convertible_v<Room, std::size_t>);
  EXPECT_EQ(Room(), Room(0));
  EXPECT_LT(Room(3), Room(3).next());
  EXPECT_EQ(Room(3).next().index(), 4U);
}

TEST(IdVector, FindsItemsByTheirIds) {
  IdVector<Room, char> rooms;
  EXPECT_TRUE(rooms.empty());
  EXPECT_EQ(rooms.push_back('a'), Room(0));
  EXPECT_EQ(rooms.push_back('b'), Room(1));
  rooms[Room(0)] = 'c';
  std::string all;
  for (const Room room : rooms.ids()) all += rooms[room];
  EXPECT_EQ(all, "cb");
  EXPECT_EQ(rooms, (IdVector<Room, char>{'c', 'b'}));
  EXPECT_EQ((IdVector<Room, bool>(3, true)[Room(2)]), true);
}

TEST(IdVector, ARangeOfIdsMayBeEmpty) {
  std::size_t count = 0;
  for (const Room room : id_range(Room(2), Room(2))) count += 1 + room.index();
  for (const Room room : id_range(Room(2), Room(4))) count += room.index();
  EXPECT_EQ(count, 5U);
}

}  // namespace
}  // namespace satrelay::typed_id_test

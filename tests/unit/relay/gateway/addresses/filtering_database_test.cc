#include "relay/gateway/addresses/filtering_database.h"

#include <gtest/gtest.h>

namespace satrelay::gateway::filtering_database_test {
namespace {

Station station(std::uint32_t number, std::uint16_t vlan = 0) {
  Station station;
  for (std::size_t i = 0; i < 4; ++i) {
    station.mac.octets[2 + i] = static_cast<std::uint8_t>(number >> (8 * (3 - i)));
  }
  station.mac.octets[0] = 2;
  station.vlans[0] = vlan;
  return station;
}

class FilteringDatabaseTest : public ::testing::Test {
 protected:
  FilteringDatabase database_{{3, 5}};
  Instant now_ = Instant() + Duration::seconds(1'000);
};

TEST_F(FilteringDatabaseTest, KnowsOnWhichSideAStationIs) {
  EXPECT_FALSE(database_.is_on_lan_only(station(1), now_));
  EXPECT_FALSE(database_.learn(Side::kLan, station(1), now_));
  EXPECT_TRUE(database_.is_on_lan_only(station(1), now_));
  EXPECT_FALSE(database_.is_on_lan_only(station(1, 5), now_));
  EXPECT_FALSE(database_.is_on_lan_only(station(2), now_));
  EXPECT_FALSE(database_.learn(Side::kWan, station(2), now_));
  EXPECT_FALSE(database_.is_on_lan_only(station(2), now_));
  EXPECT_TRUE(database_.learn(Side::kWan, station(1), now_));
  EXPECT_FALSE(database_.learn(Side::kWan, station(1), now_)) << "no news";
  EXPECT_FALSE(database_.is_on_lan_only(station(1), now_));
}

TEST_F(FilteringDatabaseTest, EachSideForgetsByItself) {
  database_.learn(Side::kWan, station(1), now_);
  now_ += Duration::seconds(200);
  EXPECT_TRUE(database_.learn(Side::kLan, station(1), now_));
  now_ += Duration::seconds(99);
  EXPECT_FALSE(database_.is_on_lan_only(station(1), now_));
  now_ += Duration::seconds(1);
  EXPECT_TRUE(database_.is_on_lan_only(station(1), now_));
  now_ += Duration::seconds(200);
  EXPECT_FALSE(database_.is_on_lan_only(station(1), now_));
}

// A flood on one side takes the places of other stations of that side, the oldest first. The table
// never grows.
TEST_F(FilteringDatabaseTest, TheOldestGivesWay) {
  for (std::uint32_t i = 0; i < 1'000'000; ++i) {
    database_.learn(Side::kWan, station(1'000 + i), now_ + Duration::milliseconds(i / 10));
  }
  now_ += Duration::seconds(100);
  constexpr std::uint32_t kMine = 1'000;
  for (std::uint32_t i = 0; i < kMine; ++i) database_.learn(Side::kLan, station(i), now_);
  std::uint32_t known = 0;
  for (std::uint32_t i = 0; i < kMine; ++i) known += database_.is_on_lan_only(station(i), now_);
  EXPECT_GE(known, kMine - 1) << "the flood was on the other side";
  std::size_t newest = 0;
  for (std::uint32_t i = 999'000; i < 1'000'000; ++i) {
    newest += database_.learn(Side::kLan, station(1'000 + i), now_);
  }
  EXPECT_GE(newest, 950U) << "of those of the same second, any";
}

TEST_F(FilteringDatabaseTest, ClocksOfWorkersDiffer) {
  database_.learn(Side::kLan, station(1), now_ + Duration::seconds(2));
  EXPECT_TRUE(database_.is_on_lan_only(station(1), now_)) << "another worker is ahead";
  EXPECT_TRUE(database_.learn(Side::kWan, station(1), now_));
}

wire::EthernetHeader frame_of(const Station& station) {
  wire::EthernetHeader frame;
  frame.source = station.mac;
  if (station.vlans[0] != 0) frame.tags[frame.tag_count++] = {0x8100, station.vlans[0]};
  return frame;
}

TEST(StationListenerTest, WritesDownAStationOnceASecond) {
  FilteringDatabase database({1, 2});
  StationListener listener;
  const Instant start = Instant() + Duration::seconds(10);
  const wire::EthernetHeader frame = frame_of(station(1));
  EXPECT_FALSE(listener.has_just_heard(frame, start));
  listener.hear(database, Side::kLan, frame, start);
  EXPECT_TRUE(database.is_on_lan_only(station(1), start));
  EXPECT_TRUE(listener.has_just_heard(frame, start + Duration::milliseconds(999)));
  EXPECT_FALSE(listener.has_just_heard(frame, start + Duration::seconds(1)));
  EXPECT_FALSE(listener.has_just_heard(frame_of(station(2)), start));
  EXPECT_FALSE(listener.has_just_heard(frame_of(station(1, 9)), start));
}

TEST(StationListenerTest, IgnoresWhatIsNoStation) {
  FilteringDatabase database({1, 2});
  StationListener listener;
  const Instant now = Instant() + Duration::seconds(10);
  for (const MacAddress& none : {MacAddress(), MacAddress::broadcast()}) {
    listener.hear(database, Side::kLan, frame_of({none, {}}), now);
    EXPECT_FALSE(database.is_on_lan_only({none, {}}, now));
  }
}

}  // namespace
}  // namespace satrelay::gateway::filtering_database_test

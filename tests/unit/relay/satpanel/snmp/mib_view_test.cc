#include "relay/satpanel/snmp/mib_view.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace satrelay::panel::mib_view_test {
namespace {

using Json = nlohmann::ordered_json;

Oid below_root(std::initializer_list<unsigned long> rest) {
  Oid oid = mib_root();
  oid.insert(oid.end(), rest);
  return oid;
}

metrics::Readings readings() {
  metrics::Readings made;
  made.up = true;
  made.status = {{"uptime_ms", 12'345U},
                 {"new_flows", "draining"},
                 {"flows", 7U},
                 {"arena_bytes", std::uint64_t{8} << 40}};
  made.ports = {{"lan", {{"link", "gone"}, {"rx_bytes", std::uint64_t{1} << 40}}},
                {"wan", {{"link", "up"}, {"mtu_bytes", 1500U}}}};
  made.peers = Json::array();
  made.peers.push_back({{"name", "hub"},
                        {"link", "sat"},
                        {"state", "alive"},
                        {"send_rate_bps", 49'999'999U},
                        {"rtt_us", 551'000U},
                        {"streams", 3U},
                        {"counters", {{"packets_out", 5U}}}});
  made.peers.push_back({{"name", "b"},
                        {"link", "sat"},
                        {"state", "wrong_key"},
                        {"rtt_us", 999'000U},
                        {"streams", 1U}});
  made.classes = Json::array();
  made.classes.push_back({{"name", "web"}, {"relayed_bytes", 9U}});
  return made;
}

class MibViewTest : public testing::Test {
 protected:
  std::uint64_t number(std::initializer_list<unsigned long> rest) const {
    const Binding* found = view_.find(below_root(rest));
    return found == nullptr ? 999'999'999'999 : found->value.number;
  }
  std::string text(std::initializer_list<unsigned long> rest) const {
    const Binding* found = view_.find(below_root(rest));
    return found == nullptr ? "-" : found->value.text;
  }
  MibView view_{readings(),
                {{.index = 4,
                  .name = "peer_wrong_key",
                  .severity = "error",
                  .subject = "peer b",
                  .since_ms = 1'700'000'000'300}},
                "hub-7"};
};

TEST_F(MibViewTest, HasScalarsInUnitsThatAreWideEnough) {
  EXPECT_EQ(number({1, 1, 1, 0}), 2U);  // up
  EXPECT_EQ(text({1, 1, 2, 0}), "hub-7");
  EXPECT_EQ(number({1, 1, 3, 0}), 1234U);  // hundredths of a second
  EXPECT_EQ(number({1, 1, 5, 0}), 4U);     // draining
  EXPECT_EQ(number({1, 1, 6, 0}), 7U);
  EXPECT_EQ(number({1, 1, 9, 0}), 0xffff'ffffU) << "a gauge does not wrap";
  EXPECT_EQ(number({1, 1, 11, 0}), 2U);
  EXPECT_EQ(number({1, 1, 12, 0}), 1U);
  EXPECT_EQ(number({1, 1, 13, 0}), 1U);
  EXPECT_EQ(view_.find(below_root({1, 1, 7, 0})), nullptr) << "what was not told";
}

TEST_F(MibViewTest, HasRowsIndexedByTheirNames) {
  // RFC 2578, 7.7: the length of a string, and its octets.
  EXPECT_EQ(number({1, 2, 1, 4, 3, 'l', 'a', 'n'}), 4U);  // gone
  EXPECT_EQ(number({1, 2, 1, 8, 3, 'l', 'a', 'n'}), std::uint64_t{1} << 40);
  EXPECT_EQ(number({1, 2, 1, 6, 3, 'w', 'a', 'n'}), 1500U);
  EXPECT_EQ(number({1, 3, 1, 4, 3, 'h', 'u', 'b'}), 3U);  // alive
  EXPECT_EQ(number({1, 3, 1, 6, 3, 'h', 'u', 'b'}), 49'999U);
  EXPECT_EQ(number({1, 3, 1, 15, 3, 'h', 'u', 'b'}), 5U) << "a counter of the object inside";
  EXPECT_EQ(number({1, 3, 1, 4, 1, 'b'}), 7U);  // wrong key
  EXPECT_EQ(number({1, 5, 1, 8, 3, 'w', 'e', 'b'}), 9U);
  EXPECT_EQ(view_.find(below_root({1, 3, 1, 4, 3, 'h', 'u'})), nullptr);
}

TEST_F(MibViewTest, SumsUpThePeersOfALink) {
  EXPECT_EQ(number({1, 4, 1, 2, 3, 's', 'a', 't'}), 2U);
  EXPECT_EQ(number({1, 4, 1, 3, 3, 's', 'a', 't'}), 1U);
  EXPECT_EQ(number({1, 4, 1, 4, 3, 's', 'a', 't'}), 551'000U) << "of those that are alive";
  EXPECT_EQ(number({1, 4, 1, 6, 3, 's', 'a', 't'}), 4U);
}

TEST_F(MibViewTest, HasAlarmsWithTheirTime) {
  EXPECT_EQ(text({1, 6, 1, 2, 4}), "peer_wrong_key");
  EXPECT_EQ(number({1, 6, 1, 3, 4}), 2U);  // error
  // 2023-11-14 22:13:20.3 UTC
  EXPECT_EQ(text({1, 6, 1, 8, 4}), std::string("\x07\xe7\x0b\x0e\x16\x0d\x14\x03+\0\0", 11));
}

TEST_F(MibViewTest, IsWalkedInOrder) {
  Oid at = mib_root();
  std::size_t seen = 0;
  while (const Binding* next = view_.next(at)) {
    EXPECT_LT(at, next->oid);
    EXPECT_EQ(view_.find(next->oid), next);
    at = next->oid;
    ++seen;
  }
  EXPECT_EQ(seen, view_.all().size());
  EXPECT_GT(seen, 25U);
  // "b" comes before "hub" because it is shorter.
  const Oid column = below_root({1, 3, 1, 4});
  EXPECT_EQ(view_.next(column)->oid, column + 1 + 'b');
}

TEST(MibView, OfAGatewayThatIsAwayHasOnlyThat) {
  const MibView view(metrics::Readings{}, {}, "hub-7");
  ASSERT_EQ(view.all().size(), 3U);
  EXPECT_EQ(view.all()[0].value.number, 3U);  // down
}

TEST(MibView, HasTwoOfOneNameOnce) {
  metrics::Readings twice;
  twice.up = true;
  for (int i = 0; i < 2; ++i) twice.peers.push_back({{"name", "hub"}, {"state", "alive"}});
  const MibView view(twice, {}, "");
  for (std::size_t i = 1; i < view.all().size(); ++i) {
    EXPECT_LT(view.all()[i - 1].oid, view.all()[i].oid);
  }
}

TEST(MibView, LeavesOutPeersBeyondItsMost) {
  metrics::Readings many;
  many.up = true;
  for (std::size_t i = 0; i < kMostShownPeers + 100; ++i) {
    many.peers.push_back({{"name", fmt::format("p{}", i)}, {"state", "alive"}});
  }
  const MibView view(many, {}, "");
  EXPECT_EQ(view.find(below_root({1, 1, 11, 0}))->value.number, kMostShownPeers + 100);
  const auto states = std::ranges::count_if(view.all(), [](const Binding& each) {
    const Oid column = below_root({1, 3, 1, 4});
    return std::ranges::equal(column, std::span(each.oid).first(column.size()));
  });
  EXPECT_EQ(static_cast<std::size_t>(states), kMostShownPeers);
}

TEST(MibView, NotificationsTellTheEvent) {
  const AlarmNotice raised{.alarm = {.index = 4, .name = "peer_lost", .number = 12}};
  EXPECT_EQ(oid_of(notification_of(raised)), below_root({0, 1}));
  EXPECT_EQ(oid_of(notification_of(AlarmNotice{.is_over = true, .alarm = {}})), below_root({0, 2}));
  const auto bindings = bindings_of(notification_of(raised), "hub-7");
  EXPECT_EQ(bindings[0].value.text, "hub-7");
  EXPECT_EQ(bindings[1].oid, below_root({1, 7, 1, 0}));
  EXPECT_EQ(bindings[1].value.text, "peer_lost");
  EXPECT_EQ(bindings.back().value.number, 4U);
}

TEST(MibView, AnEventThatIsNoAlarmIsToldWithWhoAndWhat) {
  const Notification told = notification_of(nlohmann::ordered_json{{"name", "bypass_set"},
                                                                   {"number", 7U},
                                                                   {"severity", "info"},
                                                                   {"user", "panel:otto"},
                                                                   {"old", "off"},
                                                                   {"new", "on"}});
  EXPECT_EQ(oid_of(told), below_root({0, 3}));
  const auto bindings = bindings_of(told, "hub-7");
  const auto find = [&](std::uint32_t number) {
    return std::ranges::find(bindings, below_root({1, 7, number, 0}), &Binding::oid);
  };
  EXPECT_EQ(find(1)->value.text, "bypass_set");
  EXPECT_EQ(find(2)->value.number, 4U) << "info";
  EXPECT_EQ(find(5)->value.text, "from off, to on, by panel:otto");
  EXPECT_EQ(find(8)->value.number, 7U);
  EXPECT_EQ(find(9), bindings.end()) << "it is about no alarm";
}

}  // namespace
}  // namespace satrelay::panel::mib_view_test

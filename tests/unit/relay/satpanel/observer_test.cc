#include "relay/satpanel/observer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/relay/satpanel/fake_gateway.h"
#include "tests/unit/temporary_folder.h"

namespace satrelay::panel::observer_test {
namespace {

using Numbers = std::vector<std::uint64_t>;

class ObserverTest : public testing::Test {
 protected:
  // The panel starts before there are events.
  ObserverTest() {
    observer_.catch_up();
    observer_.catch_up();
  }
  void tell(const std::string& name, std::uint64_t count = 1) {
    gateway_.tell(name, count);
    observer_.catch_up();
    // The observer fetches events after the state, so a second call is needed.
    observer_.catch_up();
  }
  static Numbers numbers_of(const Observer::EventPage& page) {
    Numbers numbers;
    for (const Json& event : page.events)
      numbers.push_back(event.at("number").get<std::uint64_t>());
    return numbers;
  }

  TemporaryFolder folder_;
  FakeGateway gateway_{folder_.path() / "s"};
  GatewayLink link_{{.stats = (folder_.path() / "s").string(), .control = ""}};
  History history_{""};
  std::atomic<int> news_ = 0;
  Observer observer_{link_, history_, [this] { ++news_; }};
};

TEST_F(ObserverTest, TellsTheLatestEventsAndWhatComesBehindThem) {
  EXPECT_EQ(observer_.events(0, 10).next, 1U);
  tell("bypass_set", 5);
  EXPECT_GE(news_, 1);
  const Observer::EventPage latest = observer_.events(0, 3);
  EXPECT_EQ(numbers_of(latest), (Numbers{3, 4, 5}));
  EXPECT_EQ(latest.first, 3U);
  EXPECT_EQ(latest.next, 6U);
  EXPECT_EQ(latest.events[0].at("boot_epoch"), "1");
  EXPECT_TRUE(observer_.events(latest.next, 10).events.empty());
  EXPECT_EQ(observer_.events(latest.next, 10).next, 6U);
  tell("bypass_set");
  EXPECT_EQ(numbers_of(observer_.events(latest.next, 10)), Numbers{6});
  EXPECT_EQ(numbers_of(observer_.events(2, 2)), (Numbers{2, 3}));
  EXPECT_EQ(observer_.events(2, 2).next, 4U);
}

TEST_F(ObserverTest, PagesBackToTheOldest) {
  tell("bypass_set", 5);
  Observer::EventPage page = observer_.events(0, 2);
  page = observer_.events_before(page.first, 2);
  EXPECT_EQ(numbers_of(page), (Numbers{2, 3}));
  EXPECT_GT(page.first, page.oldest);
  page = observer_.events_before(page.first, 2);
  EXPECT_EQ(numbers_of(page), Numbers{1});
  EXPECT_EQ(page.first, page.oldest) << "there is no more";
  EXPECT_TRUE(observer_.events_before(page.first, 2).events.empty());
}

TEST_F(ObserverTest, LooksThroughAllForThoseThatAreWanted) {
  tell("capacity_set", 2);
  tell("bypass_set", 50);
  tell("capacity_set");
  tell("bypass_set", 3);
  const auto wanted = [](const Json& event) { return event.at("name") == "capacity_set"; };
  Observer::EventPage page = observer_.events(0, 2, wanted);
  EXPECT_EQ(numbers_of(page), (Numbers{2, 53}));
  EXPECT_EQ(page.first, 2U);
  EXPECT_EQ(page.next, 57U) << "those that were not wanted are not asked for again";
  EXPECT_EQ(numbers_of(observer_.events_before(page.first, 2, wanted)), Numbers{1});
  page = observer_.events(3, 10, wanted);
  EXPECT_EQ(numbers_of(page), Numbers{53});
  EXPECT_EQ(page.next, 57U);
}

TEST_F(ObserverTest, KeepsAsManyAsAGatewayAndSaysWhatIsMissed) {
  constexpr std::uint64_t kMore = 20;
  gateway_.tell("bypass_set", Observer::kMostEvents);
  for (int i = 0; i < 100 && observer_.events(0, 0).next <= Observer::kMostEvents; ++i) {
    observer_.catch_up();
  }
  EXPECT_FALSE(observer_.events(1, 1).has_missed);
  tell("bypass_set", kMore);
  const Observer::EventPage page = observer_.events(1, 1);
  EXPECT_TRUE(page.has_missed);
  EXPECT_EQ(page.oldest, 1 + kMore);
  EXPECT_EQ(numbers_of(page), Numbers{1 + kMore});
  EXPECT_EQ(page.next, 2 + kMore);
  EXPECT_FALSE(observer_.events(1 + kMore, 1).has_missed);
  EXPECT_TRUE(observer_.events_before(kMore, 1).events.empty());
}

TEST_F(ObserverTest, CountsOverANewStartOfTheGateway) {
  tell("bypass_set", 4);
  gateway_.start_anew();
  tell("peer_alive", 2);
  const Observer::EventPage page = observer_.events(3, 10);
  EXPECT_EQ(numbers_of(page), (Numbers{3, 4, 1, 2}));
  EXPECT_EQ(page.events[1].at("boot_epoch"), "1");
  EXPECT_EQ(page.events[2].at("boot_epoch"), "2");
  EXPECT_EQ(page.next, 7U);
}

// The browser has seen 1,000 events of an earlier panel.
TEST_F(ObserverTest, GoesOnAtTheEndForWhoKnowsAnEarlierPanel) {
  tell("bypass_set", 4);
  const Observer::EventPage page = observer_.events(1'001, 10);
  EXPECT_TRUE(page.events.empty());
  EXPECT_FALSE(page.has_missed);
  EXPECT_EQ(page.next, 5U);
}

TEST_F(ObserverTest, HasWhatIsWrongWithoutBeingAskedForIt) {
  EXPECT_TRUE(observer_.alarms().alarms()->empty());
  gateway_.tell("table_full", 1, "the limit of connections is reached", "warning");
  observer_.catch_up();
  observer_.catch_up();
  ASSERT_EQ(observer_.alarms().alarms()->size(), 1U);
  EXPECT_EQ(observer_.alarms().alarms()->at(0).name, "table_full");
}

// A worker publishes its state ten times a second. So a first look may find the state before the
// change.
TEST_F(ObserverTest, CatchesUpWithAChange) {
  gateway_.set("/satrelay/status", {{"new_flows", "open"}, {"age_ms", 3'000U}});
  const auto begin = std::chrono::steady_clock::now();
  std::thread change([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(120));
    gateway_.set("/satrelay/status", {{"new_flows", "bypass"}, {"age_ms", 0U}});
  });
  observer_.catch_up();
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(observer_.latest()->status.value("new_flows", ""), "bypass");
  EXPECT_LT(took, std::chrono::milliseconds(900)) << "it has waited for the look of each second";
  change.join();
  gateway_.set("/satrelay/status", {{"new_flows", "open"}, {"age_ms", 3'000U}});
  observer_.catch_up();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5))
      << "a worker that is stuck is not waited for";
}

}  // namespace
}  // namespace satrelay::panel::observer_test

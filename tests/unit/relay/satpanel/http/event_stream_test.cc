#include "relay/satpanel/http/event_stream.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>

#include "tests/unit/relay/satpanel/fake_gateway.h"
#include "tests/unit/temporary_folder.h"

namespace satrelay::panel::event_stream_test {
namespace {

using namespace std::chrono_literals;

class EventStreamTest : public testing::Test {
 protected:
  // The panel starts before there are events.
  EventStreamTest() {
    observer_.catch_up();
    observer_.catch_up();
  }
  void tell(const std::string& name, std::uint64_t count = 1) {
    const std::uint64_t before = observer_.events(0, 0).next;
    gateway_.tell(name, count);
    for (int i = 0; i < 100 && observer_.events(0, 0).next < before + count; ++i) {
      observer_.catch_up();
    }
  }
  // Returns all text that the stream has now; nullopt: the stream is over.
  static std::optional<std::string> poll(EventStream& stream) {
    std::string text;
    while (true) {
      const auto part = stream.poll(100);
      if (!part) return text.empty() ? std::nullopt : std::optional(text);
      if (part->empty()) return text;
      text += *part;
    }
  }
  static bool has(const std::optional<std::string>& text, const std::string& part) {
    return text && text->find(part) != std::string::npos;
  }
  static bool stays() { return true; }

  TemporaryFolder folder_;
  FakeGateway gateway_{folder_.path() / "s"};
  GatewayLink link_{{.stats = (folder_.path() / "s").string(), .control = ""}};
  History history_{""};
  Observer observer_{link_, history_, [] {}};
};

TEST_F(EventStreamTest, TellsFromNowOnWithTheIdOfWhatComesNext) {
  tell("bypass_set", 2);
  EventStream stream(observer_, 0, stays);
  EXPECT_EQ(poll(stream), "retry: 3000\n\n");
  tell("capacity_set");
  const auto told = poll(stream);
  EXPECT_TRUE(told && told->starts_with("id: 4\nevent: event\ndata: {\"number\":3,")) << *told;
  EXPECT_TRUE(told->ends_with("}\n\n"));
  EXPECT_EQ(poll(stream), "");
}

TEST_F(EventStreamTest, IsResumedWhereItEnded) {
  tell("bypass_set", 5);
  EventStream stream(observer_, 4, stays);
  const auto told = poll(stream);
  EXPECT_FALSE(has(told, "\"number\":3,"));
  EXPECT_TRUE(has(told, "id: 5\nevent: event\ndata: {\"number\":4,"));
  EXPECT_TRUE(has(told, "id: 6\nevent: event\ndata: {\"number\":5,"));
  EXPECT_FALSE(has(told, "event: missed"));
}

TEST_F(EventStreamTest, SaysWhatWasMissedMeanwhile) {
  tell("bypass_set", Observer::kMostEvents + 1);
  EventStream stream(observer_, 1, stays);
  const auto told = poll(stream);
  ASSERT_TRUE(told);
  EXPECT_TRUE(told->starts_with("retry: 3000\n\nevent: missed\ndata: {}\n\nid: 3\n"))
      << told->substr(0, 100);
  EXPECT_EQ(told->find("event: missed"), told->rfind("event: missed")) << "once";
  EXPECT_TRUE(has(told, "\nid: " + std::to_string(Observer::kMostEvents + 2) + "\n"));
}

TEST_F(EventStreamTest, EndsAfterItsTimeOrAsSoonAsWhoReadsMayNotStay) {
  bool may_stay = true;
  EventStream stream(observer_, 0, [&] { return may_stay; });
  EXPECT_TRUE(poll(stream));
  EXPECT_TRUE(poll(stream));
  may_stay = false;
  EXPECT_FALSE(poll(stream));
  EventStream over(observer_, 0, stays, 0ns);
  EXPECT_EQ(poll(over), "retry: 3000\n\n") << "what was begun is ended";
  EXPECT_FALSE(poll(over));
}

}  // namespace
}  // namespace satrelay::panel::event_stream_test

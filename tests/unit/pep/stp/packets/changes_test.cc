// Which calls end the time in which only data can be due.
#include "pep/stp/packets/changes.h"

#include <gtest/gtest.h>

namespace satrelay::stp::changes_test {
namespace {

using Kind = Changes::Kind;
constexpr Instant kNow = Instant::from_nanoseconds(1'000);

class ChangesTest : public ::testing::Test {
 protected:
  void send_only_data() { changes_.note_only_data(kNow, changes_.epoch()); }
  Changes changes_;
};

TEST_F(ChangesTest, OnlyDataIsDueForAnInstant) {
  EXPECT_FALSE(changes_.only_data(kNow));
  send_only_data();
  EXPECT_TRUE(changes_.only_data(kNow));
  EXPECT_FALSE(changes_.only_data(kNow + Duration::nanoseconds(1)));
  changes_.forget_only_data();
  EXPECT_FALSE(changes_.only_data(kNow));
}

TEST_F(ChangesTest, EveryCallEndsIt) {
  for (const Kind kind : {Kind::kBytes, Kind::kControl, Kind::kAny}) {
    send_only_data();
    changes_.note(kind);
    EXPECT_FALSE(changes_.only_data(kNow));
  }
}

TEST_F(ChangesTest, TheAnswerOfASourceDoesNot) {
  const Changes::Poll poll(changes_);
  send_only_data();
  changes_.note(Kind::kBytes);
  EXPECT_TRUE(changes_.only_data(kNow));
  changes_.note(Kind::kControl);
  EXPECT_FALSE(changes_.only_data(kNow));
}

TEST_F(ChangesTest, ACallDuringAPacketCountsAsLater) {
  const std::uint64_t before = changes_.epoch();
  changes_.note(Kind::kControl);
  changes_.note_only_data(kNow, before);
  EXPECT_FALSE(changes_.only_data(kNow));
}

#ifndef NDEBUG
TEST_F(ChangesTest, ASourceMayNotCallAnythingElse) {
  const Changes::Poll poll(changes_);
  EXPECT_DEATH(changes_.note(Kind::kAny), "");
  EXPECT_DEATH(Changes::Poll another(changes_), "");
}
#endif

}  // namespace
}  // namespace satrelay::stp::changes_test

#include "relay/gateway/addresses/far/far_marks.h"

#include <gtest/gtest.h>

#include "pep/wire/checksum.h"
#include "relay/gateway/frames/frame.h"
#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::gateway::far_marks_test {
namespace {

class FarMarksTest : public ::testing::Test {
 protected:
  FarMarks marks_{{3, 5}};
  Instant now_ = Instant() + Duration::seconds(100'000);
};

TEST_F(FarMarksTest, KeepsThoseOfEachHostForADay) {
  const IpAddress host = ip_of("198.51.100.5");
  constexpr std::uint16_t kNone = FarMarks::kNoPort;
  EXPECT_EQ(marks_.find(host, kNone, now_), std::nullopt);
  marks_.note(host, kNone, {0xb8, 255}, now_);
  marks_.note(ip_of("2001:db8::5"), kNone, {0, 64}, now_);
  EXPECT_EQ(marks_.find(host, kNone, now_), (PathMarks{0xb8, 255}));
  EXPECT_EQ(marks_.find(ip_of("2001:db8::5"), kNone, now_), (PathMarks{0, 64}));
  EXPECT_EQ(marks_.find(ip_of("198.51.100.6"), kNone, now_), std::nullopt);
  EXPECT_EQ(marks_.find(host, kNone, now_ + Duration::seconds(86'400)), (PathMarks{0xb8, 255}));
  EXPECT_EQ(marks_.find(host, kNone, now_ + Duration::seconds(90'000 + 3600)), std::nullopt);
}

TEST_F(FarMarksTest, AServiceHasItsOwn) {
  const IpAddress host = ip_of("198.51.100.5");
  marks_.note(host, 179, {0xc0, 255}, now_);
  marks_.note(host, 22, {0x48, 64}, now_);
  EXPECT_EQ(marks_.find(host, 179, now_), (PathMarks{0xc0, 255}));
  EXPECT_EQ(marks_.find(host, 22, now_), (PathMarks{0x48, 64}));
  EXPECT_EQ(marks_.find(host, 80, now_), std::nullopt);
  EXPECT_EQ(marks_.guess(host, 179, now_), (PathMarks{0xc0, 255}));
  EXPECT_EQ(marks_.guess(host, 80, now_), (PathMarks{0x48, 64})) << "the latest";
}

TEST_F(FarMarksTest, ATtlThatReachesNobodyIsNotRemembered) {
  const IpAddress host = ip_of("198.51.100.5");
  marks_.note(host, 80, {0, 60}, now_);
  for (const std::uint8_t ttl : std::initializer_list<std::uint8_t>{0, 1, 33}) {
    marks_.note(host, 80, {0, ttl}, now_);
  }
  EXPECT_EQ(marks_.find(host, 80, now_), (PathMarks{0, 60}));
}

TEST_F(FarMarksTest, MarksFramesOfItsHosts) {
  wire::TcpHeader segment;
  segment.source_port = 80;
  for (const auto& [from, to] :
       {std::pair{"198.51.100.5", "203.0.113.5"}, std::pair{"2001:db8:b::5", "2001:db8:a::5"}}) {
    const FrameBytes before = tcp_frame(from, to, segment);
    FrameBytes frame = before;
    marks_.mark(frame, now_);
    EXPECT_EQ(frame, before) << "nothing is known of it";
    marks_.note(ip_of(from), 80, {0xb8, 255}, now_);
    marks_.mark(frame, now_);
    const Frame seen = look_at(frame);
    ASSERT_EQ(seen.kind, FrameKind::kTcp) << "its header's checksum";
    EXPECT_EQ(seen.ip.hop_limit, 255);
    EXPECT_EQ(seen.ip.traffic_class, 0xb8);
    EXPECT_TRUE(std::ranges::equal(seen.payload, look_at(before).payload));
  }
  FrameBytes none;
  marks_.mark(none, now_);
}

}  // namespace
}  // namespace satrelay::gateway::far_marks_test

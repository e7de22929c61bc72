// Urgent marks by themselves, and as an endpoint shows them to its peer.
// tests/conformance/scripts/urgent shows where Linux does the same.
#include "pep/tcp/urgent_marks.h"

#include <algorithm>
#include <array>

#include "pep/base/random.h"
#include "tests/unit/pep/tcp/script.h"

namespace satrelay::tcp::test::urgent_marks_test {
namespace {

using Added = UrgentMarks::Added;

TEST(UrgentMarks, OfBytesThatAreThereEachMarkStays) {
  UrgentMarks marks;
  EXPECT_EQ(marks.add(10, 5), Added::kMark);
  EXPECT_EQ(marks.add(20, 15), Added::kMark);
  EXPECT_EQ(marks.after(0), 10U);
  EXPECT_EQ(marks.after(10), 20U);
  EXPECT_EQ(marks.after(20), 0U);
  marks.pass(9);
  EXPECT_EQ(marks.passed(), 0U);
  marks.pass(10);
  EXPECT_EQ(marks.passed(), 10U);
  EXPECT_EQ(marks.after(0), 20U);
  marks.pass(20);
  EXPECT_TRUE(marks.empty());
}

TEST(UrgentMarks, ALaterMarkTakesThePlaceOfOneOfWhichTheBytesAreYetToCome) {
  UrgentMarks marks;
  EXPECT_EQ(marks.add(10, 5), Added::kMark);
  EXPECT_EQ(marks.add(20, 9), Added::kMoved);
  EXPECT_EQ(marks.after(0), 20U);
  EXPECT_EQ(marks.add(15, 9), Added::kNothing);
  EXPECT_EQ(marks.add(20, 9), Added::kNothing);
  EXPECT_EQ(marks.add(25, 30), Added::kNothing);
}

TEST(UrgentMarks, OfTooManyTheLatestGivesWay) {
  UrgentMarks marks;
  for (std::uint64_t i = 1; i <= UrgentMarks::kMost; ++i)
    EXPECT_EQ(marks.add(i, i - 1), Added::kMark);
  EXPECT_EQ(marks.add(100, 99), Added::kMerged);
  EXPECT_EQ(marks.after(UrgentMarks::kMost - 2), UrgentMarks::kMost - 1);
  EXPECT_EQ(marks.after(UrgentMarks::kMost - 1), 100U);
  EXPECT_EQ(marks.add(110, 99), Added::kMoved) << "no octet is given up";
  marks.pass(1);
  EXPECT_EQ(marks.add(200, 199), Added::kMark);
}

// --- of an endpoint ------------------------------------------------------------------------------

TEST(Urgent, EachSegmentUpToTheMarkPointsToItAndGoesNoFurther) {
  Script s;
  s.establish_as_server();
  s.endpoint().mark_urgent(3500);
  s.write(4000);
  EXPECT_EQ(s.out_all(), (Lines{"U. 1:1461 ack 1 urg 3500", "U. 1461:2921 ack 1 urg 2040",
                                "UP. 2921:3501 ack 1 urg 580", "P. 3501:4001 ack 1"}));
}

TEST(Urgent, TrainsOfSegmentsSayTheSame) {
  for (const std::uint64_t mark : {1U, 3500U, 4000U, 8000U, 70'000U}) {
    Script single;
    Script train;
    for (Script* s : {&single, &train}) {
      s->establish_as_server();
      s->write(2000);
      EXPECT_EQ(s->out_train().size(), 2U);
      s->endpoint().mark_urgent(2000 + mark);
      s->write(10'000);
    }
    EXPECT_EQ(train.out_train(), single.out_all()) << mark;
  }
}

TEST(Urgent, WhatIsSentAgainStillPointsToTheMark) {
  Script s;
  s.establish_as_server();
  s.endpoint().mark_urgent(2000);
  s.write(2500);
  EXPECT_EQ(s.out_all().size(), 3U);
  s.wait(ms(1500));
  EXPECT_EQ(s.out(), "U. 1:1461 ack 1 urg 2000");
  s.in(". 1:1 ack 1461");
  s.endpoint().mark_urgent(2900);
  s.write(400);
  for (const std::string& line : s.out_all()) {
    if (line.find(" 1461:") != std::string::npos) {
      EXPECT_EQ(line, "UP. 1461:2001 ack 1 urg 540");
    }
    if (line.find(" 2001:") != std::string::npos) {
      EXPECT_EQ(line.substr(0, 1), "U") << line;
    }
  }
}

TEST(Urgent, AfterTheMarkIsAcknowledgedNothingIsLeftOfIt) {
  Script s;
  s.establish_as_server();
  s.endpoint().mark_urgent(3);
  s.write(3);
  EXPECT_EQ(s.out(), "UP. 1:4 ack 1 urg 3");
  s.in(". 1:101 ack 4");
  s.wait(ms(50));
  EXPECT_EQ(s.out(), ". 4:4 ack 101");
  s.write(5);
  EXPECT_EQ(s.out(), "P. 4:9 ack 101");
}

TEST(Urgent, PureAcknowledgmentsSayItToo) {
  Script s;
  s.establish_as_server();
  s.endpoint().mark_urgent(7);
  s.in("P. 1:101 ack 1");
  s.wait(ms(50));
  EXPECT_EQ(s.out(), "U. 1:1 ack 101 urg 7");
}

TEST(Urgent, AMarkFarAheadIsPointedToAsFarAsThatGoes) {
  Script s;
  s.establish_as_server();
  s.endpoint().mark_urgent(std::uint64_t{1} << 40U);
  s.write(100);
  EXPECT_EQ(s.out(), "UP. 1:101 ack 1 urg 65535");
  s.in(". 1:1 ack 101");
  s.endpoint().memory().trim();
  s.write(100);
  EXPECT_EQ(s.out(), "UP. 101:201 ack 1 urg 65535");
}

TEST(Urgent, AClosedWindowIsToldOfANewMarkOnce) {
  Script s;
  s.establish_as_server();
  s.write(100);
  EXPECT_EQ(s.out(), "P. 1:101 ack 1");
  s.in(". 1:1 ack 101 win 0");
  s.write(50);
  EXPECT_EQ(s.out(), "-");
  s.endpoint().mark_urgent(160);
  EXPECT_TRUE(s.endpoint().may_have_segment());
  EXPECT_EQ(s.out_all(), Lines{"U. 101:101 ack 1 urg 60"});
  s.endpoint().mark_urgent(160);
  EXPECT_EQ(s.out(), "-");
  s.endpoint().mark_urgent(170);
  EXPECT_EQ(s.out_all(), Lines{"U. 101:101 ack 1 urg 70"});
}

TEST(Urgent, AClosedWindowIsToldOfTheFirstMarkUntilItHasThat) {
  Script s;
  s.establish_as_server();
  s.write(100);
  EXPECT_EQ(s.out(), "P. 1:101 ack 1");
  s.in(". 1:1 ack 101 win 0");
  s.endpoint().mark_urgent(101);
  s.write(1);
  EXPECT_EQ(s.out_all(), Lines{"U. 101:101 ack 1 urg 1"});
  s.endpoint().mark_urgent(102);
  s.write(1);
  EXPECT_EQ(s.out(), "-");
  s.in(". 1:1 ack 101 win 1000");
  EXPECT_EQ(s.out_all(), (Lines{"UP. 101:102 ack 1 urg 1", "UP. 102:103 ack 1 urg 1"}));
}

// When an idle flow begins anew, a mark may be the first thing that it has.
TEST(Urgent, AFlightThatBeginsWithAMarkKnowsTheRoundTrip) {
  std::array<Lines, 2> sent;
  for (const std::size_t marked : {0U, 1U}) {
    Script s;
    s.establish_as_server();
    s.write(1000);
    EXPECT_EQ(s.out(), "P. 1:1001 ack 1");
    s.wait(ms(100));
    s.in(". 1:1 ack 1001");
    s.endpoint().memory().trim();
    if (marked == 1) s.endpoint().mark_urgent(std::uint64_t{1} << 30U);
    const auto send = [&] {
      for (std::string line : s.out_all()) {
        std::erase(line, 'U');
        sent[marked].push_back(line.substr(0, line.find(" urg")));
      }
    };
    // Both segments are lost. The probe repeats the last one, and its arrival shows that the first
    // one is lost.
    s.write(2000);
    send();
    while (sent[marked].size() < 3) {
      s.wait(ms(1));
      send();
    }
    s.wait(ms(150));
    s.in(". 1:1 ack 1001 sack 2461:3001");
    s.wait(ms(50));
    send();
  }
  EXPECT_EQ(sent[0].size(), 4U);
  EXPECT_EQ(sent[1], sent[0]);
}

TEST(Urgent, AWindowThatIsOnlyFullIsNotToldByItself) {
  Script s;
  s.establish_as_server("mss 1460 sackok", 100);
  s.write(200);
  EXPECT_EQ(s.out_all(), Lines{". 1:101 ack 1"});
  s.endpoint().mark_urgent(300);
  EXPECT_EQ(s.out(), "-");
}

TEST(Urgent, WhatWasWrittenOrIsOverIsNotMarked) {
  Script s;
  s.establish_as_server();
  s.write(100);
  EXPECT_EQ(s.endpoint().mark_urgent(100), Added::kNothing);
  s.endpoint().close();
  EXPECT_EQ(s.endpoint().mark_urgent(200), Added::kNothing);
  EXPECT_EQ(s.out(), "FP. 1:101 ack 1");
  EXPECT_EQ(s.endpoint().counters().urgent_marks_out, 0U);
}

// All octets up to a mark are in segments that point to it, whatever is lost or written, and when.
TEST(Urgent, NoSegmentReachesBeyondTheFirstMarkBehindItsBegin) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    Script s;
    s.establish_as_server(seed % 2 == 0 ? "mss 1460 sackok" : "mss 536");
    std::uint64_t written = 0;
    std::vector<std::uint64_t> marks;
    std::uint64_t acknowledged = 0;
    for (int step = 0; step < 40 && !testing::Test::HasFailure(); ++step) {
      if (random.chance(0.4) && marks.size() < UrgentMarks::kMost) {
        marks.push_back(written + 1 + random.below(1000));
        s.endpoint().mark_urgent(marks.back());
        s.write(marks.back() - written);
        written = marks.back();
      } else {
        const std::size_t more = 1 + random.below(3000);
        s.write(more);
        written += more;
      }
      const auto look = [&](const SegmentToSend& segment) {
        const std::uint64_t begin = segment.payload_offset;
        const auto mark = std::ranges::upper_bound(marks, begin);
        const bool urgent = segment.header.has(wire::TcpFlags::kUrg);
        if (mark == marks.end()) {
          EXPECT_FALSE(urgent);
          return;
        }
        EXPECT_LE(begin + segment.payload_size, *mark);
        ASSERT_TRUE(urgent) << "seed " << seed;
        EXPECT_EQ(segment.header.urgent, *mark - begin);
      };
      std::uint64_t end = acknowledged;
      while (auto segment = s.endpoint().poll_segment(s.now())) {
        if (segment->payload_size > 0) look(*segment);
        end = std::max(end, segment->payload_offset + segment->payload_size);
      }
      if (random.chance(0.3)) s.wait(ms(300));
      if (random.chance(0.6) && end > acknowledged) {
        acknowledged += random.below(end - acknowledged + 1);
        s.in(". 1:1 ack " + std::to_string(acknowledged + 1));
        std::erase_if(marks, [&](std::uint64_t mark) { return mark <= acknowledged; });
      }
    }
  }
}

// --- from the peer -------------------------------------------------------------------------------

TEST(Urgent, OnlyThePlaceOfBytesThatHaveNotComeIsNews) {
  Script s;
  s.establish_as_server();
  s.in("P. 1:101 ack 1");
  wire::TcpHeader header;
  header.flags = wire::TcpFlags::kAck | wire::TcpFlags::kUrg;
  header.sequence = kPeerIsn + 101;
  const auto shown = [&](std::int32_t begin, std::uint16_t pointer, std::size_t size = 0) {
    header.sequence = kPeerIsn + static_cast<std::uint32_t>(begin);
    header.urgent = pointer;
    return s.endpoint().receiving().urgent_mark_of(header, size);
  };
  EXPECT_EQ(shown(101, 1), 101U);
  EXPECT_EQ(shown(101, 0), 101U);
  EXPECT_EQ(shown(101, 65'535), 65'635U);
  EXPECT_EQ(shown(51, 50, 50), std::nullopt);
  EXPECT_EQ(shown(51, 51, 50), 101U);
  EXPECT_EQ(shown(51, 51, 49), std::nullopt) << "old";
  EXPECT_EQ(shown(100, 5), std::nullopt) << "a probe of the window";
  EXPECT_EQ(shown(100, 65'535), std::nullopt);
  EXPECT_EQ(shown(-60'000, 1), std::nullopt);
  header.flags = wire::TcpFlags::kAck;
  EXPECT_EQ(shown(101, 1), std::nullopt);
  header.flags |= wire::TcpFlags::kUrg | wire::TcpFlags::kSyn;
  EXPECT_EQ(shown(101, 1), std::nullopt);
  header.flags = wire::TcpFlags::kAck | wire::TcpFlags::kUrg | wire::TcpFlags::kRst;
  EXPECT_EQ(shown(101, 1), std::nullopt);
  s.in("F. 101:101 ack 1");
  header.flags = wire::TcpFlags::kAck | wire::TcpFlags::kUrg;
  EXPECT_EQ(shown(102, 5), std::nullopt) << "nothing comes behind the end";
}

}  // namespace
}  // namespace satrelay::tcp::test::urgent_marks_test

// Several segments of one connection at once, in and out. The effect must be the same as one by
// one.
#include <algorithm>
#include <array>
#include <cstdio>
#include <random>
#include <string>

#include "tests/unit/pep/tcp/script.h"

namespace satrelay::tcp::test::train_test {
namespace {

const Lines kThree = {". 1:1001 ack 1 ts 5 1000", "P. 1001:2001 ack 1 ts 6 1000",
                      ". 2001:3001 ack 1 ts 6 1000"};

// The long way: header prediction takes no segment with CWR, which says nothing without ECN.
void in_alone(Script& s, const std::string& line) { s.in("W" + line); }

// Compares all that can be seen of two endpoints.
void expect_same(Script& one, Script& other) {
  EXPECT_EQ(one.out_all(), other.out_all());
  EXPECT_EQ(one.window(), other.window());
  const Endpoint& a = one.endpoint();
  const Endpoint& b = other.endpoint();
  EXPECT_EQ(a.next_timeout(), b.next_timeout());
  EXPECT_EQ(a.received().in_order_end(), b.received().in_order_end());
  EXPECT_EQ(a.sending().peer_window(), b.sending().peer_window());
  EXPECT_EQ(a.counters().segments_in, b.counters().segments_in);
  EXPECT_EQ(a.counters().segments_out, b.counters().segments_out);
  EXPECT_EQ(a.counters().bytes_in, b.counters().bytes_in);
  EXPECT_EQ(a.counters().unstored_bytes_in, b.counters().unstored_bytes_in);
}

TEST(TrainIn, IsTakenAtOnceAsOneByOne) {
  Script together, single;
  for (Script* s : {&together, &single}) s->establish_as_server("mss 1460 sackok ts 5 0");
  EXPECT_EQ(together.in_train(kThree), 3u);
  for (const std::string& line : kThree) in_alone(single, line);
  expect_same(together, single);
  together.consume(3000);
  EXPECT_EQ(together.in_train({". 3001:3002 ack 1 ts 7 1000"}), 1u);
  // Both wait until the ACK is no longer delayed.
  single.consume(3000);
  in_alone(single, ". 3001:3002 ack 1 ts 7 1000");
  together.wait(ms(500));
  single.wait(ms(500));
  expect_same(together, single);
}

TEST(TrainIn, IsTakenAtOnceWithoutTheTimestampsThatWereAgreedOn) {
  Script together, single;
  for (Script* s : {&together, &single}) s->establish_as_server("mss 1460 sackok ts 5 0");
  const Lines three = {". 1:1001 ack 1", ". 1001:2001 ack 1", ". 2001:3001 ack 1"};
  EXPECT_EQ(together.in_train(three), 3u);
  for (const std::string& line : three) in_alone(single, line);
  expect_same(together, single);
}

// A tail loss probe was sent, and has arrived. Only a bare ACK could still tell more about it.
TEST(TrainIn, IsTakenAtOnceAfterATailProbe) {
  Script together, single;
  for (Script* s : {&together, &single}) {
    s->establish_as_server("mss 1460 sackok ts 5 0");
    s->write(100);
    EXPECT_EQ(s->out_all().size(), 1u);
    s->wait_for_timer();
    EXPECT_EQ(s->out_all().size(), 1u);
    ASSERT_EQ(s->endpoint().counters().tail_loss_probes, 1u);
    s->in(". 1:1 ack 101 ts 5 1000");
  }
  const Lines three = {". 1:1001 ack 101 ts 5 1000", ". 1001:2001 ack 101 ts 6 1000",
                       ". 2001:3001 ack 101 ts 6 1000"};
  EXPECT_EQ(together.in_train(three), 3u);
  for (const std::string& line : three) in_alone(single, line);
  expect_same(together, single);
}

TEST(TrainIn, EndsWithTheWindow) {
  Script::Setup setup{Script::plain_config()};
  setup.config.receive_limit = 2500;
  Script together(setup), single(setup);
  for (Script* s : {&together, &single}) s->establish_as_server("mss 1460 sackok ts 5 0");
  EXPECT_EQ(together.in_train(kThree), 2u);
  for (const std::string& line : kThree) in_alone(single, line);
  expect_same(together, single);
  EXPECT_EQ(together.endpoint().received().in_order_end(), 2500u);
}

TEST(TrainIn, EndsWithTheMemory) {
  Script::Setup setup{Script::plain_config()};
  setup.arena_bytes = 4 * 4096;
  Script together(setup), single(setup);
  Lines lines;
  for (int i = 0; i < 20; ++i) {
    lines.push_back(". " + std::to_string(1 + 1000 * i) + ":" + std::to_string(1001 + 1000 * i) +
                    " ack 1");
  }
  for (Script* s : {&together, &single}) s->establish_as_server();
  const std::size_t taken = together.in_train(lines);
  EXPECT_GT(taken, 1u);
  EXPECT_LT(taken, 20u);
  for (const std::string& line : lines) in_alone(single, line);
  expect_same(together, single);
  EXPECT_TRUE(together.endpoint().received().is_stored());
}

// A segment that goes the long way is taken alone.
TEST(TrainIn, WhatSaysMoreGoesTheLongWay) {
  const std::string expected = " ack 1 ts 5 1000";
  const auto taken = [&](const std::string& first, const std::string& rest, bool sends = false,
                         bool gap = false) {
    Script s;
    s.establish_as_server("mss 1460 sackok ts 5 0");
    if (sends) {
      s.write(100);
      s.out_all();
    }
    if (gap) s.in(". 2001:3001 ack 1 ts 5 1000");
    return s.in_train({first + rest, ". 1001:1501" + rest});
  };
  EXPECT_EQ(taken(". 1:1001", expected), 2u);
  EXPECT_EQ(taken("P. 1:1001", expected), 2u);
  EXPECT_EQ(taken("F. 1:1001", expected), 1u);
  EXPECT_EQ(taken(". 2:1001", expected), 1u) << "a gap";
  EXPECT_EQ(taken(". 1:1001", " ack 1 win 99 ts 5 1000"), 1u) << "another window";
  EXPECT_EQ(taken(". 1:1001", " ack 1 ts 4 1000"), 1u) << "an old timestamp";
  EXPECT_EQ(taken(". 1:1001", " ack 1"), 2u) << "no timestamp";
  EXPECT_EQ(taken(". 1:1001", " ack 2 ts 5 1000"), 1u) << "what was never sent";
  EXPECT_EQ(taken(". 1:1001", expected, true), 1u) << "bytes of ours are under way";
  EXPECT_EQ(taken(". 1:1001", expected, false, true), 1u) << "something has come ahead";
}

TEST(TrainIn, EndsBeforeASegmentThatSaysMore) {
  const std::string first = ". 1:1001 ack 1 ts 5 1000";
  for (const char* second : {"F. 1001:2001 ack 1 ts 5 1000", ". 1501:2001 ack 1 ts 5 1000",
                             ". 1001:1001 ack 1 ts 5 1000", ". 1001:2001 ack 1 win 99 ts 5 1000",
                             ". 1001:2001 ack 1 ts 4 1000"}) {
    Script together, single;
    for (Script* s : {&together, &single}) s->establish_as_server("mss 1460 sackok ts 5 0");
    EXPECT_EQ(together.in_train({first, second}), 1u) << second;
    in_alone(single, first);
    in_alone(single, second);
    expect_same(together, single);
  }
}

TEST(TrainOut, IsTheSameAsOneByOne) {
  for (const char* options : {"mss 1460 sackok", "mss 1000 sackok ts 5 0", "mss 536"}) {
    Script together, single;
    for (Script* s : {&together, &single}) {
      s->establish_as_server(options);
      s->write(5000);
      s->endpoint().close();
    }
    const Lines lines = single.out_all();
    EXPECT_GT(lines.size(), 3u);
    EXPECT_EQ(together.out_train(), lines);
    expect_same(together, single);
  }
}

// Sends ten segments, of which the peer acknowledges `acked` bytes.
void send_ten(Script& s, unsigned acked) {
  s.establish_as_server("mss 1000 sackok ts 5 0");
  s.write(10'000);
  s.out_all();
  s.in(". 1:1 ack " + std::to_string(1 + acked) + " ts 6 1000");
}

TEST(TrainOfAcknowledgments, WhatSaysMoreGoesTheLongWay) {
  const auto taken = [](const Lines& lines) {
    Script together, single;
    for (Script* s : {&together, &single}) send_ten(*s, 1'000);
    const std::size_t count = together.in_train(lines);
    for (const std::string& line : lines) in_alone(single, line);
    expect_same(together, single);
    EXPECT_EQ(together.endpoint().sending().acknowledged(),
              single.endpoint().sending().acknowledged());
    return count;
  };
  const std::string first = ". 1:1 ack 3001 ts 6 1000";
  EXPECT_EQ(taken({first, ". 1:1 ack 5001 ts 6 1000", ". 1:1 ack 9881 ts 7 1000"}), 3u);
  EXPECT_EQ(taken({first, ". 1:1 ack 5001 win 9 ts 6 1000", ". 1:1 ack 6001 ts 6 1000"}), 3u);
  EXPECT_EQ(taken({first, "P. 1:1 ack 5001 ts 6 1000"}), 1u);
  EXPECT_EQ(taken({first, ". 1:1 ack 5001 ts 5 1000"}), 1u) << "an old timestamp";
  EXPECT_EQ(taken({first, ". 1:1 ack 5001"}), 2u) << "no timestamp";
  EXPECT_EQ(taken({first, ". 1:1 ack 12001 ts 6 1000"}), 1u) << "what was never sent";
  EXPECT_EQ(taken({first, ". 2:2 ack 5001 ts 6 1000"}), 1u) << "beyond what has come";
  EXPECT_EQ(taken({first, first}), 1u) << "nothing new";
  EXPECT_EQ(taken({first, ". 1:1 ack 5001 ts 6 1000 sack 7001:8001"}), 1u) << "a report";
}

TEST(TrainOfAcknowledgments, EachGoesTheLongWayWhileSomethingIsMissing) {
  const Lines two = {". 1:1 ack 3001 ts 6 1000", ". 1:1 ack 5001 ts 6 1000"};
  Script s;
  send_ten(s, 1'000);
  s.in(". 1:1 ack 1001 ts 6 1000 sack 7001:8001");
  EXPECT_EQ(s.in_train(two), 1u);
  Script timeout;
  send_ten(timeout, 1'000);
  timeout.wait(Duration::seconds(3));
  EXPECT_EQ(timeout.in_train(two), 1u) << "all was sent again";
  Script asking;
  send_ten(asking, 9'880);
  asking.send_keep_alive();
  asking.write(5'000);
  asking.out_all();
  EXPECT_EQ(asking.in_train({". 1:1 ack 12001 ts 6 1000", ". 1:1 ack 14001 ts 6 1000"}), 1u);
}

TEST(TrainOut, EndsBeforeTheLastSegment) {
  Script s;
  s.establish_as_server("mss 1000 sackok");
  s.write(5'500);
  const auto poll = [&](std::size_t most) { return s.endpoint().poll_segments(most, s.now()); };
  EXPECT_EQ(poll(9)->count, 1U) << "nothing was in flight";
  auto segments = poll(2);
  ASSERT_TRUE(segments);
  EXPECT_EQ(segments->count, 2U);
  EXPECT_EQ(segments->payload_offset, 1'000U);
  EXPECT_EQ(segments->payload_size, 1'000U);
  segments = poll(9);
  ASSERT_TRUE(segments);
  EXPECT_EQ(segments->count, 2U);
  EXPECT_EQ(segments->payload_offset, 3'000U);
  segments = poll(9);
  ASSERT_TRUE(segments) << "half a segment, with PSH";
  EXPECT_EQ(segments->count, 1U);
  EXPECT_EQ(segments->payload_size, 500U);
  EXPECT_FALSE(poll(9));
}

// Marks are echoed, segments that may be marked say so, the first new segment tells of a reduction,
// and lost bytes go before new ones.
TEST(TrainOut, TellsOfCongestionAndRepairsAsOneByOne) {
  Script together, single;
  const std::array<Script*, 2> both = {&together, &single};
  const auto expect_the_same = [&](const char* what, const char* says) {
    const Lines lines = single.out_all();
    EXPECT_EQ(together.out_train(), lines) << what;
    EXPECT_TRUE(std::ranges::any_of(lines, [&](const std::string& line) {
      return line.find(says) != std::string::npos;
    })) << what;
    expect_same(together, single);
  };
  for (Script* s : both) {
    s->accept("SEW 0:0 win 65535 mss 1000 sackok");
    s->out();
    s->in(". 1:1 ack 1");
    s->write(4'000);
  }
  expect_the_same("may be marked", "ect0");
  for (Script* s : both) {
    s->in(". 1:101 ack 1 ce");
    s->consume(100);
    s->write(5'000);
  }
  expect_the_same("an echo", ".E 4001:5001");
  for (Script* s : both) {
    s->in(".E 101:101 ack 9001");
    s->write(4'000);
  }
  expect_the_same("a reduction", "W");
  for (Script* s : both) {
    s->in("W. 101:101 ack 9001 sack 12001:13001");
    s->write(4'000);
    s->wait(ms(900));
  }
  expect_the_same("a repair", "9001:10001");
}

// Lost segments go first. The first new segment behind them tells of the reduction.
TEST(TrainOut, RepairsGoBeforeWhatIsNew) {
  for (const char* report : {".E 1:1 ack 1 sack 1001:10001", ". 1:1 ack 1 sack 3001:10001"}) {
    Script together, single;
    for (Script* s : {&together, &single}) {
      s->accept("SEW 0:0 win 65535 mss 1000 sackok");
      s->out();
      s->in(". 1:1 ack 1");
      s->write(10'000);
      s->out_all();
      s->write(6'000);
      s->in(report);
    }
    const Lines lines = single.out_all();
    EXPECT_GT(lines.size(), 3u) << report;
    EXPECT_EQ(together.out_train(), lines) << report;
    expect_same(together, single);
  }
}

TEST(TrainOut, EndsWhereTheHeaderChanges) {
  Script s;
  s.establish_as_server("mss 1000 sackok");
  s.write(1'000);
  EXPECT_EQ(s.endpoint().poll_segments(9, s.now())->count, 1U);
  s.write(5'000);
  s.in(". 101:201 ack 1");
  const auto segments = s.endpoint().poll_segments(9, s.now());
  ASSERT_TRUE(segments);
  EXPECT_EQ(segments->count, 1U) << "an ACK is owed, with a SACK";
  EXPECT_EQ(segments->header.options.sack_count, 1U);
}

TEST(TrainOut, ADuplicateIsReportedOnce) {
  Script together, single;
  for (Script* s : {&together, &single}) {
    s->establish_as_server("mss 1460 sackok ts 5 0");
    s->in(". 1:1001 ack 1 ts 5 1000");
    s->consume(1000);
    s->out_all();
    s->write(5000);
    s->in(". 1:1001 ack 1 ts 5 1000");
  }
  EXPECT_EQ(together.out_train(), single.out_all());
}

// Two connections with the same host, which sends what hosts send. One connection handles many
// segments at once and sends trains, the other one works one by one.
class RandomTrains {
 public:
  explicit RandomTrains(unsigned seed) : random_(seed), setup_(setup()) {
    options_ = "mss " + std::string(draw(2) != 0 ? "1460" : "536");
    if (draw(4) != 0) options_ += " sackok";
    if (stamps_) options_ += " ts 5 0";
    if (draw(2) != 0) options_ += " ws 2";
    for (Script* s : both_) s->establish_as_server(options_);
  }

  void run() {
    for (int step = 0; step < 40 && !single_.endpoint().is_closed(); ++step) {
      act();
      if (draw(3) != 0) {
        ASSERT_NO_FATAL_FAILURE(send()) << "step " << step;
      }
      next_ = static_cast<unsigned>(single_.endpoint().received().in_order_end()) + 1;
      ASSERT_NO_FATAL_FAILURE(compare()) << "step " << step;
    }
  }
  std::size_t taken() const { return taken_; }
  std::size_t sent() const { return sent_lines_; }
  std::size_t acknowledged() const { return acknowledged_; }

 private:
  unsigned draw(unsigned below) { return static_cast<unsigned>(random_() % below); }
  Script::Setup setup() {
    Script::Setup setup{Script::plain_config()};
    if (draw(3) == 0) setup.arena_bytes = (6 + draw(20)) * 4096;
    if (draw(3) == 0) setup.config.receive_limit = 3000 + draw(30000);
    return setup;
  }
  std::string line(unsigned begin, unsigned size, bool push) const {
    return std::string(push ? "P." : ".") + " " + std::to_string(begin) + ":" +
           std::to_string(begin + size) + " ack " + std::to_string(acked_) + " win " +
           std::to_string(window_) + (stamps_ ? " ts " + std::to_string(stamp_) + " 1000" : "");
  }
  void receive() {
    Lines lines;
    const unsigned count = 1 + draw(6), size = 1 + draw(1400);
    unsigned begin = next_;
    if (draw(6) == 0) begin += 500;
    if (draw(6) == 0) begin = begin > 700 ? begin - 700 : 1;
    for (unsigned i = 0; i < count; ++i, begin += size) {
      if (draw(4) == 0) ++stamp_;
      lines.push_back(line(begin, size, draw(3) == 0));
    }
    if (draw(4) == 0) lines.insert(lines.begin() + draw(count), line(begin, 0, false));
    taken_ += together_.in_train(lines);
    for (const std::string& each : lines) in_alone(single_, each);
  }
  void acknowledge() {
    if (sent_ > acked_) acked_ += draw(sent_ - acked_ + 1);
    if (draw(3) == 0) window_ = draw(3) == 0 ? draw(3000) : 20000 + draw(40000);
    Lines lines = {line(next_, 0, false)};
    for (unsigned more = draw(4); more > 0; --more) {
      if (sent_ > acked_) acked_ += draw(sent_ - acked_ + 1);
      if (draw(4) == 0) ++stamp_;
      lines.push_back(line(next_, 0, draw(8) == 0));
    }
    if (draw(4) == 0) lines.push_back(line(next_, 1 + draw(1400), false));
    acknowledged_ += together_.in_train(lines);
    for (const std::string& each : lines) in_alone(single_, each);
  }
  void act() {
    const unsigned what = draw(12);
    if (what < 4) return receive();
    if (what < 6) return acknowledge();
    const Endpoint& endpoint = single_.endpoint();
    const unsigned size = 1 + draw(9000);
    const Duration time = ms(static_cast<int>(1 + draw(draw(3) == 0 ? 3000 : 60)));
    const std::size_t limit = (400 + draw(1000)) * 30;
    const unsigned rarely = draw(60);
    for (Script* s : both_) {
      if (what == 6 && !closed_ && setup_.arena_bytes > 100 * 4096 &&
          endpoint.sending().writable() >= size) {
        s->write(size);
      }
      if (what == 7 && s->endpoint().received().readable() > 0) {
        s->consume(s->endpoint().received().readable());
      }
      if (what == 8) s->wait(time);
      if (what == 9 && rarely < 4) s->endpoint().close();
      if (what == 10 && rarely < 15) s->endpoint().set_receive_limit(limit);
      if (what == 11 && rarely < 10) s->send_keep_alive();
    }
    closed_ = closed_ || (what == 9 && rarely < 4);
  }
  void send() {
    const Lines lines = single_.out_all();
    ASSERT_EQ(together_.out_train(1 + draw(20)), lines);
    sent_lines_ += lines.size();
    for (const std::string& each : lines) {
      unsigned begin = 0, end = 0;
      const std::size_t at = each.find(' ');
      if (at == std::string::npos || std::sscanf(each.c_str() + at, " %u:%u", &begin, &end) != 2) {
        continue;
      }
      sent_ = std::max(sent_, end + (each.starts_with("F") ? 1U : 0U));
    }
  }
  void compare() {
    const Endpoint& a = together_.endpoint();
    const Endpoint& b = single_.endpoint();
    ASSERT_EQ(a.received().in_order_end(), b.received().in_order_end());
    ASSERT_EQ(a.next_timeout(), b.next_timeout());
    ASSERT_EQ(a.sending().peer_window(), b.sending().peer_window());
    ASSERT_EQ(a.state(), b.state());
    ASSERT_EQ(a.counters().segments_in, b.counters().segments_in);
    ASSERT_EQ(a.counters().segments_out, b.counters().segments_out);
    ASSERT_EQ(a.counters().bytes_out, b.counters().bytes_out);
    ASSERT_EQ(a.counters().unstored_bytes_in, b.counters().unstored_bytes_in);
    ASSERT_EQ(a.sending().acknowledged(), b.sending().acknowledged());
    ASSERT_EQ(a.sending().congestion_window(), b.sending().congestion_window());
    ASSERT_EQ(a.sending().smoothed_rtt(), b.sending().smoothed_rtt());
  }

  std::mt19937 random_;
  const bool stamps_ = draw(2) == 0;
  Script::Setup setup_;
  std::string options_;
  Script together_{setup_}, single_{setup_};
  std::array<Script*, 2> both_{&together_, &single_};
  unsigned next_ = 1, sent_ = 1, acked_ = 1, stamp_ = 5, window_ = 65535;
  bool closed_ = false;
  std::size_t taken_ = 0, sent_lines_ = 0, acknowledged_ = 0;
};

TEST(TrainBoth, AreTheSameAsOneByOne) {
  std::size_t taken = 0, sent = 0, acknowledged = 0;
  for (unsigned seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomTrains trains(seed);
    ASSERT_NO_FATAL_FAILURE(trains.run());
    taken += trains.taken();
    sent += trains.sent();
    acknowledged += trains.acknowledged();
  }
  EXPECT_GT(taken, 4000U);
  EXPECT_GT(sent, 6000U);
  EXPECT_GT(acknowledged, 500U);
}

}  // namespace
}  // namespace satrelay::tcp::test::train_test

// Several segments of one connection at once, in and out: the same as one by one.
#include "tests/unit/pep/tcp/script.h"

namespace satrelay::tcp::test {
namespace {

const Lines kThree = {". 1:1001 ack 1 ts 5 1000", "P. 1001:2001 ack 1 ts 6 1000",
                      ". 2001:3001 ack 1 ts 6 1000"};

// Whatever can be seen of an endpoint.
void expect_same(Script& one, Script& other) {
  EXPECT_EQ(one.out_all(), other.out_all());
  EXPECT_EQ(one.window(), other.window());
  const Endpoint& a = one.endpoint();
  const Endpoint& b = other.endpoint();
  EXPECT_EQ(a.next_timeout(), b.next_timeout());
  EXPECT_EQ(a.received().in_order_end(), b.received().in_order_end());
  EXPECT_EQ(a.peer_window(), b.peer_window());
  EXPECT_EQ(a.counters().segments_in, b.counters().segments_in);
  EXPECT_EQ(a.counters().segments_out, b.counters().segments_out);
  EXPECT_EQ(a.counters().bytes_in, b.counters().bytes_in);
  EXPECT_EQ(a.counters().unstored_bytes_in, b.counters().unstored_bytes_in);
}

TEST(TrainIn, IsTakenAtOnceAsOneByOne) {
  Script together, single;
  for (Script* s : {&together, &single}) s->establish_as_server("mss 1460 sackok ts 5 0");
  EXPECT_EQ(together.in_order(kThree), 3u);
  for (const std::string& line : kThree) single.in(line);
  expect_same(together, single);
  together.consume(3000);
  EXPECT_EQ(together.in_order({". 3001:3002 ack 1 ts 7 1000"}), 1u);
  // The delayed ACK.
  single.consume(3000);
  single.in(". 3001:3002 ack 1 ts 7 1000");
  together.wait(ms(500));
  single.wait(ms(500));
  expect_same(together, single);
}

TEST(TrainIn, EndsWithTheWindow) {
  Script::Setup setup{Script::plain_config()};
  setup.config.receive_limit = 2500;
  Script together(setup), single(setup);
  for (Script* s : {&together, &single}) s->establish_as_server("mss 1460 sackok ts 5 0");
  EXPECT_EQ(together.in_order(kThree), 2u);
  for (const std::string& line : kThree) single.in(line);
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
  const std::size_t taken = together.in_order(lines);
  EXPECT_GT(taken, 1u);
  EXPECT_LT(taken, 20u);
  for (const std::string& line : lines) single.in(line);
  expect_same(together, single);
  EXPECT_TRUE(together.endpoint().received().is_stored());
}

TEST(TrainIn, WhatSaysMoreGoesTheLongWay) {
  const auto taken = [](const std::string& line, bool sends = false, bool gap = false) {
    Script s;
    s.establish_as_server("mss 1460 sackok ts 5 0");
    if (sends) {
      s.write(100);
      s.out_all();
    }
    if (gap) s.in(". 2001:3001 ack 1 ts 5 1000");
    return s.in_order({line});
  };
  EXPECT_EQ(taken(". 1:1001 ack 1 ts 5 1000"), 1u);
  EXPECT_EQ(taken("F. 1:1001 ack 1 ts 5 1000"), 0u);
  EXPECT_EQ(taken(". 2:1001 ack 1 ts 5 1000"), 0u) << "a gap";
  EXPECT_EQ(taken(". 1:1001 ack 1 win 99 ts 5 1000"), 0u) << "another window";
  EXPECT_EQ(taken(". 1:1001 ack 1 ts 4 1000"), 0u) << "an old timestamp";
  EXPECT_EQ(taken(". 1:1001 ack 1"), 0u) << "no timestamp";
  EXPECT_EQ(taken(". 1:1001 ack 2 ts 5 1000"), 0u) << "what was never sent";
  EXPECT_EQ(taken(". 1:1001 ack 1 ts 5 1000", true), 0u) << "bytes of ours are under way";
  EXPECT_EQ(taken(". 1:1001 ack 1 ts 5 1000", false, true), 0u) << "something has come ahead";
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

TEST(TrainOut, EndsWhereTheHeaderChanges) {
  Script s;
  s.establish_as_server("mss 1460 sackok");
  s.write(1460);
  auto segment = s.endpoint().poll_segment(s.now());
  ASSERT_TRUE(segment);
  EXPECT_FALSE(s.endpoint().poll_next(*segment, s.now())) << "there is no more";
  s.write(1460);
  s.in(". 101:201 ack 1");
  EXPECT_FALSE(s.endpoint().poll_next(*segment, s.now())) << "an ACK is owed, with a SACK";
}

}  // namespace
}  // namespace satrelay::tcp::test

// All streams of a connection together: which are due, which wait, and that nothing is left for the
// next association.
#include "pep/stp/streams/streams.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "tests/unit/pep/stp/application.h"

namespace satrelay::stp::test::streams_test {
namespace {

constexpr std::uint64_t kLane = 64'000;
constexpr Duration kReach = Duration::milliseconds(600);

class StreamsTest : public ::testing::Test {
 protected:
  StreamsTest() : memory_(64 * 4096), arena_(memory_, 4096) { begin(); }
  // Begins anew, as a session does with another peer.
  void begin() {
    if (streams_) streams_->leave_to(remains_);
    streams_.emplace(StreamsConfig{.max_streams = 8,
                                   .lane_receive_limit = kLane,
                                   .receive_limit = kLane,
                                   .send_limit = kLane},
                     Streams::Pace{Duration::milliseconds(25), 3000}, arena_, work_, kLane);
    streams_->start(kLane, kLane, now_);
  }
  Stream& open() {
    Stream* stream = streams_->life().open(ids_.next(), {}, 0, now_);
    EXPECT_NE(stream, nullptr);
    ids_.use_next();
    return *stream;
  }
  // Sends all that flow control lets the stream send.
  std::uint64_t send_all(Stream& stream) {
    std::vector<std::byte> bytes(kLane);
    EXPECT_GT(streams_->sending().write(stream, bytes, now_), 0U);
    const std::uint64_t sent =
        std::min(streams_->sending().credit().of(stream), stream.send.unsent());
    stream.send.take(0, std::span(bytes).first(sent));
    streams_->sending().on_sent(sent);
    streams_->sending().update_active(stream);
    return sent;
  }
  std::vector<std::byte> memory_;
  Arena arena_;
  WorkCount work_;
  RetiredStreams remains_;
  OwnIds ids_{true};
  std::optional<Streams> streams_;
  Instant now_ = Instant::from_nanoseconds(1'000'000'000);
};

TEST_F(StreamsTest, IdsOfOursGoOn) {
  EXPECT_EQ(ids_.next(), 0U);
  open();
  EXPECT_TRUE(ids_.is_ours(0));
  EXPECT_TRUE(ids_.was_used(0));
  EXPECT_FALSE(ids_.is_ours(1));
  EXPECT_FALSE(ids_.was_used(2));
  EXPECT_EQ(OwnIds(false).next(), 1U);
}

// The OPEN arrived late, behind bytes and a CONFIRM.
TEST_F(StreamsTest, WhatWasConfirmedBeforeTheOpenIsToldWithIt) {
  for (const bool confirmed : {false, true}) {
    Stream* const stream = streams_->life().create(confirmed ? 1 : 3, Stream::Phase::kAwaitingOpen,
                                                   StreamSet::Own::kNothing, now_);
    ASSERT_NE(stream, nullptr);
    if (confirmed) {
      EXPECT_TRUE(stream->confirmations.hear(1, {.answered = true}));
    }
    streams_->life().on_opened(*stream, {});
    std::vector<Event::Kind> told;
    while (const auto event = streams_->poll_event()) told.push_back(event->kind);
    std::vector<Event::Kind> expected{Event::Kind::kOpened};
    if (confirmed) expected.push_back(Event::Kind::kConfirmed);
    EXPECT_EQ(told, expected);
  }
}

TEST_F(StreamsTest, AnIdleStreamHasNothingThatOnlyBytesUnderWayNeed) {
  Stream& stream = open();
  streams_->sending().cool(stream);
  EXPECT_TRUE(stream.is_hot()) << "its OPEN is due";
  streams_->due().opens().remove(stream);
  streams_->sending().cool(stream);
  EXPECT_FALSE(stream.is_hot());
  streams_->due().owe_credit(stream);
  EXPECT_EQ(streams_->due().credits().front(), &stream);
  streams_->receiving().tell_credit(stream, kReach, now_);
  EXPECT_FALSE(stream.is_hot()) << "a word to the peer leaves it as it was";
  EXPECT_TRUE(streams_->due().credits().empty());

  std::vector<std::byte> bytes(10);
  EXPECT_EQ(streams_->sending().write(stream, bytes, now_), 10U);
  streams_->sending().cool(stream);
  EXPECT_TRUE(stream.is_hot()) << "it has bytes to send";
  streams_->due().owe_credit(stream);
  streams_->receiving().tell_credit(stream, kReach, now_);
  EXPECT_TRUE(stream.is_hot());
  EXPECT_EQ(streams_->sending().schedule().next_new(0), &stream);
}

TEST_F(StreamsTest, AStreamGoesOnFromItsImage) {
  Stream& stream = open();
  Stream& other = open();
  std::vector<std::byte> bytes(9'000, std::byte{7});
  ASSERT_EQ(streams_->sending().write(stream, bytes, now_), bytes.size());
  ASSERT_EQ(streams_->sending().write(other, bytes, now_), bytes.size());
  stream.send.take(0, std::span(bytes).first(6'000));
  stream.send.on_lost(1'000, 2'000, false, 1);
  ASSERT_EQ(stream.receive.store(500, std::span(bytes).first(700), 0).bytes, 700U);
  EXPECT_TRUE(stream.confirmations.hear(1, {.answered = true}));
  stream.set_metadata(std::span(bytes).first(20));
  streams_->events().notify(stream, &Stream::Pending::confirmed);
  streams_->events().notify(other, &Stream::Pending::confirmed);
  streams_->due().owe_credit(stream);
  const std::size_t used = arena_.used_blocks();
  const auto id = static_cast<StreamId>(stream.id);
  stream.context = 3;

  std::vector<std::byte> octets;
  Image written = Image::writer(octets, now_);
  stream.image(written);
  EXPECT_EQ(arena_.used_blocks(), used);
  now_ += Duration::seconds(5);
  Image image = Image::reader(octets, now_);
  read_into_place(stream, arena_, image);
  ASSERT_TRUE(image.complete());

  EXPECT_EQ(streams_->visible(id), &stream);
  EXPECT_EQ(stream.context, 3U) << "the reader's number, not the image's";
  EXPECT_EQ(streams_->sending().schedule().next_new(0), &stream);
  EXPECT_EQ(streams_->due().credits().front(), &stream);
  EXPECT_EQ(streams_->poll_event()->stream, id);
  EXPECT_EQ(stream.send.unsent(), 3'000U);
  EXPECT_EQ(stream.send.first_lost().range, (Range{1'000, 3'000}));
  EXPECT_EQ(stream.receive.bytes().out_of_order().total(), 700U);
  EXPECT_TRUE(stream.confirmations.theirs().answered);
  EXPECT_EQ(stream.metadata().size(), 20U);
  std::vector<std::byte> again(2'000);
  stream.send.take(1'000, again);
  EXPECT_EQ(again, std::vector<std::byte>(2'000, std::byte{7}));
}

// As in an outage: the stream falls quiet while bytes are in flight. They are lost, sent again, and
// arrive.
TEST_F(StreamsTest, AStreamThatWasRepairedWhileQuietIsIdleAgain) {
  Stream& stream = open();
  streams_->due().opens().remove(stream);
  std::vector<std::byte> bytes(10);
  EXPECT_EQ(streams_->sending().write(stream, bytes, now_), 10U);
  static_cast<void>(stream.send.take(0, bytes));
  streams_->sending().set_ready(stream, false);
  streams_->sending().cool(stream);
  stream.send.on_lost(0, 10, false, 1);
  streams_->sending().schedule().update_lost(stream);
  EXPECT_TRUE(stream.is_hot()) << "it has bytes to send again";
  stream.send.on_acknowledged(0, 10, false);
  streams_->on_acknowledged(stream, now_);
  EXPECT_FALSE(stream.is_hot());

  EXPECT_EQ(streams_->sending().write(stream, bytes, now_), 10U);
  static_cast<void>(stream.send.take(10, bytes));
  streams_->sending().set_ready(stream, false);
  stream.send.on_acknowledged(10, 10, false);
  streams_->on_acknowledged(stream, now_);
  EXPECT_TRUE(stream.is_hot()) << "a stream in use keeps what it will need again";
}

TEST_F(StreamsTest, AStreamOfOursIsDueWithItsOpenAndIsGoneOnceReset) {
  Stream& stream = open();
  EXPECT_EQ(streams_->due().opens().front(), &stream);
  EXPECT_EQ(streams_->visible(StreamId{stream.id}), &stream);
  EXPECT_EQ(streams_->set().open_count(), 1U);
  streams_->life().reset(stream, ResetReason::kHostReset, now_);
  EXPECT_TRUE(streams_->due().opens().empty());
  EXPECT_EQ(streams_->due().resets().front(), &stream);
  EXPECT_EQ(streams_->visible(StreamId{stream.id}), nullptr);
  EXPECT_EQ(streams_->find(stream.id), &stream) << "until the peer has it";
  EXPECT_EQ(streams_->set().open_count(), 0U);
  EXPECT_TRUE(streams_->events().empty()) << "who wants it is told nothing";
  EXPECT_EQ(streams_->audit(), std::nullopt);
}

TEST_F(StreamsTest, WhatFailsIsToldOnceItIsKnown) {
  Stream& stream = open();
  const std::uint16_t generation = stream.generation;
  streams_->life().fail(stream, ResetReason::kProtocolError, now_);
  const auto event = streams_->poll_event();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->kind, Event::Kind::kReset);
  EXPECT_EQ(event->reason, ResetReason::kProtocolError);
  EXPECT_EQ(streams_->present(stream.index, generation), &stream);
  // The peer does not answer, so the stream is given up.
  const Instant begin = now_;
  now_ = streams_->life().next_linger();
  EXPECT_EQ(streams_->life().run_linger({begin, begin}, now_), 0U);
  EXPECT_EQ(streams_->present(stream.index, generation), nullptr);
  EXPECT_TRUE(streams_->life().next_linger().is_never());
}

// After an outage, a reset and the answer to it may still be on their way.
TEST_F(StreamsTest, AResetIsNotGivenUpBeforeThePeerHasBeenBackForAsLong) {
  Stream& stream = open();
  const std::uint16_t generation = stream.generation;
  streams_->life().reset(stream, ResetReason::kTimeout, now_);
  now_ = streams_->life().next_linger();
  const Instant back = now_ - Duration::seconds(1);
  EXPECT_EQ(streams_->life().run_linger({back, back}, now_), 0U);
  EXPECT_EQ(streams_->present(stream.index, generation), &stream);
  now_ = streams_->life().next_linger();
  EXPECT_EQ(streams_->life().run_linger({back, back}, now_), 0U);
  EXPECT_EQ(streams_->present(stream.index, generation), nullptr);
}

TEST_F(StreamsTest, WhatWaitsForAnOpenIsResetWhenItsPeerIsThere) {
  ASSERT_NE(
      streams_->life().create(1, Stream::Phase::kAwaitingOpen, StreamSet::Own::kNothing, now_),
      nullptr);
  const Instant begin = now_;
  now_ = streams_->life().next_linger();
  EXPECT_EQ(streams_->life().run_linger({Instant::never(), Instant::never()}, now_), 0U)
      << "it may be on its way";
  EXPECT_GT(streams_->life().next_linger(), now_);
  now_ = streams_->life().next_linger();
  EXPECT_EQ(streams_->life().run_linger({begin, begin}, now_), 1U);
  EXPECT_FALSE(streams_->due().resets().empty());
}

TEST_F(StreamsTest, TheLaneLeavesAShareToOthers) {
  Stream& greedy = open();
  Stream& other = open();
  EXPECT_LT(send_all(greedy), kLane);
  EXPECT_EQ(streams_->sending().credit().of(greedy), 0U);
  EXPECT_GE(streams_->sending().credit().of(other), LaneShares::kShare);
  streams_->sending().raise_lane_credit(2 * kLane);
  EXPECT_EQ(streams_->sending().credit().own(greedy), kLane - greedy.send.sent());
  EXPECT_GT(streams_->sending().credit().of(greedy), 0U);
  EXPECT_EQ(streams_->audit(), std::nullopt);
}

TEST_F(StreamsTest, AWriterWithoutMemoryIsWokenWhenThereIsSome) {
  std::vector<std::byte> bytes(kLane);
  Stream& one = open();
  Stream& two = open();
  Stream& three = open();
  Stream& four = open();
  for (Stream* stream : {&one, &two, &three}) {
    EXPECT_GT(streams_->sending().write(*stream, bytes, now_), 0U);
  }
  EXPECT_LT(streams_->sending().write(four, bytes, now_), kLane);
  while (streams_->poll_event()) {
  }
  ASSERT_EQ(streams_->memory_check(), now_ + Duration::milliseconds(25));
  now_ = streams_->memory_check();
  streams_->check_memory(now_);
  EXPECT_TRUE(streams_->events().empty());
  streams_->life().reset(one, ResetReason::kNone, now_);
  now_ = streams_->memory_check();
  streams_->check_memory(now_);
  const auto event = streams_->poll_event();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->kind, Event::Kind::kWritable);
}

// The old association leaves something of each kind.
TEST_F(StreamsTest, TheNextConnectionKnowsNothingOfTheOneBefore) {
  Stream& stream = open();
  ASSERT_GT(send_all(stream), kLane / 2);
  streams_->due().confirm(stream, {.delivered = 1}, now_);
  streams_->due().on_all_confirmed(Duration::seconds(5), now_);
  streams_->events().notify(stream, &Stream::Pending::readable);
  streams_->receiving().credit().lane().on_received(1000);
  streams_->receiving().credit().lane().announce_again();
  EXPECT_EQ(arena_.promise_used(), 1000U);
  ASSERT_TRUE(streams_->set().peer_ids().mark_used(7));
  streams_->sending().copies().push({});

  begin();
  EXPECT_EQ(arena_.promise_used(), 0U);
  EXPECT_EQ(streams_->set().open_count(), 0U);
  EXPECT_TRUE(streams_->events().empty());
  EXPECT_TRUE(streams_->due().opens().empty());
  EXPECT_TRUE(streams_->due().confirms().empty());
  EXPECT_TRUE(streams_->sending().idle(schedule::kEveryClass));
  EXPECT_TRUE(streams_->life().next_linger().is_never());
  EXPECT_FALSE(streams_->receiving().credit().lane().lost());
  EXPECT_EQ(streams_->receiving().credit().lane().promised(), kLane);
  EXPECT_TRUE(streams_->set().peer_ids().is_new(7));
  EXPECT_FALSE(streams_->work_waits());
  EXPECT_EQ(arena_.used_blocks(), 0U) << "the memory of few is back at once";
  Stream& next = open();
  EXPECT_EQ(next.id, 2U) << "the relay never sees one twice";
  EXPECT_GT(streams_->sending().credit().of(next), kLane / 2) << "all of it is there again";
  streams_->due().confirm(next, {.delivered = 1}, now_);
  EXPECT_FALSE(streams_->due().confirmations_due(now_)) << "not before its OPEN";
  streams_->due().on_open_left(next);
  EXPECT_TRUE(streams_->due().confirmations_due(now_)) << "at once";
  EXPECT_EQ(streams_->audit(), std::nullopt);
}

// The same for a session.
class RestartTest : public ::testing::Test {
 protected:
  RestartTest() : net(settings(true), settings(false), Duration::milliseconds(275), {}, 1) {}
  static EndConfig settings(bool even) {
    EndConfig config = end_config(even);
    config.session.streams.lane_receive_limit = config.session.streams.receive_limit = kLane;
    config.session.feedback.minimum = Duration::seconds(5);
    config.session.feedback.maximum = Duration::seconds(5);
    return config;
  }
  void restart_peer() {
    net.stop(1);
    net.start(1, 3000);
    ASSERT_TRUE(net.run(Duration::seconds(3), [&] { return net.apps[0].restarts == 1; }));
  }
  Network net;
};

TEST_F(RestartTest, TheCreditOfTheLaneIsThatOfTheNewPeer) {
  ASSERT_TRUE(net.connect());
  net.apps[1].on_opened = [](Session&, std::uint64_t, Application::Flow& flow) {
    flow.read_quantum = 0;  // the reader takes nothing
  };
  const auto id = net.apps[0].open(10 * kLane, 0, net.now);
  ASSERT_TRUE(id);
  net.run(Duration::milliseconds(400));
  ASSERT_EQ(net.session(0).streams().credit(*id), 0U);
  restart_peer();
  const auto next = net.session(0).streams().open({}, 0, net.now);
  ASSERT_TRUE(next);
  EXPECT_GT(net.session(0).streams().credit(*next), kLane / 2);
}

TEST_F(RestartTest, ProgressIsToldAtOnceToTheNewPeer) {
  ASSERT_TRUE(net.connect());
  const auto tell = [&](StreamId stream) {
    const std::uint64_t before = net.session(0).counters().confirmations_out;
    net.session(0).streams().confirm(stream, {.delivered = before + 1}, net.now);
    net.settle();
    return net.session(0).counters().confirmations_out - before;
  };
  const auto id = net.session(0).streams().open({}, 77, net.now);
  ASSERT_TRUE(id);
  EXPECT_EQ(tell(*id), 1U);
  EXPECT_EQ(tell(*id), 0U) << "no oftener than reports are";
  restart_peer();
  const auto next = net.session(0).streams().open({}, 77, net.now);
  ASSERT_TRUE(next);
  EXPECT_EQ(tell(*next), 1U);
}

}  // namespace
}  // namespace satrelay::stp::test::streams_test

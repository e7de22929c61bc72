// Streams: order of arrival, resets, credit, fairness and slow readers.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "pep/stp/numbers/received_packets.h"
#include "pep/stp/wire/frames.h"
#include "pep/stp/wire/packet.h"
#include "tests/unit/pep/stp/application.h"

namespace satrelay::stp::test::stream_test {
namespace {

class StreamTest : public ::testing::Test {
 protected:
  StreamTest() : net(end_config(true), end_config(false), Duration::milliseconds(275), {}, 1) {}
  void connect() {
    net.start(0, 1000);
    net.start(1, 2000);
    ASSERT_TRUE(net.run(Duration::seconds(3), [&] {
      return net.session(0).peer_state() == PeerState::kAlive &&
             net.session(1).peer_state() == PeerState::kAlive;
    }));
  }
  void expect_all_memory_back() {
    net.run(Duration::seconds(5));
    for (int end = 0; end < 2; ++end) {
      EXPECT_EQ(net.ends[end]->arena().used_blocks(), 0U);
      EXPECT_EQ(net.session(end).streams().bytes_stored(), 0U);
      EXPECT_EQ(net.session(end).streams().count(), 0U);
    }
    EXPECT_EQ(net.error(), "");
  }
  // Gives an end a hand-made packet of its peer.
  template <typename Write>
  void hand_over(int end, Write&& write) {
    std::byte packet[1472];
    ByteWriter out(MutableBytes(packet).subspan(kHeaderSize));
    write(out);
    PacketHeader header;
    const SessionSeal seal(end == 1 ? 1000 : 2000, end == 1 ? 2000 : 1000);
    header.session_tag = seal.tag();
    header.number = next_by_hand++;
    const MutableBytes whole(packet, kHeaderSize + out.written() + kTrailerSize);
    write_header(header, whole.data());
    seal.close(whole);
    net.session(end).handle_packet(whole, net.now);
  }
  // The packets that an end sends now. They do not reach the other end.
  std::vector<std::vector<std::byte>> take(int end) {
    std::vector<std::vector<std::byte>> packets;
    std::byte buffer[1500];
    while (const std::size_t size = net.session(end).poll_packet(buffer, net.now)) {
      packets.emplace_back(buffer, buffer + size);
    }
    return packets;
  }
  Network net;
  std::uint32_t next_by_hand = 500;
};

TEST_F(StreamTest, MetadataAndFirstBytesShareThePacket) {
  connect();
  net.apps[0].push = true;
  net.apps[0].open(600, 0, net.now);
  const auto packets = take(0);
  ASSERT_EQ(packets.size(), 1U);
  net.session(1).handle_packet(packets[0], net.now);
  const auto opened = net.session(1).poll_event();
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->kind, Event::Kind::kOpened);
  EXPECT_EQ(net.session(1).streams().metadata(opened->stream).size(), 24U);
  EXPECT_EQ(net.session(1).streams().received(opened->stream)->readable(), 600U);
  EXPECT_TRUE(net.session(1).streams().received_end(opened->stream));
}

TEST_F(StreamTest, OpenGoesOutWithoutData) {
  connect();
  const auto id = net.session(0).streams().open({}, 0, net.now);
  ASSERT_TRUE(id);
  const auto packets = take(0);
  ASSERT_EQ(packets.size(), 1U);
  net.session(1).handle_packet(packets[0], net.now);
  EXPECT_EQ(net.session(1).poll_event()->kind, Event::Kind::kOpened);
}

// Perhaps no packet follows that would show the loss of the first one, and no loss is known yet.
TEST_F(StreamTest, TheRepairOfALostFirstPacketOpensTheStream) {
  connect();
  net.apps[0].push = true;
  net.apps[0].open(100, 0, net.now);
  ASSERT_EQ(take(0).size(), 1U);
  std::vector<std::vector<std::byte>> repair;
  for (int i = 0; i < 5 && repair.empty(); ++i) {
    net.now += Duration::milliseconds(1);
    repair = take(0);
  }
  ASSERT_FALSE(repair.empty());
  net.session(1).handle_packet(repair[0], net.now);
  const auto opened = net.session(1).poll_event();
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->kind, Event::Kind::kOpened);
  EXPECT_EQ(net.session(1).streams().received(opened->stream)->readable(), 100U);
}

TEST_F(StreamTest, DataThatOvertakesItsOpenIsHeld) {
  connect();
  net.apps[0].push = true;
  net.apps[0].open(4000, 0, net.now);
  std::vector<std::vector<std::byte>> packets;
  for (int i = 0; i < 10 && packets.size() < 3; ++i) {
    for (auto& packet : take(0)) packets.push_back(packet);
    net.now += Duration::milliseconds(1);
  }
  ASSERT_EQ(packets.size(), 3U);
  net.session(1).handle_packet(packets[1], net.now);
  net.session(1).handle_packet(packets[2], net.now);
  EXPECT_FALSE(net.session(1).poll_event());
  EXPECT_EQ(net.session(1).streams().count(), 1U);
  net.session(1).handle_packet(packets[0], net.now);
  net.apps[1].handle_events(net.now);
  EXPECT_EQ(net.apps[1].bytes_read, 4000U);
  EXPECT_EQ(net.error(), "");
}

TEST_F(StreamTest, AnOpenThatNeverComesIsGivenUp) {
  net.configs[1].session.streams.linger = Duration::seconds(4);
  connect();
  net.apps[0].push = true;
  const auto id = net.apps[0].open(4000, 0, net.now);
  ASSERT_TRUE(id);
  const auto packets = take(0);
  ASSERT_FALSE(packets.empty());
  // A hand-made packet of another stream of the same peer. The OPEN of that stream was never sent.
  hand_over(1, [](ByteWriter& out) {
    out.u8(0x12);
    write_varint(out, 40);
    write_varint(out, 0);
    out.u16(4);
    out.u32(0);
  });
  EXPECT_EQ(net.session(1).streams().count(), 1U);
  net.session(1).handle_timeout(net.now + Duration::seconds(1));
  EXPECT_EQ(net.session(1).streams().count(), 1U);
  net.now += Duration::seconds(2);
  net.session(1).handle_packet(packets[0], net.now);
  net.session(1).handle_timeout(net.now);
  EXPECT_EQ(net.session(1).streams().count(), 2U);
  net.session(1).handle_timeout(net.now + Duration::milliseconds(1990));
  net.session(1).handle_timeout(net.now + Duration::milliseconds(2010));
  EXPECT_EQ(net.session(1).streams().count(), 1U);
  EXPECT_EQ(net.session(1).counters().streams_reset_out, 1U);
}

// Beyond a gap, each byte is a piece of its own.
TEST_F(StreamTest, TooManyPiecesAreNotAcknowledged) {
  net.configs[1].session.streams.receive_limit = 100'000;
  connect();
  const auto hand_over_byte = [&](std::uint64_t offset) {
    hand_over(1, [&](ByteWriter& out) {
      out.u8(0x12);
      write_varint(out, 40);
      write_varint(out, offset);
      out.u16(1);
      out.u8(0);
    });
  };
  const auto counters = [&] { return net.session(1).counters(); };
  std::uint64_t offset = 10;
  while (counters().scattered_bytes_in == 0 && offset < 10'000) hand_over_byte(offset += 2);
  ASSERT_EQ(counters().scattered_bytes_in, 1U);
  const std::uint64_t stored = counters().stream_bytes_in;
  --next_by_hand;
  hand_over_byte(offset);
  EXPECT_EQ(counters().duplicate_packets_in, 0U) << "the packet counts as lost";
  EXPECT_EQ(counters().scattered_bytes_in, 2U);
  hand_over_byte(offset - 1);  // next to the last byte that was kept
  EXPECT_EQ(counters().stream_bytes_in, stored + 1);
}

// A caller that only asks how much room there is changes nothing.
TEST_F(StreamTest, LookingForRoomMarksNobody) {
  net.configs[0].session.streams.lane_receive_limit = 100'000;  // memory is no limit
  connect();
  Session& s = net.session(0);
  const auto id = s.streams().open({}, 0, net.now);
  ASSERT_TRUE(id);
  net.run(Duration::milliseconds(1'200));
  Arena& arena = net.ends[0]->arena();
  std::vector<BlockIndex> taken;
  while (arena.free_blocks() > 0) taken.push_back(arena.allocate());
  const Instant before = s.next_timeout();
  EXPECT_EQ(s.streams().send_room(*id), 0U);
  EXPECT_EQ(s.next_timeout(), before);
  s.streams().wait_for_room(*id, 1, net.now);
  EXPECT_LT(s.next_timeout(), before);
  for (const BlockIndex block : taken) arena.release(block);
}

// The linger time begins at the caller's time, not at the time of the last call.
TEST_F(StreamTest, AReleasedStreamHasItsWholeTime) {
  net.configs[0].session.streams.linger = Duration::milliseconds(500);
  connect();
  Session& s = net.session(0);
  const auto id = s.streams().open({}, 0, net.now);
  ASSERT_TRUE(id);
  net.run(Duration::milliseconds(1));
  net.now += Duration::milliseconds(400);
  s.streams().release(*id, net.now);
  net.run(Duration::milliseconds(499));
  EXPECT_EQ(s.counters().streams_reset_out, 0U);
  net.run(Duration::milliseconds(2));
  EXPECT_EQ(s.counters().streams_reset_out, 1U);
}

// In these tests, streams linger for three seconds only.
class StreamOutageTest : public testing::Test {
 protected:
  // One end opens a stream, and the other end learns of it.
  void begin() {
    EndConfig end = end_config(true);
    end.session.streams.linger = Duration::seconds(3);
    net_.emplace(end, end_config(false), Duration::milliseconds(275), ChannelFaults{}, 1);
    net_->start(0, 1000);
    net_->start(1, 2000);
    net_->run(Duration::seconds(3));
    const auto id = here().streams().open({}, 0, net_->now);
    ASSERT_TRUE(id);
    stream_ = *id;
    net_->run(Duration::seconds(2));
    ASSERT_EQ(there().streams().count(), 1U);
  }
  Session& here() { return net_->session(0); }
  Session& there() { return net_->session(1); }

  std::optional<Network> net_;
  StreamId stream_{};
};

// Whenever the path comes back: the RESET that it dropped is sent again before the stream is given
// up.
TEST_F(StreamOutageTest, AResetOutlastsAnOutage) {
  for (int i = 0; i < 30; ++i) {
    begin();
    net_->channels[0].outage = net_->channels[1].outage = true;
    here().streams().reset(stream_, ResetReason::kTimeout, net_->now);
    net_->run(Duration::seconds(12) + Duration::milliseconds(100 * i));
    net_->channels[0].outage = net_->channels[1].outage = false;
    net_->run(Duration::seconds(20));
    EXPECT_EQ(there().counters().streams_reset_in, 1U) << i;
    EXPECT_EQ(here().streams().count(), 0U) << i;
    EXPECT_EQ(there().streams().count(), 0U) << i;
  }
}

// The peer's packets arrive all the while, but nothing reaches the peer. So its packets do not show
// that it has got the RESET.
TEST_F(StreamOutageTest, AResetOutlastsAnOutageOfItsOwnDirection) {
  for (int i = 0; i < 10; ++i) {
    begin();
    net_->channels[0].outage = true;
    here().streams().reset(stream_, ResetReason::kTimeout, net_->now);
    for (int second = 0; second < 12; ++second) {
      ASSERT_TRUE(there().streams().open({}, 0, net_->now));
      net_->run(Duration::seconds(1));
    }
    net_->run(Duration::milliseconds(100 * i));
    EXPECT_EQ(here().peer_state(), PeerState::kAlive);
    net_->channels[0].outage = false;
    net_->run(Duration::seconds(2));
    EXPECT_EQ(there().counters().streams_reset_in, 1U) << i;
  }
}

// One call settles a limited number of packets. It always makes room for the next packet to send.
TEST_F(StreamTest, ReportsOfManyGapsLeaveRoomForWhatIsSent) {
  net.configs[0].session.max_packets_in_flight = 64;
  connect();
  net.apps[0].open(3'000'000, 0, net.now);
  ASSERT_TRUE(net.run(Duration::seconds(100), [&] { return net.apps[0].finished_flows == 1; }));
  net.stop(1);
  ReceivedPackets every_other;
  for (std::uint64_t n = 1; n < 2'000; n += 2) every_other.record(n, net.now);
  std::byte bytes[1400];
  ByteWriter report(bytes);
  write_ping(report, {0});
  ASSERT_TRUE(every_other.write_report(report, {}, net.now));
  next_by_hand = 3'000;
  for (int i = 0; i < 2'000; ++i) {
    net.now += Duration::milliseconds(1);
    hand_over(0, [&](ByteWriter& out) { out.bytes(ConstBytes(bytes).first(report.written())); });
    std::byte packet[1500];
    EXPECT_GT(net.session(0).poll_packet(packet, net.now), 0U);
  }
  EXPECT_EQ(net.session(0).peer_state(), PeerState::kAlive);
}

// No peer can have received or repaired more than was sent.
TEST_F(StreamTest, AReportOfMoreThanWasSentIsRefused) {
  connect();
  net.apps[0].open(3'000'000, 0, net.now);
  net.run(Duration::milliseconds(200));
  const Counters sent = net.session(0).counters();
  ASSERT_GT(sent.packets_out, 10U);
  struct Row {
    const char* what;
    std::uint64_t highest, bytes, repaired;
    bool fine;
  };
  const Row rows[] = {{"a packet that was not sent", 1'000'000, 100, 0, false},
                      {"bytes", 5, sent.bytes_out + 1, 0, false},
                      {"repairs", 5, 100, sent.packets_out + 1, false},
                      {"what may be", 5, 100, 0, true}};
  for (const Row& row : rows) {
    const Counters before = net.session(0).counters();
    hand_over(0, [&](ByteWriter& out) {
      ReceivedPackets received;
      received.record(row.highest, net.now);
      received.write_report(out, {.bytes_received = row.bytes, .repaired = row.repaired}, net.now);
    });
    const Counters after = net.session(0).counters();
    EXPECT_EQ(after.malformed - before.malformed, row.fine ? 0U : 1U) << row.what;
    EXPECT_EQ(after.feedback_in - before.feedback_in, row.fine ? 1U : 0U) << row.what;
  }
}

TEST_F(StreamTest, AResetCrossesWithItsReason) {
  connect();
  const auto id = net.apps[0].open(3'000'000, 3'000'000, net.now);
  net.run(Duration::seconds(1));
  std::optional<Event> seen;
  net.session(0).streams().reset(*id, ResetReason::kRefused, net.now);
  net.apps[0].flows.erase(static_cast<std::uint64_t>(*id));
  for (int i = 0; i < 1000 && !seen; ++i) {
    net.now += Duration::milliseconds(1);
    while (auto packet = net.channels[1].receive(net.now)) {
      net.session(0).handle_packet(*packet, net.now);
    }
    for (auto& packet : take(0)) net.channels[0].send(packet, net.now);
    while (auto packet = net.channels[0].receive(net.now)) {
      net.session(1).handle_packet(*packet, net.now);
    }
    while (const auto event = net.session(1).poll_event()) {
      if (event->kind == Event::Kind::kReset) seen = event;
    }
    for (auto& packet : take(1)) net.channels[1].send(packet, net.now);
  }
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->reason, ResetReason::kRefused);
  EXPECT_EQ(seen->context, 88U);
  EXPECT_EQ(net.session(1).streams().received(*id), nullptr);
  net.apps[1].flows.clear();
  expect_all_memory_back();
}

TEST_F(StreamTest, CreditComesBackFromResetStreams) {
  net.configs[1].session.streams.lane_receive_limit = 200'000;
  connect();
  // Each stream sends until the lane is full, is never read, and is then reset, by turns from
  // either side. The lane must get all its credit back.
  for (int i = 0; i < 30; ++i) {
    net.apps[1].on_opened = [](Session&, std::uint64_t, Application::Flow& flow) {
      flow.read_quantum = 0;
    };
    const auto id = net.apps[0].open(1'000'000, 0, net.now);
    ASSERT_TRUE(id);
    net.run(Duration::seconds(1));
    EXPECT_GT(net.session(1).streams().bytes_stored(), 100'000U) << i;
    net.session(i % 2).streams().reset(*id, ResetReason::kHostReset, net.now);
    net.apps[i % 2].flows.erase(static_cast<std::uint64_t>(*id));
    net.run(Duration::seconds(2));
    EXPECT_EQ(net.session(1).streams().bytes_stored(), 0U) << i;
  }
  expect_all_memory_back();
}

TEST_F(StreamTest, ASlowReaderHoldsItsCapAndOthersProceed) {
  net.configs[1].session.streams.receive_limit = 300'000;
  connect();
  bool first = true;
  net.apps[1].on_opened = [&](Session&, std::uint64_t, Application::Flow& flow) {
    if (first) flow.read_quantum = 0;
    first = false;
  };
  const auto slow = net.apps[0].open(5'000'000, 0, net.now);
  net.run(Duration::seconds(3));
  const auto fast = net.apps[0].open(2'000'000, 0, net.now);
  const std::uint64_t fast_id = static_cast<std::uint64_t>(*fast);
  EXPECT_TRUE(net.run(Duration::seconds(10), [&] {
    EXPECT_LE(net.session(1).streams().received(*slow)->stored(), 300'000U);
    const auto it = net.apps[1].flows.find(fast_id);
    return it != net.apps[1].flows.end() && it->second.end_seen;
  }));
  EXPECT_EQ(net.session(0).streams().credit(*slow), 0U);
  EXPECT_LE(net.session(0).streams().unacknowledged(*slow),
            net.configs[0].session.streams.send_limit);
  // The reader reads again, and the rest arrives.
  net.apps[1].flows[static_cast<std::uint64_t>(*slow)].read_quantum = ~std::uint64_t{0};
  net.apps[1].read_all(net.now);
  EXPECT_TRUE(net.run(Duration::seconds(20), [&] { return net.apps[1].finished_flows == 2; }));
  expect_all_memory_back();
}

TEST_F(StreamTest, BackloggedStreamsShareTheLinkEvenly) {
  for (EndConfig& config : net.configs) config.arena_bytes = 64 << 20;
  connect();
  for (int i = 0; i < 10; ++i) net.apps[0].open(30'000'000, 0, net.now);
  net.run(Duration::seconds(1));
  for (int interval = 0; interval < 3; ++interval) {
    std::map<std::uint64_t, std::uint64_t> before;
    for (auto& [id, flow] : net.apps[1].flows) before[id] = flow.read;
    net.run(Duration::seconds(5));
    double sum = 0, squares = 0;
    for (auto& [id, flow] : net.apps[1].flows) {
      const double rate = static_cast<double>(flow.read - before[id]);
      sum += rate;
      squares += rate * rate;
    }
    const double jain = sum * sum / (10 * squares);
    EXPECT_GE(jain, 0.99);
    EXPECT_GT(sum * 8 / 5, 0.95 * 50e6);
  }
}

TEST_F(StreamTest, ManySmallStreamsShareAPacket) {
  connect();
  net.apps[0].push = true;
  for (int i = 0; i < 8; ++i) net.apps[0].open(50, 0, net.now);
  EXPECT_EQ(take(0).size(), 1U);
}

TEST_F(StreamTest, RefusesStreamsBeyondTheLimit) {
  net.configs[1].session.streams.max_streams = 4;
  connect();
  for (int i = 0; i < 7; ++i) net.apps[0].open(100, 100'000'000, net.now);
  net.run(Duration::seconds(3));
  EXPECT_EQ(net.session(1).streams().count(), 4U);
  EXPECT_EQ(net.session(1).counters().streams_refused, 3U);
  EXPECT_EQ(net.apps[0].reset_flows, 3U);
  EXPECT_EQ(net.session(0).streams().count(), 4U);
}

TEST_F(StreamTest, HalfCloseLeavesTheOtherDirectionOpen) {
  connect();
  const auto id = net.session(0).streams().open({}, 1, net.now);
  net.session(0).streams().finish(*id);
  std::optional<StreamId> far;
  bool ended = false;
  for (int i = 0; i < 100; ++i) {
    net.now += Duration::milliseconds(20);
    for (auto& packet : take(0)) net.session(1).handle_packet(packet, net.now);
    for (auto& packet : take(1)) net.session(0).handle_packet(packet, net.now);
    while (const auto event = net.session(1).poll_event()) {
      if (event->kind == Event::Kind::kOpened) far = event->stream;
      if (event->kind == Event::Kind::kReadable)
        ended = net.session(1).streams().received_end(event->stream);
    }
    if (i == 50) {
      ASSERT_TRUE(far);
      EXPECT_TRUE(ended);
      const std::byte late[] = {std::byte{42}};
      EXPECT_EQ(net.session(1).streams().write(*far, late, net.now), 1U);
    }
  }
  EXPECT_EQ(net.session(0).streams().received(*id)->readable(), 1U);
  EXPECT_FALSE(net.session(0).streams().received_end(*id));
}

TEST_F(StreamTest, ProduceIsNotCalledAgainForASourceWithNothing) {
  struct Lazy final : StreamSource {
    int calls = 0;
    void produce(StreamId, std::uint32_t, Instant) override { ++calls; }
  } lazy;
  EndConfig config = end_config(true);
  net.start(1, 2000);
  End end(config, lazy, net.now);
  // The test moves the packets by hand, as it wants the handshake only.
  for (int i = 0; i < 100; ++i) {
    net.now += Duration::milliseconds(20);
    std::byte buffer[1500];
    while (const std::size_t n = end.session().poll_packet(buffer, net.now)) {
      net.session(1).handle_packet(ConstBytes(buffer, n), net.now);
    }
    for (auto& packet : take(1)) end.session().handle_packet(packet, net.now);
  }
  const auto id = end.session().streams().open({}, 0, net.now);
  ASSERT_TRUE(id);
  end.session().streams().set_ready(*id, true);
  std::byte buffer[1500];
  while (end.session().poll_packet(buffer, net.now) > 0) {
  }
  EXPECT_EQ(lazy.calls, 1);
  EXPECT_GT(end.session().next_timeout(), net.now);
  end.session().streams().set_ready(*id, true);
  while (end.session().poll_packet(buffer, net.now) > 0) {
  }
  EXPECT_EQ(lazy.calls, 2);
}

TEST_F(StreamTest, ASourceThatNeedsARoomyBlockIsWoken) {
  struct Blocks final : StreamSource {
    Session* session = nullptr;
    std::vector<std::byte> block = std::vector<std::byte>(60'000);
    void produce(StreamId id, std::uint32_t, Instant now) override {
      if (session->streams().send_room(id) < block.size()) {
        session->streams().set_ready(id, false);
      } else {
        EXPECT_EQ(session->streams().write(id, block, now), block.size());
      }
    }
  } blocks;
  EndConfig config = end_config(true);
  config.session.streams.send_limit = 100'000;  // no room for two blocks
  net.start(1, 2000);
  End end(config, blocks, net.now);
  blocks.session = &end.session();
  std::uint64_t read = 0;
  bool opened = false;
  for (int i = 0; i < 20'000; ++i) {
    net.now += Duration::milliseconds(1);
    std::byte buffer[1500];
    while (const std::size_t n = end.session().poll_packet(buffer, net.now)) {
      net.session(1).handle_packet(ConstBytes(buffer, n), net.now);
    }
    for (auto& packet : take(1)) end.session().handle_packet(packet, net.now);
    while (const auto event = end.session().poll_event()) {
      if (event->kind == Event::Kind::kWritable)
        end.session().streams().set_ready(event->stream, true);
    }
    while (const auto event = net.session(1).poll_event()) {
      if (event->kind != Event::Kind::kReadable) continue;
      const std::uint64_t n = net.session(1).streams().received(event->stream)->readable();
      net.session(1).streams().consume(event->stream, n, net.now);
      read += n;
    }
    if (!opened && end.session().peer_state() == PeerState::kAlive) {
      const auto id = end.session().streams().open({}, 0, net.now);
      end.session().streams().set_ready(*id, true);
      opened = true;
    }
  }
  EXPECT_GT(read, 5'000'000U);
}

// A block that is cut short would be taken for the beginning of the bytes behind it.
TEST_F(StreamTest, AWholeForWhichThereIsNoRoomIsNotBegun) {
  net.configs[0].session.streams.send_limit = 1'000;
  connect();
  Session& s = net.session(0);
  const auto id = s.streams().open({}, 0, net.now);
  ASSERT_TRUE(id);
  const std::vector<std::byte> bytes(600);
  const std::array<ConstBytes, 2> parts{bytes, bytes};
  EXPECT_FALSE(s.streams().write_whole(*id, parts, net.now));
  EXPECT_EQ(s.streams().send_room(*id), 1'000U);
  EXPECT_TRUE(s.streams().write_whole(*id, std::span(parts).first<1>(), net.now));
  EXPECT_EQ(s.streams().send_room(*id), 400U);
  s.streams().finish(*id);
  EXPECT_FALSE(s.streams().write_whole(*id, std::span(parts).first<1>(), net.now))
      << "behind the end";
}

TEST_F(StreamTest, CallsOnUnknownStreamsDoNothing) {
  connect();
  Session& s = net.session(0);
  const StreamId unknown{12'346};
  const std::byte bytes[4] = {};
  EXPECT_EQ(s.streams().write(unknown, bytes, net.now), 0U);
  s.streams().finish(unknown);
  s.streams().set_ready(unknown, true);
  s.streams().reset(unknown, ResetReason::kTimeout, net.now);
  s.streams().consume(unknown, 5, net.now);
  s.streams().release(unknown, net.now);
  EXPECT_EQ(s.streams().received(unknown), nullptr);
  EXPECT_EQ(s.streams().send_room(unknown), 0U);
  EXPECT_TRUE(s.streams().metadata(unknown).empty());
  EXPECT_EQ(s.counters().streams_reset_out, 0U);
}

}  // namespace
}  // namespace satrelay::stp::test::stream_test

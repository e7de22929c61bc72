// Many segments of one flow that arrive, or leave, at once.
#include <array>
#include <span>
#include <string>
#include <vector>

#include "relay/gateway/frames/frame_faults.h"
#include "tests/unit/relay/gateway/gateway_fixture.h"

namespace satrelay::gateway::trains_test {
namespace {

using Flags = wire::TcpFlags;

// A client and a server with an open connection, with SACK and timestamps.
class Trains : public GatewayTest {
 protected:
  void SetUp() override {
    start_peer();
    wire::TcpHeader first = syn();
    first.options.sack_permitted = true;
    first.options.timestamps = wire::TcpTimestamps{5, 0};
    lan(tcp_frame(kClient, kServer, first));
    for (int i = 0; i < 10; ++i) {
      hear_client();
      hear_server();
      step();
    }
    ASSERT_EQ(a_->flow_count(), 1U);
    ASSERT_NE(server_port_, 0);
  }

  // Takes the frames for the hosts, which answer only the handshake.
  void hear_client() {
    while (const auto frame = next_frame(PortId::kLan)) {
      const auto tcp = wire::parse_tcp(look_at(*frame).payload);
      if (!tcp || !tcp->header.has(Flags::kSyn)) continue;
      client_expects_ = tcp->header.sequence + 1;
      lan(from_client(1001, 6, 0));
    }
  }
  void hear_server() {
    FrameBytes frame(b_->max_frame_size());
    while (const std::size_t size = b_->poll_frame(PortId::kLan, frame, now_).size) {
      const auto tcp = wire::parse_tcp(look_at(ConstBytes(frame).first(size)).payload);
      if (!tcp || !tcp->header.has(Flags::kSyn)) continue;
      server_port_ = tcp->header.source_port;
      server_expects_ = tcp->header.sequence + 1;
      wire::TcpHeader answer = from_server_header(500'000);
      answer.flags = Flags::kSyn | Flags::kAck;
      answer.options.mss = 1460;
      b_->handle_frame(PortId::kLan, tcp_frame(kServer, kClient, answer), now_);
    }
  }

  FrameBytes from_client(std::uint32_t sequence, std::uint32_t stamp, std::size_t size) const {
    wire::TcpHeader tcp = syn();
    tcp.options = {};
    tcp.sequence = sequence;
    tcp.acknowledgment = client_expects_;
    tcp.flags = Flags::kAck;
    tcp.options.timestamps = wire::TcpTimestamps{stamp, 0};
    return tcp_frame(kClient, kServer, tcp, host_to_server(), std::string(size, 'x'));
  }
  wire::TcpHeader from_server_header(std::uint32_t sequence) const {
    wire::TcpHeader tcp;
    tcp.source_port = 80;
    tcp.destination_port = server_port_;
    tcp.sequence = sequence;
    tcp.acknowledgment = server_expects_;
    tcp.flags = Flags::kAck;
    tcp.window = 64240;
    return tcp;
  }
  std::uint64_t received() { return a_->status(now_).tcp.bytes_in; }

  std::uint32_t client_expects_ = 0, server_expects_ = 0;
  std::uint16_t server_port_ = 0;
};

// The report of a duplicate (RFC 2883) takes room in the first segment, and only in that one.
TEST_F(Trains, ADuplicateMakesNoFrameLongerThanTheMtu) {
  const FrameBytes data = from_client(1001, 6, 1000);
  lan(data);
  for (int i = 0; i < 3; ++i) {
    step();
    hear_client();
    hear_server();
  }
  server_expects_ += 1000;
  for (std::uint32_t i = 0; i < 8; ++i) {
    b_->handle_frame(PortId::kLan,
                     tcp_frame(kServer, kClient, from_server_header(500'001 + 1400 * i),
                               host_to_server(), std::string(1400, 'y')),
                     now_);
  }
  for (int i = 0; i < 3; ++i) step();
  lan(data);
  std::vector<FrameBytes> buffers(16, FrameBytes(a_->max_frame_size()));
  const std::vector<MutableBytes> rooms(buffers.begin(), buffers.end());
  std::array<Polled, 16> polled;
  const std::size_t count = a_->poll_frames(PortId::kLan, rooms, polled, now_);
  ASSERT_GT(count, 2U);
  std::size_t reports = 0;
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_LE(polled[i].size, 1514U) << i;
    const auto tcp = wire::parse_tcp(look_at(ConstBytes(buffers[i]).first(polled[i].size)).payload);
    reports += tcp->header.options.sack_count;
  }
  EXPECT_EQ(reports, 1U);
}

// Each timestamp is ahead of the one before. But the third is behind the first (RFC 7323, PAWS).
TEST_F(Trains, TimestampsDoNotGoRound) {
  std::vector<FrameBytes> frames;
  std::vector<Gateway::Arrived> arrived;
  for (std::uint32_t i = 0; i < 4; ++i) {
    frames.push_back(from_client(1001 + 1000 * i, 6 + (i << 30U), 1000));
  }
  for (const FrameBytes& frame : frames) arrived.push_back({.bytes = frame});
  std::array<Gateway::Handled, 4> handled;
  const std::uint64_t before = received();
  a_->handle_frames(PortId::kLan, arrived, handled, now_);
  EXPECT_EQ(received() - before, 2000U);
}

// Acknowledgments of the bytes that the client got, all in one burst.
class AcknowledgmentTrains : public Trains {
 protected:
  static constexpr std::uint32_t kSegments = 8;

  void SetUp() override {
    Trains::SetUp();
    for (std::uint32_t i = 0; i < kSegments; ++i) {
      b_->handle_frame(PortId::kLan,
                       tcp_frame(kServer, kClient, from_server_header(500'001 + 1400 * i),
                                 host_to_server(), std::string(1400, 'y')),
                       now_);
    }
    for (int i = 0; i < 3; ++i) step();
    std::vector<FrameBytes> buffers(kSegments + 2, FrameBytes(a_->max_frame_size()));
    const std::vector<MutableBytes> rooms(buffers.begin(), buffers.end());
    std::array<Polled, kSegments + 2> polled;
    std::size_t payload = 0;
    const std::size_t count = a_->poll_frames(PortId::kLan, rooms, polled, now_);
    for (std::size_t i = 0; i < count; ++i) {
      const Frame frame = look_at(ConstBytes(buffers[i]).first(polled[i].size));
      EXPECT_FALSE(checksum_fault(frame)) << i;
      payload += frame.payload.size() - wire::parse_tcp(frame.payload)->header_size;
    }
    ASSERT_EQ(payload, kSegments * 1400U);
  }
  FrameBytes acknowledgment(std::uint32_t bytes) {
    wire::TcpHeader tcp = syn();
    tcp.options = {};
    tcp.sequence = 1001;
    tcp.acknowledgment = client_expects_ + bytes;
    tcp.flags = Flags::kAck;
    tcp.options.timestamps = wire::TcpTimestamps{7, 0};
    return tcp_frame(kClient, kServer, tcp, host_to_server(), "");
  }
  // How many segments were counted, and how many bytes the client has acknowledged.
  struct Heard {
    std::uint64_t segments = 0;
    std::uint64_t bytes = 0;
    friend bool operator==(const Heard&, const Heard&) = default;
  };
  Heard hear(const std::vector<FrameBytes>& frames) {
    std::vector<Gateway::Arrived> arrived;
    std::vector<Frame> looks;
    for (const FrameBytes& frame : frames) looks.push_back(look_at(frame));
    for (std::size_t i = 0; i < frames.size(); ++i) {
      arrived.push_back({.bytes = frames[i], .seen = &looks[i]});
    }
    std::vector<Gateway::Handled> handled(frames.size());
    const std::uint64_t before = a_->status(now_).tcp.segments_in;
    a_->handle_frames(PortId::kLan, arrived, handled, now_);
    a_->handle_timeout(now_);  // settles the acknowledgments in the flow
    return {a_->status(now_).tcp.segments_in - before,
            kSegments * 1400U - a_->flows(0, 1, now_).front().lan_unacknowledged};
  }
};

TEST_F(AcknowledgmentTrains, AreTakenAtOnceAsOneByOne) {
  EXPECT_EQ(hear({acknowledgment(1400), acknowledgment(2800), acknowledgment(5600)}),
            (Heard{3, 5600}));
  EXPECT_EQ(hear({acknowledgment(7000)}), (Heard{1, 7000}));
}

// Only the flow's timer is set.
TEST_F(AcknowledgmentTrains, AFlowWithNothingToSayTakesNoTurn) {
  hear({acknowledgment(1400), acknowledgment(2800)});
  FrameBytes out(a_->max_frame_size());
  const std::uint64_t before = a_->visited();
  EXPECT_EQ(a_->poll_frame(PortId::kLan, out, now_).size, 0U);
  EXPECT_EQ(a_->visited(), before);
}

TEST_F(AcknowledgmentTrains, OneThatIsBrokenTakesNoneWithIt) {
  FrameBytes broken = acknowledgment(5600);
  broken.back() ^= std::byte{1};
  EXPECT_EQ(hear({acknowledgment(1400), acknowledgment(2800), broken}), (Heard{2, 2800}));
  EXPECT_EQ(count(Counter::kDroppedBadChecksum), 1U);
}

// The last one acknowledges bytes that were never sent.
TEST_F(AcknowledgmentTrains, AForgedOneTakesNoneWithIt) {
  EXPECT_EQ(hear({acknowledgment(1400), acknowledgment(2800), acknowledgment(1U << 30U)}),
            (Heard{3, 2800}));
}

TEST_F(AcknowledgmentTrains, AnOlderOneEndsTheTrain) {
  EXPECT_EQ(hear({acknowledgment(2800), acknowledgment(1400), acknowledgment(4200)}),
            (Heard{3, 4200}));
}

}  // namespace
}  // namespace satrelay::gateway::trains_test

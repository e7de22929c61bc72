// TCP checksums that are left to the LAN port. All else is as without that, and the port writes the
// checksums that the gateway would have written.
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "pep/wire/checksum.h"
#include "tests/unit/relay/gateway/relayed_fixture.h"

namespace satrelay::gateway::left_sums_test {
namespace {

class LeftSums : public RelayedTest {
 protected:
  struct Heard {
    std::vector<FrameBytes> frames;  // with all checksums
    std::size_t left = 0;            // so many were left to the port
  };

  // The server's bytes to `client` go through both gateways. Returns the frames on the LAN of A.
  Heard relayed(bool port_sums, std::string_view client, std::string_view server) {
    now_ = Instant::from_nanoseconds(1);
    a_ = std::make_unique<Gateway>(
        config_a_,
        Identity{
            .boot_epoch = 2, .secret = {1, 2}, .wan_mac = kGatewayMac, .lan_port_sums = port_sums},
        memory_a_, now_);
    start_peer();
    Heard heard;
    lan(tcp_frame(client, server, syn()));
    std::uint16_t port = 0;
    std::uint32_t expects = 0;
    for (int i = 0; i < 12; ++i) {
      take(heard, client, server);
      FrameBytes frame(b_->max_frame_size());
      while (const std::size_t size = b_->poll_frame(PortId::kLan, frame, now_).size) {
        const auto tcp = wire::parse_tcp(look_at(ConstBytes(frame).first(size)).payload);
        if (!tcp || !tcp->header.has(wire::TcpFlags::kSyn)) continue;
        port = tcp->header.source_port;
        expects = tcp->header.sequence + 1;
        serve(client, server, port, expects, 500'000, 0);
      }
      step();
    }
    // The last segment is short, with an odd size.
    for (const std::size_t size : {1400U, 1400U, 1400U, 301U}) {
      serve(client, server, port, expects, served_, size);
    }
    for (int i = 0; i < 3; ++i) {
      step();
      take(heard, client, server);
    }
    return heard;
  }
  void serve(std::string_view client, std::string_view server, std::uint16_t port,
             std::uint32_t expects, std::uint32_t sequence, std::size_t size) {
    wire::TcpHeader tcp;
    tcp.source_port = 80;
    tcp.destination_port = port;
    tcp.sequence = sequence;
    tcp.acknowledgment = expects;
    tcp.window = 64240;
    tcp.flags = wire::TcpFlags::kAck;
    if (size == 0) {
      tcp.flags |= wire::TcpFlags::kSyn;
      tcp.options.mss = 1460;
    }
    served_ = sequence + (size == 0 ? 1 : static_cast<std::uint32_t>(size));
    b_->handle_frame(PortId::kLan,
                     tcp_frame(server, client, tcp, host_to_server(), std::string(size, 'y')),
                     now_);
  }
  void take(Heard& heard, std::string_view client, std::string_view server) {
    std::vector<FrameBytes> buffers(16, FrameBytes(a_->max_frame_size()));
    const std::vector<MutableBytes> rooms(buffers.begin(), buffers.end());
    std::array<Polled, 16> polled;
    const std::size_t count = a_->poll_frames(PortId::kLan, rooms, polled, now_);
    for (std::size_t i = 0; i < count; ++i) {
      FrameBytes& frame = buffers[i];
      frame.resize(polled[i].size);
      if (const std::size_t from = polled[i].checksum_from; from != 0) {
        ++heard.left;
        const auto sum =
            static_cast<std::uint16_t>(~wire::checksum_sum(ConstBytes(frame).subspan(from)));
        store_u16(frame.data() + from + wire::kTcpChecksumOffset, sum);
      }
      const auto tcp = wire::parse_tcp(look_at(frame).payload);
      if (tcp && tcp->header.has(wire::TcpFlags::kSyn)) {
        wire::TcpHeader answer = syn();
        answer.flags = wire::TcpFlags::kAck;
        answer.sequence = 1001;
        answer.acknowledgment = tcp->header.sequence + 1;
        answer.options = {};
        lan(tcp_frame(client, server, answer));
      }
      heard.frames.push_back(frame);
    }
  }

  std::uint32_t served_ = 0;
};

TEST_F(LeftSums, ArePseudoHeadersOfTheSameFrames) {
  for (const auto& [client, server] :
       {std::pair(kClient, kServer), std::pair(kClientV6, kServerV6)}) {
    const Heard whole = relayed(false, client, server);
    const Heard left = relayed(true, client, server);
    EXPECT_EQ(whole.left, 0U) << client;
    EXPECT_EQ(left.left, 4U) << client << ": of each segment with data, and of no other";
    EXPECT_EQ(left.frames, whole.frames) << client;
  }
}

}  // namespace
}  // namespace satrelay::gateway::left_sums_test

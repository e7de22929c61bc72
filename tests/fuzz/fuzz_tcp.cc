// A TCP endpoint in either role, with a peer that may send anything near its windows, an
// application that does anything in any order, and time that jumps. For any input nothing may trap,
// no byte is read that was not sent, and memory comes back.
#include <array>
#include <cstdlib>
#include <vector>

#include "pep/base/arena.h"
#include "pep/base/bytes.h"
#include "pep/tcp/endpoint.h"

namespace satrelay::tcp {
namespace {

constexpr std::uint32_t kPeerStart = 0xffff'f000;  // Wraps soon.
constexpr int kMostSegments = 4096;                // The most that may leave at one instant.

void check(bool condition) {
  if (!condition) std::abort();
}

// The byte that the peer has at a position of its stream.
std::byte peer_byte(std::uint64_t position) { return static_cast<std::byte>(position * 31U + 7U); }

struct Peer {
  std::uint32_t endpoint_sequence = 0;  // End of the endpoint's last segment.
  std::uint32_t acknowledged = kPeerStart + 1;
};

void drain(Endpoint& endpoint, Peer& peer, Instant now) {
  std::array<std::byte, 9000> payload{};
  int sent = 0;
  while (const auto segment = endpoint.poll_segment(now)) {
    check(++sent < kMostSegments);
    check(segment->payload_size <= payload.size());
    endpoint.copy_payload(segment->payload_offset,
                          MutableBytes(payload).first(segment->payload_size));
    const bool occupies =
        (segment->header.flags & (wire::TcpFlags::kSyn | wire::TcpFlags::kFin)) != 0;
    peer.endpoint_sequence = segment->header.sequence +
                             static_cast<std::uint32_t>(segment->payload_size) + (occupies ? 1 : 0);
    peer.acknowledged = segment->header.acknowledgment;
  }
}

// A segment with numbers near the endpoint's expected ones.
void say(Endpoint& endpoint, const Peer& peer, ByteReader& in, Instant now) {
  wire::TcpHeader header;
  header.flags = in.u8();
  const auto near = [&](std::uint32_t base) {
    const std::uint8_t how = in.u8();
    if (how == 0xff) return in.u32();
    return base +
           static_cast<std::uint32_t>(static_cast<std::int8_t>(how)) * (how % 3 == 0 ? 700U : 1U);
  };
  header.sequence = near(peer.acknowledged);
  header.acknowledgment = near(peer.endpoint_sequence);
  header.window = in.u16();
  header.urgent = in.u8();
  const std::uint8_t options = in.u8();
  if ((options & 1U) != 0) header.options.timestamps = wire::TcpTimestamps{in.u32(), in.u32()};
  if ((options & 2U) != 0) {
    header.options.sack_count = static_cast<std::uint8_t>(1 + options / 64U % 3U);
    for (std::size_t i = 0; i < header.options.sack_count; ++i) {
      header.options.sack[i] = {near(peer.endpoint_sequence), near(peer.endpoint_sequence)};
    }
  }
  if ((options & 4U) != 0) header.options.mss = in.u16();
  std::vector<std::byte> payload((options & 8U) != 0 ? in.u16() % 3000U : 0U);
  for (std::size_t i = 0; i < payload.size(); ++i) {
    payload[i] = peer_byte(header.sequence - (kPeerStart + 1) + i);
  }
  const auto urgent = endpoint.receiving().urgent_mark_of(header, payload.size());
  check(!urgent || *urgent > endpoint.received().in_order_end());
  endpoint.handle_segment(header, payload, now);
}

void act(Endpoint& endpoint, unsigned what, std::uint64_t& consumed, Instant now) {
  const std::array<std::byte, 5000> bytes{};
  switch (what % 16) {
    case 0:
      endpoint.close();
      break;
    case 1:
      endpoint.abort(now);
      break;
    case 2:
      endpoint.set_receive_limit((what / 16) * 4096);
      break;
    case 3:
      endpoint.send_keep_alive(now);
      break;
    case 4:
      endpoint.hold_acknowledgments(what * 16, now);
      break;
    case 5:
      endpoint.hold_fin();
      break;
    case 6:
      endpoint.release_fin(now);
      break;
    case 7:
      endpoint.answer(now);
      break;
    case 8:
    case 9:
    case 10: {
      const std::uint64_t count =
          std::min<std::uint64_t>(endpoint.received().readable(), what * 64);
      std::vector<std::byte> read(count);
      endpoint.received().copy_front(read);
      for (std::uint64_t i = 0; i < count; ++i) {
        check(read[i] == peer_byte(static_cast<std::uint32_t>(consumed + i)));
      }
      endpoint.consume(count);
      consumed += count;
      break;
    }
    case 11:
      endpoint.mark_urgent(what * 64);
      break;
    default:
      static_cast<void>(endpoint.write(ConstBytes(bytes).first(what * 19 % bytes.size())));
  }
}

void run(ByteReader& in) {
  std::vector<std::byte> memory(1 << 18);
  Arena arena(memory, 4096);
  {
    Instant now = Instant::from_nanoseconds(1'000'000'000);
    const unsigned role = in.u8();
    Config config;
    config.initial_sequence = 0xffff'ff00;
    config.receive_limit = config.send_limit = 1 << 16;
    Endpoint endpoint(config, arena);
    Peer peer;
    wire::TcpHeader syn;
    syn.flags = wire::TcpFlags::kSyn;
    syn.sequence = kPeerStart;
    syn.window = 65535;
    syn.options.mss = 1460;
    if ((role & 2U) != 0) syn.options.sack_permitted = true;
    if ((role & 4U) != 0) syn.options.window_scale = static_cast<std::uint8_t>(role / 16);
    if ((role & 8U) != 0) syn.options.timestamps = wire::TcpTimestamps{1, 0};
    if ((role & 1U) != 0) {
      endpoint.connect(syn.options, now);
      drain(endpoint, peer, now);
      syn.flags |= wire::TcpFlags::kAck;
      syn.acknowledgment = peer.endpoint_sequence;
      endpoint.handle_segment(syn, {}, now);
    } else {
      endpoint.accept(syn, now);
    }
    drain(endpoint, peer, now);
    std::uint64_t consumed = 0;
    while (in.remaining() > 1) {
      const unsigned control = in.u8();
      now += Duration::microseconds(std::int64_t{1} << (control >> 3U));
      if (endpoint.next_timeout() <= now) endpoint.handle_timeout(now);
      drain(endpoint, peer, now);
      if ((control & 3U) == 0) {
        act(endpoint, in.u8(), consumed, now);
      } else {
        say(endpoint, peer, in, now);
      }
      drain(endpoint, peer, now);
    }
  }
  check(arena.used_blocks() == 0);
}

}  // namespace
}  // namespace satrelay::tcp

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace satrelay;
  ByteReader reader(std::as_bytes(std::span(data, size)));
  if (reader.remaining() > 0) tcp::run(reader);
  return 0;
}

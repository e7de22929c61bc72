#include "tests/bench/micro.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <type_traits>

#include "pep/base/arena.h"
#include "pep/base/containers/byte_queue.h"
#include "pep/base/random.h"
#include "pep/control/fixed_rate.h"
#include "pep/control/pacer.h"
#include "pep/stp/session.h"
#include "pep/stp/wire/crc32c.h"
#include "pep/tcp/endpoint.h"
#include "pep/wire/checksum.h"
#include "pep/wire/ip.h"
#include "tests/bench/stopwatch.h"
#include "tests/bench/timed.h"

namespace satrelay::bench {
namespace {

constexpr std::size_t kBatch = 32;
constexpr std::size_t kFrame = 1500;
constexpr std::size_t kPayload = 1448;
constexpr Duration kTurn = Duration::microseconds(400);  // 32 frames at about 1 Gbit/s.

std::vector<std::byte> random_bytes(std::size_t size) {
  std::vector<std::byte> bytes(size);
  Random random(3);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random.next());
  return bytes;
}

double checksum(std::size_t frames) {
  const std::vector<std::byte> bytes = random_bytes(kBatch * kFrame);
  const IpAddress a = IpAddress::v4({198, 51, 100, 1}), b = IpAddress::v4({203, 0, 113, 1});
  return timed(frames, [&](std::size_t i) {
    const auto segment = ConstBytes(bytes).subspan(i % kBatch * kFrame, 1480);
    keep(wire::transport_checksum_ok(a, b, wire::kProtocolTcp, segment));
  });
}

double crc(std::size_t frames) {
  const std::vector<std::byte> bytes = random_bytes(kBatch * kFrame);
  return timed(frames, [&](std::size_t i) {
    keep(stp::crc32c_finish(stp::crc32c_update(
        stp::kCrc32cStart, ConstBytes(bytes).subspan(i % kBatch * kFrame, 1472))));
  });
}

double store_and_fetch(std::size_t frames) {
  std::vector<std::byte> memory(4 << 20);
  Arena arena(memory, 4096);
  ByteQueue queue(arena);
  const std::vector<std::byte> in = random_bytes(kBatch * kPayload);
  std::vector<std::byte> out(kPayload);
  return timed(frames, [&](std::size_t i) {
    const std::uint64_t at = queue.end();
    static_cast<void>(queue.append(ConstBytes(in).subspan(i % kBatch * kPayload, kPayload)));
    queue.copy_out(at, out);
    queue.release_below(queue.end() - queue.end() % kPayload);
  });
}

struct PairTimes {
  double sending = 0;
  double receiving = 0;
};

// A TCP sender and a TCP receiver that exchange segments without frames around them.
PairTimes tcp_pair(std::size_t frames) {
  std::vector<std::byte> memory(16 << 20);
  Arena arena(memory, 4096);
  tcp::Config config;
  tcp::Endpoint sender(config, arena), receiver(config, arena);
  Instant now = Instant::from_nanoseconds(1'000'000'000);
  struct Segment {
    tcp::SegmentToSend segment;
    std::vector<std::byte> payload = std::vector<std::byte>(kFrame);
  };
  std::vector<Segment> forward(4 * kBatch), backward(4 * kBatch);
  std::size_t forward_count = 0, backward_count = 0;
  const auto drain = [&](tcp::Endpoint& from, std::vector<Segment>& to, std::size_t& count) {
    while (count < to.size()) {
      const auto segment = from.poll_segment(now);
      if (!segment) break;
      Segment& slot = to[count++];
      slot.segment = *segment;
      if (segment->payload_size > 0) {
        from.copy_payload(segment->payload_offset,
                          MutableBytes(slot.payload).first(segment->payload_size));
      }
    }
  };
  const auto give = [&](tcp::Endpoint& to, const std::vector<Segment>& from, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      to.handle_segment(from[i].segment.header,
                        ConstBytes(from[i].payload).first(from[i].segment.payload_size), now);
    }
  };
  wire::TcpOptions offer;
  offer.mss = 1460;
  offer.window_scale = 7;
  offer.sack_permitted = true;
  offer.timestamps = wire::TcpTimestamps{};
  sender.connect(offer, now);
  drain(sender, forward, forward_count);
  receiver.accept(forward[0].segment.header, now);

  const std::vector<std::byte> content = random_bytes(kPayload);
  Stopwatch send_watch, receive_watch;
  std::size_t sent = 0, received = 0;  // Frames with counted time.
  forward_count = 0;
  for (std::size_t done = 0; done < 2 * frames;) {
    if (done < frames) {  // The first half warms up.
      send_watch.reset();
      receive_watch.reset();
      sent = received = 0;
    }
    receive_watch.start();
    give(receiver, forward, forward_count);
    receiver.consume(receiver.received().readable());
    if (receiver.next_timeout() <= now) receiver.handle_timeout(now);
    backward_count = 0;
    drain(receiver, backward, backward_count);
    if (receive_watch.stop()) {
      for (std::size_t i = 0; i < forward_count; ++i) {
        if (forward[i].segment.payload_size > 0) ++received;
      }
    }
    send_watch.start();
    give(sender, backward, backward_count);
    if (sender.next_timeout() <= now) sender.handle_timeout(now);
    for (std::size_t i = 0; i < kBatch && sender.sending().writable() >= kPayload; ++i) {
      if (sender.write(content) == 0) std::abort();
    }
    forward_count = 0;
    drain(sender, forward, forward_count);
    if (send_watch.stop()) {
      for (std::size_t i = 0; i < forward_count; ++i) {
        if (forward[i].segment.payload_size > 0) ++sent;
      }
    }
    now += kTurn;
    done += std::max<std::size_t>(forward_count, 1);
  }
  return {send_watch.nanoseconds() / static_cast<double>(std::max<std::size_t>(sent, 1)),
          receive_watch.nanoseconds() / static_cast<double>(std::max<std::size_t>(received, 1))};
}

// Keeps every stream full.
class EndlessSource final : public stp::StreamSource {
 public:
  void produce(stp::StreamId stream, std::uint32_t, Instant now) override {
    const std::uint64_t room = session->streams().send_room(stream);
    const auto part = ConstBytes(content).first(std::min<std::uint64_t>(room, content.size()));
    if (session->streams().write(stream, part, now) < part.size()) std::abort();
    if (session->streams().send_room(stream) == 0) session->streams().set_ready(stream, false);
  }
  stp::Session* session = nullptr;
  std::vector<std::byte> content = random_bytes(32 * 1024);
};

// In revisions with a pacer that forgot debt, its constructor also took a time (compare.sh builds
// such revisions, too).
template <typename Pacer>
Pacer pacer_of(BitRate rate) {
  const Duration depth = Duration::milliseconds(4);
  if constexpr (std::is_constructible_v<Pacer, BitRate, control::LinkOverhead, Duration,
                                        Duration>) {
    return Pacer(rate, control::LinkOverhead{}, depth, Duration::milliseconds(20));
  } else {
    return Pacer(rate, control::LinkOverhead{}, depth);
  }
}

PairTimes stp_pair(std::size_t frames) {
  std::vector<std::byte> memory(128 << 20);
  Arena arena_a(MutableBytes(memory).first(64 << 20), 4096);
  Arena arena_b(MutableBytes(memory).last(64 << 20), 4096);
  control::FixedRate rate(BitRate::bits_per_second(1'000'000'000));
  const auto make_pacer = [&] { return pacer_of<control::Pacer>(rate.rate()); };
  control::Pacer pacer_a = make_pacer(), pacer_b = make_pacer();
  Instant now = Instant::from_nanoseconds(1'000'000'000);
  EndlessSource source_a, source_b;
  stp::Config config;
  config.streams.lane_receive_limit = config.streams.receive_limit = config.streams.send_limit =
      16 << 20;
  config.boot_epoch = 1;
  stp::Session a(config, arena_a, pacer_a, rate, source_a, now);
  config.boot_epoch = 2;
  config.opens_even_streams = false;
  stp::Session b(config, arena_b, pacer_b, rate, source_b, now);
  source_a.session = &a;
  source_b.session = &b;

  struct Packet {
    std::vector<std::byte> bytes = std::vector<std::byte>(1500);
    std::size_t size = 0;
  };
  std::vector<Packet> forward(4 * kBatch), backward(4 * kBatch);
  std::size_t forward_count = 0, backward_count = 0;
  std::optional<stp::StreamId> to_read;
  const auto step = [&](stp::Session& session, const std::vector<Packet>& in, std::size_t in_count,
                        std::vector<Packet>& out, std::size_t& out_count) {
    for (std::size_t i = 0; i < in_count; ++i) {
      session.handle_packet(ConstBytes(in[i].bytes).first(in[i].size), now);
    }
    if (session.next_timeout() <= now) session.handle_timeout(now);
    while (const auto event = session.poll_event()) {
      using Kind = stp::Event::Kind;
      if (event->kind == Kind::kOpened) to_read = event->stream;
      if (event->kind == Kind::kWritable) session.streams().set_ready(event->stream, true);
    }
    if (&session == &b && to_read)
      b.streams().consume(*to_read, b.streams().received(*to_read)->readable(), now);
    out_count = 0;
    while (out_count < out.size()) {
      out[out_count].size = session.poll_packet(out[out_count].bytes, now);
      if (out[out_count].size == 0) break;
      ++out_count;
    }
  };
  for (int i = 0; i < 20'000 && a.peer_state() != stp::PeerState::kAlive; ++i) {
    step(a, backward, backward_count, forward, forward_count);
    step(b, forward, forward_count, backward, backward_count);
    now += kTurn;
  }
  const auto stream = a.streams().open({}, 0, now);
  if (!stream) return {};
  a.streams().set_ready(*stream, true);
  Stopwatch send_watch, receive_watch;
  std::size_t sent = 0, received = 0;
  for (std::size_t done = 0; done < 2 * frames;) {
    if (done < frames) {
      send_watch.reset();
      receive_watch.reset();
      sent = received = 0;
    }
    send_watch.start();
    step(a, backward, backward_count, forward, forward_count);
    const bool send_counts = send_watch.stop();
    receive_watch.start();
    step(b, forward, forward_count, backward, backward_count);
    const bool receive_counts = receive_watch.stop();
    for (std::size_t i = 0; i < forward_count; ++i) {
      if (forward[i].size <= 1'400) continue;
      if (send_counts) ++sent;
      if (receive_counts) ++received;
    }
    done += std::max<std::size_t>(forward_count, 1);
    now += kTurn;
  }
  return {send_watch.nanoseconds() / static_cast<double>(std::max<std::size_t>(sent, 1)),
          receive_watch.nanoseconds() / static_cast<double>(std::max<std::size_t>(received, 1))};
}

}  // namespace

double copy_hot(std::size_t frames) {
  const std::vector<std::byte> from = random_bytes(8 * kFrame);
  std::vector<std::byte> to(8 * kFrame);
  return timed(frames, [&](std::size_t i) {
    std::memcpy(&to[i % 8 * kFrame], &from[(i + 3) % 8 * kFrame], kFrame);
    keep(to);
  });
}

double copy_through(std::size_t working_set, std::size_t frames) {
  std::unique_ptr<std::byte[]> memory(new std::byte[working_set]);
  std::memset(memory.get(), 1, working_set);
  const std::vector<std::byte> from = random_bytes(8 * kFrame);
  const std::size_t slots = working_set / kFrame;
  return timed(frames, [&](std::size_t i) {
    std::memcpy(&memory[i % slots * kFrame], &from[i % 8 * kFrame], kFrame);
    keep(memory);
  });
}

std::vector<MicroRow> run_micro(std::size_t frames) {
  const PairTimes tcp = tcp_pair(frames);
  const PairTimes stp = stp_pair(frames);
  return {{"verify a TCP checksum (1480 B)", checksum(frames)},
          {"CRC32C (1472 B)", crc(frames)},
          {"store in and fetch from the arena (1448 B, two copies)", store_and_fetch(frames)},
          {"tcp::Endpoint receives: segment in, stored, ACK out", tcp.receiving},
          {"tcp::Endpoint sends: stored, segment out, ACK in", tcp.sending},
          {"stp::Session sends: stored, packet out, feedback in", stp.sending},
          {"stp::Session receives: packet in, stored, feedback out", stp.receiving}};
}

}  // namespace satrelay::bench

// STP's parsers, and a session with a peer that may send anything in well-sealed packets, at any
// time. Meanwhile the session's relay opens, writes, reads and resets. For any input nothing may
// trap, and memory comes back.
#include <array>
#include <cstdlib>
#include <vector>

#include "pep/base/arena.h"
#include "pep/base/bytes.h"
#include "pep/base/seeded_entropy.h"
#include "pep/control/fixed_rate.h"
#include "pep/control/pacer.h"
#include "pep/stp/fec/fec.h"
#include "pep/stp/session.h"
#include "pep/stp/wire/frames.h"
#include "pep/stp/wire/packet.h"
#include "relay/sim/adversaries/hello_packet.h"

namespace satrelay::stp {
namespace {

constexpr BitRate kRate = BitRate::bits_per_second(50'000'000);
constexpr std::uint64_t kOurEpoch = 1000, kPeerEpoch = 2000;
constexpr int kMostPackets = 4096;  // The most that may leave at one instant.

void check(bool condition) {
  if (!condition) std::abort();
}

struct Relay final : StreamSource {
  Session* session = nullptr;
  std::vector<StreamId> streams;

  void produce(StreamId id, std::uint32_t, Instant now) override {
    const std::array<std::byte, 700> block{};
    if (session->streams().write(id, block, now) == 0) session->streams().set_ready(id, false);
  }
  void take_events(Instant now) {
    while (const auto event = session->poll_event()) {
      switch (event->kind) {
        case Event::Kind::kOpened:
          streams.push_back(event->stream);
          session->streams().set_ready(event->stream, true);
          break;
        case Event::Kind::kReadable:
          session->streams().consume(event->stream,
                                     session->streams().received(event->stream)->readable(), now);
          if (session->streams().received_end(event->stream))
            session->streams().finish(event->stream);
          break;
        case Event::Kind::kReset:
          std::erase(streams, event->stream);
          break;
        case Event::Kind::kPeerRestarted:
        case Event::Kind::kPeerClosed:
          streams.clear();
          break;
        default:
          break;
      }
    }
  }
};

void drain(Session& session, Relay& relay, Instant now) {
  std::array<std::byte, 1472> packet{};
  for (int i = 0; session.poll_packet(packet, now) > 0; ++i) check(i < kMostPackets);
  relay.take_events(now);
}

// Passes the handshake as a peer would.
void greet(Session& session, Instant now) {
  HelloFrame hello;
  hello.minimum_version = hello.maximum_version = 1;
  hello.capabilities = kCapabilityRepair | kCapabilityReception;
  hello.epoch = kPeerEpoch;
  hello.peer_epoch = kOurEpoch;
  hello.datagram_size = 1472;
  hello.lane_credit = hello.stream_credit = 1 << 20;
  session.handle_packet(sim::write_hello_packet({.number = 1}, hello), now);
  check(session.peer_state() == PeerState::kAlive);
}

void hand_over(Session& session, ConstBytes frames, std::uint32_t number, bool is_protected,
               Instant now) {
  std::vector<std::byte> bytes(kHeaderSize + frames.size() + kTrailerSize);
  std::copy(frames.begin(), frames.end(), bytes.begin() + kHeaderSize);
  PacketHeader header;
  const SessionSeal seal(kPeerEpoch, kOurEpoch);
  header.session_tag = seal.tag();
  header.number = number;
  header.is_protected = is_protected;
  write_header(header, bytes.data());
  seal.close(bytes);
  session.handle_packet(bytes, now);
}

void act(Session& session, Relay& relay, unsigned what, Instant now) {
  const std::array<std::byte, 40> metadata{};
  if (what % 8 == 0) {
    if (const auto id = session.streams().open(metadata, 7, now)) {
      relay.streams.push_back(*id);
      session.streams().set_ready(*id, true);
    }
    return;
  }
  if (relay.streams.empty()) return;
  const StreamId id = relay.streams[what / 8 % relay.streams.size()];
  switch (what % 8) {
    case 1:
      session.streams().finish(id);
      break;
    case 2:
      session.streams().reset(id, ResetReason::kHostReset, now);
      std::erase(relay.streams, id);
      break;
    case 3:
      session.streams().confirm(id, {.answered = true, .delivered = what, .window = what}, now);
      break;
    case 4:
      session.streams().set_group(id, static_cast<schedule::ClassId>(what % schedule::kClasses),
                                  what % 5);
      break;
    case 5:
      session.announce_capacity(BitRate::bits_per_second(what * 1'000));
      break;
    default:
      session.streams().set_ready(id, what % 2 == 0);
  }
}

void fuzz_session(ByteReader& in) {
  std::vector<std::byte> memory(1 << 20);
  Arena arena(memory, 4096);
  {
    Instant now = Instant::from_nanoseconds(1'000'000'000);
    control::Pacer pacer(kRate, control::LinkOverhead{}, Duration::milliseconds(4));
    control::FixedRate controller(kRate);
    Relay relay;
    Config config;
    config.boot_epoch = kOurEpoch;
    config.streams.max_streams = 16;
    config.streams.lane_receive_limit = config.streams.receive_limit = config.streams.send_limit =
        1 << 18;
    Session session(config, arena, pacer, controller, relay, now);
    relay.session = &session;
    greet(session, now);
    drain(session, relay, now);
    std::uint32_t number = 0;
    while (in.remaining() > 2) {
      const unsigned control = in.u8();
      now += Duration::microseconds(std::int64_t{1} << (control >> 3U));  // Up to half an hour.
      if (session.next_timeout() <= now) session.handle_timeout(now);
      if ((control & 1U) != 0) {
        act(session, relay, in.u8(), now);
      } else {
        const std::size_t size = std::min<std::size_t>(in.u8() * 4U, in.remaining());
        number += 1 + ((control & 2U) != 0 ? in.u8() % 8U : 0);
        ConstBytes said = in.bytes(std::min(size, in.remaining()));
        // Often as one of the last packets of a code, some of which may be lost, so that repairs
        // restore them.
        const bool is_covered = (control & 4U) != 0;
        std::vector<std::byte> covered(kCodedFrameSize);
        if (is_covered && number % 2 == 0) {
          ByteWriter coded(covered);
          write_coded(coded, {FecCode::kFlight, static_cast<std::uint16_t>(number / 2)});
          covered.insert(covered.end(), said.begin(), said.end());
          said = covered;
        }
        hand_over(session, said, number, is_covered, now);
      }
      drain(session, relay, now);
      check(session.streams().count() <= 17);
    }
  }
  check(arena.used_blocks() == 0);
}

// A sender without the secret cannot connect, whatever it sends.
void fuzz_encrypted(ByteReader& in) {
  std::vector<std::byte> memory(1 << 18);
  Arena arena(memory, 4096);
  Instant now = Instant::from_nanoseconds(1'000'000'000);
  control::Pacer pacer(kRate, control::LinkOverhead{}, Duration::milliseconds(4));
  control::FixedRate controller(kRate);
  SeededEntropy entropy(1);
  Relay relay;
  Config config;
  config.boot_epoch = kOurEpoch;
  config.streams.max_streams = 16;
  config.security = Security{.psk = {}, .entropy = &entropy};
  Session session(config, arena, pacer, controller, relay, now);
  relay.session = &session;
  while (in.remaining() > 2) {
    const unsigned control = in.u8();
    now += Duration::microseconds(std::int64_t{1} << (control >> 3U));
    const ConstBytes said = in.bytes(std::min<std::size_t>(in.u8() * 2U, in.remaining()));
    std::vector<std::byte> packet(kHeaderSize + 1 + said.size() + kTrailerSize);
    std::copy(said.begin(), said.end(), packet.begin() + kHeaderSize + 1);
    PacketHeader header;
    header.type = (control & 1U) != 0 ? PacketType::kHello : PacketType::kFrames;
    header.number = control;
    write_header(header, packet.data());
    packet[kHeaderSize] = static_cast<std::byte>(FrameType::kHello);
    SessionSeal().close(packet);
    session.handle_packet(packet, now);
    if (session.next_timeout() <= now) session.handle_timeout(now);
    drain(session, relay, now);
    check(session.peer_epoch() == 0 && session.streams().count() == 0);
  }
}

void fuzz_frames(ConstBytes bytes) {
  walk_frames(bytes, IgnoreFrames{});
  ByteReader hello(bytes);
  HelloKeys keys;
  parse_hello(hello, keys);
  ByteReader coded(bytes);
  parse_coded(coded);
  ByteReader repair(bytes);
  parse_repair(repair);
  coded_packet(bytes);
  parse_header(bytes);
}

}  // namespace
}  // namespace satrelay::stp

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace satrelay;
  const ConstBytes bytes = std::as_bytes(std::span(data, size));
  stp::fuzz_frames(bytes);
  ByteReader reader(bytes);
  stp::fuzz_session(reader);
  ByteReader again(bytes);
  stp::fuzz_encrypted(again);
  return 0;
}

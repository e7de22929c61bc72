// Plays the relay in tests: it opens streams, produces bytes, reads them and checks each of them.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/unit/pep/stp/harness.h"

namespace satrelay::stp::test {

class Application final : public StreamSource {
 public:
  struct Flow {
    bool opened_here = true;
    std::uint64_t to_send = 0;
    std::uint64_t written = 0;
    bool finished = false;
    std::uint64_t expect = 0;  // bytes from the other end
    std::uint64_t read = 0;
    bool end_seen = false;
    bool delivered = false;
    bool reset = false;                        // by either end; nothing more is expected
    std::optional<std::uint64_t> reset_after;  // resets after so many bytes read and written
    std::uint64_t read_quantum = ~std::uint64_t{0};
    Instant finished_at;
    bool over() const { return reset || (end_seen && delivered); }
  };

  std::uint64_t plan_size = 0;  // bytes of a flow that the peer opened; taken from the metadata
  std::uint64_t chunk = 8192;
  std::uint64_t least_room = 0;  // with less room, produce() writes nothing
  std::uint64_t asked_in_vain = 0;
  bool push = false;  // calls write() at once instead of waiting for produce()
  std::map<std::uint64_t, Flow> flows;
  std::string error;
  int restarts = 0, alive = 0, suspect = 0, peer_closed = 0, capacities = 0;
  std::uint64_t finished_flows = 0, reset_flows = 0, bytes_read = 0;
  std::function<void(Session&, std::uint64_t, Flow&)> on_opened;

  void attach(Session& session) { session_ = &session; }

  std::optional<StreamId> open(std::uint64_t send, std::uint64_t expect, Instant now) {
    // The metadata tells the far application what to send and what to expect.
    std::byte metadata[24];
    store_u64(metadata, expect);
    store_u64(metadata + 8, send);
    store_u64(metadata + 16, 0x1234'5678'9abc'def0U);
    const auto id = session_->streams().open(metadata, 77, now);
    if (!id) return id;
    Flow& flow = flows[static_cast<std::uint64_t>(*id)];
    flow = {};
    flow.to_send = send;
    flow.expect = expect;
    start(*id, flow, now);
    return id;
  }

  void produce(StreamId id, std::uint32_t, Instant now) override {
    const auto it = flows.find(static_cast<std::uint64_t>(id));
    if (it == flows.end()) {
      fail("produce for an unknown stream");
      session_->streams().set_ready(id, false);
      return;
    }
    Flow& flow = it->second;
    const std::uint64_t needed = std::min(least_room, flow.to_send - flow.written);
    if (session_->streams().send_room(id) < needed) {
      ++asked_in_vain;
      return session_->streams().wait_for_room(id, needed, now);
    }
    write_some(id, flow, chunk, now);
  }

  void handle_events(Instant now) {
    while (const auto event = session_->poll_event()) handle(*event, now);
  }

  // A slow reader takes at most read_quantum bytes.
  void read_all(Instant now) {
    for (auto& [id, flow] : flows) {
      if (!flow.reset) read(StreamId{id}, flow, now);
    }
  }

  void fail(const std::string& what) {
    if (error.empty()) error = what;
  }
  bool all_over() const {
    return std::all_of(flows.begin(), flows.end(), [](const auto& f) { return f.second.over(); });
  }

 private:
  void start(StreamId id, Flow& flow, Instant now) {
    if (push) {
      write_some(id, flow, ~std::uint64_t{0}, now);
    } else {
      session_->streams().set_ready(id, true);
    }
  }
  void write_some(StreamId id, Flow& flow, std::uint64_t most, Instant now) {
    std::byte buffer[1024];
    while (flow.written < flow.to_send && most > 0) {
      const std::uint64_t n = std::min<std::uint64_t>(
          {sizeof buffer, flow.to_send - flow.written, most, session_->streams().send_room(id)});
      if (n == 0) {
        if (push && session_->streams().send_room(id) == 0)
          session_->streams().wait_for_room(id, 1, now);
        break;
      }
      for (std::uint64_t i = 0; i < n; ++i) {
        buffer[i] = stream_byte(static_cast<std::uint64_t>(id), flow.opened_here, flow.written + i);
      }
      if (session_->streams().write(id, ConstBytes(buffer).first(n), now) != n) fail("short write");
      flow.written += n;
      most -= n;
    }
    if (flow.written == flow.to_send && !flow.finished) {
      session_->streams().finish(id);
      flow.finished = true;
    }
  }

  void handle(const Event& event, Instant now) {
    const std::uint64_t id = static_cast<std::uint64_t>(event.stream);
    switch (event.kind) {
      case Event::Kind::kPeerAlive:
        ++alive;
        return;
      case Event::Kind::kPeerSuspect:
        ++suspect;
        return;
      case Event::Kind::kPeerRestarted:
      case Event::Kind::kPeerClosed:
        ++(event.kind == Event::Kind::kPeerClosed ? peer_closed : restarts);
        for (auto& [_, flow] : flows) flow.reset = true;
        flows.clear();
        return;
      case Event::Kind::kCapacity:
        ++capacities;
        return;
      case Event::Kind::kOpened: {
        if (flows.contains(id)) fail("opened twice");
        const ConstBytes metadata = session_->streams().metadata(event.stream);
        if (metadata.size() != 24 || load_u64(metadata.data() + 16) != 0x1234'5678'9abc'def0U) {
          fail("metadata damaged");
          return;
        }
        Flow& flow = flows[id];
        flow.opened_here = false;
        flow.to_send = load_u64(metadata.data());
        flow.expect = load_u64(metadata.data() + 8);
        session_->streams().set_context(event.stream, 88);
        if (on_opened) on_opened(*session_, id, flow);
        start(event.stream, flow, now);
        return;
      }
      default:
        break;
    }
    const auto it = flows.find(id);
    if (it == flows.end()) {
      fail("event for an unknown stream");
      return;
    }
    Flow& flow = it->second;
    if (event.context != (flow.opened_here ? 77U : 88U)) fail("wrong context");
    switch (event.kind) {
      case Event::Kind::kReadable:
        read(event.stream, flow, now);
        break;
      case Event::Kind::kWritable:
        start(event.stream, flow, now);
        break;
      case Event::Kind::kConfirmed:
        break;
      case Event::Kind::kDelivered:
        if (flow.delivered) fail("delivered twice");
        if (!flow.finished) fail("delivered before finish");
        flow.delivered = true;
        release_if_over(event.stream, flow, now);
        break;
      case Event::Kind::kReset:
        flow.reset = true;
        ++reset_flows;
        break;
      default:
        fail("unexpected event");
    }
  }

  void read(StreamId id, Flow& flow, Instant now) {
    const std::uint64_t number = static_cast<std::uint64_t>(id);
    const Reassembler* received = session_->streams().received(id);
    if (received == nullptr) return;
    std::uint64_t budget = flow.read_quantum;
    while (budget > 0 && received->readable() > 0) {
      const ConstBytes front = received->front();
      const std::uint64_t n = std::min<std::uint64_t>(front.size(), budget);
      for (std::uint64_t i = 0; i < n; ++i) {
        if (front[i] != stream_byte(number, !flow.opened_here, flow.read + i)) {
          fail("wrong byte in stream " + std::to_string(number));
          return;
        }
      }
      session_->streams().consume(id, n, now);
      flow.read += n;
      bytes_read += n;
      budget -= n;
    }
    if (flow.read > flow.expect) fail("more bytes than sent");
    if (session_->streams().received_end(id) && received->readable() == 0 && !flow.end_seen) {
      if (flow.read != flow.expect) fail("end before the last byte");
      flow.end_seen = true;
      flow.finished_at = now;
      release_if_over(id, flow, now);
    }
    if (flow.reset_after && flow.read + flow.written >= *flow.reset_after && !flow.over()) {
      session_->streams().reset(id, ResetReason::kHostReset, now);
      flow.reset = true;
      ++reset_flows;
    }
  }
  void release_if_over(StreamId id, Flow& flow, Instant now) {
    if (!flow.end_seen || !flow.delivered) return;
    session_->streams().release(id, now);
    ++finished_flows;
  }

  Session* session_ = nullptr;
};

// Both ends and the path between them.
class Network {
 public:
  Network(const EndConfig& a, const EndConfig& b, Duration one_way, ChannelFaults faults,
          std::uint64_t seed)
      : configs{a, b},
        channels{Channel(one_way, faults, seed * 2 + 1), Channel(one_way, faults, seed * 2 + 2)} {}

  // End 0 or 1 starts (again) with the given boot epoch.
  void start(int end, std::uint64_t epoch) {
    configs[end].session.boot_epoch = epoch;
    apps[end].flows.clear();
    ends[end] = std::make_unique<End>(configs[end], apps[end], now);
    apps[end].attach(ends[end]->session());
  }
  void stop(int end) { ends[end].reset(); }
  Session& session(int end) { return ends[end]->session(); }

  // Does all that is due at `now`.
  void settle() {
    for (int round = 0; round < 1000; ++round) {
      bool busy = false;
      for (int end = 0; end < 2; ++end) {
        // Channel i carries what end i sends.
        while (auto packet = channels[1 - end].receive(now)) {
          busy = true;
          if (ends[end]) session(end).handle_packet(*packet, now);
        }
        if (!ends[end]) continue;
        if (session(end).next_timeout() <= now) session(end).handle_timeout(now);
        busy = busy || session(end).work_waits();
        apps[end].handle_events(now);
        while (send_burst(end)) busy = true;
        apps[end].handle_events(now);
      }
      if (!busy) return;
    }
    apps[0].fail("no rest at one instant");
  }
  void send(int end, MutableBytes packet) {
    if (on_packet) on_packet(end, packet);
    channels[end].send(packet, now);
  }
  // Sends the packets of one poll. Returns whether there were any.
  bool send_burst(int end) {
    constexpr std::size_t kBefore = 8;
    std::array<std::array<std::byte, 9000>, kMostInBurst> rooms;
    const std::vector<MutableBytes> spans(rooms.begin(), rooms.end());
    std::array<PolledPacket, kMostInBurst> packets;
    const std::size_t count = session(end).poll_packets(std::span(spans).first(most_in_burst),
                                                        kBefore, std::span(packets), now);
    if (count > 1) sent_behind_first += count - 1;
    for (std::size_t i = 0; i < count; ++i) {
      send(end, spans[i].subspan(kBefore, packets[i].size));
    }
    return count > 0;
  }
  Duration late_by(Instant at) const {
    const std::int64_t step = tick.to_nanoseconds();
    return Duration::nanoseconds((step - at.to_nanoseconds() % step) % step);
  }
  Instant next() {
    Instant at = earlier(channels[0].next(), channels[1].next());
    for (int end = 0; end < 2; ++end) {
      if (ends[end]) at = earlier(at, session(end).next_timeout());
    }
    return at;
  }
  // Runs until done() is true, or for `time`. Returns whether it was done.
  template <typename Done>
  bool run(Duration time, Done&& done) {
    const Instant until = now + time;
    int stuck = 0;
    while (true) {
      settle();
      if (done()) return true;
      const Instant at = next();
      if (at <= now) {
        if (++stuck > 10) {
          apps[0].fail("next_timeout() in the past, but nothing happens");
          return false;
        }
        continue;
      }
      stuck = 0;
      if (at >= until) break;
      now = at + late_by(at);
    }
    now = until;
    settle();
    return done();
  }
  void run(Duration time) {
    run(time, [] { return false; });
  }
  bool both_alive() {
    return session(0).peer_state() == PeerState::kAlive &&
           session(1).peer_state() == PeerState::kAlive;
  }
  // Starts both ends. Returns whether they have met.
  bool connect() {
    start(0, 1000);
    start(1, 2000);
    return run(Duration::seconds(3), [this] { return both_alive(); });
  }
  std::string error() const { return apps[0].error.empty() ? apps[1].error : apps[0].error; }

  Instant now = Instant::from_nanoseconds(1'000'000'000);
  EndConfig configs[2];
  Channel channels[2];
  Application apps[2];
  std::unique_ptr<End> ends[2];
  std::function<void(int, MutableBytes)> on_packet;  // before it leaves
  Duration tick = Duration::nanoseconds(1);          // the clock's resolution
  static constexpr std::size_t kMostInBurst = 6;
  std::size_t most_in_burst = 1;      // both ends poll for so many packets at once
  std::size_t sent_behind_first = 0;  // packets of bursts
};

enum class Sealed : bool { kByChecksum, kByKey };

// Both ends share the secret 1, 2, 3, ... 32.
inline Security security() {
  static SeededEntropy entropy(1);
  Security security;
  for (std::size_t i = 0; i < crypto::kPskSize; ++i) {
    security.psk.bytes()[i] = static_cast<std::byte>(i + 1);
  }
  security.entropy = &entropy;
  return security;
}

inline EndConfig end_config(bool even, Sealed sealed = Sealed::kByChecksum) {
  EndConfig config;
  config.session.opens_even_streams = even;
  config.session.boot_epoch = even ? 1000 : 2000;
  if (sealed == Sealed::kByKey) config.session.security = security();
  return config;
}

}  // namespace satrelay::stp::test

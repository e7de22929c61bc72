#include "tests/unit/pep/tcp/simulation.h"

#include <algorithm>
#include <sstream>

#include "tests/unit/pep/tcp/script.h"

namespace satrelay::tcp::test {
namespace {

template <typename T, std::size_t N>
T pick(Random& random, const T (&values)[N]) {
  return values[random.below(N)];
}

// The bytes of a direction. The two directions differ, so that a mix-up shows.
std::byte stream_byte(int host, std::uint64_t offset) {
  return pattern(offset + (host == 0 ? 0 : 1'000'003));
}

// The longest time that a run may take. Each turn of the smallest window or the slowest reader has
// a few round trips and perhaps a delayed ACK. Each loss has a timeout with backoff. On a clean
// channel, a standstill that only a probe or a timeout ends takes longer than this.
Duration generous_deadline(const Scenario& s) {
  Duration total = Duration::seconds(20);
  for (int sender = 0; sender < 2; ++sender) {
    const int reader = 1 - sender;
    const std::uint64_t step =
        std::min({s.config[reader].receive_limit / 2, s.config[sender].send_limit / 2,
                  s.application[reader].read_size, std::uint64_t{s.offer.mss.value_or(536)} - 40,
                  std::uint64_t{s.config[sender].mss}});
    const auto turns = static_cast<std::int64_t>(s.application[sender].bytes_to_send / step + 10);
    const ChannelFaults& there = s.faults[sender];
    const ChannelFaults& back = s.faults[reader];
    const Duration round_trip = there.delay + there.jitter + back.delay + back.jitter;
    const auto per_mille = static_cast<std::int64_t>((there.loss + back.loss) * 1000);
    total = total + round_trip * 3 * turns + s.application[reader].read_pause * turns +
            s.config[reader].delayed_ack * turns + ms(8) * per_mille * turns;
  }
  return total;
}

}  // namespace

Scenario random_scenario(std::uint64_t seed) {
  Random random(seed ^ 0x5eed);
  Scenario s;
  s.offer.mss = pick<std::uint16_t>(random, {88, 536, 1460, 8960});
  s.offer.sack_permitted = random.chance(0.75);
  if (random.chance(0.8)) s.offer.window_scale = 7;
  if (random.chance(0.6)) s.offer.timestamps = wire::TcpTimestamps{};
  const double loss = pick<double>(random, {0, 0, 0.01, 0.05, 0.15});
  const Duration delay = Duration::microseconds(pick<int>(random, {20, 500, 5'000, 60'000}));
  for (int host = 0; host < 2; ++host) {
    Config& config = s.config[host];
    config.mss = pick<std::uint16_t>(random, {536, 1460, 1460, 8960});
    config.initial_sequence = random.chance(0.5)
                                  ? static_cast<std::uint32_t>(random.next())
                                  : 0xffff'ffffU - static_cast<std::uint32_t>(random.below(30'000));
    config.timestamp_offset = static_cast<std::uint32_t>(random.next());
    config.receive_limit = pick<std::uint64_t>(random, {300, 2'000, 20'000, 300'000});
    config.send_limit = pick<std::uint64_t>(random, {500, 10'000, 300'000});
    config.window_scale = pick<std::uint8_t>(random, {0, 2, 7, 10, 14});
    config.data_retries = 40;  // bad luck must not end the connection
    config.syn_retries = config.syn_ack_retries = 40;
    config.maximum_rto = Duration::seconds(4);
    config.time_wait = Duration::seconds(120);
    s.block_size[host] = pick<std::size_t>(random, {512, 2048, 4096});
    // From just enough for a segment in reserve to plenty.
    const std::size_t least = 2 * (config.mss / s.block_size[host] + 2) + 2;
    s.blocks[host] = pick<std::size_t>(random, {least, 2 * least, 1024});
    Application& application = s.application[host];
    application.bytes_to_send = pick<std::uint64_t>(random, {0, 1, 1'000, 20'000, 60'000});
    application.read_size = pick<std::uint64_t>(random, {100, 3'000, 65'536, 65'536});
    application.read_pause = Duration::microseconds(pick<int>(random, {0, 0, 300, 3'000}));
    ChannelFaults& faults = s.faults[host];
    faults.loss = loss;
    faults.duplication = pick<double>(random, {0, 0, 0.02, 0.1});
    faults.delay = delay;
    faults.jitter = random.chance(0.5) ? Duration::zero() : delay * 2;
  }
  s.application[random.below(2)].closes_last = random.chance(0.4);
  s.deadline = generous_deadline(s);
  return s;
}

Simulation::Simulation(const Scenario& scenario, std::uint64_t seed)
    : scenario_(scenario), random_(seed), rewriting_(seed), scratch_(1 << 17) {
  for (int i = 0; i < 2; ++i) {
    Host& host = hosts_[i];
    host.memory.resize(scenario.block_size[i] * scenario.blocks[i]);
    host.arena = std::make_unique<Arena>(host.memory, scenario.block_size[i]);
    host.endpoint = std::make_unique<Endpoint>(scenario.config[i], *host.arena,
                                               Endpoint::Shared{&host.counters, {}});
    host.next_read = now_;
  }
}

void Simulation::fail(const std::string& what) {
  if (!failure_.empty()) return;
  std::ostringstream text;
  text << what << " at " << now_.to_nanoseconds() / 1'000'000 << " ms";
  for (int i = 0; i < 2; ++i) {
    const Endpoint& endpoint = *hosts_[i].endpoint;
    text << "; host " << i << " " << to_string(endpoint.state()) << " wrote " << hosts_[i].written
         << " (unacknowledged " << endpoint.sending().unacknowledged() << ") read "
         << hosts_[i].read << " window " << endpoint.receiving().window() << " free blocks "
         << hosts_[i].arena->free_blocks() << " reason "
         << static_cast<int>(endpoint.lifecycle().reason()) << " trace";
    for (const State state : endpoint.lifecycle().trace()) text << " " << to_string(state);
  }
  failure_ = text.str();
}

void Simulation::rewrite(int index) {
  Host& host = hosts_[index];
  std::vector<std::byte> octets;
  Image written = Image::writer(octets, now_);
  written(*host.endpoint);
  host.endpoint = std::make_unique<Endpoint>(scenario_.config[index], *host.arena,
                                             Endpoint::Shared{&host.counters, {}});
  Image read = Image::reader(octets, now_);
  read(*host.endpoint);
  if (!read.complete()) fail("the image of an endpoint is not complete");
  ++rewrites_;
}

// The application reads, writes and closes. Then the endpoint sends all that it may.
void Simulation::turn(int index) {
  if (rewriting_.chance(scenario_.rewritten)) rewrite(index);
  Host& host = hosts_[index];
  const Application& application = scenario_.application[index];
  Endpoint& endpoint = *host.endpoint;
  if (now_ >= host.next_read && endpoint.received().readable() > 0) {
    const std::uint64_t count = std::min(endpoint.received().readable(), application.read_size);
    scratch_.resize(count);
    endpoint.received().copy_front(scratch_);
    for (const std::byte byte : scratch_) {
      if (byte != stream_byte(1 - index, host.read++)) return fail("a byte is wrong");
    }
    endpoint.consume(count);
    host.next_read = now_ + application.read_pause;
  }
  const std::uint64_t left = application.bytes_to_send - host.written;
  if (const std::uint64_t count = std::min(left, endpoint.sending().writable()); count > 0) {
    scratch_.resize(count);
    for (std::uint64_t i = 0; i < count; ++i) scratch_[i] = stream_byte(index, host.written + i);
    host.written += endpoint.write(scratch_);
  }
  if (host.written == application.bytes_to_send &&
      (!application.closes_last || endpoint.receiving().has_finished())) {
    endpoint.close();
  }
  transmit(index);
}

void Simulation::transmit(int index) {
  Endpoint& endpoint = *hosts_[index].endpoint;
  const std::size_t mss = index == 0 ? scenario_.config[1].mss : scenario_.offer.mss.value_or(536);
  const unsigned scale = scenario_.offer.window_scale ? scenario_.config[index].window_scale : 0;
  std::vector<std::byte> bytes;
  for (int i = 0; auto segment = endpoint.poll_segment(now_); ++i) {
    if (i > 10'000) return fail("poll_segment() does not come to an end");
    bytes.resize(wire::tcp_header_size(segment->header) + segment->payload_size);
    const std::size_t header_size = wire::write_tcp(segment->header, bytes);
    if (bytes.size() - wire::kTcpHeaderSize > mss) fail("a segment exceeds the peer's MSS");
    endpoint.copy_payload(segment->payload_offset, std::span(bytes).subspan(header_size));
    send(index, bytes);
    // The right edge may seem to retreat by the rounding of the window field, but never by more.
    const std::uint64_t edge = endpoint.received().in_order_end() + endpoint.receiving().window() +
                               (endpoint.receiving().has_finished() ? 1 : 0);
    std::uint64_t& promised = hosts_[index].promised_edge;
    if (edge + (std::uint64_t{1} << scale) <= promised) fail("the right edge retreats");
    promised = std::max(promised, edge);
  }
}

void Simulation::send(int from, const std::vector<std::byte>& bytes) {
  constexpr std::uint64_t kPrime = 1'099'511'628'211;  // FNV-1a
  const auto note = [this](std::uint64_t value) { digest_ = (digest_ ^ value) * kPrime; };
  note(static_cast<std::uint64_t>(now_.to_nanoseconds()));
  for (const std::byte byte : bytes) note(std::to_integer<std::uint64_t>(byte));
  const ChannelFaults& faults = scenario_.faults[from];
  const int copies = random_.chance(faults.duplication) ? 2 : 1;
  for (int i = 0; i < copies; ++i) {
    if (random_.chance(faults.loss)) continue;
    const auto jitter = static_cast<std::int64_t>(
        random_.below(static_cast<std::uint64_t>(faults.jitter.to_nanoseconds()) + 1));
    channel_.push({now_ + faults.delay + Duration::nanoseconds(jitter), order_++, 1 - from, bytes});
  }
}

void Simulation::deliver(const Packet& packet) {
  Endpoint& endpoint = *hosts_[packet.to].endpoint;
  const auto parsed = wire::parse_tcp(packet.bytes);
  if (!parsed) return fail("a segment does not parse");
  if (packet.to == 1 && !accepted_) {
    if (!parsed->header.has(wire::TcpFlags::kSyn)) return;
    accepted_ = true;
    endpoint.accept(parsed->header, now_);
  } else {
    endpoint.handle_segment(parsed->header, ConstBytes(packet.bytes).subspan(parsed->header_size),
                            now_);
  }
}

Instant Simulation::next_event() const {
  Instant next = channel_.empty() ? Instant::never() : channel_.top().at;
  next = earlier(next, abort_at_);
  for (const Host& host : hosts_) {
    next = earlier(next, host.endpoint->next_timeout());
    if (host.endpoint->received().readable() > 0) next = earlier(next, host.next_read);
  }
  return next;
}

bool Simulation::application_done(int index) const {
  return hosts_[index].endpoint->receiving().has_finished() &&
         hosts_[index].read == scenario_.application[1 - index].bytes_to_send;
}

Result Simulation::run() {
  const Instant start = now_;
  Result result;
  if (scenario_.aborting_host >= 0) abort_at_ = now_ + scenario_.abort_after;
  hosts_[0].endpoint->connect(scenario_.offer, now_);
  turn(0);
  while (failure_.empty()) {
    const Instant next = next_event();
    if (next.is_never()) break;
    if (next < now_) fail("time runs backwards");
    now_ = later(now_, next);
    const bool done = result.took > Duration::zero();  // only TIME-WAIT remains
    if (now_ - start > scenario_.deadline + (done ? Duration::seconds(3600) : Duration::zero())) {
      fail("stalled");
    }
    while (!channel_.empty() && channel_.top().at <= now_) {
      deliver(channel_.top());
      const int to = channel_.top().to;
      channel_.pop();
      if (to == 0 || accepted_) turn(to);
    }
    if (abort_at_ <= now_) {
      hosts_[scenario_.aborting_host].endpoint->abort(now_);
      abort_at_ = Instant::never();
    }
    for (int i = 0; i < 2; ++i) {
      if (hosts_[i].endpoint->next_timeout() <= now_) hosts_[i].endpoint->handle_timeout(now_);
      if (i == 0 || accepted_) turn(i);
    }
    if (result.took == Duration::zero() && application_done(0) && application_done(1)) {
      result.took = now_ - start;
    }
  }
  judge_end(result);
  result.failure = failure_;
  result.rewrites = rewrites_;
  result.digest = digest_;
  return result;
}

void Simulation::judge_end(Result& result) {
  for (int i = 0; i < 2; ++i) {
    Endpoint& endpoint = *hosts_[i].endpoint;
    result.segments += endpoint.counters().segments_out;
    result.retransmissions += endpoint.counters().retransmitted_segments;
    result.timeouts += endpoint.counters().retransmission_timeouts;
    if (!endpoint.is_closed()) fail("not closed");
    if (scenario_.aborting_host < 0) {
      if (!application_done(i)) fail("not everything arrived");
      if (endpoint.lifecycle().reason() != CloseReason::kNone) fail("not closed in order");
      if (!endpoint.sending().has_finished()) fail("a FIN was not acknowledged");
    } else {
      endpoint.consume(endpoint.received().readable());
      result.resets += endpoint.lifecycle().reason() == CloseReason::kResetByPeer ? 1 : 0;
    }
    // Pieces that are out of order after a reset are freed with the endpoint.
    const bool holds_pieces = !endpoint.received().out_of_order().empty();
    if (hosts_[i].arena->used_blocks() != 0 && !holds_pieces) fail("memory is not back");
  }
}

}  // namespace satrelay::tcp::test

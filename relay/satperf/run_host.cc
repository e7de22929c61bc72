#include "relay/satperf/run_host.h"

#include <algorithm>

namespace satrelay::satperf {
namespace {

constexpr std::size_t kBatchBytes = 1 << 20;
constexpr int kBatchesATurn = 4;
// Minimum time between two rounds of sending. The pacer releases packets one by one. In this time
// it releases several, still within its burst, and one system call sends them together.
constexpr Duration kQuantum = Duration::milliseconds(1);
constexpr ByteCount kSmallestBuffer = ByteCount(64ULL << 20);
constexpr Duration kBufferTime = Duration::seconds(2);

ByteCount buffer_size(ByteCount given, const Plan& plan) {
  if (given != ByteCount(0)) return given;
  const ByteCount half = ByteCount(physical_memory().value() / 2);
  return std::min(std::max(plan.rate.bytes_in(kBufferTime), kSmallestBuffer), half);
}

}  // namespace

RunHost::RunHost(const RunConfig& config, ByteCount buffer, UdpSocket& socket, Sockets sockets,
                 const SocketAddress& peer, const Report& report, Output& output, Instant now)
    : config_(config),
      socket_(socket),
      shared_(sockets == Sockets::kShared),
      peer_(peer),
      report_(report),
      output_(output),
      memory_(buffer_size(buffer, config.plan)),
      run_(config, memory_.bytes(), now),
      batch_(kBatchBytes),
      next_turn_(now),
      cpu_at_start_(cpu_time()) {
  const bool sends = config.plan.sender() == config.end;
  const BitRate out = sends ? config.plan.rate : config.plan.return_rate;
  const BitRate in = sends ? config.plan.return_rate : config.plan.rate;
  for (const std::string& warning : socket_.size_buffers(out, in)) {
    output_.write(report_.notice(warning));
  }
}

void RunHost::turn(Instant now) {
  run_.handle_events(now);
  if (next_tick_.is_never() && !run_.began().is_never()) begin(now);
  if (now >= next_tick_) tick(now);
  const bool last = config_.end == End::kServer && run_.state() == Run::State::kComplete;
  if (last && !last_record_sent_) last_record_sent_ = run_.publish(snapshot(now), now);
  send(now);
}

void RunHost::send(Instant now) {
  const SocketAddress* const to = shared_ ? &peer_ : nullptr;
  more_ = false;
  blocked_ = false;
  bool sent = false;
  for (int round = 0; round < kBatchesATurn; ++round) {
    more_ = true;
    while (true) {
      const MutableBytes room = batch_.room(run_.datagram_size());
      if (room.empty()) break;
      const std::size_t size = run_.poll_packet(room, now);
      if (size == 0) {
        more_ = false;
        break;
      }
      batch_.add(size, socket_.grouping(), run_.traffic_class());
    }
    sent = sent || !batch_.empty();
    blocked_ = socket_.send(batch_, to) == UdpSocket::Sent::kBlocked;
    if (blocked_ || !more_) break;
  }
  if (sent) next_turn_ = now + kQuantum;
}

Instant RunHost::next_timeout() const {
  // While the socket's buffer is full, the host waits until the socket is writable, so packets to
  // send need no timer.
  if (blocked_) return next_tick_;
  if (more_) return Instant();
  return earlier(later(run_.next_timeout(), next_turn_), next_tick_);
}

void RunHost::begin(Instant now) {
  next_tick_ = now + config_.plan.interval;
  cpu_at_start_ = cpu_time();
  output_.write(report_.start(config_.plan, config_.end, peer_.to_string()));
}

void RunHost::tick(Instant now) {
  next_tick_ += config_.plan.interval;
  if (next_tick_ <= now) next_tick_ = now + config_.plan.interval;
  if (run_.state() != Run::State::kRunning) return;
  const Snapshot own = snapshot(now);
  if (config_.end == End::kServer) run_.publish(own, now);
  std::optional<Span> other;
  if (run_.remote()) {
    other = Span{other_reported_, *run_.remote()};
    other_reported_ = *run_.remote();
  }
  output_.write(report_.interval(own.time_ns, both_ends({reported_, own}, other)));
  reported_ = own;
}

BothEnds RunHost::both_ends(const Span& own, const std::optional<Span>& other) const {
  const bool sends = config_.plan.sender() == config_.end;
  if (sends) return {own, other};
  return {other, own};
}

Snapshot RunHost::snapshot(Instant now) const {
  Snapshot snapshot = run_.snapshot(now);
  const CpuTime cpu = cpu_time();
  snapshot.cpu_user_us = cpu.user_us - cpu_at_start_.user_us;
  snapshot.cpu_system_us = cpu.system_us - cpu_at_start_.system_us;
  snapshot.send_errors = not_sent_;
  return snapshot;
}

bool RunHost::finish(Outcome outcome, std::string why, Instant now) {
  const Snapshot own = snapshot(now);
  run_.close(now);
  send(now);
  std::optional<Span> other;
  if (run_.remote()) other = Span{{}, *run_.remote()};
  const BothEnds ends = both_ends({{}, own}, other);
  const bool damaged = ends.receiver && ends.receiver->to.blocks_damaged > 0;
  if (damaged && outcome == Outcome::kComplete) {
    outcome = Outcome::kFailed;
    why = "payload was damaged on the way";
  }
  if (!run_.began().is_never()) output_.write(report_.summary(ends, outcome, why));
  return outcome == Outcome::kComplete;
}

}  // namespace satrelay::satperf

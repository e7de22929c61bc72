// Two sessions, a faulty channel and an application at each end, in virtual time from one seed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pep/base/arena.h"
#include "pep/base/random.h"
#include "pep/base/seeded_entropy.h"
#include "pep/control/fixed_rate.h"
#include "pep/control/pacer.h"
#include "pep/stp/session.h"

namespace satrelay::stp::test {

// One direction of the path: delay and faults; the rate is the sender's own pacing.
struct ChannelFaults {
  double loss = 0;
  double duplicate = 0;
  double reorder = 0;  // share of packets that arrive up to `reorder_by` late
  Duration reorder_by = Duration::milliseconds(20);
  double corrupt = 0;  // share of packets with one flipped bit
};

class Channel {
 public:
  Channel(Duration delay, ChannelFaults faults, std::uint64_t seed)
      : delay_(delay), faults_(faults), random_(seed) {}

  void send(ConstBytes packet, Instant now) {
    ++sent;
    if (outage || random_.chance(faults_.loss)) return;
    enqueue(packet, now);
    if (random_.chance(faults_.duplicate)) enqueue(packet, now + Duration::milliseconds(1));
  }
  Instant next() const { return queue_.empty() ? Instant::never() : queue_.begin()->first.first; }
  std::optional<std::vector<std::byte>> receive(Instant now) {
    if (queue_.empty() || next() > now) return std::nullopt;
    std::vector<std::byte> packet = std::move(queue_.begin()->second);
    queue_.erase(queue_.begin());
    return packet;
  }
  void set_faults(ChannelFaults faults) { faults_ = faults; }
  void flush() { queue_.clear(); }

  bool outage = false;
  std::uint64_t sent = 0;

 private:
  void enqueue(ConstBytes packet, Instant now) {
    std::vector<std::byte> copy(packet.begin(), packet.end());
    if (random_.chance(faults_.corrupt)) {
      const std::uint64_t bit = random_.below(copy.size() * 8);
      copy[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    }
    Instant due = now + delay_;
    if (random_.chance(faults_.reorder)) {
      due += Duration::nanoseconds(static_cast<std::int64_t>(
          random_.below(static_cast<std::uint64_t>(faults_.reorder_by.to_nanoseconds()))));
    }
    queue_.emplace(std::pair(due, order_++), std::move(copy));
  }
  Duration delay_;
  ChannelFaults faults_;
  Random random_;
  std::uint64_t order_ = 0;
  std::map<std::pair<Instant, std::uint64_t>, std::vector<std::byte>> queue_;
};

struct EndConfig {
  Config session;
  std::size_t arena_bytes = 4 << 20;
  std::size_t block_size = 4096;
  std::size_t reserve_size = 0;
  BitRate rate = BitRate::bits_per_second(50'000'000);
};

// A session with all that it needs.
class End {
 public:
  End(const EndConfig& config, StreamSource& source, Instant now)
      : config_(config),
        memory_(config.arena_bytes),
        arena_(memory_, config.block_size, config.reserve_size),
        pacer_(config.rate, control::LinkOverhead{0}, Duration::microseconds(500)),
        controller_(config.rate),
        session_(
            std::make_unique<Session>(config.session, arena_, pacer_, controller_, source, now)) {}
  Session& session() { return *session_; }
  Arena& arena() { return arena_; }
  const EndConfig& config() const { return config_; }

 private:
  EndConfig config_;
  std::vector<std::byte> memory_;
  Arena arena_;
  control::Pacer pacer_;
  control::FixedRate controller_;
  std::unique_ptr<Session> session_;
};

// The bytes of a stream follow from its id and direction, so that no copy need be kept.
inline std::byte stream_byte(std::uint64_t id, bool from_opener, std::uint64_t offset) {
  const std::uint64_t x =
      (offset / 8 + id * 1'000'003 + (from_opener ? 7 : 0)) * 0x9E3779B97F4A7C15U;
  return static_cast<std::byte>((x >> 24) >> (offset % 8));
}

}  // namespace satrelay::stp::test

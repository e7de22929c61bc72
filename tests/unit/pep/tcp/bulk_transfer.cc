#include "tests/unit/pep/tcp/bulk_transfer.h"

#include <algorithm>
#include <cstring>

#include "tests/unit/pep/tcp/script.h"

namespace satrelay::tcp::test {
namespace {

constexpr std::size_t kPeriod = 65'521;  // a prime

}  // namespace

BulkTransfer::BulkTransfer(const Scenario& scenario, std::uint64_t seed)
    : random_(seed),
      memory_{std::vector<std::byte>(scenario.block_size[0] * scenario.blocks[0]),
              std::vector<std::byte>(scenario.block_size[1] * scenario.blocks[1])},
      arenas_{{memory_[0], scenario.block_size[0]}, {memory_[1], scenario.block_size[1]}},
      sender_(scenario.config[0], arenas_[0]),
      receiver_(scenario.config[1], arenas_[1]),
      loss_{scenario.faults[0].loss, scenario.faults[1].loss},
      step_(scenario.faults[0].delay),
      pattern_(pattern_bytes(0, 2 * kPeriod)),
      scratch_(std::max<std::size_t>(scenario.config[0].mss, 65'536)) {
  std::copy_n(pattern_.begin(), kPeriod, pattern_.begin() + kPeriod);
  sender_.connect(scenario.offer, now_);
  const auto syn = sender_.poll_segment(now_);
  receiver_.accept(syn->header, now_);
  move(receiver_, sender_, 0);
  move(sender_, receiver_, 0);
}

void BulkTransfer::move(Endpoint& from, Endpoint& to, double loss) {
  while (const auto segment = from.poll_segment(now_)) {
    if (loss > 0 && random_.chance(loss)) continue;
    const auto payload = std::span(scratch_).first(segment->payload_size);
    from.copy_payload(segment->payload_offset, payload);
    to.handle_segment(segment->header, payload, now_);
  }
}

std::string BulkTransfer::run(std::uint64_t bytes) {
  const std::uint64_t end = read_ + bytes;
  int idle_turns = 0;
  while (read_ < end) {
    const std::uint64_t room =
        std::min({sender_.sending().writable(), end - written_, std::uint64_t{kPeriod}});
    written_ += sender_.write(ConstBytes(pattern_).subspan(written_ % kPeriod, room));
    move(sender_, receiver_, loss_[0]);
    const std::uint64_t before = read_;
    while (receiver_.received().readable() > 0) {
      const ConstBytes run = receiver_.received().front();
      const std::size_t count = std::min(run.size(), kPeriod);
      if (std::memcmp(run.data(), pattern_.data() + read_ % kPeriod, count) != 0) {
        return "wrong bytes at " + std::to_string(read_);
      }
      receiver_.consume(count);
      read_ += count;
    }
    move(receiver_, sender_, loss_[1]);
    now_ += step_;
    sender_.handle_timeout(now_);
    receiver_.handle_timeout(now_);
    idle_turns = read_ == before ? idle_turns + 1 : 0;
    if (idle_turns > 1'000'000) return "stalled at " + std::to_string(read_);
  }
  return "";
}

std::uint64_t BulkTransfer::retransmissions() const {
  return sender_.counters().retransmitted_segments;
}
std::uint64_t BulkTransfer::timeouts() const { return sender_.counters().retransmission_timeouts; }

}  // namespace satrelay::tcp::test

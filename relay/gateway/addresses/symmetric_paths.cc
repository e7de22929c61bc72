#include "relay/gateway/addresses/symmetric_paths.h"

#include "relay/gateway/frames/coarse_time.h"

namespace satrelay::gateway {
namespace {

// Flags in the bits above the time, which is in seconds. SharedTable replaces the smallest value
// first.
constexpr std::uint32_t kAnswered = std::uint32_t{1} << 31;
constexpr std::uint32_t kOtherWay = std::uint32_t{1} << 30;

bool is_within_as(std::optional<std::uint32_t> value, std::uint32_t kind, Duration age,
                  Instant now) {
  return value && (*value & kind) != 0 && is_within(*value & ~kind, age, now);
}

}  // namespace

// If the client has shown that an answer took another path (kOtherWay), routes may differ from flow
// to flow. Then other connections may be answered through the gateways. So their answers do not
// make the pair less doubtful.
void SymmetricPaths::note_answer(const FlowKey& connection, Instant now) {
  const std::uint64_t pair = hash(connection);
  if (is_within_as(table_.find(pair), kOtherWay, kDoubtfulFor, now)) return;
  table_.put(pair, second_of(now) | kAnswered);
}

void SymmetricPaths::note_silence(const FlowKey& connection, Silence silence, Instant now) {
  const std::uint64_t pair = hash(connection);
  const auto known = table_.find(pair);
  std::uint32_t value = second_of(now);
  if (silence == Silence::kElsewhere) {
    value |= kOtherWay;
  } else if (is_within_as(known, kAnswered, kAnsweredFor, now) ||
             is_within_as(known, kOtherWay, kDoubtfulFor, now)) {
    return;
  }
  table_.put(pair, value);
}

bool SymmetricPaths::is_doubtful(const FlowKey& connection, Instant now) const {
  const auto value = table_.find(hash(connection));
  return value && (*value & kAnswered) == 0 && is_within(*value & ~kOtherWay, kDoubtfulFor, now);
}

}  // namespace satrelay::gateway

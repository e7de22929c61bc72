#include "relay/gateway/addresses/symmetric_paths.h"

#include "relay/gateway/frames/coarse_time.h"

namespace satrelay::gateway {
namespace {

// The second stands below it. SharedTable has the smallest value give way.
constexpr std::uint32_t kAnswered = std::uint32_t{1} << 31;

bool is_answered_within(std::optional<std::uint32_t> value, Duration age, Instant now) {
  return value && (*value & kAnswered) != 0 && is_within(*value & ~kAnswered, age, now);
}

}  // namespace

void SymmetricPaths::note_answer(const FlowKey& connection, Instant now) {
  table_.put(hash(connection), second_of(now) | kAnswered);
}

void SymmetricPaths::note_silence(const FlowKey& connection, Silence silence, Instant now) {
  const std::uint64_t pair = hash(connection);
  if (silence == Silence::kUnexplained &&
      is_answered_within(table_.find(pair), kAnsweredFor, now)) {
    return;
  }
  table_.put(pair, second_of(now));
}

bool SymmetricPaths::is_doubtful(const FlowKey& connection, Instant now) const {
  const auto value = table_.find(hash(connection));
  return value && (*value & kAnswered) == 0 && is_within(*value, kDoubtfulFor, now);
}

}  // namespace satrelay::gateway

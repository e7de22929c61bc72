// The environment that the parts of a sender get from their endpoint, for tests of one part alone.
#pragma once

#include <memory>
#include <vector>

#include "pep/base/arena.h"
#include "pep/tcp/environment.h"

namespace satrelay::tcp::test {

class Parts {
 public:
  explicit Parts(const Profile& profile = {})
      : memory_(64 * 1024),
        arena_(memory_, 4096),
        around_{.common = std::make_shared<const Common>(Common{profile, counters_, arena_})} {}

  Environment& around() { return around_; }
  const Counters& counters() const { return counters_; }
  bool armed(Timer timer) const { return around_.timers.armed(timer); }
  Instant deadline(Timer timer) const { return around_.timers.deadline(timer); }

 private:
  std::vector<std::byte> memory_;
  Arena arena_;
  Counters counters_;
  Environment around_;
};

constexpr Instant at_ms(std::int64_t n) { return Instant::from_nanoseconds(n * 1'000'000); }

}  // namespace satrelay::tcp::test

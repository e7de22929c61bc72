// The latest connections that were bridged instead of relayed, and the reasons. They show an
// operator which connections are not accelerated. Each bridged SYN costs one write into a ring,
// even in a flood.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "pep/base/time.h"
#include "relay/gateway/counters.h"
#include "relay/gateway/frames/flow_key.h"
#include "relay/gateway/rules/rule_use.h"

namespace satrelay::gateway {

class BridgedConnections {
 public:
  static constexpr std::size_t kKept = 100;

  struct Entry {
    FlowKey key;  // the client is the local host of the key
    Counter reason{};
    RulePtr rule;
    Instant at;              // arrival time of the latest SYN of this entry
    std::uint32_t syns = 0;  // number of consecutive SYNs with this key and reason
  };

  void note(const FlowKey& key, Counter reason, const RulePtr& rule, Instant now) {
    Entry& latest = entries_[(noted_ + kKept - 1) % kKept];
    if (noted_ > 0 && latest.key == key && latest.reason == reason) {
      ++latest.syns;
      latest.at = now;
      return;
    }
    entries_[noted_++ % kKept] = {key, reason, rule, now, 1};
  }

  // Returns the newest entry first.
  std::vector<Entry> latest() const {
    std::vector<Entry> list;
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(noted_, kKept); ++i) {
      list.push_back(entries_[(noted_ - 1 - i) % kKept]);
    }
    return list;
  }

 private:
  std::array<Entry, kKept> entries_;
  std::uint64_t noted_ = 0;
};

}  // namespace satrelay::gateway

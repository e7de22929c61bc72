// Connections that something has happened to lately, each with a number (say, that of a SYN): what,
// says who remembers it.
//
// Fixed size, eight places for each hash: where all are taken, the one that will be forgotten first
// gives way. A table in which nothing is worth remembering any more says so without a look at its
// places: each SYN asks many tables, most of which are empty.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "pep/base/time.h"
#include "relay/gateway/frames/flow_key.h"
#include "relay/gateway/frames/keyed_hash.h"

namespace satrelay::gateway {

class RecentConnections {
 public:
  // Longer than hosts repeat their SYNs: the sixth repetition, usually the last, leaves after 63 s.
  static constexpr Duration kRepetitions = Duration::seconds(120);
  // Those of so many connections are kept, but for one in some thousands.
  static constexpr std::size_t kFewest = 1024;
  RecentConnections(HashKey key, Duration memory, std::size_t connections = kFewest);

  void remember(const FlowKey& flow, std::uint32_t number, Instant now);
  // Whether this flow and number were remembered, no longer than `memory` ago.
  bool recalls(const FlowKey& flow, std::uint32_t number, Instant now) const;
  // The number of that flow; nullopt if it was not remembered.
  std::optional<std::uint32_t> number_of(const FlowKey& flow, Instant now) const;
  void forget(const FlowKey& flow);
  // Whether it recalls nothing at all.
  bool is_empty(Instant now) const { return now >= empty_at_; }

 private:
  struct Entry {
    std::uint64_t hash = 0;
    Instant until;
    std::uint32_t number = 0;
  };
  static constexpr std::size_t kWays = 8;
  // Where the flow is, or may be put.
  Entry& place_for(std::uint64_t hash);
  std::size_t set_of(std::uint64_t hash) const { return hash % (entries_.size() / kWays) * kWays; }
  HashKey key_;
  Duration memory_;
  Instant empty_at_;  // when all will be forgotten
  std::vector<Entry> entries_;
};

}  // namespace satrelay::gateway

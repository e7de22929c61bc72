// A table of recent connections, each with a number. For example, it can record the connections
// that have lately sent a SYN, with the sequence number of the SYN.
//
// The table has a fixed size, with eight entries for each hash. If all eight are in use, the entry
// that expires first is replaced. is_empty() does not read the entries, since each SYN is looked up
// in many tables, and most of them are empty.
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
  // A host repeats its SYN for less time than this: the sixth repetition, usually the last one, is
  // sent after 63 s.
  static constexpr Duration kRepetitions = Duration::seconds(120);
  // The minimum size of a table in connections. If n connections are stored in a table of size n,
  // about one in several thousand is lost.
  static constexpr std::size_t kFewest = 1024;
  RecentConnections(HashKey key, Duration memory, std::size_t connections = kFewest);

  void remember(const FlowKey& flow, std::uint32_t number, Instant now);
  // Whether remember() was called with this flow and number, at most `memory` ago.
  bool recalls(const FlowKey& flow, std::uint32_t number, Instant now) const;
  // The number that was stored for the flow; nullopt if the table has no entry.
  std::optional<std::uint32_t> number_of(const FlowKey& flow, Instant now) const;
  void forget(const FlowKey& flow);
  // Whether the table has no valid entry.
  bool is_empty(Instant now) const { return now >= empty_at_; }

 private:
  struct Entry {
    std::uint64_t hash = 0;
    Instant until;
    std::uint32_t number = 0;
  };
  static constexpr std::size_t kWays = 8;
  // The entry of the flow, or the entry that it may replace.
  Entry& place_for(std::uint64_t hash);
  std::size_t set_of(std::uint64_t hash) const { return hash % (entries_.size() / kWays) * kWays; }
  HashKey key_;
  Duration memory_;
  Instant empty_at_;  // when the last entry expires
  std::vector<Entry> entries_;
};

}  // namespace satrelay::gateway

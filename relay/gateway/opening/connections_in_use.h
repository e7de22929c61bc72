// Bridged connections that both hosts have established, according to their segments. A SYN from the
// LAN for such a connection is forged, or is a late duplicate. It must not be relayed, since the
// new flow would replace the connection.
//
// Any station can forge a segment on the WAN. So a connection counts as in use only if the two
// ports agree: the host of the LAN has acknowledged a number within kSequenceReach of the numbers
// that arrived from the WAN. An RST or a SYN of the host is not such an acknowledgment. The host of
// the LAN must also confirm the end of the connection. A FIN or RST of the far host counts only
// when the acknowledgment number of the host matches it exactly. After a FIN of the far host, the
// connection ends only when the host of the LAN has also sent a FIN or RST.
//
// The table has a fixed size, with eight entries for each hash. An entry never replaces an entry
// with more evidence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "pep/base/time.h"
#include "relay/gateway/frames/flow_key.h"
#include "relay/gateway/frames/keyed_hash.h"
#include "relay/gateway/opening/segment_numbers.h"

namespace satrelay::gateway {

class ConnectionsInUse {
 public:
  // A connection is in use if both hosts have sent something within `memory`.
  ConnectionsInUse(HashKey key, Duration memory, std::size_t connections);

  // Call these for each segment that is bridged. In `flow`, the local host is the host on the LAN.
  void look_from_lan(const FlowKey& flow, const SegmentNumbers& segment, Instant now);
  void look_from_wan(const FlowKey& flow, const SegmentNumbers& segment, Instant now);
  bool has(const FlowKey& flow, Instant now) const;

 private:
  // The states of a connection. A later state is stronger evidence that the connection is in use.
  enum class State : std::uint8_t {
    kFree,
    kFarSpoke,   // seen only on the WAN port
    kHostSpoke,  // seen on the LAN port, without a matching segment on the WAN port
    kOver,       // both hosts have ended the connection: late segments do not revive it
    kInUse,
  };
  static constexpr Instant kLongAgo =
      Instant::from_nanoseconds(std::numeric_limits<std::int64_t>::min());
  struct Entry {
    std::uint64_t hash = 0;
    Instant host_spoke = kLongAgo;
    Instant far_spoke = kLongAgo;
    std::uint32_t expected = 0;  // latest acknowledgment number of the host
    std::uint32_t said = 0;      // latest sequence number from the WAN
    std::uint32_t end = 0;       // the acknowledgment number that covers the far host's FIN or RST
    State state = State::kFree;
    bool far_ends = false;  // whether the far host has sent FIN or RST, so that `end` is known
    bool far_resets = false;
    bool host_ends = false;  // the host has sent FIN or RST
  };
  static constexpr std::size_t kWays = 8;

  std::size_t set_of(std::uint64_t hash) const { return hash % (entries_.size() / kWays) * kWays; }
  bool is_valid(const Entry& entry, Instant now) const;
  const Entry* find(std::uint64_t hash, Instant now) const;
  Entry* find(std::uint64_t hash, Instant now);
  // Returns the flow's entry. If there is none, replaces an entry with a state up to `evidence` by
  // a new entry. Returns nullptr if the states of all entries of the set are greater.
  Entry* place_for(std::uint64_t hash, State evidence, Instant now);
  void look_for_end(Entry& entry, Instant now);
  // Whether the table has no valid entry.
  bool is_empty(Instant now) const { return now >= empty_at_; }
  void note_spoken(Instant now) { empty_at_ = later(empty_at_, now + memory_); }

  HashKey key_;
  Duration memory_;
  Instant empty_at_;
  std::vector<Entry> entries_;
};

}  // namespace satrelay::gateway

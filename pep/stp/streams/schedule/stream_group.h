// The streams of one host in one class, which share the turns of that host (stream_schedule.h).
#pragma once

#include <cstdint>

#include "pep/base/containers/intrusive_list.h"
#include "pep/schedule/host_share.h"
#include "pep/stp/streams/schedule/round.h"
#include "pep/stp/streams/stream.h"

namespace satrelay::stp {

inline RoundPlace& round_place(Stream& stream) { return stream.heat().places.round; }

// The state of a host on one level (young or older streams): its streams with new bytes, and the
// bytes left in its turn.
struct HostTurn {
  Round<Stream, NewList> streams;
  std::uint32_t count = 0;   // number of these streams
  std::int64_t deficit = 0;  // bytes left in the turn
  bool is_promoted = false;  // the host gets the next turn, even if its deficit is negative
  RoundPlace round;
  ListHook<HostTurn> hook;
};
using HostList = IntrusiveList<HostTurn, &HostTurn::hook>;
inline RoundPlace& round_place(HostTurn& turn) { return turn.round; }

struct StreamGroup {
  std::uint64_t host = 0;
  schedule::ClassId stream_class = 0;
  std::uint32_t streams = 0;  // number of streams in the group, waiting or not
  HostTurn young, older;
  // Nullptr if the queues in which the host waits are not counted.
  schedule::HostShare* share = nullptr;
  bool is_counted = false;  // `share` counts this group as a queue in which the host waits

  bool waits_on_both() const { return HostList::contains(young) && HostList::contains(older); }
  bool waits() const { return HostList::contains(young) || HostList::contains(older); }
  std::uint32_t factor() const { return share == nullptr ? 1 : share->factor(); }
  HostTurn& turn(Stream::Level level) { return level == Stream::Level::kYoung ? young : older; }
};

}  // namespace satrelay::stp

// The DSCP and TTL of far hosts' latest packets, as they were when they reached the gateway of such
// a host. What is sent in a host's name before its first packet of a connection has those of an
// earlier one, or of its own connections towards here.
//
// All workers share them. The number of hosts is fixed; the one that was heard first gives way.
#pragma once

#include <cstddef>
#include <optional>

#include "pep/base/address.h"
#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "relay/gateway/frames/keyed_hash.h"
#include "relay/gateway/frames/path_marks.h"
#include "relay/gateway/frames/shared_table.h"

namespace satrelay::gateway {

class FarMarks {
 public:
  static constexpr Duration kKept = Duration::seconds(24 * 3600);
  static constexpr std::size_t kHosts = 16'384;

  explicit FarMarks(HashKey key) : key_(key), table_(kHosts) {}

  void note(const IpAddress& host, const PathMarks& marks, Instant now);
  // nullopt: nothing was heard of it for a day.
  std::optional<PathMarks> find(const IpAddress& host, Instant now) const;
  // Gives a frame of IP without options the marks of the host in whose name it is sent.
  void mark(MutableBytes frame, Instant now) const;

 private:
  HashKey key_;
  SharedTable table_;
};

}  // namespace satrelay::gateway

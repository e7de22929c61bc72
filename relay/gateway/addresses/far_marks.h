// The DSCP and TTL of far hosts' latest packets, as they were when they reached the gateway of such
// a host. What is sent in a host's name before its first packet of a connection has those of an
// earlier one, or of its own connections towards here.
//
// They are kept by host and by service (host and port): a router may answer BGP with another TTL
// than ssh. All workers share them. The number of places is fixed: those that were heard in the
// earliest hour give way.
#pragma once

#include <cstddef>
#include <cstdint>
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
  static constexpr std::size_t kPlaces = 32'768;
  // What comes with less may be meant to end on the way, and is not remembered: what is sent with
  // it in the host's name would not reach anybody.
  static constexpr std::uint8_t kLeastTtl = 34;
  static constexpr std::uint16_t kNoPort = 0;

  explicit FarMarks(HashKey key) : key_(key), table_(kPlaces) {}

  // `port`: of the service; kNoPort if the host is the client.
  void note(const IpAddress& host, std::uint16_t port, const PathMarks& marks, Instant now);
  // Of the service; nullopt: nothing was heard of it for a day.
  std::optional<PathMarks> find(const IpAddress& host, std::uint16_t port, Instant now) const;
  // The same, or else of the host's latest connection.
  std::optional<PathMarks> guess(const IpAddress& host, std::uint16_t port, Instant now) const;
  // Gives a frame of TCP over IP without options the marks of the host in whose name it is sent.
  void mark(MutableBytes frame, Instant now) const;

 private:
  std::uint64_t hash(const IpAddress& host, std::uint16_t port) const;

  HashKey key_;
  SharedTable table_;
};

}  // namespace satrelay::gateway

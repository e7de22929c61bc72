// Remembers the DSCP and TTL of the latest packets of far hosts, as the far gateway received them.
// The gateway sends packets in a far host's name with these values until it knows the values of the
// host's first packet in the connection.
//
// The values are kept by host and by service (host and port), since a router may answer BGP with
// another TTL than ssh. All workers share them. The table has a fixed size, and entries of the
// earliest hour are replaced first.
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
  static constexpr std::uint16_t kNoPort = 0;

  explicit FarMarks(HashKey key) : key_(key), table_(kPlaces) {}

  // `port` is the port of the service, or kNoPort if the host is the client. Has no effect if
  // `marks` has the TTL of a traceroute probe, since packets with such a low TTL might not reach
  // the other host.
  void note(const IpAddress& host, std::uint16_t port, const PathMarks& marks, Instant now);
  // The DSCP and TTL of exactly this service; nullopt if none were noted within a day.
  std::optional<PathMarks> find(const IpAddress& host, std::uint16_t port, Instant now) const;
  // The DSCP and TTL of the service or, if they are not known, of the host's latest connection.
  std::optional<PathMarks> guess(const IpAddress& host, std::uint16_t port, Instant now) const;
  // Sets the DSCP and TTL of a TCP frame over IP without options, according to the frame's source
  // address and port.
  void mark(MutableBytes frame, Instant now) const;

 private:
  std::uint64_t hash(const IpAddress& host, std::uint16_t port) const;

  HashKey key_;
  SharedTable table_;
};

}  // namespace satrelay::gateway

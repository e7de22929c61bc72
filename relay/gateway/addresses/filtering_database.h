// Remembers on which side of the gateway each station was heard lately, that is, where its frames
// arrived. The filtering database of a bridge does the same (IEEE 802.1Q section 8.8). A switch
// that does not know a station sends frames for this station to all ports, including the gateway's
// port. The gateway uses this database to drop a frame between two hosts of the LAN.
//
// A station is a MAC in a VLAN (all tags). Frames of a host behind a peer end at the far gateway.
// So such a host also counts as heard on the WAN when the peer sends something on the stream of the
// host's flow. If a station was heard on both sides, frames for it are not filtered.
//
// All workers of a gateway share one database. Each side has a table of fixed size, in sets of a
// few entries, which is indexed by a keyed hash. If a set is full, the station that was heard
// longest ago is replaced. An entry is one word, so a worker reads another worker's write either
// completely or not at all.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "pep/base/address.h"
#include "pep/base/time.h"
#include "pep/wire/ethernet.h"
#include "relay/gateway/frames/flow_key.h"
#include "relay/gateway/frames/keyed_hash.h"
#include "relay/gateway/frames/shared_table.h"

namespace satrelay::gateway {

enum class Side : std::uint8_t { kLan, kWan };
constexpr Side other(Side side) { return side == Side::kLan ? Side::kWan : Side::kLan; }

struct Station {
  MacAddress mac;
  std::array<std::uint16_t, wire::kMaxVlanTags> vlans{};  // as vlans_of() returns them
  friend bool operator==(const Station&, const Station&) = default;
};

class FilteringDatabase {
 public:
  // The ageing time that table 8-6 of IEEE 802.1Q recommends.
  static constexpr Duration kAgeing = Duration::seconds(300);
  static constexpr std::size_t kStations = 16'384;  // on each side

  explicit FilteringDatabase(HashKey key)
      : key_(key), sides_{SharedTable(kStations), SharedTable(kStations)} {}

  // Returns true if the station was heard lately on the other side, but not on this side before.
  bool learn(Side side, const Station& station, Instant now);
  bool is_on_lan_only(const Station& station, Instant now) const;
  bool was_heard(Side side, const Station& station, Instant now) const;
  // Whether the station was heard in a later second than `then`.
  bool was_heard_since(Side side, const Station& station, Instant then) const;

 private:
  bool was_heard(Side side, std::uint64_t hash, Instant now) const;

  HashKey key_;
  std::array<SharedTable, 2> sides_;  // values: the second in which the station was last heard
};

// Filters repeated writes. Each worker has a listener for each side. While a station keeps sending,
// the listener writes it into the database only once a second.
class StationListener {
 public:
  // Whether the sender is the station that was heard last, and is already in the database.
  bool has_just_heard(const wire::EthernetHeader& frame, Instant now) const {
    return frame.source == mac_ && Tags(frame) == tags_ && now < again_;
  }
  // Calls FilteringDatabase::learn(), unless the source MAC cannot be that of a station.
  bool hear(FilteringDatabase& database, Side side, const wire::EthernetHeader& frame,
            Instant now) {
    mac_ = frame.source;
    tags_ = Tags(frame);
    again_ = now + kAgain;
    if (mac_.is_multicast() || mac_ == MacAddress()) return false;
    return database.learn(side, {mac_, vlans_of(frame)}, now);
  }

 private:
  static constexpr Duration kAgain = Duration::seconds(1);

  // All VLAN tags of a header in one word.
  struct Tags {
    Tags() = default;
    explicit Tags(const wire::EthernetHeader& frame)
        : word(std::bit_cast<std::uint64_t>(frame.tags)) {}
    std::uint64_t word = 0;
    friend bool operator==(const Tags&, const Tags&) = default;
  };

  MacAddress mac_;
  Tags tags_;
  Instant again_ = {};
};

}  // namespace satrelay::gateway

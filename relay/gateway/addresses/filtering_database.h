// Keeps on which side of the gateway each station was heard lately, like the filtering database of
// a bridge (IEEE 802.1Q section 8.8). A switch that does not know a station sends its frames to all
// ports, including the gateway's. So a frame between two hosts of the LAN stays there.
//
// A station is a MAC in a VLAN (all tags). It also counts as heard on the WAN if a peer reports it
// by a stream, since its own frames end at the far gateway. A station that was heard on both sides
// is not filtered.
//
// All workers of a gateway share one database. Each side has a fixed number of places, in sets of a
// few. In a full set the station that was heard first gives way. A keyed hash finds the places.
// Each place is one word, so a worker reads all or nothing of another worker's write.
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
  std::array<std::uint16_t, wire::kMaxVlanTags> vlans{};  // as vlans_of()
  friend bool operator==(const Station&, const Station&) = default;
};

class FilteringDatabase {
 public:
  // Table 8-6 of that standard: the recommended ageing time.
  static constexpr Duration kAgeing = Duration::seconds(300);
  static constexpr std::size_t kStations = 16'384;  // on each side

  explicit FilteringDatabase(HashKey key)
      : key_(key), sides_{SharedTable(kStations), SharedTable(kStations)} {}

  // True if this side had not heard the station lately, and the other side has.
  bool learn(Side side, const Station& station, Instant now);
  bool is_on_lan_only(const Station& station, Instant now) const;
  bool was_heard(Side side, const Station& station, Instant now) const;
  // True if it was heard in a second after `then`'s.
  bool was_heard_since(Side side, const Station& station, Instant then) const;

 private:
  bool was_heard(Side side, std::uint64_t hash, Instant now) const;

  HashKey key_;
  std::array<SharedTable, 2> sides_;  // the second in which each was heard
};

// Each worker has one for each side. It writes a station that goes on speaking into the database
// once a second.
class StationListener {
 public:
  // True if the sender is the station that was heard last, and is already in the database.
  bool has_just_heard(const wire::EthernetHeader& frame, Instant now) const {
    return frame.source == mac_ && Tags(frame) == tags_ && now < again_;
  }
  // Calls FilteringDatabase::learn(), unless the source is no station's MAC.
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

  // All tags of a header in one word.
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

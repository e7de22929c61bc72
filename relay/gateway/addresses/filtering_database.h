// On which side of the gateway each station was heard lately, as a bridge's filtering database
// tells (IEEE 802.1Q section 8.8). A switch that does not know a station sends its frames to all
// ports, the gateway's too: a frame between two hosts of the LAN stays there.
//
// A station is a MAC in a VLAN (all tags). It counts as heard on the WAN, too, if a peer tells of
// it by a stream: its own frames end at the far gateway. One that was heard on both sides is not
// filtered.
//
// All workers of a gateway share one. Each side has a fixed number of places, in sets of a few; in
// a set that is full the one that was heard first gives way. Places are found by a keyed hash, and
// each is one word: whoever reads it sees all or nothing of what another worker writes.
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
  // Table 8-6 there: the recommended ageing time.
  static constexpr Duration kAgeing = Duration::seconds(300);
  static constexpr std::size_t kStations = 16'384;  // a side

  explicit FilteringDatabase(HashKey key)
      : key_(key), sides_{SharedTable(kStations), SharedTable(kStations)} {}

  // True if that is news, and the other side has heard the same station lately.
  bool learn(Side side, const Station& station, Instant now);
  bool is_on_lan_only(const Station& station, Instant now) const;
  bool was_heard(Side side, const Station& station, Instant now) const;
  // In a second after that of `then`.
  bool was_heard_since(Side side, const Station& station, Instant then) const;

 private:
  bool was_heard(Side side, std::uint64_t hash, Instant now) const;

  HashKey key_;
  std::array<SharedTable, 2> sides_;  // of the second in which each was heard
};

// Each worker has one for each side. It writes down a station that goes on speaking once a second.
class StationListener {
 public:
  // Whether the sender of the frame is the station that was heard last, and that is written down.
  bool has_just_heard(const wire::EthernetHeader& frame, Instant now) const {
    return frame.source == mac_ && Tags(frame) == tags_ && now < again_;
  }
  // As FilteringDatabase::learn(). What no station can be is ignored.
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

  // All of a header's tags in one word.
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

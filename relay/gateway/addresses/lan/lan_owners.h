// Remembers to which MAC each address of the LAN belongs, according to ARP and Neighbour Discovery.
// If frames to a host or a router remain unanswered at its old MAC, this table knows the other MACs
// to try.
//
// If another MAC claims an address, the address has an owner and a candidate until the owner was
// asked. If the owner is silent, the address has moved to the candidate. If the owner answers, it
// disputes the claim, and flows find out which of the two MACs acknowledges their segments. While
// the owner is asked, the candidate stays, even if further MACs claim the address. The latest of
// these further MACs is remembered too.
//
// The table has a fixed size, is direct-mapped, and is indexed by keyed hashes. A later address
// replaces an earlier address, unless another MAC has claimed the earlier address within kKept.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "pep/base/address.h"
#include "pep/base/time.h"
#include "pep/wire/ethernet.h"
#include "relay/gateway/frames/keyed_hash.h"

namespace satrelay::gateway {

using Vlans = std::array<std::uint16_t, wire::kMaxVlanTags>;  // as vlans_of()

// An address of the LAN with its VLANs. Priority tags name VLAN 0. They are ignored, since some
// stations send them and others do not.
struct LanAddress {
  LanAddress() = default;
  LanAddress(const IpAddress& address, const Vlans& all)
      : host(address), vlans(all[0] == 0 ? Vlans{all[1]} : all) {}

  IpAddress host;
  Vlans vlans{};
  friend bool operator==(const LanAddress&, const LanAddress&) = default;
};

// A MAC, and the VLAN tags of the frame that has named it.
struct NamedMac {
  MacAddress mac;
  std::array<wire::VlanTag, wire::kMaxVlanTags> tags{};
  std::uint8_t tag_count = 0;

  Vlans vlans() const {
    Vlans ids{};
    for (std::size_t i = 0; i < tag_count; ++i) ids.at(i) = tags.at(i).vlan_id();
    return ids;
  }
};

class LanOwners {
 public:
  static constexpr Duration kKept = Duration::seconds(300);
  // How long a move is remembered. A connection behind a router may be silent for long, and then
  // still use the router's old MAC.
  static constexpr Duration kMovesKept = Duration::seconds(24 * 3600);
  // After an owner was asked, it is asked again only after this time.
  static constexpr Duration kInterval = Duration::seconds(1);

  explicit LanOwners(HashKey key);

  enum class Claim : std::uint8_t {
    kReplaces,      // ARP, or a neighbour advertisement with the Override flag
    kReplacesNone,  // a neighbour advertisement without the Override flag
    // A frame of the host has this source MAC, which may also be the MAC of a router.
    kSends,
  };
  enum class News : std::uint8_t {
    kNone,
    kAskOwner,  // ask owner(); if it does not answer, call unanswered() or unasked()
    kAnswered,  // the owner that was asked has answered
  };
  News hear(const LanAddress& address, const NamedMac& named, Claim claim, Instant now);
  // The host sends from the MAC `sender`, and has acknowledged frames that were sent to the MAC
  // `receiver`. Remembers `sender` if `receiver` is the owner's MAC, and forgets it otherwise.
  void note_receiver(const LanAddress& address, const MacAddress& sender,
                     const MacAddress& receiver);
  // The destination MAC for a host that sends from `sender`: the owner's MAC if the host has
  // received frames there before, and otherwise `sender`.
  MacAddress receiver(const LanAddress& address, const MacAddress& sender) const;
  // nullptr if the owner is not known.
  const NamedMac* owner(const LanAddress& address) const;
  // The owner has not answered the requests.
  void unanswered(const LanAddress& address, Instant now);
  // The owner could not be asked.
  void unasked(const LanAddress& address, Instant now);

  struct Other {
    MacAddress mac;
    std::uint64_t claim = 0;  // serial number of the claim; never 0
    // True if the owner was asked and is silent, so that the address has moved. Always false if
    // `used` is the MAC of a router for this address. Otherwise a station could claim an unused
    // address, first with the router's MAC and then with its own MAC. The router would not answer
    // for that address, and would seem to have moved.
    bool has_moved = false;
  };
  // Returns a MAC other than `used` to which frames for this address may be sent. If the table has
  // no owner of the address, the address is behind a router, and `used` is the router's MAC. Then
  // the result may be the MAC to which the router's address has moved. Claims with numbers up to
  // `tried` are left out.
  std::optional<Other> other(const LanAddress& address, const MacAddress& used, Instant now,
                             std::uint64_t tried = 0) const;

 private:
  enum class State : std::uint8_t { kSettled, kAsked, kMoved, kDisputed };
  struct Entry {
    LanAddress address;
    NamedMac owner;
    // The other MAC that claims the address. After a move, it is the previous owner.
    NamedMac candidate;
    // The latest MAC, other than `owner` and `candidate`, that has claimed the address since the
    // owner was asked; zero if there is none.
    NamedMac latest;
    // Source MAC of a host that receives frames at the owner's MAC.
    MacAddress sender;
    State state = State::kSettled;
    std::uint64_t claim = 0;  // 0 if the entry is empty
    std::uint64_t latest_claim = 0;
    Instant changed;
    Instant ask_again;
  };
  // The move of an address from one MAC to another.
  struct Move {
    MacAddress from, to;
    Vlans vlans{};
    std::uint64_t claim = 0;  // 0 if the entry is empty
    Instant since;
  };
  static constexpr std::size_t kEntries = 4096;
  static constexpr std::size_t kMacs = 1024;

  std::size_t place(const LanAddress& address) const;
  std::size_t place(const MacAddress& mac, const Vlans& vlans) const;
  bool holds(const Entry& entry, const LanAddress& address) const {
    return entry.claim != 0 && entry.address == address;
  }
  void change(Entry& entry, State state, Instant now);
  void note_move(const Entry& entry, Instant now);
  std::optional<Other> other_of(const Entry& entry, const MacAddress& used, bool is_recent) const;

  HashKey key_;
  std::vector<Entry> entries_;
  // Finds entries by the MAC of their owner. The position is a hash of this MAC and its VLANs. The
  // value is the index of the latest entry of this owner for which another MAC has claimed the
  // address.
  std::vector<std::uint16_t> by_owner_;
  std::vector<Move> moves_;  // the latest moves, indexed by the hash of the old MAC
  std::uint64_t claims_ = 0;
};

}  // namespace satrelay::gateway

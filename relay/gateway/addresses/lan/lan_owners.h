// Which MAC each address of the LAN belongs to, as ARP and Neighbour Discovery say: where frames
// for a host or through a router go if those to its old MAC remain unanswered.
//
// An address that is claimed by another MAC has an owner and a candidate until the owner was asked.
// A silent owner has moved. One that answers disputes the claim: flows then find out which of the
// two acknowledges. The candidate stays while it is asked about, whoever else claims the address
// meanwhile: the latest of those is kept beside it.
//
// Fixed size, direct-mapped, found by keyed hashes. A later address takes the place of an earlier
// one, unless a claim to that was made within kKept.
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

// Priority tags, whose VLAN is 0, say nothing of where the host is: one sends them and another does
// not.
struct LanAddress {
  LanAddress() = default;
  LanAddress(const IpAddress& address, const Vlans& all)
      : host(address), vlans(all[0] == 0 ? Vlans{all[1]} : all) {}

  IpAddress host;
  Vlans vlans{};
  friend bool operator==(const LanAddress&, const LanAddress&) = default;
};

// A MAC, and the tags of the frame that has named it.
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
  // Connections behind a router may be silent for long, and then are still sent to its old MAC.
  static constexpr Duration kMovesKept = Duration::seconds(24 * 3600);
  // The owner is asked no sooner again.
  static constexpr Duration kInterval = Duration::seconds(1);

  explicit LanOwners(HashKey key);

  enum class Claim : std::uint8_t {
    kReplaces,      // ARP, or an advertisement with Override
    kReplacesNone,  // an advertisement without
    kSends,         // a frame of the host has come from there; a router may have sent it
  };
  enum class News : std::uint8_t {
    kNone,
    kAskOwner,  // owner(): then answered(), unanswered() or unasked()
    kAnswered,  // by the owner that is being asked
  };
  News hear(const LanAddress& address, const NamedMac& named, Claim claim, Instant now);
  // Frames of the host come from `sender`, and the host acknowledges what goes to `receiver`.
  void note_receiver(const LanAddress& address, const MacAddress& sender,
                     const MacAddress& receiver);
  // Where frames for the host go whose frames come from `sender`: there, or to an owner that has
  // received them before.
  MacAddress receiver(const LanAddress& address, const MacAddress& sender) const;
  // nullptr: not known.
  const NamedMac* owner(const LanAddress& address) const;
  // The owner that is being asked has not answered.
  void unanswered(const LanAddress& address, Instant now);
  // It could not be asked.
  void unasked(const LanAddress& address, Instant now);

  struct Other {
    MacAddress mac;
    std::uint64_t claim = 0;  // a number of its own, greater than those before; never 0
    // From the MAC that was asked, and is silent. Never told of a router: anybody can claim an
    // address that nobody has for the router's MAC, and then for another.
    bool has_moved = false;
  };
  // Where else frames for this address may go than to `used`. An address without a MAC of its own
  // is behind a router, whose MAC that is: it may be where the router's address has gone. Claims up
  // to `tried` do not count.
  std::optional<Other> other(const LanAddress& address, const MacAddress& used, Instant now,
                             std::uint64_t tried = 0) const;

 private:
  enum class State : std::uint8_t { kSettled, kAsked, kMoved, kDisputed };
  struct Entry {
    LanAddress address;
    NamedMac owner;
    NamedMac candidate;  // after a move: the owner before
    NamedMac latest;     // who has claimed it since the owner is asked; zero: nobody else
    MacAddress sender;   // by which frames come from a host that the owner has reached
    State state = State::kSettled;
    std::uint64_t claim = 0;  // 0: the place is empty
    std::uint64_t latest_claim = 0;
    Instant changed;
    Instant ask_again;
  };
  // Of an address that has moved.
  struct Move {
    MacAddress from, to;
    Vlans vlans{};
    std::uint64_t claim = 0;  // 0: the place is empty
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
  std::vector<std::uint16_t> by_owner_;  // the place of the latest entry whose owner was doubted
  std::vector<Move> moves_;              // by the old MAC, the latest of each place
  std::uint64_t claims_ = 0;
};

}  // namespace satrelay::gateway

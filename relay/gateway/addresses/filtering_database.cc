#include "relay/gateway/addresses/filtering_database.h"

#include <optional>

#include "relay/gateway/frames/coarse_time.h"

namespace satrelay::gateway {
namespace {

bool is_fresh(std::optional<std::uint32_t> second, Instant now) {
  return is_within(second, FilteringDatabase::kAgeing, now);
}

std::uint64_t hash_of(const HashKey& key, const Station& station) {
  std::uint64_t mac = 0;
  for (const std::uint8_t octet : station.mac.octets) mac = mac << 8 | octet;
  std::uint64_t vlans = 0;
  for (const std::uint16_t vlan : station.vlans) vlans = vlans << 16 | vlan;
  return hash_words(key, mac, vlans);
}

}  // namespace

bool FilteringDatabase::was_heard(Side side, std::uint64_t hash, Instant now) const {
  return is_fresh(sides_[static_cast<std::size_t>(side)].find(hash), now);
}

bool FilteringDatabase::was_heard(Side side, const Station& station, Instant now) const {
  return was_heard(side, hash_of(key_, station), now);
}

bool FilteringDatabase::was_heard_since(Side side, const Station& station, Instant then) const {
  const auto second = sides_[static_cast<std::size_t>(side)].find(hash_of(key_, station));
  return second.value_or(0) > second_of(then);
}

bool FilteringDatabase::is_on_lan_only(const Station& station, Instant now) const {
  const std::uint64_t hash = hash_of(key_, station);
  return was_heard(Side::kLan, hash, now) && !was_heard(Side::kWan, hash, now);
}

bool FilteringDatabase::learn(Side side, const Station& station, Instant now) {
  const std::uint64_t hash = hash_of(key_, station);
  const auto before = sides_[static_cast<std::size_t>(side)].put(hash, second_of(now));
  return !is_fresh(before, now) && was_heard(other(side), hash, now);
}

}  // namespace satrelay::gateway

#include "relay/gateway/addresses/filtering_database.h"

#include <span>

namespace satrelay::gateway {
namespace {

constexpr std::uint64_t kEmpty = 0;

// From 1 on: no word of a station is kEmpty.
std::uint32_t second_of(Instant now) {
  return static_cast<std::uint32_t>((now - Instant()) / Duration::seconds(1)) + 1;
}

std::uint32_t second_of(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); }

std::uint32_t tag_of(std::uint64_t word) { return static_cast<std::uint32_t>(word); }

// Another worker may be a little ahead.
bool is_fresh(std::uint64_t word, std::uint32_t second) {
  constexpr auto kSeconds =
      static_cast<std::int64_t>(FilteringDatabase::kAgeing / Duration::seconds(1));
  return word != kEmpty && std::int64_t{second} - second_of(word) < kSeconds;
}

}  // namespace

FilteringDatabase::FilteringDatabase(HashKey key)
    : key_(key), sides_{std::vector<Set>(kSets), std::vector<Set>(kSets)} {}

FilteringDatabase::Name FilteringDatabase::name(const Station& station) const {
  const auto& o = station.mac.octets;
  std::array<std::byte, 10> bytes;
  for (std::size_t i = 0; i < o.size(); ++i) bytes[i] = std::byte{o[i]};
  for (std::size_t i = 0; i < station.vlans.size(); ++i) {
    store_u16(&bytes[o.size() + 2 * i], station.vlans[i]);
  }
  const std::uint64_t hash = sip_hash(key_, bytes);
  return {static_cast<std::size_t>(hash >> 32) % kSets, static_cast<std::uint32_t>(hash)};
}

bool FilteringDatabase::was_heard(Side side, const Name& name, Instant now) const {
  const std::uint32_t second = second_of(now);
  for (const Place& place : sides_[static_cast<std::size_t>(side)][name.set].places) {
    const std::uint64_t word = place.load(std::memory_order_relaxed);
    if (tag_of(word) == name.tag && is_fresh(word, second)) return true;
  }
  return false;
}

bool FilteringDatabase::learn(Side side, const Station& station, Instant now) {
  const Name name = this->name(station);
  const std::uint32_t second = second_of(now);
  const std::uint64_t heard = (std::uint64_t{second} << 32) | name.tag;
  auto& places = sides_[static_cast<std::size_t>(side)][name.set].places;
  Place* oldest = places.data();
  std::uint64_t its_word = oldest->load(std::memory_order_relaxed);
  for (Place& place : places) {
    const std::uint64_t word = place.load(std::memory_order_relaxed);
    if (word != kEmpty && tag_of(word) == name.tag) {
      if (second > second_of(word)) place.store(heard, std::memory_order_relaxed);
      return !is_fresh(word, second) && was_heard(other(side), name, now);
    }
    if (word < its_word) {
      oldest = &place;
      its_word = word;
    }
  }
  oldest->store(heard, std::memory_order_relaxed);
  return was_heard(other(side), name, now);
}

}  // namespace satrelay::gateway

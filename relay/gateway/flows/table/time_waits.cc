#include "relay/gateway/flows/table/time_waits.h"

#include <algorithm>
#include <utility>

namespace satrelay::gateway {
namespace {

// A wait that began less than this long ago is not restarted, since each restart moves the record
// to a new position in the ring and leaves the old position unused.
constexpr Duration kShortest = Duration::seconds(1);

}  // namespace

TimeWaits::TimeWaits(std::uint32_t most, HashKey secret)
    : secret_(secret),
      most_(std::max<std::uint64_t>(most, 1)),
      ring_(most_ / kChunk + 2),
      parts_(std::size_t{1} << kPartBits) {}

TimeWaits::Id TimeWaits::find(const FlowKey& key) const {
  const std::uint64_t hash = hash_flow(secret_, key);
  const Part& part = parts_[part_of(hash)];
  if (part.used == 0) return kNone;
  const std::size_t mask = part.entries.size() - 1;
  for (std::size_t i = home(tag_of(hash)) & mask; part.entries[i].tag != 0; i = (i + 1) & mask) {
    if (part.entries[i].tag != tag_of(hash)) continue;
    const Id id = full_id(part.entries[i].id);
    if (at(id).key == key) return id;
  }
  return kNone;
}

void TimeWaits::grow(Part& part) {
  constexpr std::size_t kFewest = 8;
  if ((part.used + 1) * 2 <= part.entries.size()) return;
  std::vector<Entry> old(std::max(2 * part.entries.size(), kFewest));
  old.swap(part.entries);
  const std::size_t mask = part.entries.size() - 1;
  for (const Entry& entry : old) {
    if (entry.tag == 0) continue;
    std::size_t i = home(entry.tag) & mask;
    while (part.entries[i].tag != 0) i = (i + 1) & mask;
    part.entries[i] = entry;
  }
}

void TimeWaits::index(std::uint64_t hash, Id id) {
  Part& part = parts_[part_of(hash)];
  grow(part);
  const std::size_t mask = part.entries.size() - 1;
  std::size_t i = home(tag_of(hash)) & mask;
  while (part.entries[i].tag != 0) i = (i + 1) & mask;
  part.entries[i] = {tag_of(hash), static_cast<std::uint32_t>(id)};
  ++part.used;
}

void TimeWaits::unindex(std::uint64_t hash, Id id) {
  Part& part = parts_[part_of(hash)];
  std::vector<Entry>& entries = part.entries;
  const std::size_t mask = entries.size() - 1;
  std::size_t hole = home(tag_of(hash)) & mask;
  while (entries[hole].id != static_cast<std::uint32_t>(id) || entries[hole].tag == 0) {
    hole = (hole + 1) & mask;
  }
  // Close the gap by shifting later entries back, so that no tombstones are needed.
  for (std::size_t i = (hole + 1) & mask; entries[i].tag != 0; i = (i + 1) & mask) {
    const std::size_t distance = (i - home(entries[i].tag)) & mask;
    if (((i - hole) & mask) <= distance) {
      entries[hole] = entries[i];
      hole = i;
    }
  }
  entries[hole] = {};
  if (--part.used == 0) part.entries = {};
}

TimeWaits::Id TimeWaits::push(const Record& record, Instant now) {
  std::unique_ptr<Chunk>& chunk = ring_[end_ / kChunk % ring_.size()];
  if (chunk == nullptr) chunk = std::make_unique<Chunk>();
  Record& added = at(end_);
  added = record;
  last_expiry_ = later(last_expiry_, now + kTime);
  added.expires = ticks(last_expiry_);
  added.present = true;
  index(hash_flow(secret_, record.key), end_);
  ++size_;
  return end_++;
}

void TimeWaits::leave(Record& record, Id id) {
  record.present = false;
  --size_;
  unindex(hash_flow(secret_, record.key), id);
}

// Frees the oldest position of the ring. Returns the connection of its record, if it still has one.
std::optional<FlowKey> TimeWaits::pop() {
  Record& record = at(first_);
  std::optional<FlowKey> left;
  if (record.present) {
    left = record.key;
    leave(record, first_);
  }
  const Id last = first_++;
  // An empty ring continues with the next chunk, so that the present chunk can be freed.
  if (first_ == end_) first_ = end_ = (end_ + kChunk - 1) / kChunk * kChunk;
  if (first_ % kChunk == 0) ring_[last / kChunk % ring_.size()].reset();
  return left;
}

std::optional<FlowKey> TimeWaits::add(const FlowKey& key, const tcp::TimeWait& state, Instant now) {
  Record record;
  record.key = key;
  record.window = static_cast<std::uint8_t>(state.window >> 8);
  record.window_scale = state.window_scale & 0xfU;
  record.timestamps = state.timestamps;
  record.send_next = state.send_next;
  record.receive_next = state.receive_next;
  record.recent_timestamp = state.recent_timestamp;
  record.challenges = state.challenges;
  std::optional<FlowKey> given_up;
  if (end_ - first_ >= most_) given_up = pop();
  push(record, now);
  return given_up;
}

std::optional<tcp::TimeWait> TimeWaits::state(const FlowKey& key) const {
  const Id id = empty() ? kNone : find(key);
  if (id == kNone) return std::nullopt;
  const Record& record = at(id);
  return tcp::TimeWait{.send_next = record.send_next,
                       .receive_next = record.receive_next,
                       .recent_timestamp = record.recent_timestamp,
                       .window = static_cast<std::uint16_t>(record.window << 8),
                       .window_scale = record.window_scale,
                       .timestamps = record.timestamps,
                       .challenges = record.challenges};
}

void TimeWaits::update(const FlowKey& key, const tcp::TimeWait& state) {
  Record& record = at(find(key));
  record.recent_timestamp = state.recent_timestamp;
  record.challenges = state.challenges;
}

void TimeWaits::restart(const FlowKey& key, Instant now) {
  const Id id = find(key);
  Record& record = at(id);
  const auto left = static_cast<std::int32_t>(record.expires - ticks(now));
  if (left > static_cast<std::int32_t>((kTime - kShortest).to_nanoseconds() >> 20)) return;
  // A full ring has no position to which the record could move.
  if (end_ - first_ >= most_) return;
  const Record moved = record;
  leave(record, id);
  push(moved, now);
}

bool TimeWaits::remove(const FlowKey& key) {
  const Id id = empty() ? kNone : find(key);
  if (id == kNone) return false;
  leave(at(id), id);
  return true;
}

TimeWaits::Expired TimeWaits::take_expired(Instant now) {
  if (next_expiry() > now) return {};
  Expired expired;
  expired.connection = pop();
  expired.more = next_expiry() <= now;
  return expired;
}

Instant TimeWaits::next_expiry() const {
  if (first_ == end_) return Instant::never();
  const std::uint32_t before_last = ticks(last_expiry_) - at(first_).expires;
  return last_expiry_ - Duration::nanoseconds(std::int64_t{before_last} << 20);
}

}  // namespace satrelay::gateway

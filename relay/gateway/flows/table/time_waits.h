// Connections in TIME-WAIT: a record of at most 64 octets for each, in the order in which the waits
// end. The number of positions is limited, to limit the memory. If all positions are in use, a new
// connection ends the oldest wait early, although RFC 9293 section 3.6.1 demands 2 MSL. The owner
// counts waits that end early (time_waits_given_up). If a record is removed, its position stays in
// use until the record would have expired.
//
// Memory is allocated when it is needed, and freed afterwards.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "pep/base/time.h"
#include "pep/tcp/time_wait.h"
#include "relay/gateway/frames/flow_key.h"
#include "relay/gateway/frames/keyed_hash.h"

namespace satrelay::gateway {

class TimeWaits {
 public:
  // 2 MSL on a LAN.
  static constexpr Duration kTime = Duration::seconds(30);

  TimeWaits(std::uint32_t most, HashKey secret);

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  bool contains(const FlowKey& key) const { return !empty() && find(key) != kNone; }

  // The connection must not have a record yet. Returns the connection that had to be removed to
  // make room for the record.
  std::optional<FlowKey> add(const FlowKey& key, const tcp::TimeWait& state, Instant now);
  // nullopt if there is no record.
  std::optional<tcp::TimeWait> state(const FlowKey& key) const;
  // Stores the parts of the state that may have changed: the newest timestamp, and the challenge
  // limit. The connection must have a record.
  void update(const FlowKey& key, const tcp::TimeWait& state);
  // Begins the wait anew, unless it has just begun. The connection must have a record.
  void restart(const FlowKey& key, Instant now);
  bool remove(const FlowKey& key);  // returns false if there was no record
  // Frees the next position of the ring if it is due. `connection` is the connection of its record,
  // if the record was not removed before. `more` says that another position is due.
  struct Expired {
    std::optional<FlowKey> connection;
    bool more = false;
  };
  Expired take_expired(Instant now);
  Instant next_expiry() const;

 private:
  using Id = std::uint64_t;  // only increases
  static constexpr Id kNone = ~Id{0};

  struct Record {
    FlowKey key;
    std::uint8_t window = 0;  // in units of 256
    std::uint8_t window_scale : 4 = 0;
    bool timestamps : 1 = false;
    // False if the record was removed. Its position stays in use until the record would have
    // expired.
    bool present : 1 = false;
    std::uint32_t send_next = 0;
    std::uint32_t receive_next = 0;
    std::uint32_t recent_timestamp = 0;
    std::uint32_t expires = 0;  // in ticks of 2^20 ns, which wrap
    tcp::ChallengeLimit challenges;
  };
  static_assert(sizeof(Record) <= 64);
  static constexpr std::size_t kChunk = 256;
  using Chunk = std::array<Record, kChunk>;

  // The position of a record. The tag is a part of the key's hash, so that find() rarely reads the
  // record of another connection.
  struct Entry {
    std::uint32_t tag = 0;
    std::uint32_t id = 0;  // lower bits of the Id
  };
  // The index is divided into parts that grow separately, since it would take long to move all
  // entries at once.
  struct Part {
    std::vector<Entry> entries;  // an entry with tag 0 is empty
    std::size_t used = 0;
  };
  static constexpr unsigned kPartBits = 8;

  static std::uint32_t ticks(Instant at) {
    return static_cast<std::uint32_t>(at.to_nanoseconds() >> 20);
  }
  Record& at(Id id) { return (*ring_[id / kChunk % ring_.size()])[id % kChunk]; }
  const Record& at(Id id) const { return (*ring_[id / kChunk % ring_.size()])[id % kChunk]; }
  Id full_id(std::uint32_t low) const {
    return first_ + static_cast<std::uint32_t>(low - static_cast<std::uint32_t>(first_));
  }
  static std::uint32_t tag_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash) | 1U; }
  static std::size_t home(std::uint32_t tag) { return tag >> 1; }
  static std::size_t part_of(std::uint64_t hash) { return hash >> (64 - kPartBits); }
  Id find(const FlowKey& key) const;
  void index(std::uint64_t hash, Id id);
  void unindex(std::uint64_t hash, Id id);
  static void grow(Part& part);
  Id push(const Record& record, Instant now);
  std::optional<FlowKey> pop();
  void leave(Record& record, Id id);

  HashKey secret_;
  std::uint64_t most_;
  std::vector<std::unique_ptr<Chunk>> ring_;  // by the chunk's number
  std::vector<Part> parts_;
  Id first_ = 0;  // positions in use: [first_, end_)
  Id end_ = 0;
  std::size_t size_ = 0;
  Instant last_expiry_;  // when the newest record expires
};

}  // namespace satrelay::gateway

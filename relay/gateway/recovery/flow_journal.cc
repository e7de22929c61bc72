#include "relay/gateway/recovery/flow_journal.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "pep/base/check.h"
#include "pep/stp/wire/crc32c.h"

namespace satrelay::gateway {
namespace {

constexpr std::size_t kVersionAt = 56;
constexpr std::size_t kTagsAt = 58;
constexpr std::size_t kChecksumAt = 60;

using RecordBytes = std::array<std::byte, FlowJournal::kRecordSize>;

std::uint32_t checksum(const RecordBytes& bytes) {
  const auto state = stp::crc32c_update(stp::kCrc32cStart, ConstBytes(bytes).first(kChecksumAt));
  return stp::crc32c_finish(state);
}

template <typename Octets>
void put(const Octets& octets, std::byte* to) {
  std::memcpy(to, octets.data(), octets.size());
}

RecordBytes encode(const FlowJournal::Record& record) {
  RecordBytes bytes{};
  put(record.key.local.octets(), &bytes[0]);
  put(record.key.remote.octets(), &bytes[16]);
  store_u16(&bytes[32], record.key.local_port);
  store_u16(&bytes[34], record.key.remote_port);
  put(record.to_host.destination.octets, &bytes[36]);
  put(record.to_host.source.octets, &bytes[42]);
  for (std::size_t i = 0; i < wire::kMaxVlanTags; ++i) {
    store_u16(&bytes[48 + 4 * i], record.to_host.tags[i].tpid);
    store_u16(&bytes[50 + 4 * i], record.to_host.tags[i].tci);
  }
  bytes[kVersionAt] = static_cast<std::byte>(record.key.local.version());
  store_u16(&bytes[kTagsAt], record.to_host.tag_count);
  store_u32(&bytes[kChecksumAt], checksum(bytes));
  return bytes;
}

IpAddress address_at(const std::byte* from, bool is_v4) {
  std::array<std::uint8_t, 16> octets{};
  std::memcpy(octets.data(), from, octets.size());
  return is_v4 ? IpAddress::v4({octets[0], octets[1], octets[2], octets[3]})
               : IpAddress::v6(octets);
}

std::optional<FlowJournal::Record> decode(const RecordBytes& bytes) {
  const std::uint8_t version = load_u8(&bytes[kVersionAt]);
  const std::uint16_t tags = load_u16(&bytes[kTagsAt]);
  if ((version != 4 && version != 6) || tags > wire::kMaxVlanTags ||
      load_u32(&bytes[kChecksumAt]) != checksum(bytes)) {
    return std::nullopt;
  }
  FlowJournal::Record record;
  record.key.local = address_at(&bytes[0], version == 4);
  record.key.remote = address_at(&bytes[16], version == 4);
  record.key.local_port = load_u16(&bytes[32]);
  record.key.remote_port = load_u16(&bytes[34]);
  std::memcpy(record.to_host.destination.octets.data(), &bytes[36], 6);
  std::memcpy(record.to_host.source.octets.data(), &bytes[42], 6);
  for (std::size_t i = 0; i < wire::kMaxVlanTags; ++i) {
    record.to_host.tags[i] = {load_u16(&bytes[48 + 4 * i]), load_u16(&bytes[50 + 4 * i])};
  }
  record.to_host.tag_count = static_cast<std::uint8_t>(tags);
  record.to_host.type = version == 4 ? wire::EtherType::kIpv4 : wire::EtherType::kIpv6;
  record.key.vlans = vlans_of(record.to_host);
  return record;
}

// Stores whole words, since another thread may copy the memory at the same time.
void store(const RecordBytes& bytes, std::byte* to) {
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, &bytes[at], sizeof word);
    std::atomic_ref(*reinterpret_cast<std::uint64_t*>(to + at))
        .store(word, std::memory_order_relaxed);
  }
}

}  // namespace

FlowJournal::FlowJournal(MutableBytes memory) : memory_(memory) {
  SATRELAY_CHECK(reinterpret_cast<std::uintptr_t>(memory.data()) % sizeof(std::uint64_t) == 0);
  free_.reserve(places());
  for (Place place = places(); place > 0; --place) {
    if (!read(place - 1)) free_.push_back(place - 1);
  }
}

std::optional<FlowJournal::Record> FlowJournal::read(Place place) const {
  RecordBytes bytes;
  std::memcpy(bytes.data(), memory_.subspan(place * kRecordSize).data(), bytes.size());
  return decode(bytes);
}

FlowJournal::Place FlowJournal::keep(const Record& record) {
  if (free_.empty()) return kNowhere;
  const Place place = free_.back();
  free_.pop_back();
  change(place, record);
  return place;
}

void FlowJournal::change(Place place, const Record& record) {
  if (place == kNowhere) return;
  store(encode(record), memory_.subspan(place * kRecordSize).data());
}

void FlowJournal::release(Place place) {
  if (place == kNowhere) return;
  store(RecordBytes{}, memory_.subspan(place * kRecordSize).data());
  free_.push_back(place);
}

}  // namespace satrelay::gateway

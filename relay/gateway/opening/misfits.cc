#include "relay/gateway/opening/misfits.h"

#include "pep/wire/tcp.h"

namespace satrelay::gateway {
namespace {

using Flags = wire::TcpFlags;

constexpr std::size_t kSequenceAt = 4;
constexpr std::size_t kAcknowledgmentAt = 8;
constexpr std::size_t kHeaderSizeAt = 12;  // upper four bits, in words
constexpr std::size_t kFlagsAt = 13;

bool is_far(std::uint32_t one, std::uint32_t other, std::uint32_t reach) {
  const std::uint32_t distance = one - other;
  return distance > reach && distance < 0U - reach;
}

}  // namespace

// nullptr if the segment begins or ends the connection, or acknowledges nothing.
Misfits::Entry* Misfits::entry_for(const FlowKey& key, std::uint8_t flags) {
  const std::uint64_t hash = hash_flow(secret_, key);
  Entry& entry = entries_[hash % kEntries];
  const bool plain = (flags & (Flags::kSyn | Flags::kRst | Flags::kAck)) == Flags::kAck;
  if (!plain) {
    if (entry.hash == hash) entry = Entry();
    return nullptr;
  }
  if (entry.hash != hash) {
    entry = Entry();
    entry.hash = hash;
  }
  return &entry;
}

void Misfits::look_from_lan(const FlowKey& key, const wire::EthernetHeader& ethernet,
                            ConstBytes segment) {
  Entry* entry = entry_for(key, load_u8(segment.data() + kFlagsAt));
  if (entry == nullptr) return;
  entry->host_heard = true;
  entry->host_expects = load_u32(segment.data() + kAcknowledgmentAt);
  entry->to_host = ethernet.reversed();
  look(*entry, kFromLan, key, segment);
}

void Misfits::look_from_wan(const FlowKey& key, ConstBytes segment) {
  Entry* entry = entry_for(key, load_u8(segment.data() + kFlagsAt));
  if (entry != nullptr) look(*entry, kFromWan, key, segment);
}

void Misfits::look(Entry& entry, Way way, const FlowKey& key, ConstBytes segment) {
  Data& answered = entry.data[way == kFromLan ? kFromWan : kFromLan];
  if (answered.seen) {
    if (!is_far(load_u32(segment.data() + kAcknowledgmentAt), answered.sequence, kReach)) {
      answered = Data();
    } else if (answered.unanswered) {
      answered.unanswered = false;
      ++answered.misfits;
    }
  }
  if (answered.misfits >= kEnough && entry.host_heard && !resets_.full()) {
    counters_.add(Counter::kMisfitsReset);
    resets_.push_reset(entry.to_host, key, entry.host_expects);
    entry = Entry();
    return;
  }
  const std::size_t header = std::size_t{load_u8(segment.data() + kHeaderSizeAt)} >> 4 << 2;
  if (segment.size() <= header) return;
  Data& own = entry.data[way];
  const std::uint32_t sequence = load_u32(segment.data() + kSequenceAt);
  if (!own.seen || own.sequence != sequence) own = Data{.sequence = sequence, .seen = true};
  own.unanswered = true;
}

}  // namespace satrelay::gateway

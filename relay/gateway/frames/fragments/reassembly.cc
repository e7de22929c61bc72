#include "relay/gateway/frames/fragments/reassembly.h"

#include <algorithm>
#include <numeric>

#include "pep/base/check.h"
#include "pep/wire/checksum.h"
#include "pep/wire/ethernet.h"
#include "pep/wire/ip.h"

namespace satrelay::gateway {
namespace {

constexpr std::uint32_t kMostIpLength = 65'535;
// RFC 3168 section 5.
constexpr unsigned kEcnMask = 3, kNotEct = 0, kCongestionExperienced = 3;

// Offset in a fragment's frame at which the fragment's part of the datagram begins.
std::size_t data_at(const Frame& fragment) {
  const std::size_t ip = fragment.ethernet.size() + fragment.ip.header_size;
  return fragment.extensions.fragment ? ip + fragment.extensions.fragment->data_at : ip;
}

// Size of the headers that the length field of the whole datagram includes.
std::size_t counted_headers(const Frame& fragment) {
  if (fragment.ip.source.is_v4()) return fragment.ip.header_size;
  return fragment.extensions.fragment->data_at - wire::kFragmentHeaderSize;
}

// Checks the size and offset of a fragment (RFC 8200 section 4.5, RFC 791 section 3.2).
bool is_in_order(const Frame& fragment, std::size_t size) {
  const bool fills_units = size % 8 == 0 || !fragment.ip.more_fragments;
  return size > 0 && fills_units &&
         counted_headers(fragment) + fragment.ip.fragment_offset + size <= kMostIpLength;
}

}  // namespace

Reassembly::Reassembly(HashKey secret, std::size_t most_frame_size, Counters& counters)
    : secret_(secret),
      counters_(counters),
      cell_size_((most_frame_size + 63) / 64 * 64),
      memory_(std::make_unique_for_overwrite<std::byte[]>(kMostFragments * cell_size_)),
      cells_(kMostFragments),
      free_(kMostFragments),
      hosts_(kHosts),
      whole_(wire::kMaxEthernetHeaderSize + wire::kIpv6HeaderSize + kMostIpLength) {
  SATRELAY_CHECK(cell_size_ <= 0xFFFF);
  std::iota(free_.rbegin(), free_.rend(), Cell{0});
}

bool Reassembly::may_be_tcp(const Frame& fragment) {
  if (fragment.ip.source.is_v4()) return fragment.ip.protocol == wire::kProtocolTcp;
  const std::uint8_t next = fragment.extensions.fragment->next_header;
  return next == wire::kProtocolTcp || wire::is_extension_header(next);
}

// RFC 791 identifies a datagram by its addresses, its protocol (which is TCP here) and its
// identification. RFC 8200 does the same without the protocol. The same values in another VLAN
// belong to another datagram.
std::uint64_t Reassembly::key_of(const Frame& fragment) {
  std::array<std::byte, 16 + 16 + 4 + 2 * wire::kMaxVlanTags + 1> bytes{};
  const auto octets = [](const IpAddress& address) {
    return std::as_bytes(std::span(address.octets()));
  };
  std::byte* at = std::ranges::copy(octets(fragment.ip.source), bytes.data()).out;
  at = std::ranges::copy(octets(fragment.ip.destination), at).out;
  const auto& extension = fragment.extensions.fragment;
  store_u32(at, extension ? extension->identification : fragment.ip.identification);
  at += 4;
  for (const std::uint16_t vlan : vlans_of(fragment.ethernet)) {
    store_u16(at, vlan);
    at += 2;
  }
  store_u8(at, fragment.ip.source.is_v4() ? 4 : 6);
  return sip_hash(secret_, bytes);
}

Reassembly::Addition Reassembly::add(const Frame& fragment, ConstBytes frame, Instant now) {
  SATRELAY_CHECK(whole_first_ == kNoCell);
  Fragment part;
  part.frame_size = static_cast<std::uint16_t>(std::min<std::size_t>(frame.size(), 0xFFFF));
  part.data_at = static_cast<std::uint16_t>(data_at(fragment));
  const std::size_t ip_end =
      fragment.ethernet.size() + fragment.ip.header_size + fragment.ip.payload_size;
  const std::size_t size = ip_end - part.data_at;
  if (!is_in_order(fragment, size)) return drop(Counter::kDroppedFragmentMalformed);
  if (frame.size() > cell_size_) return drop(Counter::kDroppedTooLong);
  part.size = static_cast<std::uint16_t>(size);
  part.offset = fragment.ip.fragment_offset;
  part.more = fragment.ip.more_fragments;

  const std::uint64_t key = key_of(fragment);
  Datagram* found = datagrams_.find(key);
  if (found != nullptr && found->deadline <= now) {
    drop_fragments(*found, Counter::kDroppedFragmentTimeout);
    forget(*found);
    found = nullptr;
  }
  Datagram& datagram = found != nullptr ? *found : begin(key, fragment, now);
  if (datagram.discarded) return drop(*datagram.discarded);
  switch (fit(datagram, part, frame.subspan(part.data_at, part.size))) {
    case Fit::kNew:
      break;
    case Fit::kDuplicate:
      return drop(Counter::kDroppedFragmentDuplicate);
    case Fit::kOverlap:
      discard(datagram, Counter::kDroppedFragmentOverlap);
      return drop(Counter::kDroppedFragmentOverlap);
    case Fit::kContradiction:
      discard(datagram, Counter::kDroppedFragmentMalformed);
      return drop(Counter::kDroppedFragmentMalformed);
    case Fit::kTooMany:
      discard(datagram, Counter::kDroppedFragmentTooMany);
      return drop(Counter::kDroppedFragmentTooMany);
  }
  const Cell cell = take_cell(datagram);
  if (cell == kNoCell) {
    drop_fragments(datagram, Counter::kDroppedFragmentNoRoom);
    forget(datagram);
    return drop(Counter::kDroppedFragmentNoRoom);
  }

  part.host = datagram.host;
  cells_[cell] = part;
  std::ranges::copy(frame, memory_.get() + (cell * cell_size_));
  (datagram.last == kNoCell ? datagram.first : cells_[datagram.last].next) = cell;
  datagram.last = cell;
  ++datagram.count;
  datagram.bytes += part.size;
  datagram.reach = std::max(datagram.reach, part.end());
  if (part.offset == 0) datagram.head = cell;
  if (!part.more) datagram.size = part.end();
  datagram.ecn_seen |= static_cast<std::uint8_t>(1U << (fragment.ip.traffic_class & kEcnMask));
  // Fragments do not overlap here. So if the sizes add up, there is no gap.
  if (datagram.size == 0 || datagram.bytes != datagram.size) return Addition::kHeld;
  if (!put_together(datagram)) {
    discard(datagram, Counter::kDroppedFragmentMalformed);
    return Addition::kDropped;
  }
  whole_first_ = datagram.first;
  datagram.first = datagram.last = kNoCell;
  forget(datagram);
  counters_.add(Counter::kDatagramsReassembled);
  return Addition::kWhole;
}

// If there is no free entry, the oldest datagram is dropped.
Reassembly::Datagram& Reassembly::begin(std::uint64_t key, const Frame& fragment, Instant now) {
  const auto number = static_cast<std::uint16_t>(hash_host(secret_, fragment.ip.source) % kHosts);
  Host& host = hosts_[number];
  Datagram* victim = nullptr;
  if (host.datagram_count >= kMostDatagramsOfHost) {
    victim = host.datagrams.front();
  } else if (datagrams_.full()) {
    victim = by_age_.front();
  }
  if (victim != nullptr) {
    drop_fragments(*victim, Counter::kDroppedFragmentNoRoom);
    forget(*victim);
  }
  Datagram& datagram = datagrams_.add(key);
  datagram.deadline = now + kTimeout;
  datagram.host = number;
  by_age_.push_back(datagram);
  host.datagrams.push_back(datagram);
  ++host.datagram_count;
  ++datagram_count_;
  return datagram;
}

// RFC 5722, RFC 8200 section 4.5: an overlap discards the datagram, unless a fragment merely
// arrived twice. IPv4 is handled in the same way, as RFC 1858 and RFC 3128 describe attacks by
// overlaps.
Reassembly::Fit Reassembly::fit(const Datagram& datagram, const Fragment& part,
                                ConstBytes data) const {
  if (part.offset < datagram.reach) {
    for (Cell cell = datagram.first; cell != kNoCell; cell = cells_[cell].next) {
      const Fragment& other = cells_[cell];
      if (part.offset >= other.end() || other.offset >= part.end()) continue;
      const bool same = part.offset == other.offset && part.size == other.size &&
                        part.more == other.more && std::ranges::equal(data, this->data(cell));
      return same ? Fit::kDuplicate : Fit::kOverlap;
    }
  }
  // The fragment ends behind the end of the datagram, or it claims to be the last fragment although
  // a part behind it has arrived.
  if (datagram.size != 0 && (!part.more || part.end() > datagram.size)) return Fit::kContradiction;
  if (!part.more && part.end() < datagram.reach) return Fit::kContradiction;
  return datagram.count == kMostFragmentsOfDatagram ? Fit::kTooMany : Fit::kNew;
}

// Returns kNoCell if all cells, or all cells that the host may use, have fragments that wait to be
// sent. Such fragments cannot be dropped.
Reassembly::Cell Reassembly::take_cell(const Datagram& datagram) {
  if (!make_room(datagram)) return kNoCell;
  const Cell cell = free_.back();
  free_.pop_back();
  ++hosts_[datagram.host].fragments;
  return cell;
}

bool Reassembly::make_room(const Datagram& datagram) {
  Host& host = hosts_[datagram.host];
  const auto drop_one = [&](Datagram* oldest, ListHook<Datagram> Datagram::*hook) {
    Datagram* victim = oldest;
    if (victim == &datagram) victim = (victim->*hook).next;
    // The last datagram of the list has itself as `next`.
    if (victim == nullptr || victim == &datagram) return false;
    work_.add();
    drop_fragments(*victim, Counter::kDroppedFragmentNoRoom);
    forget(*victim);
    return true;
  };
  while (host.fragments >= kMostFragmentsOfHost) {
    if (!drop_one(host.datagrams.front(), &Datagram::of_host)) return false;
  }
  while (free_.empty()) {
    if (!drop_one(by_age_.front(), &Datagram::age)) return false;
  }
  return true;
}

bool Reassembly::put_together(const Datagram& datagram) {
  const Frame first = look_at(frame(datagram.head));
  const std::size_t ip_at = first.ethernet.size();
  const std::size_t counted = counted_headers(first);
  if (counted + datagram.size > kMostIpLength) return false;
  const bool v4 = first.ip.source.is_v4();
  const std::size_t headers = ip_at + counted + (v4 ? 0 : wire::kIpv6HeaderSize);
  whole_size_ = headers + datagram.size;
  std::ranges::copy(frame(datagram.head).first(headers), whole_.begin());
  for (Cell cell = datagram.first; cell != kNoCell; cell = cells_[cell].next) {
    work_.add();
    std::ranges::copy(data(cell), whole_.data() + headers + cells_[cell].offset);
  }

  // RFC 3168 section 5.3: the datagram gets the congestion mark if any fragment has it. If one
  // fragment has the mark, and another is not ECN-capable, the datagram is dropped.
  unsigned traffic_class = first.ip.traffic_class;
  if ((datagram.ecn_seen & (1U << kCongestionExperienced)) != 0) {
    if ((datagram.ecn_seen & (1U << kNotEct)) != 0) return false;
    traffic_class |= kCongestionExperienced;
  }
  std::byte* const ip = whole_.data() + ip_at;
  const auto length = static_cast<std::uint16_t>(counted + datagram.size);
  if (v4) {
    constexpr std::uint16_t kDontFragment = 0x4000;
    store_u8(ip + 1, static_cast<std::uint8_t>(traffic_class));
    store_u16(ip + 2, length);
    store_u16(ip + 6, load_u16(ip + 6) & kDontFragment);
    store_u16(ip + 10, 0);
    const auto sum = wire::checksum_sum(ConstBytes(whole_).subspan(ip_at, first.ip.header_size));
    store_u16(ip + 10, static_cast<std::uint16_t>(~sum));
    return true;
  }
  const auto& header = *first.extensions.fragment;
  store_u32(ip, (load_u32(ip) & 0xF00F'FFFFU) | traffic_class << 20);
  store_u16(ip + 4, length);
  store_u8(header.named_at ? ip + wire::kIpv6HeaderSize + *header.named_at : ip + 6,
           header.next_header);
  return true;
}

std::optional<Reassembly::Cell> Reassembly::take_fragment() {
  if (whole_first_ == kNoCell) return std::nullopt;
  const Cell cell = whole_first_;
  whole_first_ = cells_[cell].next;
  return cell;
}

void Reassembly::end_whole() {
  while (const auto cell = take_fragment()) release(*cell);
}

void Reassembly::release(Cell cell) {
  --hosts_[cells_[cell].host].fragments;
  free_.push_back(cell);
}

void Reassembly::handle_timeout(Instant now) {
  // Each datagram has up to 64 fragments.
  constexpr int kDatagramsPerCall = 16;
  for (int i = 0; i < kDatagramsPerCall && next_timeout() <= now; ++i) {
    Datagram& datagram = *by_age_.front();
    work_.add();
    drop_fragments(datagram, Counter::kDroppedFragmentTimeout);
    forget(datagram);
  }
}

Reassembly::Addition Reassembly::drop(Counter reason) {
  counters_.add(reason);
  return Addition::kDropped;
}

void Reassembly::drop_fragments(Datagram& datagram, Counter reason) {
  counters_.add(reason, datagram.count);
  work_.add(datagram.count);
  for (Cell cell = datagram.first; cell != kNoCell;) {
    const Cell next = cells_[cell].next;
    release(cell);
    cell = next;
  }
  datagram.first = datagram.last = datagram.head = kNoCell;
  datagram.count = 0;
}

// Drops the fragments of the datagram. Until its timeout, further fragments are dropped as well
// (RFC 5722 section 4).
void Reassembly::discard(Datagram& datagram, Counter reason) {
  drop_fragments(datagram, reason);
  datagram.discarded = reason;
}

void Reassembly::forget(Datagram& datagram) {
  Host& host = hosts_[datagram.host];
  host.datagrams.remove(datagram);
  --host.datagram_count;
  by_age_.remove(datagram);
  datagrams_.remove(datagram);
  --datagram_count_;
}

}  // namespace satrelay::gateway

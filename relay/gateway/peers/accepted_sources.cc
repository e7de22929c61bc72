#include "relay/gateway/peers/accepted_sources.h"

#include <algorithm>
#include <span>
#include <utility>

namespace satrelay::gateway {
namespace {

constexpr Duration kTellSourcesAgain = Duration::seconds(1);
constexpr int kSourcesPerStep = 64;
// Flag in the message. If set, the sender also accepts sources that are not in the list.
constexpr std::uint8_t kMore = 0x01;

std::size_t octets_of(std::uint8_t length) { return (std::size_t{length} + 7) / 8; }

// Builds a prefix from an entry. `octets`: the first octets of the address, as many as `length`
// bits need. Further bits in the last octet are ignored.
std::optional<IpPrefix> prefix_of(std::uint8_t version, std::uint8_t length, ConstBytes octets) {
  const bool is_v4 = version == static_cast<std::uint8_t>(IpVersion::kV4);
  if (!is_v4 && version != static_cast<std::uint8_t>(IpVersion::kV6)) return std::nullopt;
  if (length > (is_v4 ? 32 : 128)) return std::nullopt;
  std::array<std::uint8_t, 16> kept{};
  for (std::size_t i = 0; i < octets.size(); ++i) kept.at(i) = load_u8(&octets[i]);
  if (const unsigned rest = length % 8; rest != 0) {
    std::uint8_t& last = kept.at(octets.size() - 1);
    last = static_cast<std::uint8_t>(last & (0xffU << (8 - rest)));
  }
  const IpAddress address =
      is_v4 ? IpAddress::v4({kept[0], kept[1], kept[2], kept[3]}) : IpAddress::v6(kept);
  return IpPrefix{address, length};
}

}  // namespace

// --- from the peer -----------------------------------------------------------------------------

AcceptedSources::List AcceptedSources::list_of(std::vector<IpPrefix> prefixes, bool is_complete) {
  List list{.v4 = {}, .v6 = {}, .is_complete = is_complete};
  std::ranges::sort(prefixes);
  for (const IpPrefix& prefix : prefixes) {
    std::vector<IpPrefix>& kept = prefix.address.is_v4() ? list.v4 : list.v6;
    // a prefix that contains this one precedes it in the sorted list
    if (kept.empty() || !kept.back().contains(prefix.address)) kept.push_back(prefix);
  }
  list.v4.shrink_to_fit();
  list.v6.shrink_to_fit();
  return list;
}

bool AcceptedSources::has(const IpAddress& source) const {
  if (!heard_) return false;
  const std::vector<IpPrefix>& prefixes = source.is_v4() ? heard_->v4 : heard_->v6;
  const auto behind = std::ranges::upper_bound(prefixes, source, {}, &IpPrefix::address);
  return behind != prefixes.begin() && std::prev(behind)->contains(source);
}

void AcceptedSources::handle_opened(stp::StreamId stream, Instant now) {
  using stp::ResetReason;
  ByteReader metadata(session_.streams().metadata(stream));
  metadata.u8();
  const std::uint8_t flags = metadata.u8();
  if (in_ || !session_.agreed().accepted_sources() || !metadata.ok()) {
    const auto unfit =
        session_.agreed().accepted_sources() ? ResetReason::kProtocolError : ResetReason::kPolicy;
    session_.streams().reset(stream, in_ ? ResetReason::kNoResources : unfit, now);
    return;
  }
  in_ = stream;
  read_until_ = now + kReadWithin;
  incoming_is_complete_ = (flags & kMore) == 0;
  session_.streams().set_context(stream, messages_.context());
}

void AcceptedSources::read(Instant now) {
  reads_on_ = false;
  const stp::StreamId stream = *in_;
  const Reassembler* const stored = session_.streams().received(stream);
  if (stored == nullptr) return;
  for (int entries = 0; stored->readable() >= kEntryHeader; ++entries) {
    if (entries == kSourcesPerStep) {
      reads_on_ = true;
      return;
    }
    std::array<std::byte, kLargestEntry> bytes{};
    stored->copy_front(MutableBytes(bytes).first(kEntryHeader));
    const std::uint8_t version = load_u8(bytes.data());
    const std::uint8_t length = load_u8(&bytes[1]);
    const std::size_t size = kEntryHeader + octets_of(length);
    if (size > kLargestEntry) return end_reading(stp::ResetReason::kProtocolError, now);
    if (stored->readable() < size) break;
    stored->copy_front(MutableBytes(bytes).first(size));
    session_.streams().consume(stream, size, now);
    const auto prefix =
        prefix_of(version, length, ConstBytes(bytes).first(size).subspan(kEntryHeader));
    if (!prefix) return end_reading(stp::ResetReason::kProtocolError, now);
    if (incoming_.size() == kMostPrefixes) {
      heard_ = list_of(std::exchange(incoming_, {}), false);
      return end_reading(stp::ResetReason::kPolicy, now);
    }
    incoming_.push_back(*prefix);
  }
  if (!session_.streams().received_end(stream)) return;
  if (stored->readable() > 0) return end_reading(stp::ResetReason::kProtocolError, now);
  heard_ = list_of(std::exchange(incoming_, {}), incoming_is_complete_);
  end_reading(stp::ResetReason::kNone, now);
}

void AcceptedSources::end_reading(stp::ResetReason reason, Instant now) {
  session_.streams().reset(*in_, reason, now);
  forget_incoming();
}

void AcceptedSources::forget_incoming() {
  in_.reset();
  incoming_ = std::vector<IpPrefix>();  // assigning {} would keep the memory
  reads_on_ = false;
  read_until_ = Instant::never();
}

// --- to the peer -------------------------------------------------------------------------------

void AcceptedSources::tell(Instant now) {
  if (is_taken_ || out_ || session_.peer_state() != stp::PeerState::kAlive ||
      !session_.agreed().accepted_sources()) {
    return;
  }
  // Send the shortest prefixes first: they cover the most addresses if not all prefixes fit.
  std::vector<IpPrefix> told = prefixes_;
  std::ranges::stable_sort(told, {}, &IpPrefix::length);
  const bool has_more = told.size() > kMostPrefixes;
  if (has_more) told.resize(kMostPrefixes);
  const std::array<std::byte, 2> metadata{std::byte{kMessage},
                                          std::byte{has_more ? kMore : std::uint8_t{0}}};
  out_ = messages_.open(metadata, now);
  if (!out_) {
    retry_at_ = now + kTellSourcesAgain;
    return;
  }
  retry_at_ = Instant::never();
  leaving_.clear();
  for (const IpPrefix& prefix : told) {
    leaving_.push_back(static_cast<std::byte>(prefix.address.version()));
    leaving_.push_back(std::byte{prefix.length});
    const auto octets = std::as_bytes(std::span(prefix.address.octets()));
    const auto kept = octets.first(octets_of(prefix.length));
    leaving_.insert(leaving_.end(), kept.begin(), kept.end());
  }
  written_ = 0;
  session_.streams().set_ready(*out_, true);
}

bool AcceptedSources::produce(stp::StreamId stream, Instant now) {
  if (stream != out_) return false;
  const auto room = static_cast<std::size_t>(
      std::min<std::uint64_t>(session_.streams().send_room(stream), leaving_.size() - written_));
  written_ += session_.streams().write(stream, ConstBytes(leaving_).subspan(written_, room), now);
  if (written_ < leaving_.size()) return true;
  session_.streams().finish(stream);
  session_.streams().set_ready(stream, false);
  leaving_ = std::vector<std::byte>();  // assigning {} would keep the memory
  written_ = 0;
  return true;
}

// --- both directions ---------------------------------------------------------------------------

bool AcceptedSources::handle_reset(stp::StreamId stream, stp::ResetReason reason, Instant now) {
  if (stream == in_) {
    forget_incoming();
    return true;
  }
  if (stream != out_) return false;
  out_.reset();
  leaving_ = std::vector<std::byte>();
  // The peer does not have the list: it had no room, or has lost the beginning of the stream.
  if (reason == stp::ResetReason::kNoResources || reason == stp::ResetReason::kTimeout) {
    retry_at_ = now + kTellSourcesAgain;
  } else {
    is_taken_ = true;
  }
  return true;
}

void AcceptedSources::forget_session() {
  heard_.reset();
  forget_incoming();
  out_.reset();
  leaving_ = std::vector<std::byte>();
  is_taken_ = false;
  retry_at_ = Instant::never();
}

void AcceptedSources::handle_timeout(Instant now) {
  if (reads_on_) read(now);
  if (in_ && now >= read_until_) end_reading(stp::ResetReason::kNoResources, now);
  if (now < retry_at_) return;
  retry_at_ = Instant::never();
  tell(now);
}

}  // namespace satrelay::gateway

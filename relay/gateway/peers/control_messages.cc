#include "relay/gateway/peers/control_messages.h"

#include <algorithm>
#include <array>

namespace satrelay::gateway {
namespace {

// First octet of the metadata. In the OPEN of a flow, this octet is the version of its metadata
// (open_metadata.h).
constexpr std::uint8_t kAdmissionMessage = 0xc1;
constexpr std::uint8_t kFlowsMessage = 0xc2;
constexpr std::uint8_t kDoubtMessage = 0xc3;
constexpr std::uint8_t kDictionariesMessage = 0xc4;
constexpr std::size_t kDoubtSize = 9;
constexpr std::size_t kMostDictionaries = config::kMostClasses;
// Size of the largest message about dictionaries.
constexpr std::size_t kDictionariesSize = 6 + kMostDictionaries * 9;
static_assert(kDictionariesSize <= stp::kMaxMetadata);
constexpr Duration kBetweenDoubts = Duration::milliseconds(100);
constexpr Duration kBetweenEvidence = Duration::milliseconds(100);
constexpr Duration kOpenAgain = Duration::seconds(1);
constexpr Duration kListAgain = Duration::seconds(10);  // the list may take megabytes

// An entry of the list: flags, the length of the metadata, and the metadata of the flow's OPEN.
constexpr std::uint8_t kClientAtReceiver = 1;
constexpr std::size_t kEntryHeader = 2;
constexpr std::size_t kLargestEntry = kEntryHeader + 255;
static_assert(kMaxOpenMetadata <= 255);
// Maximum number of entries of an incoming list that one call reads.
constexpr int kEntriesPerStep = 64;

struct AdmissionMessage {
  std::uint32_t sequence = 0;
  Admission admission = Admission::kOpen;
};

std::optional<AdmissionMessage> parse_admission(ConstBytes bytes) {
  ByteReader reader(bytes);
  reader.u8();
  AdmissionMessage message;
  message.sequence = reader.u32();
  const std::uint8_t admission = reader.u8();
  if (!reader.ok() || message.sequence == 0 || admission > kLastAdmission) return std::nullopt;
  message.admission = static_cast<Admission>(admission);
  return message;  // octets that a later version appends are ignored
}

struct DictionariesMessage {
  std::uint32_t sequence = 0;
  std::vector<DictionaryOffer> offers;
};

std::optional<DictionariesMessage> parse_dictionaries(ConstBytes bytes) {
  ByteReader reader(bytes);
  reader.u8();
  DictionariesMessage message;
  message.sequence = reader.u32();
  const std::uint8_t count = reader.u8();
  if (!reader.ok() || message.sequence == 0 || count > kMostDictionaries) return std::nullopt;
  for (unsigned i = 0; i < count; ++i) {
    const std::uint8_t number = reader.u8();
    message.offers.push_back({number, reader.u64()});
  }
  if (!reader.ok()) return std::nullopt;
  return message;  // octets that a later version appends are ignored
}

}  // namespace

// --- admission: whether new flows are accepted -------------------------------------------------

void ControlMessages::announce(Admission admission, Instant now) {
  admission_ = admission;
  ++sequence_;
  say(now);
}

bool ControlMessages::hear_admission(ConstBytes bytes) {
  const auto message = parse_admission(bytes);
  if (message && message->sequence > peer_sequence_) {
    peer_sequence_ = message->sequence;
    peer_admission_ = message->admission;
  }
  return message.has_value();
}

// --- dictionaries ------------------------------------------------------------------------------

void ControlMessages::offer(const std::vector<DictionaryOffer>& dictionaries, Instant now) {
  if (dictionaries.empty() && dictionaries_.empty()) return;
  dictionaries_ = dictionaries;
  ++dictionaries_sequence_;
  say(now);
}

bool ControlMessages::hear_dictionaries(ConstBytes bytes) {
  auto message = parse_dictionaries(bytes);
  if (message && message->sequence > peer_dictionaries_sequence_) {
    peer_dictionaries_sequence_ = message->sequence;
    peer_dictionaries_ = std::move(message->offers);
  }
  return message.has_value();
}

// --- LAN reports --------------------------------------------------------------------------------

void ControlMessages::ask_for_reports() {
  reports_.ask();
  retry_at_ = Instant();
}

// --- messages that are sent again if the peer may not have them --------------------------------

void ControlMessages::say(ConstBytes message, Instant now) {
  if (!messages_.open(message, now)) retry_at_ = now + kOpenAgain;
}

void ControlMessages::say(Instant now) {
  if (session_.peer_state() != stp::PeerState::kAlive) return;
  std::array<std::byte, kDictionariesSize> bytes{};
  if (sequence_ != 0) {
    ByteWriter writer(bytes);
    writer.u8(kAdmissionMessage);
    writer.u32(sequence_);
    writer.u8(static_cast<std::uint8_t>(admission_));
    say(ConstBytes(bytes).first(writer.written()), now);
  }
  if (dictionaries_sequence_ != 0) {
    ByteWriter writer(bytes);
    writer.u8(kDictionariesMessage);
    writer.u32(dictionaries_sequence_);
    writer.u8(static_cast<std::uint8_t>(dictionaries_.size()));
    for (const DictionaryOffer& each : dictionaries_) {
      writer.u8(each.number);
      writer.u64(each.fingerprint);
    }
    say(ConstBytes(bytes).first(writer.written()), now);
  }
  if (reports_.wish_is_due()) {
    constexpr std::array<std::byte, 1> kWish{std::byte{LanReports::kWishMessage}};
    say(kWish, now);
  }
}

// --- doubts: whether a host has answered -------------------------------------------------------

void ControlMessages::doubt(stp::StreamId flow, Instant now) {
  if (now < next_doubt_) return;
  next_doubt_ = now + kBetweenDoubts;
  std::array<std::byte, kDoubtSize> bytes{};
  ByteWriter writer(bytes);
  writer.u8(kDoubtMessage);
  writer.u64(static_cast<std::uint64_t>(flow));
  // If it cannot be sent, doubt() is called again later.
  static_cast<void>(messages_.open(bytes, now));
}

// --- evidence about a host ---------------------------------------------------------------------

bool ControlMessages::tell(const HostEvidence& evidence, Instant now) {
  if (session_.peer_state() != stp::PeerState::kAlive || !understands_evidence()) return false;
  if (now < next_evidence_) return false;
  next_evidence_ = now + kBetweenEvidence;
  std::array<std::byte, kMaxHostEvidence> bytes{};
  const std::size_t size = write_host_evidence(evidence, bytes);
  return messages_.open(ConstBytes(bytes).first(size), now).has_value();
}

// --- list of flows -----------------------------------------------------------------------------

void ControlMessages::remember(const OpenMetadata& flow, ClientSide client) {
  if (remembered_ >= most_flows_) return;
  std::array<std::byte, kLargestEntry> entry{};
  // Leave out the modes: the peer does not need them, and an older peer may not know all of them.
  OpenMetadata told = flow;
  told.modes = {};
  const std::size_t size = write_open_metadata(told, MutableBytes(entry).subspan(kEntryHeader));
  entry[0] = std::byte{client == ClientSide::kHere ? kClientAtReceiver : std::uint8_t{0}};
  entry[1] = static_cast<std::byte>(size);
  // The list consists of chunks, since a single buffer would take long to copy whenever it grows.
  for (auto rest = ConstBytes(entry).first(kEntryHeader + size); !rest.empty();) {
    const std::size_t at = flows_size_ % kChunk;
    if (at == 0) flows_.push_back(std::make_unique<Chunk>());
    const std::size_t part = std::min(rest.size(), kChunk - at);
    std::ranges::copy(rest.first(part), flows_.back()->begin() + static_cast<std::ptrdiff_t>(at));
    flows_size_ += part;
    rest = rest.subspan(part);
  }
  ++remembered_;
}

void ControlMessages::release_list(Instant now) {
  list_is_held_ = false;
  if (peer_restarted_) list(now);
}

void ControlMessages::forget_flows() {
  flows_.clear();
  flows_.shrink_to_fit();
  flows_size_ = 0;
  remembered_ = 0;
  peer_restarted_ = false;
}

void ControlMessages::list(Instant now) {
  if (flows_size_ == 0 || list_is_held_ || list_out_ ||
      session_.peer_state() != stp::PeerState::kAlive)
    return;
  constexpr std::array<std::byte, 1> kMetadata{std::byte{kFlowsMessage}};
  list_out_ = messages_.open(kMetadata, now);
  if (!list_out_) {
    retry_at_ = now + kOpenAgain;
    return;
  }
  written_ = 0;
  session_.streams().set_ready(*list_out_, true);
}

void ControlMessages::produce(stp::StreamId stream, Instant now) {
  if (reports_.produce(stream, now) || sources_.produce(stream, now)) return;
  if (stream != list_out_) {
    session_.streams().set_ready(stream, false);
    return;
  }
  const auto room = static_cast<std::size_t>(session_.streams().send_room(stream));
  const std::size_t at = written_ % kChunk;
  const std::size_t part = std::min({kChunk - at, flows_size_ - written_, room});
  written_ += session_.streams().write(
      stream, ConstBytes(*flows_[written_ / kChunk]).subspan(at, part), now);
  if (written_ < flows_size_) return;
  session_.streams().finish(stream);
  session_.streams().set_ready(stream, false);
}

void ControlMessages::read_list(OrphanedFlows& orphans, Instant now) {
  const stp::StreamId stream = *list_in_;
  const Reassembler* stored = session_.streams().received(stream);
  if (stored == nullptr) return;
  bool good = true;
  bool has_room = true;
  for (int entries = 0; good && has_room && stored->readable() >= kEntryHeader; ++entries) {
    if (entries == kEntriesPerStep) {
      reads_on_ = true;
      return;
    }
    std::array<std::byte, kLargestEntry> entry{};
    stored->copy_front(MutableBytes(entry).first(kEntryHeader));
    const std::size_t size = kEntryHeader + load_u8(&entry[1]);
    if (stored->readable() < size) break;
    stored->copy_front(MutableBytes(entry).first(size));
    session_.streams().consume(stream, size, now);
    const auto flow = parse_open_metadata(ConstBytes(entry).first(size).subspan(kEntryHeader));
    good = flow && ++listed_ <= most_flows_;
    if (!good) break;
    const bool here = (load_u8(entry.data()) & kClientAtReceiver) != 0;
    // A flow that the peer may not list is refused. The other entries of the list are still
    // handled.
    const ClientSide client = here ? ClientSide::kHere : ClientSide::kPeer;
    const auto listed = orphans.add(lane_, *flow, client, now);
    list_refused_ = list_refused_ || listed == OrphanedFlows::Listed::kRefused;
    has_room = listed != OrphanedFlows::Listed::kNoRoom;
  }
  if (!has_room) {
    list_in_.reset();
    return session_.streams().reset(stream, stp::ResetReason::kNoResources, now);
  }
  const bool complete = session_.streams().received_end(stream);
  if (good && !complete) return;
  good = good && stored->readable() == 0;
  const auto taken = list_refused_ ? stp::ResetReason::kPolicy : stp::ResetReason::kNone;
  session_.streams().reset(stream, good ? taken : stp::ResetReason::kProtocolError, now);
  list_in_.reset();
}

// --- all messages ------------------------------------------------------------------------------

bool ControlMessages::handle_opened(stp::StreamId stream, Instant now) {
  const ConstBytes metadata = session_.streams().metadata(stream);
  const std::uint8_t kind = metadata.empty() ? std::uint8_t{0} : load_u8(metadata.data());
  if (kind == kFlowsMessage) {
    if (list_in_) {
      session_.streams().reset(stream, stp::ResetReason::kNoResources, now);
      return true;
    }
    list_in_ = stream;
    listed_ = 0;
    list_refused_ = false;
    session_.streams().set_context(stream, messages_.context());
    return true;
  }
  if (kind == kDoubtMessage) {
    ByteReader reader(metadata);
    reader.u8();
    const auto flow = static_cast<stp::StreamId>(reader.u64());
    if (reader.ok()) doubted_ = flow;
    session_.streams().reset(
        stream, reader.ok() ? stp::ResetReason::kNone : stp::ResetReason::kProtocolError, now);
    return true;
  }
  if (kind == kHostEvidenceMessage) {
    const bool agreed = understands_evidence();
    if (agreed) evidence_ = parse_host_evidence(metadata);
    const auto taken = evidence_ ? stp::ResetReason::kNone : stp::ResetReason::kProtocolError;
    session_.streams().reset(stream, agreed ? taken : stp::ResetReason::kPolicy, now);
    return true;
  }
  if (kind == kLanDestinationMessage) {
    destinations_.handle_opened(stream, now);
    return true;
  }
  if (kind == kHostArrivalMessage) {
    arrivals_.handle_opened(stream, now);
    return true;
  }
  if (kind == LanQuestions::kMessage) {
    questions_.handle_opened(stream, now);
    return true;
  }
  if (kind == AcceptedSources::kMessage) {
    sources_.handle_opened(stream, now);
    return true;
  }
  if (kind == LanReports::kReportsMessage) {
    reports_.handle_opened(stream, now);
    return true;
  }
  if (kind == LanReports::kWishMessage) {
    reports_.handle_wish();
    session_.streams().reset(stream, stp::ResetReason::kNone, now);
    return true;
  }
  if (kind != kAdmissionMessage && kind != kDictionariesMessage) return false;
  const bool good =
      kind == kAdmissionMessage ? hear_admission(metadata) : hear_dictionaries(metadata);
  session_.streams().reset(stream,
                           good ? stp::ResetReason::kNone : stp::ResetReason::kProtocolError, now);
  return true;
}

void ControlMessages::handle_event(const stp::Event& event, OrphanedFlows& orphans, Instant now) {
  using Kind = stp::Event::Kind;
  switch (event.kind) {
    case Kind::kPeerAlive:
      // A peer that was only silent still knows its flows. If flows were ended during the silence,
      // the session has reset their streams. So the peer needs no list.
      if (!peer_restarted_) forget_flows();
      say(now);
      sources_.tell(now);
      list(now);
      return;
    case Kind::kPeerRestarted:
    case Kind::kPeerClosed:
      peer_admission_ = Admission::kOpen;
      peer_sequence_ = 0;
      peer_dictionaries_.clear();
      peer_dictionaries_sequence_ = 0;
      list_out_.reset();
      list_in_.reset();
      messages_.forget_session();
      reports_.forget_session();
      destinations_.forget_session();
      arrivals_.forget_session();
      sources_.forget_session();
      questions_.forget_session();
      if (event.kind == Kind::kPeerRestarted) peer_restarted_ = true;
      return;
    case Kind::kReset:
      handle_reset(event.stream, event.reason, now);
      return;
    case Kind::kReadable:
      if (event.stream == list_in_) read_list(orphans, now);
      reports_.handle_readable(event.stream, now);
      sources_.handle_readable(event.stream, now);
      return;
    default:
      return;
  }
}

void ControlMessages::handle_reset(stp::StreamId stream, stp::ResetReason reason, Instant now) {
  messages_.forget(stream);
  if (stream == list_in_) list_in_.reset();
  const bool is_heard =
      reason != stp::ResetReason::kNoResources && reason != stp::ResetReason::kTimeout;
  if (stream == list_out_) {
    list_out_.reset();
    if (is_heard) {
      forget_flows();
    } else {
      retry_at_ = now + kListAgain;
    }
    return;
  }
  if (questions_.handle_reset(stream, reason) || reports_.handle_reset(stream, reason, now) ||
      sources_.handle_reset(stream, reason, now)) {
    return;
  }
  if (!is_heard) retry_at_ = now + kOpenAgain;
}

unsigned ControlMessages::handle_timeout(OrphanedFlows& orphans, Instant now) {
  unsigned untaken = 0;
  while (const auto stream = messages_.withdraw_overdue(now)) {
    handle_reset(*stream, stp::ResetReason::kTimeout, now);
    ++untaken;
  }
  if (std::exchange(reads_on_, false) && list_in_) read_list(orphans, now);
  reports_.handle_timeout(now);
  destinations_.handle_timeout(now);
  arrivals_.handle_timeout(now);
  sources_.handle_timeout(now);
  if (now < retry_at_) return untaken;
  retry_at_ = Instant::never();
  say(now);
  list(now);
  return untaken;
}

}  // namespace satrelay::gateway

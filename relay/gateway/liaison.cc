#include "relay/gateway/liaison.h"

#include <array>
#include <optional>

namespace satrelay::gateway {
namespace {

// First octet of the metadata; flows have the version of theirs there (open_metadata.h).
constexpr std::uint8_t kAdmissionMessage = 0xc1;
constexpr std::size_t kAdmissionSize = 6;
constexpr Duration kRetry = Duration::seconds(1);

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
  return message;  // what a later version appends is ignored
}

}  // namespace

void Liaison::announce(Admission admission, Instant now) {
  admission_ = admission;
  ++sequence_;
  say(now);
}

void Liaison::say(Instant now) {
  retry_at_ = Instant::never();
  if (sequence_ == 0 || session_.peer_state() != stp::PeerState::kAlive) return;
  std::array<std::byte, kAdmissionSize> bytes{};
  ByteWriter writer(bytes);
  writer.u8(kAdmissionMessage);
  writer.u32(sequence_);
  writer.u8(static_cast<std::uint8_t>(admission_));
  if (!session_.open_stream(bytes, context_, now)) retry_at_ = now + kRetry;
}

bool Liaison::handle_opened(stp::StreamId stream, Instant now) {
  const ConstBytes metadata = session_.metadata(stream);
  if (metadata.empty() || load_u8(metadata.data()) != kAdmissionMessage) return false;
  const auto message = parse_admission(metadata);
  if (message && message->sequence > peer_sequence_) {
    peer_sequence_ = message->sequence;
    peer_admission_ = message->admission;
  }
  session_.reset(stream, message ? stp::ResetReason::kNone : stp::ResetReason::kProtocolError, now);
  return true;
}

void Liaison::handle_event(const stp::Event& event, Instant now) {
  using Kind = stp::Event::Kind;
  if (event.kind == Kind::kPeerAlive) say(now);
  if (event.kind != Kind::kPeerRestarted && event.kind != Kind::kPeerClosed) return;
  peer_admission_ = Admission::kOpen;
  peer_sequence_ = 0;
}

void Liaison::handle_timeout(Instant now) {
  if (now >= retry_at_) say(now);
}

}  // namespace satrelay::gateway

#include "relay/sim/adversaries/stp_speaker.h"

#include "pep/base/sequence.h"
#include "pep/stp/wire/frames.h"
#include "pep/stp/wire/packet.h"
#include "relay/sim/adversaries/hello_packet.h"

namespace satrelay::sim {
namespace {

constexpr Duration kOldKeyKept = Duration::seconds(2);

stp::Handshake::Config handshake_config(const StpSpeaker::Config& config) {
  stp::Handshake::Config handshake;
  handshake.epoch = config.epoch;
  handshake.lane_count = config.lane.count;
  handshake.opens_even_streams = config.opens_even_streams;
  handshake.datagram_size = StpSpeaker::kDatagramSize;
  handshake.capabilities = stp::kCapabilityRepair | stp::kCapabilityReception;
  handshake.encrypts = config.security.has_value();
  return handshake;
}

}  // namespace

StpSpeaker::StpSpeaker(const Config& config, Instant now)
    : config_(config),
      handshake_(handshake_config(config), now),
      protection_(config.security, config.lane.number, config.opens_even_streams, kDatagramSize) {
  if (config.security) {
    key_exchange_.emplace(*config.security, config.lane.number, config.opens_even_streams,
                          config.epoch);
  }
}

std::optional<ConstBytes> StpSpeaker::handle_packet(ConstBytes datagram, Instant now) {
  const auto header = stp::parse_header(datagram);
  if (!header || header->lane != config_.lane.number) return std::nullopt;
  if (header->type == stp::PacketType::kHello) {
    handle_hello(datagram, *header, now);
    return std::nullopt;
  }
  if (bound_to_ == 0 || !protection_.recognizes(header->session_tag)) {
    handshake_.answer_stranger(now);
    return std::nullopt;
  }
  const std::uint64_t number = unwrap_sequence<32>(header->number, received_.next());
  if (!received_.plausible(number) || received_.is_duplicate(number)) return std::nullopt;
  const auto frames = protection_.open(*header, number, datagram, now, kOldKeyKept);
  if (!frames) return std::nullopt;
  protection_.send_with_proven(next_, now);
  can_send_ = true;
  if (handshake_.newcomer() == bound_to_) {
    handshake_.establish_newcomer();
    if (key_exchange_) key_exchange_->settle(bound_to_);
  }
  if (!stp::walk_frames(*frames, stp::IgnoreFrames{})) return std::nullopt;
  bytes_received_ += datagram.size();
  received_.record(number, now);
  return frames;
}

void StpSpeaker::handle_hello(ConstBytes datagram, const stp::PacketHeader& header, Instant now) {
  if (!stp::SessionSeal().verify(datagram)) return;
  ByteReader in(stp::frames_of(datagram));
  const bool is_hello = in.u8() == static_cast<std::uint8_t>(stp::FrameType::kHello);
  stp::HelloKeys keys;
  stp::HelloFrame hello = stp::parse_hello(in, keys);
  if (!is_hello || !in.ok()) return;
  std::optional<stp::SessionKeys> session_keys;
  if (key_exchange_) {
    const auto reading = key_exchange_->read(hello, keys, false);
    if (reading.verdict == stp::KeyExchange::Reading::Verdict::kRepeated && hello.answer_wanted) {
      handshake_.answer_stranger(now);
    }
    if (reading.verdict != stp::KeyExchange::Reading::Verdict::kAuthentic) return;
    hello = reading.hello;
    session_keys = reading.keys;
  }
  const stp::Handshake::Outcome outcome = handshake_.handle_hello(hello, header.number, false, now);
  const bool greets = outcome == stp::Handshake::Outcome::kNewcomer ||
                      outcome == stp::Handshake::Outcome::kEstablished;
  if (greets && hello.epoch != bound_to_) {
    bound_to_ = hello.epoch;  // accept any peer that sends a valid HELLO
    protection_.clear();
    protection_.bind(config_.epoch, hello.epoch);
    received_ = {};
    next_ = 0;
    bytes_received_ = 0;
    can_send_ = !config_.security;
    began_ = true;
  }
  if (session_keys) take_keys(*session_keys, now);
  // If the peer asks for another answer in the same session, it may be unable to decrypt our
  // packets. Then both ends need new keys.
  if (hello.answer_wanted && hello.epoch == bound_to_ && key_exchange_ && !greets) {
    key_exchange_->want_answer();
  }
}

void StpSpeaker::take_keys(const stp::SessionKeys& of_our_offer, Instant now) {
  protection_.propose(stp::Protection::Offerer::kWe, of_our_offer);
  protection_.send_with(of_our_offer.send, next_, now);
  can_send_ = true;
}

std::vector<std::byte> StpSpeaker::hello(Instant now) {
  stp::HelloFrame hello = handshake_.make_hello(config_.lane_credit, config_.stream_credit, now);
  stp::HelloKeys keys;
  if (key_exchange_) {
    keys.accept = key_exchange_->accept(hello);
    const auto accepted = key_exchange_->take_accepted();
    if (accepted && accepted->epoch == bound_to_) {
      protection_.propose(stp::Protection::Offerer::kPeer, accepted->keys);
    }
    hello.answer_wanted = hello.answer_wanted || key_exchange_->wants_answer();
    if (hello.answer_wanted) keys.offer = key_exchange_->offer(hello, now);
    keys.has_mac = true;
    if (!keys.accept.empty()) keys.accepted = key_exchange_->accepted();
  }
  std::vector<std::byte> datagram = write_hello_packet(
      {.lane = config_.lane.number, .number = handshake_.hello_number()}, hello, keys);
  if (key_exchange_) key_exchange_->close(datagram);
  return datagram;
}

std::vector<std::byte> StpSpeaker::packet(ConstBytes frames, bool is_covered, Instant now) {
  protection_.prepare(next_, now);
  std::vector<std::byte> datagram(stp::kHeaderSize + frames.size() + protection_.trailer_size());
  std::copy(frames.begin(), frames.end(), datagram.begin() + stp::kHeaderSize);
  stp::PacketHeader header;
  header.lane = config_.lane.number;
  header.session_tag = protection_.tag();
  header.key_phase = protection_.phase();
  header.is_protected = is_covered;
  header.number = static_cast<std::uint32_t>(next_);
  stp::write_header(header, datagram.data());
  protection_.close(datagram, next_);
  ++next_;
  return datagram;
}

}  // namespace satrelay::sim

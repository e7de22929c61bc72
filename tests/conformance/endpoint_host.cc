#include "tests/conformance/endpoint_host.h"

#include <algorithm>
#include <stdexcept>

#include "pep/wire/tcp.h"

namespace satrelay::conformance {
namespace {

constexpr std::size_t kArenaBytes = 4U << 20;
constexpr std::size_t kBlockSize = 2048;
constexpr std::uint32_t kNextIncarnation = 1'000'000;
constexpr std::uint32_t kTimestampOffset = 0xffff'f000U;  // Wraps within some scripts.

tcp::Config config_of(const Settings& settings) {
  tcp::Config config;
  config.mss = settings.mss;
  config.initial_sequence = settings.isn;
  config.timestamp_offset = kTimestampOffset;
  config.window_scale = settings.scale;
  config.receive_limit = settings.window.value_or(64'240);
  if (settings.send_buffer) config.send_limit = *settings.send_buffer;
  return config;
}

}  // namespace

EndpointHost::EndpointHost(const Settings& settings)
    : config_(config_of(settings)),
      memory_(kArenaBytes),
      arena_(std::make_unique<Arena>(memory_, kBlockSize)) {}

Tolerance EndpointHost::tolerance() const {
  // Scripts count in milliseconds, the estimators in nanoseconds.
  return {Duration::microseconds(999), Duration::microseconds(999)};
}

void EndpointHost::begin_connection() {
  if (endpoint_) config_.initial_sequence += kNextIncarnation;
  endpoint_ = std::make_unique<tcp::Endpoint>(config_, *arena_);
  urgent_ = written_ = 0;
}

void EndpointHost::poll() {
  if (!endpoint_) return;
  while (const auto out = endpoint_->poll_segment(now_)) {
    std::vector<std::byte> bytes(wire::kMaxTcpHeaderSize + out->payload_size);
    const std::size_t size = wire::write_tcp(out->header, bytes);
    bytes.resize(size + out->payload_size);
    endpoint_->copy_payload(out->payload_offset, MutableBytes(bytes).subspan(size));
    auto segment = decode(bytes);
    if (!segment) throw std::logic_error("the endpoint sent what is no TCP segment");
    segment->ecn = static_cast<Ecn>(out->ecn);
    departures_.push_back({now_, std::move(*segment)});
  }
}

std::optional<Departure> EndpointHost::wait_for_segment(Instant deadline) {
  poll();
  while (departures_.empty()) {
    const Instant next = endpoint_ ? endpoint_->next_timeout() : Instant::never();
    if (next > deadline) {
      now_ = later(now_, deadline);
      return std::nullopt;
    }
    now_ = later(now_, next);
    endpoint_->handle_timeout(now_);
    poll();
  }
  Departure departure = std::move(departures_.front());
  departures_.pop_front();
  return departure;
}

void EndpointHost::deliver(std::vector<std::byte> segment, Ecn ecn) {
  const auto parsed = wire::parse_tcp(segment);
  if (!parsed) return;
  const wire::TcpHeader& header = parsed->header;
  constexpr std::uint8_t kHandshake = Flags::kSyn | Flags::kAck | Flags::kRst | Flags::kFin;
  // The same test as in relay/gateway.
  const bool opening = (header.flags & kHandshake) == Flags::kSyn;
  if (opening && listening_ &&
      (!endpoint_ || endpoint_->is_closed() || endpoint_->admits_new_incarnation(header))) {
    begin_connection();
    endpoint_->accept(header, now_);
  } else if (endpoint_) {
    const auto payload = ConstBytes(segment).subspan(parsed->header_size);
    const auto urgent = endpoint_->receiving().urgent_mark_of(header, payload.size());
    const tcp::Acceptance acceptance =
        endpoint_->handle_segment(header, payload, now_, static_cast<tcp::EcnField>(ecn));
    if (acceptance == tcp::Acceptance::kAccepted) urgent_ = std::max(urgent_, urgent.value_or(0));
  }
  poll();
}

void EndpointHost::deliver_too_big(std::uint32_t sequence, std::uint16_t mtu) {
  constexpr std::uint16_t kHeaders = wire::kTcpHeaderSize + 20;
  if (endpoint_) {
    endpoint_->handle_packet_too_big(sequence, static_cast<std::uint16_t>(mtu - kHeaders), now_);
  }
  poll();
}

// The same as in relay/gateway/frames/path_error.cc.
void EndpointHost::deliver_unreachable(std::uint32_t sequence, std::uint8_t code) {
  const bool hard = code == 2 || code == 3;
  if (endpoint_) {
    endpoint_->handle_path_error(sequence, hard ? tcp::PathError::kHard : tcp::PathError::kSoft);
  }
  poll();
}

void EndpointHost::connect(const std::vector<Option>& offer, EcnOffered ecn) {
  // The options stand for those of the far client's SYN, which the endpoint may offer. They go
  // through the same parser.
  Segment syn;
  syn.flags = Flags::kSyn;
  syn.options = offer;
  const auto parsed = wire::parse_tcp(encode(syn, kPeerToHost));
  if (!parsed) throw std::logic_error("the offer of 'connect' is malformed");
  begin_connection();
  endpoint_->connect(parsed->header.options, now_,
                     ecn == EcnOffered::kYes ? tcp::EcnOffer::kYes : tcp::EcnOffer::kNo);
  poll();
}

std::size_t EndpointHost::write(ConstBytes bytes) {
  const std::size_t taken = endpoint_ ? endpoint_->write(bytes) : 0;
  written_ += taken;
  poll();
  return taken;
}

std::size_t EndpointHost::write_urgent(ConstBytes bytes) {
  if (endpoint_) endpoint_->mark_urgent(written_ + bytes.size());
  return write(bytes);
}

bool EndpointHost::at_mark() {
  return endpoint_ && urgent_ == endpoint_->received().consumed() + 1;
}

std::size_t EndpointHost::readable() { return endpoint_ ? endpoint_->received().readable() : 0; }

std::vector<std::byte> EndpointHost::read(std::size_t most) {
  std::vector<std::byte> bytes(std::min(most, readable()));
  if (bytes.empty()) return bytes;
  endpoint_->received().copy_front(bytes);
  endpoint_->consume(bytes.size());
  poll();
  return bytes;
}

bool EndpointHost::at_end() {
  return endpoint_ && endpoint_->receiving().has_finished() && readable() == 0;
}

void EndpointHost::shutdown() {
  if (endpoint_) endpoint_->close();
  poll();
}

void EndpointHost::abort() {
  if (endpoint_) endpoint_->abort(now_);
  poll();
}

std::string EndpointHost::state() {
  std::string name = to_string(endpoint_ ? endpoint_->state() : tcp::State::kClosed);
  for (char& letter : name) {
    letter = letter == '_' ? '-' : static_cast<char>(letter >= 'a' ? letter - 'a' + 'A' : letter);
  }
  return name;
}

std::string EndpointHost::error() {
  switch (endpoint_ ? endpoint_->lifecycle().reason() : tcp::CloseReason::kNone) {
    case tcp::CloseReason::kNone:
      return "none";
    case tcp::CloseReason::kResetByPeer:
      return "reset";
    case tcp::CloseReason::kRefused:
      return "refused";
    case tcp::CloseReason::kTimeout:
      return "timeout";
    case tcp::CloseReason::kUnreachable:
      return "unreachable";
    case tcp::CloseReason::kAborted:
      return "aborted";
  }
  return "unknown";
}

}  // namespace satrelay::conformance

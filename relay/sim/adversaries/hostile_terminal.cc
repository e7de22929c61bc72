#include "relay/sim/adversaries/hostile_terminal.h"

#include <algorithm>
#include <array>

#include "pep/stp/wire/packet.h"
#include "pep/wire/arp.h"
#include "pep/wire/ethernet.h"
#include "pep/wire/ip.h"
#include "pep/wire/udp.h"

namespace satrelay::sim {
namespace {

constexpr std::uint64_t kTerminalEpoch = 1'800'000'000'000'000'000U;
constexpr Duration kReportInterval = Duration::milliseconds(200);
// Maximum number of bytes of frames in a packet with the longest trailer.
constexpr std::size_t kRoom = StpSpeaker::kDatagramSize - stp::kHeaderSize - 16;
constexpr std::uint64_t kLaneCredit = 1 << 20, kStreamCredit = 1 << 18;

// Returns the two addresses as text, the lower one first, each followed by a space
// (docs/stp-wire.md section 16).
std::vector<std::byte> names_of(const IpAddress& one, const IpAddress& other) {
  std::vector<std::byte> names;
  for (const IpAddress& address : {std::min(one, other), std::max(one, other)}) {
    for (const char c : address.to_string() + ' ') names.push_back(static_cast<std::byte>(c));
  }
  return names;
}

}  // namespace

// Handles the frames of the victim: collects the streams to reset, and answers a PING with a
// report.
struct HostileTerminal::Visitor {
  HostileTerminal& terminal;

  void operator()(const stp::OpenFrame& frame) const {
    terminal.crafter_.note_stream(frame.stream);
    reset(frame.stream);
  }
  void operator()(const stp::DataFrame& frame) const { reset(frame.stream); }
  void operator()(const stp::PingFrame& frame) const {
    terminal.speaker_->received().rewind(frame.settled);
    terminal.report_at_ = Instant();
  }
  template <typename Frame>
  void operator()(const Frame&) const {}
  void unknown(std::uint8_t) const {}

 private:
  void reset(std::uint64_t stream) const {
    if (terminal.behaves_) terminal.to_reset_.push_back(stream);
  }
};

HostileTerminal::HostileTerminal(EventLoop& loop, FramePool& frames, const Config& config)
    : loop_(&loop),
      frames_(&frames),
      config_(config),
      id_(loop.add(*this, "hostile terminal")),
      random_(config.spec.seed),
      entropy_(config.spec.seed),
      crafter_(config.spec.seed + 1, config.spec.tricks, config.known),
      epoch_(kTerminalEpoch),
      highest_epoch_(kTerminalEpoch),
      next_trouble_(config.spec.from) {
  begin_anew(kTerminalEpoch, loop.now());
}

HostileTerminal::~HostileTerminal() {
  for (const auto& [when, frame] : inbox_) frames_->release(frame);
  for (const auto& [when, frame] : outbox_) frames_->release(frame);
}

void HostileTerminal::connect(FrameSink& victim, unsigned port) {
  victim_ = &victim;
  victim_port_ = port;
}

void HostileTerminal::begin_anew(std::uint64_t epoch, Instant now) {
  epoch_ = epoch;
  highest_epoch_ = std::max(highest_epoch_, epoch);
  StpSpeaker::Config speaker;
  speaker.lane = config_.lane;
  speaker.epoch = epoch;
  speaker.opens_even_streams = config_.own.address < config_.victim.address;
  if (config_.psk) {
    speaker.security =
        stp::Security{.psk = *config_.psk,
                      .other = std::nullopt,
                      .entropy = &entropy_,
                      .names = names_of(config_.own.address, config_.victim.address)};
  }
  speaker.lane_credit = kLaneCredit;
  speaker.stream_credit = kStreamCredit;
  speaker_.emplace(speaker, now);
  crafter_.begin_session();
  to_reset_.clear();
  report_at_ = Instant::never();
}

bool HostileTerminal::misbehaves(Instant now) const {
  return now >= config_.spec.from && !behaves_ && made_ < config_.spec.packets;
}

void HostileTerminal::receive(unsigned, FrameHandle frame) {
  inbox_.emplace_back(loop_->now() + config_.delay, frame);
  loop_->wake(id_);
}

void HostileTerminal::handle_frame(ConstBytes frame, Instant now) {
  const auto ethernet = wire::parse_ethernet(frame);
  if (!ethernet) return;
  const ConstBytes payload = frame.subspan(ethernet->size());
  if (ethernet->type == wire::EtherType::kArp) return answer_arp(payload, now);
  const auto ip = wire::parse_ip(payload);
  if (!ip || ip->protocol != wire::kProtocolUdp || ip->destination != config_.own.address) return;
  const ConstBytes datagram = payload.subspan(ip->header_size, ip->payload_size);
  if (!wire::parse_udp(datagram)) return;
  const auto frames = speaker_->handle_packet(datagram.subspan(wire::kUdpHeaderSize), now);
  if (speaker_->take_began()) crafter_.begin_session();
  if (!frames) return;
  report_at_ = earlier(report_at_, last_report_ + kReportInterval);
  stp::walk_frames(*frames, Visitor{*this});
}

void HostileTerminal::answer_arp(ConstBytes payload, Instant now) {
  const auto arp = wire::parse_arp(payload);
  if (!arp || arp->operation != wire::ArpOperation::kRequest ||
      arp->target != config_.own.address) {
    return;
  }
  std::array<std::byte, 14 + wire::kArpSize> frame{};
  wire::EthernetHeader ethernet;
  ethernet.source = config_.own.mac;
  ethernet.destination = arp->sender_mac;
  ethernet.type = wire::EtherType::kArp;
  wire::write_ethernet(ethernet, frame);
  wire::write_arp({.operation = wire::ArpOperation::kReply,
                   .sender_mac = config_.own.mac,
                   .sender = config_.own.address,
                   .target_mac = arp->sender_mac,
                   .target = arp->sender},
                  MutableBytes(frame).subspan(ethernet.size()));
  queue(frame, now);
}

void HostileTerminal::run(Instant now) {
  while (!inbox_.empty() && inbox_.front().first <= now) {
    const FrameHandle frame = inbox_.front().second;
    inbox_.pop_front();
    handle_frame(frames_->bytes(frame), now);
    frames_->release(frame);
  }
  if (!behaves_ && now >= end()) {
    behaves_ = true;
    begin_anew(highest_epoch_ + 1, now);
  }
  while (misbehaves(now) && next_trouble_ <= now) make_trouble(now);
  if (behaves_ || now >= silent_until_) {
    if (speaker_->next_hello() <= now) send_datagram(speaker_->hello(now), now);
    send_answers(now);
  }
  while (!outbox_.empty() && outbox_.front().first <= now) {
    const FrameHandle frame = outbox_.front().second;
    outbox_.pop_front();
    victim_->receive(victim_port_, frame);
  }
}

// At intervals, reports the packets that have arrived. Once the attack is over, also resets each
// stream on which the victim sends.
void HostileTerminal::send_answers(Instant now) {
  if (!speaker_->can_send()) return;
  std::array<std::byte, kRoom> room{};
  ByteWriter out(room);
  while (!to_reset_.empty() && out.remaining() > 2 * stp::kMaxResetFrameSize + 200) {
    stp::write_reset(out, {to_reset_.back(), stp::ResetReason::kNone, 0});
    to_reset_.pop_back();
  }
  if (report_at_ <= now) {
    stp::ReportContext context;
    context.interval_ms = 200;
    context.bytes_received = speaker_->bytes_received();
    speaker_->received().write_report(out, context, now);
    report_at_ = Instant::never();
    last_report_ = now;
  }
  if (out.written() > 0) send_frames(ConstBytes(room).first(out.written()), now);
}

void HostileTerminal::make_trouble(Instant now) {
  ++made_;
  const Duration mean = config_.spec.length / config_.spec.packets;
  // With a probability of 60%, send the next packet at once. Otherwise, send it after one to four
  // times the mean interval.
  if (!random_.chance(0.5))
    next_trouble_ = now + mean * static_cast<std::int64_t>(random_.below(5));
  if (crafter_.knows(PeerTrick::kEpochs) && random_.chance(0.03)) {
    const double kind = random_.unit();
    std::uint64_t epoch = highest_epoch_ + 1;
    if (kind < 0.2) epoch = epoch_ - 1;
    if (kind > 0.9) epoch = highest_epoch_ / 2 + (std::uint64_t{1} << 62);
    begin_anew(epoch, now);
  }
  if (crafter_.knows(PeerTrick::kSilence) && random_.chance(0.03)) {
    silent_until_ = now + Duration::milliseconds(static_cast<std::int64_t>(random_.below(8'000)));
  }
  if (crafter_.knows(PeerTrick::kGreetings) && random_.chance(0.3)) greet_as_another(now);
  if (!speaker_->can_send()) return;
  if (crafter_.knows(PeerTrick::kClose) && random_.chance(0.03)) return send_close(now);
  if (crafter_.knows(PeerTrick::kGarbage) && random_.chance(0.3)) return send_garbage(now);
  send_crafted(now);
}

void HostileTerminal::send_crafted(Instant now) {
  std::array<std::byte, kRoom> room{};
  const bool is_covered = crafter_.knows(PeerTrick::kCodes) && random_.chance(0.5);
  ByteWriter first(room);
  if (is_covered) crafter_.cover(first);
  const std::size_t begin = first.written();
  std::size_t used = begin;
  const FrameCrafter::Session session{.opens_even = config_.own.address < config_.victim.address,
                                      .sent = speaker_->next_number()};
  const std::uint64_t wanted = random_.chance(0.1) ? 40 : 1 + random_.below(4);
  for (std::uint64_t i = 0; i < wanted; ++i) {
    ByteWriter out(MutableBytes(room).subspan(used));
    crafter_.craft(out, session);
    if (!out.ok()) break;
    used += out.written();
  }
  if (used == begin) return;
  const ConstBytes frames = ConstBytes(room).first(used);
  if (is_covered) {
    crafter_.note_covered(speaker_->next_number(), frames.subspan(begin));
    // Act as if the packet had been lost, so that a repair may restore it.
    if (random_.chance(0.4)) return speaker_->skip(1);
  }
  send_datagram(speaker_->packet(frames, is_covered || random_.chance(0.02), now), now);
}

void HostileTerminal::send_garbage(Instant now) {
  std::array<std::byte, kRoom> room{};
  ByteWriter out(room);
  switch (random_.below(6)) {
    case 0:  // repeat the last datagram
      return send_datagram(last_datagram_, now);
    case 1: {  // flip one bit, which may be in the version, the lane or the tag
      std::vector<std::byte> changed = last_datagram_;
      if (changed.empty()) return;
      const std::size_t at = random_.chance(0.5)
                                 ? random_.below(std::min<std::size_t>(8, changed.size()))
                                 : random_.below(changed.size());
      changed[at] ^= std::byte{1} << random_.below(8);
      return send_datagram(changed, now);
    }
    case 2:
      speaker_->skip(random_.chance(0.8) ? random_.below(300)
                                         : random_.below(stp::ReceivedPackets::kMaxJump));
      break;
    case 3: {  // send random octets, or an empty datagram
      std::vector<std::byte> any(random_.below(200));
      for (std::byte& octet : any) octet = static_cast<std::byte>(random_.next());
      if (!any.empty() && random_.chance(0.5)) any[0] = std::byte{0x18};  // a HELLO of version 1
      return send_datagram(any, now);
    }
    default:
      break;
  }
  crafter_.garbage(out);
  send_frames(ConstBytes(room).first(out.written()), now);
}

// Forges one HELLO or, sometimes, 300 at once.
void HostileTerminal::greet_as_another(Instant now) {
  ForgedHello hello{.from = config_.honest, .to = config_.victim};
  for (std::uint64_t left = random_.chance(0.1) ? 300 : 1; left > 0; --left) {
    hello.epoch = random_.chance(0.2) ? 1 + random_.below(1'000) : ++greetings_ | 1ULL << 62;
    if (config_.psk) {
      hello.offer.resize(103);
      for (std::byte& octet : hello.offer) octet = static_cast<std::byte>(random_.next());
    }
    hello.lane = {.number = static_cast<std::uint8_t>(greetings_ % config_.honest_lanes),
                  .count = config_.honest_lanes};
    queue(write_forged_hello(hello), now);
  }
}

void HostileTerminal::send_close(Instant now) {
  std::array<std::byte, 16> room{};
  ByteWriter out(room);
  stp::write_close(out, {static_cast<stp::ResetReason>(random_.below(12))});
  send_frames(ConstBytes(room).first(out.written()), now);
  begin_anew(highest_epoch_ + 1, now);
  silent_until_ = now + Duration::milliseconds(static_cast<std::int64_t>(random_.below(3'000)));
}

void HostileTerminal::send_frames(ConstBytes frames, Instant now) {
  send_datagram(speaker_->packet(frames, false, now), now);
}

void HostileTerminal::send_datagram(ConstBytes datagram, Instant now) {
  last_datagram_.assign(datagram.begin(), datagram.end());
  queue(write_stp_frame(config_.own, config_.victim, datagram, config_.lane.number), now);
}

void HostileTerminal::queue(ConstBytes frame, Instant now) {
  outbox_.emplace_back(now + config_.delay, frames_->copy_of(frame));
}

Instant HostileTerminal::next_timeout() const {
  Instant next = Instant::never();
  if (!inbox_.empty()) next = earlier(next, inbox_.front().first);
  if (!outbox_.empty()) next = earlier(next, outbox_.front().first);
  if (!behaves_) next = earlier(next, end());
  if (!behaves_ && made_ < config_.spec.packets) next = earlier(next, next_trouble_);
  Instant answer = speaker_->next_hello();
  if (speaker_->can_send()) {
    if (!to_reset_.empty()) answer = loop_->now();
    answer = earlier(answer, report_at_);
  }
  if (!behaves_) answer = later(answer, silent_until_);
  return earlier(next, answer);
}

void WanJunction::receive(unsigned port, FrameHandle frame) {
  const auto ethernet = wire::parse_ethernet(frames_->bytes(frame));
  if (ethernet && ethernet->destination.is_multicast()) {
    frames_->add_reference(frame);
    hostile_->receive(0, frame);
  } else if (ethernet && ethernet->destination == mac_) {
    return hostile_->receive(0, frame);
  }
  satellite_->receive(port, frame);
}

}  // namespace satrelay::sim

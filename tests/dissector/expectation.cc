#include "tests/dissector/expectation.h"

#include <algorithm>

#include "pep/compress/block_codec.h"
#include "relay/gateway/frames/open_metadata.h"
#include "relay/gateway/peers/accepted_sources.h"
#include "relay/gateway/peers/lan_questions.h"
#include "tests/dissector/words.h"

namespace satrelay::dissector {
namespace {

constexpr std::uint8_t kFlow = 3, kAdmission = 0xc1, kFlows = 0xc2, kDoubt = 0xc3,
                       kDictionaries = 0xc4, kLanWish = 0xc5, kLanReports = 0xc6;

}  // namespace

void Observer::add_bytes(const std::string& name, ConstBytes value) {
  std::string text;
  for (const std::byte byte : value) text += hex_byte(static_cast<std::uint8_t>(byte));
  now_.fields[name].push_back(text);
}

Expectation Observer::observe(unsigned from, ConstBytes packet, std::size_t captured) {
  now_ = {};
  now_.is_stp = true;
  words_.clear();
  from_ = from;
  const bool is_whole = captured >= packet.size();
  const auto header = stp::parse_header(packet);
  const bool is_ours = packet.size() < 13 || load_u8(packet.data()) >> 4 == stp::kVersion;
  const bool is_hello = header && header->type == stp::PacketType::kHello;
  if (!header) now_.findings.insert("malformed");
  if (!is_ours) now_.findings.insert("other_version");
  if (!is_whole) now_.findings.insert("cut_short");
  if (!header || (!is_ours && !is_hello) || !is_whole) return std::move(now_);

  const std::uint8_t first = load_u8(packet.data());
  add("version", first >> 4U);
  add("type", bit(first, 3));
  add("key_phase", bit(first, 2));
  add("protected", bit(first, 1));
  add("reserved", bit(first, 0));
  add("lane", header->lane);
  add("session_tag", header->session_tag);
  number_ = header->number;
  add(is_hello ? "hello_number" : "packet_number", number_);
  if (encrypts_ && is_ours && !is_hello) {
    observe_encrypted(packet);
    return std::move(now_);
  }
  check_crc(packet);
  const ConstBytes frames = stp::frames_of(packet);
  now_.fields_known = true;
  if (is_hello) {
    observe_hello(frames);
  } else if (stp::walk_frames(frames, stp::IgnoreFrames())) {
    observe_frames(frames);
  } else {
    now_.findings.insert("malformed");
  }
  if (now_.findings.contains("malformed")) now_.fields_known = false;
  if (!is_ours) now_.info = "[version " + text_of(first >> 4U) + "] ";
  if (now_.findings.contains("crc.bad")) now_.info += "[bad CRC] ";
  if (!is_hello) now_.info += "#" + text_of(number_) + " ";
  for (std::size_t i = 0; i < words_.size(); ++i) now_.info += (i > 0 ? ", " : "") + words_[i];
  return std::move(now_);
}

void Observer::observe_encrypted(ConstBytes packet) {
  constexpr std::size_t kTag = 16;
  if (packet.size() < stp::kHeaderSize + 1 + kTag) {
    now_.findings.insert("malformed");
    return;
  }
  const ConstBytes sealed = packet.subspan(stp::kHeaderSize);
  const ConstBytes frames = sealed.first(sealed.size() - kTag);
  add_bytes("encrypted", frames);
  add_bytes("tag", sealed.last(kTag));
  now_.fields_known = true;
  now_.info = '#';
  now_.info += text_of(number_) + ' ' + text_of(frames.size()) + " encrypted bytes";
}

void Observer::check_crc(ConstBytes packet) {
  const bool is_hello = bit(load_u8(packet.data()), 3) != 0;
  const auto stated = load_u32(packet.data() + packet.size() - stp::kTrailerSize);
  add("crc", stated);
  std::vector<stp::SessionSeal> seals;
  if (is_hello) {
    seals.emplace_back();
  } else {
    for (const std::uint64_t own : epochs_[from_]) {
      for (const std::uint64_t peer : epochs_[1 - from_]) seals.emplace_back(own, peer);
    }
  }
  const bool is_heard = !seals.empty();
  if (!is_heard && unheard_.at(from_)) seals.push_back(*unheard_.at(from_));
  is_trusted_ = std::any_of(seals.begin(), seals.end(),
                            [&](const stp::SessionSeal& seal) { return seal.verify(packet); });
  add("crc.status", is_trusted_ ? 1 : 0);
  if (is_trusted_) return;
  now_.findings.insert("crc.bad");
  if (!is_heard) return;
  std::vector<std::byte> copy(packet.begin(), packet.end());
  seals.back().close(copy);
  add("crc.expected", load_u32(copy.data() + copy.size() - stp::kTrailerSize));
}

void Observer::observe_hello(ConstBytes frames) {
  ByteReader in(frames);
  const std::uint8_t type = in.u8();
  ByteReader trial = in;
  stp::HelloKeys keys;
  stp::parse_hello(trial, keys);
  if (type != static_cast<std::uint8_t>(stp::FrameType::kHello) || !trial.ok()) {
    now_.findings.insert("malformed");
    return;
  }
  add("frame.type", type);
  add("frame.length", load_u16(in.rest().data()));
  const ConstBytes body = in.rest().subspan(2, load_u16(in.rest().data()));
  const stp::HelloFrame frame = stp::parse_hello(in, keys);
  add("hello.minimum_version", frame.minimum_version);
  add("hello.maximum_version", frame.maximum_version);
  add("hello.flags", load_u8(&body[2]));
  add("hello.opens_even", frame.opens_even_streams ? 1 : 0);
  add("hello.answer_wanted", frame.answer_wanted ? 1 : 0);
  add("hello.encrypts", frame.encrypts ? 1 : 0);
  add("hello.lane_count", frame.lane_count);
  add("hello.capabilities", frame.capabilities);
  add("hello.capabilities.repair", (frame.capabilities & stp::kCapabilityRepair) != 0 ? 1 : 0);
  add("hello.capabilities.reception", (frame.capabilities & stp::kCapabilityReception) >> 1);
  add("hello.capabilities.lan_reports", (frame.capabilities & stp::kCapabilityLanReports) >> 3);
  add("hello.capabilities.evidence", (frame.capabilities & stp::kCapabilityEvidence) >> 4);
  add("hello.capabilities.other_vlan", (frame.capabilities & stp::kCapabilityOtherVlan) >> 5);
  add("hello.capabilities.urgent", (frame.capabilities & stp::kCapabilityUrgent) >> 6);
  add("hello.capabilities.destinations", (frame.capabilities & stp::kCapabilityDestinations) >> 7);
  add("hello.capabilities.accepted_sources", bit(frame.capabilities, 8));
  add("hello.capabilities.reset_marks", (frame.capabilities & stp::kCapabilityResetMarks) >> 9);
  add("hello.capabilities.host_words", (frame.capabilities & stp::kCapabilityHostWords) >> 10);
  add("hello.capabilities.icmp", (frame.capabilities & stp::kCapabilityIcmp) >> 11);
  add("hello.capabilities.arrivals", (frame.capabilities & stp::kCapabilityArrivals) >> 12);
  add("hello.capabilities.between", (frame.capabilities & stp::kCapabilityBetween) >> 13);
  add("hello.epoch", frame.epoch);
  add("hello.peer_epoch", frame.peer_epoch);
  add("hello.echo", frame.echo);
  add("hello.datagram_size", frame.datagram_size);
  add("hello.zero", load_u16(&body[30]));
  add("hello.lane_credit", frame.lane_credit);
  add("hello.stream_credit", frame.stream_credit);
  ConstBytes more = body.subspan(48);
  if (frame.encrypts) {
    add("hello.offer.length", keys.offer.size());
    if (!keys.offer.empty()) add_bytes("hello.offer", keys.offer);
    add("hello.acceptance.length", keys.accept.size());
    if (!keys.accept.empty()) add_bytes("hello.acceptance", keys.accept);
    more = more.subspan(4 + keys.offer.size() + keys.accept.size());
  }
  if (keys.has_mac) {
    add_bytes("hello.accepted", more.first(stp::kOfferNameSize));
    add_bytes("hello.mac", more.last(stp::kHelloMacSize));
    more = more.subspan(stp::kOfferNameSize);
    more = more.first(more.size() - stp::kHelloMacSize);
  }
  if (!more.empty()) add_bytes("undecoded", more);
  if (in.remaining() > 0) add_bytes("undecoded", in.rest());
  if (is_trusted_) encrypts_ = frame.encrypts;
  auto& epochs = epochs_[from_];
  if (is_trusted_ && std::find(epochs.begin(), epochs.end(), frame.epoch) == epochs.end()) {
    epochs.push_back(frame.epoch);
    carried_.clear();
    headers_.clear();
  }
  std::string text = "HELLO ";
  text += text_of(number_) + " epoch " + text_of(frame.epoch) + " peer ";
  text += frame.peer_epoch == 0 ? "unknown" : text_of(frame.peer_epoch);
  if (frame.echo != 0) text += " answers " + text_of(frame.echo);
  if (frame.answer_wanted) text += " wants an answer";
  if (!keys.offer.empty()) text += " offers keys";
  if (!keys.accept.empty()) text += " accepts keys";
  word(text);
}

void Observer::observe_frames(ConstBytes frames) {
  ByteReader in(frames);
  while (in.remaining() > 0) observe_frame(in);
  const auto& types = now_.fields["frame.type"];
  const bool is_probe = now_.fields.contains("padding.length") &&
                        std::all_of(types.begin(), types.end(),
                                    [](const auto& type) { return type == "0" || type == "1"; });
  if (!is_probe) return;
  add("mtu_probe", 1);
  const std::size_t size = frames.size() + stp::kHeaderSize + stp::kTrailerSize;
  words_.insert(words_.begin(), "MTU probe of " + text_of(size) + " bytes");
}

void Observer::observe_frame(ByteReader& in) {
  const std::uint8_t type = in.u8();
  add("frame.type", type);
  if ((type & 0xfcU) == static_cast<std::uint8_t>(stp::FrameType::kData)) return data(in, type);
  if (type >= static_cast<std::uint8_t>(stp::FrameType::kExtension)) {
    const std::uint16_t size = in.u16();
    add("frame.length", size);
    return extension(type, in.bytes(size));
  }
  switch (static_cast<stp::FrameType>(type)) {
    case stp::FrameType::kPadding: {
      std::uint64_t size = 1;
      for (; in.remaining() > 0 && load_u8(in.rest().data()) == 0; ++size) in.u8();
      add("padding.length", size);
      return word("PADDING " + text_of(size));
    }
    case stp::FrameType::kPing:
      add("ping.settled", stp::read_varint(in));
      return word("PING");
    case stp::FrameType::kSettled: {
      const std::uint64_t settled = stp::read_varint(in);
      add("settled.number", settled);
      return word("SETTLED below " + text_of(settled));
    }
    case stp::FrameType::kFeedback:
      return feedback(stp::parse_feedback(in));
    case stp::FrameType::kLaneCredit: {
      const std::uint64_t limit = stp::read_varint(in);
      add("lane_credit.limit", limit);
      return word("LANE_CREDIT " + text_of(limit));
    }
    case stp::FrameType::kStreamCredit: {
      const std::uint64_t stream = stp::read_varint(in);
      const std::uint64_t limit = stp::read_varint(in);
      add("stream.id", stream);
      add("stream_credit.limit", limit);
      return word("STREAM_CREDIT stream " + text_of(stream) + " " + text_of(limit));
    }
    case stp::FrameType::kOpen:
      return open(stp::parse_open(in));
    case stp::FrameType::kReset: {
      const stp::ResetFrame frame = stp::parse_reset(in);
      add("stream.id", frame.stream);
      add("reset.reason", static_cast<std::uint8_t>(frame.reason));
      add("reset.final_size", frame.final_size);
      if (frame.reason == stp::ResetReason::kIcmp) {
        add("reset.icmp_type", frame.icmp.type);
        add("reset.icmp_code", frame.icmp.code);
        add("reset.icmp_sender_size", frame.icmp.sender ? frame.icmp.sender->size() : 0);
        if (frame.icmp.sender) {
          add_text(frame.icmp.sender->is_v4() ? "reset.icmp_sender" : "reset.icmp_sender6",
                   frame.icmp.sender->to_string());
        }
      }
      return word("RESET stream " + text_of(frame.stream) + " " + reason_of(frame.reason));
    }
    default: {
      const auto reason = static_cast<stp::ResetReason>(in.u8());
      add("close.reason", static_cast<std::uint8_t>(reason));
      return word("CLOSE " + reason_of(reason));
    }
  }
}

void Observer::open(const stp::OpenFrame& frame) {
  add("stream.id", frame.stream);
  add("open.length", frame.metadata.size());
  Carries carries = Carries::kNothing;
  std::string text = "no metadata";
  if (frame.metadata.empty()) {
    now_.findings.insert("open.undecoded");
  } else {
    add_bytes("open.metadata", frame.metadata);
    text = metadata(frame.metadata, carries);
  }
  if (is_trusted_) carried_[frame.stream] = carries;
  word("OPEN stream " + text_of(frame.stream) + " " + text);
}

std::string Observer::metadata(ConstBytes bytes, Carries& carries) {
  ByteReader in(bytes);
  const std::uint8_t kind = in.u8();
  if (kind == kAdmission && bytes.size() >= 6) {
    static constexpr std::array<const char*, 3> kStates{"open", "bypass", "draining"};
    const std::uint32_t sequence = in.u32();
    const std::uint8_t state = in.u8();
    if (sequence != 0 && state < kStates.size()) {
      add("open.kind", kind);
      add("admission.sequence", sequence);
      add("admission.state", state);
      return std::string("admission ") + kStates.at(state);
    }
  } else if (kind == kFlows) {
    add("open.kind", kind);
    carries = Carries::kList;
    return "list of flows";
  } else if (kind == kLanWish || kind == kLanReports) {
    add("open.kind", kind);
    return kind == kLanWish ? "wish for LAN reports" : "LAN reports";
  } else if (kind == gateway::AcceptedSources::kMessage && bytes.size() >= 2) {
    add("open.kind", kind);
    add("sources.more", bit(in.u8(), 0));
    return "accepted sources";
  } else if (kind == gateway::LanQuestions::kMessage && gateway::parse_lan_question(bytes)) {
    const auto asked = *gateway::parse_lan_question(bytes);
    add("open.kind", kind);
    add("address.version", asked.host.is_v4() ? 4 : 6);
    add_text(asked.host.is_v4() ? "address.host" : "address.host6", asked.host.to_string());
    for (const std::uint16_t vlan : asked.vlans) add("address.vlan", vlan);
    return "question about " + asked.host.to_string();
  } else if (kind == kDoubt && bytes.size() >= 9) {
    const std::uint64_t stream = in.u64();
    add("open.kind", kind);
    add("doubt.stream", stream);
    return "doubt about stream " + text_of(stream);
  } else if (kind == gateway::kHostEvidenceMessage && gateway::parse_host_evidence(bytes)) {
    return evidence(*gateway::parse_host_evidence(bytes));
  } else if (kind == gateway::kLanDestinationMessage && gateway::parse_lan_destination(bytes)) {
    return destination(*gateway::parse_lan_destination(bytes));
  } else if (kind == gateway::kHostArrivalMessage && gateway::parse_host_arrival(bytes)) {
    return arrival(*gateway::parse_host_arrival(bytes));
  } else if (kind == kDictionaries && bytes.size() >= 6) {
    const std::uint32_t sequence = in.u32();
    const std::uint8_t count = in.u8();
    if (sequence != 0 && count <= config::kMostClasses && in.remaining() >= 9U * count) {
      add("open.kind", kind);
      add("dictionaries.sequence", sequence);
      add("dictionaries.count", count);
      for (unsigned i = 0; i < count; ++i) {
        add("dictionaries.number", in.u8());
        add("dictionaries.fingerprint", in.u64());
      }
      return text_of(count) + " dictionaries";
    }
  } else if (kind == kFlow && gateway::parse_open_metadata(bytes)) {
    carries = Carries::kBlocks;
    return flow(bytes);
  }
  now_.findings.insert("open.undecoded");
  now_.fields_known = false;
  return "metadata not understood";
}

std::string Observer::flow(ConstBytes bytes) {
  const auto open = *gateway::parse_open_metadata(bytes);
  const std::uint8_t options = load_u8(&bytes[3]);
  add("open.kind", kFlow);
  add("open.ip_version", open.client.is_v4() ? 4 : 6);
  add("open.tag_count", open.ethernet.tag_count);
  add("open.options", options);
  add("open.has_mss", open.options.mss ? 1 : 0);
  add("open.has_window_scale", open.options.window_scale ? 1 : 0);
  add("open.has_sack", open.options.sack_permitted ? 1 : 0);
  add("open.has_timestamps", open.options.timestamps ? 1 : 0);
  add("open.has_class", bit(options, 4));
  add("open.has_modes", open.modes != config::FlowModes() ? 1 : 0);
  add("open.has_ecn", open.ecn_offered ? 1 : 0);
  add_text("open.ethernet.destination", open.ethernet.destination.to_string());
  add_text("open.ethernet.source", open.ethernet.source.to_string());
  for (std::size_t i = 0; i < open.ethernet.tag_count; ++i) {
    add("open.vlan.tpid", open.ethernet.tags[i].tpid);
    add("open.vlan.id", open.ethernet.tags[i].vlan_id());
  }
  const std::string six = open.client.is_v4() ? "" : "6";
  add_text("open.client" + six, open.client.to_string());
  add_text("open.server" + six, open.server.to_string());
  add("open.client_port", open.client_port);
  add("open.server_port", open.server_port);
  if (open.options.mss) add("open.mss", *open.options.mss);
  if (open.options.window_scale) add("open.window_scale", *open.options.window_scale);
  add("open.traffic_class", open.traffic_class);
  add("open.hop_limit", open.hop_limit);
  if (open.modes != config::FlowModes()) {
    const std::size_t behind = open.class_name.empty() ? 0 : 1 + open.class_name.size();
    const std::uint8_t modes = load_u8(&bytes[bytes.size() - 1 - behind]);
    add("open.modes", modes);
    add("open.modes.remote_handshake", open.modes.handshake == config::HandshakeMode::kRemote);
    add("open.modes.end_to_end_ack", open.modes.ack == config::AckMode::kEndToEnd);
    add("open.modes.confirmed_close", open.modes.close == config::CloseMode::kConfirmed);
    add("open.modes.mirrored_window", open.modes.window == config::WindowMode::kMirror);
    add("open.modes.prompt_delivery", open.modes.delivery == config::DeliveryMode::kPrompt);
  }
  if (!open.class_name.empty()) add_text("open.class", open.class_name);
  return end_of(open.client, open.client_port) + " > " + end_of(open.server, open.server_port);
}

void Observer::data(ByteReader& in, std::uint8_t type) {
  const stp::DataFrame frame = stp::parse_data(in, type);
  add("data.has_length", bit(type, 1));
  add("data.fin", frame.fin ? 1 : 0);
  add("stream.id", frame.stream);
  add("data.offset", frame.offset);
  add("data.length", frame.bytes.size());
  if (!frame.bytes.empty()) add_bytes("data.bytes", frame.bytes);
  if (is_trusted_ && frame.offset < std::uint64_t{1} << 53) stream_bytes(frame);
  word("DATA stream " + text_of(frame.stream) + " @" + text_of(frame.offset) + " len " +
       text_of(frame.bytes.size()) + (frame.fin ? " FIN" : ""));
}

void Observer::stream_bytes(const stp::DataFrame& frame) {
  const auto kind = carried_.find(frame.stream);
  if (kind == carried_.end() || kind->second == Carries::kNothing) return;
  const bool is_block = kind->second == Carries::kBlocks;
  const std::size_t header_size = is_block ? compress::kBlockHeaderSize : 2;
  Headers& at = headers_[{from_, frame.stream}];
  while (at.next) {
    const std::uint64_t wanted = *at.next + at.partial.size();
    if (wanted < frame.offset || wanted >= frame.offset + frame.bytes.size()) return;
    const ConstBytes rest = frame.bytes.subspan(static_cast<std::size_t>(wanted - frame.offset));
    const ConstBytes piece = rest.first(std::min(header_size - at.partial.size(), rest.size()));
    at.partial.insert(at.partial.end(), piece.begin(), piece.end());
    if (at.partial.size() < header_size) return;
    const std::vector<std::byte> header = std::exchange(at.partial, {});
    if (is_block) {
      const auto parsed = compress::parse_block_header(header);
      block(header, rest.subspan(piece.size()));
      if (!parsed) return at.next.reset();
      at.next = *at.next + header_size + parsed->encoded_size;
    } else {
      entry(header, rest.subspan(piece.size()));
      at.next = *at.next + header_size + load_u8(&header[1]);
    }
  }
}

void Observer::block(ConstBytes header, ConstBytes rest) {
  add("block.kind", load_u8(header.data()));
  const auto parsed = compress::parse_block_header(header);
  if (!parsed) {
    now_.findings.insert("block.undecoded");
    return;
  }
  add("block.length", parsed->encoded_size);
  if (parsed->kind == compress::BlockKind::kDictionary && !rest.empty()) {
    add("block.dictionary", load_u8(rest.data()));
  }
  if (parsed->kind == compress::BlockKind::kUrgent && rest.size() >= compress::kUrgentSize) {
    add("block.urgent", load_u32(rest.data()));
  }
  if (parsed->kind != compress::BlockKind::kMarks || rest.size() < 2) return;
  add("block.traffic_class", load_u8(rest.data()));
  add("block.hop_limit", load_u8(&rest[1]));
}

void Observer::entry(ConstBytes header, ConstBytes rest) {
  const std::uint8_t size = load_u8(&header[1]);
  add("entry.client_at_receiver", bit(load_u8(header.data()), 0));
  add("entry.length", size);
  Carries ignored{};
  if (size <= rest.size()) metadata(rest.first(size), ignored);
}

void Observer::feedback(const stp::FeedbackFrame& frame) {
  add("feedback.highest", frame.highest);
  add("feedback.delay", frame.delay_us);
  add("feedback.arrived", frame.arrived_us);
  add("feedback.interval", frame.interval_ms);
  add("feedback.floor", frame.floor);
  add("feedback.begin", frame.begin);
  add("feedback.end", frame.end);
  add("feedback.first", frame.first);
  add("feedback.bytes", frame.bytes_received);
  add("feedback.stored", frame.stored);
  add("feedback.ce", frame.ce_count);
  add("feedback.repaired", frame.repaired);
  add("feedback.late", frame.late_us);
  add("feedback.told", frame.begin - frame.first);
  add("feedback.count", frame.count);
  std::uint64_t listed = frame.bits;
  if (frame.count == stp::FeedbackFrame::kBitmap) {
    add("feedback.bits", frame.bits);
    add_bytes("feedback.bitmap", frame.runs);
  } else {
    ByteReader in(frame.runs);
    for (unsigned i = 0; i < 2U * frame.count; ++i) listed += stp::read_varint(in);
  }
  add("feedback.tail", frame.end - frame.begin - listed);
  std::uint64_t missing = 0;
  const auto run = [&](std::uint64_t begin, std::uint64_t end, bool received) {
    add("feedback.range.first", begin);
    add("feedback.range.last", end - 1);
    add("feedback.range.count", end - begin);
    add("feedback.range.received", received ? 1 : 0);
    if (!received) missing += end - begin;
  };
  frame.for_each_run([&](std::uint64_t begin, std::uint64_t end) { run(begin, end, true); },
                     [&](std::uint64_t begin, std::uint64_t end) { run(begin, end, false); });
  add("feedback.missing", missing);
  word("FEEDBACK up to " + text_of(frame.highest) +
       (missing > 0 ? " missing " + text_of(missing) : ""));
}

void Observer::extension(std::uint8_t type, ConstBytes whole) {
  ByteReader body(whole);
  switch (static_cast<stp::FrameType>(type)) {
    case stp::FrameType::kRate: {
      const stp::RateFrame frame = stp::parse_rate(body);
      const std::uint64_t capacity = frame.capacity.to_bits_per_second();
      add("rate.sequence", frame.sequence);
      add("rate.capacity", capacity);
      word("RATE " + (capacity == 0 ? "as configured" : megabits(capacity) + " Mbit/s"));
      break;
    }
    case stp::FrameType::kConfirm: {
      const stp::ConfirmFrame frame = stp::parse_confirm(body);
      const stp::Confirmation& c = frame.confirmation;
      add("stream.id", frame.stream);
      add("confirm.sequence", frame.sequence);
      add("confirm.answered", c.answered ? 1 : 0);
      add("confirm.ended", c.ended ? 1 : 0);
      ByteReader again(whole);
      for (int i = 0; i < 2; ++i) stp::read_varint(again);
      const bool is_silent = (again.u8() & 0x04U) != 0;
      add("confirm.silent", is_silent ? 1 : 0);
      add("confirm.delivered", c.delivered);
      add("confirm.window", c.window);
      for (int i = 0; i < 2; ++i) stp::read_varint(again);
      if (again.remaining() > 0) add("confirm.keep_alives", c.keep_alives);
      stp::read_varint(again);
      const bool has_urgent = again.remaining() > 0;
      if (has_urgent) add("confirm.urgent.after", c.urgent.after);
      if (has_urgent) add("confirm.urgent.mark", c.urgent.mark);
      for (int i = 0; has_urgent && i < 2; ++i) stp::read_varint(again);
      const bool has_word = has_urgent && again.remaining() > 0;
      if (has_word) add("confirm.question", c.word.question);
      word("CONFIRM stream " + text_of(frame.stream) + (c.answered ? " answered" : "") +
           (c.ended ? " ended" : "") + " delivered " + text_of(c.delivered) +
           (c.urgent.mark > 0 ? " urgent " + text_of(c.urgent.mark) : "") +
           (has_word ? std::string(is_silent ? " silent" : " alive") : ""));
      break;
    }
    case stp::FrameType::kReception: {
      const stp::ReceptionFrame frame = stp::parse_reception(body);
      add("reception.missed", frame.missed);
      add("reception.waited", frame.waited_us);
      word("RECEPTION missed " + text_of(frame.missed) + " waited " + text_of(frame.waited_us));
      break;
    }
    case stp::FrameType::kStartCredit: {
      const stp::StartCreditFrame frame = stp::parse_start_credit(body);
      add("start_credit.sequence", frame.sequence);
      add("start_credit.limit", frame.limit);
      word("START_CREDIT " + text_of(frame.limit));
      break;
    }
    case stp::FrameType::kCoded: {
      const stp::CodedFrame frame = stp::parse_coded(body);
      add("coded.code", static_cast<std::uint8_t>(frame.code));
      add("coded.index", frame.index);
      word("CODED " + name_of(frame.code) + " " + text_of(frame.index));
      break;
    }
    case stp::FrameType::kRepair:
      return repair(stp::parse_repair(body));
    default:
      now_.findings.insert("unknown_frame");
      word("Frame 0x" + hex_byte(type));
  }
  if (body.remaining() > 0) add_bytes("undecoded", body.rest());
}

void Observer::repair(const stp::RepairFrame& frame) {
  const auto last = static_cast<std::uint16_t>(frame.first + frame.count - 1);
  add("repair.code", static_cast<std::uint8_t>(frame.code));
  add("repair.first", frame.first);
  add("repair.last", last);
  add("repair.count", frame.count);
  add("repair.row", frame.row);
  add_bytes("repair.symbol", frame.symbol);
  word("REPAIR " + name_of(frame.code) + " row " + text_of(frame.row) + " of " +
       text_of(frame.first) + " to " + text_of(last) + " (" + text_of(frame.count) + ")");
}

}  // namespace satrelay::dissector

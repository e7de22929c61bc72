#include "relay/sim/adversaries/frame_crafter.h"

#include <algorithm>
#include <array>

#include "pep/compress/block_codec.h"
#include "pep/stp/fec/source_symbol.h"
#include "pep/stp/wire/varint.h"
#include "relay/sim/scenarios/draws.h"

namespace satrelay::sim {
namespace {

using stp::FrameType;
using stp::kMaxVarint;

constexpr std::size_t kMostData = 600;
constexpr std::size_t kMostCovered = 64;
constexpr std::uint8_t kAdmission = 0xc1, kFlows = 0xc2, kDoubt = 0xc3, kDictionaries = 0xc4;

void write_type(ByteWriter& out, FrameType type) { out.u8(static_cast<std::uint8_t>(type)); }

}  // namespace

void FrameCrafter::begin_session() {
  theirs_.clear();
  own_.clear();
  next_index_ = starts_ = rates_ = confirms_ = 0;
  messages_ = 0;
  covered_.clear();
}

void FrameCrafter::craft(ByteWriter& out, const Session& session) {
  std::array<PeerTrick, static_cast<std::size_t>(PeerTrick::kEnd)> able{};
  std::size_t count = 0;
  for (unsigned i = 0; i < able.size(); ++i) {
    const auto trick = static_cast<PeerTrick>(i);
    if (knows(trick)) able[count++] = trick;
  }
  switch (count == 0 ? PeerTrick::kEnd : able[random_.below(count)]) {
    case PeerTrick::kOpens:
      return open(out, session);
    case PeerTrick::kData:
      return data(out);
    case PeerTrick::kEarlyEnds:
      return early_end(out);
    case PeerTrick::kCredit:
      return credit(out);
    case PeerTrick::kStarts:
      return starts(out);
    case PeerTrick::kReports:
      return report(out, session);
    case PeerTrick::kResets:
      return reset(out);
    case PeerTrick::kConfirms:
      return confirm(out);
    case PeerTrick::kRates:
      return rate(out);
    case PeerTrick::kPings:
      return ping(out, session);
    case PeerTrick::kMessages:
      return message(out, session);
    case PeerTrick::kFlowLists:
      return flow_list(out, session);
    case PeerTrick::kUnknown:
      return unknown(out);
    case PeerTrick::kCodes:
      return random_.chance(0.5) ? repair(out, session) : repair_of_nothing(out, session);
    default:  // HostileTerminal carries out the tricks that write no frames
      return;
  }
}

std::uint64_t FrameCrafter::any_number() {
  switch (random_.below(5)) {
    case 0:
      return random_.below(8);
    case 1:
      return kMaxVarint - random_.below(4);
    case 2:
      return static_cast<std::uint64_t>(log_uniform(random_, 1, 1e9));
    case 3:
      return std::uint64_t{1} << random_.below(62);
    default:
      return random_.next() & kMaxVarint;
  }
}

std::uint64_t FrameCrafter::new_stream(const Session& session) {
  // From time to time, skip some stream numbers.
  if (random_.chance(0.05)) next_index_ += 1 + random_.below(random_.chance(0.1) ? 100'000 : 20);
  const std::uint64_t id = 2 * next_index_++ + (session.opens_even ? 0 : 1);
  return id;
}

std::uint64_t FrameCrafter::any_stream() {
  const double kind = random_.unit();
  if (kind < 0.45 && !theirs_.empty()) return theirs_[random_.below(theirs_.size())];
  if (kind < 0.9 && !own_.empty()) return own_[random_.below(own_.size())].id;
  return random_.chance(0.5) ? random_.below(40) : any_number();
}

FrameCrafter::Own* FrameCrafter::any_own() {
  if (own_.empty()) return nullptr;
  return &own_[random_.below(own_.size())];
}

void FrameCrafter::random_bytes(MutableBytes out) {
  for (std::byte& octet : out) octet = static_cast<std::byte>(random_.next());
}

const KnownConnection& FrameCrafter::any_of(const std::vector<KnownConnection>& list) {
  return list[random_.below(list.size())];
}

const KnownConnection& FrameCrafter::anybody() {
  const double kind = random_.unit();
  if (kind < 0.4) return any_of(known_.own);
  return any_of(kind < 0.7 ? known_.near : known_.others);
}

gateway::OpenMetadata FrameCrafter::metadata() {
  gateway::OpenMetadata flow;
  // Usually choose addresses that exist, so that the flow reaches a host.
  KnownConnection client = random_.chance(0.7) ? any_of(known_.own) : anybody();
  KnownConnection server = random_.chance(0.8) ? any_of(known_.near) : anybody();
  flow.client_port = static_cast<std::uint16_t>(30'000 + random_.below(20'000));
  flow.server_port = known_.ports[random_.below(known_.ports.size())];
  if (random_.chance(0.1)) flow.server_port = static_cast<std::uint16_t>(random_.next());
  if (random_.chance(0.15) && !known_.flows.empty()) {
    // Use the addresses and ports of a flow between honest hosts.
    const KnownFlow& known = known_.flows[random_.below(known_.flows.size())];
    client = known.client;
    server = known.server;
    flow.client_port = known.client_port;
    flow.server_port = known.server_port;
  }
  if (client.address.version() != server.address.version())
    client = known_.own[server.address.is_v4() ? 0 : 1];
  flow.client = client.address;
  flow.server = server.address;
  flow.ethernet.source = client.mac;
  flow.ethernet.destination = server.mac;
  if (random_.chance(0.05)) {
    flow.ethernet.tags[0] = {0x8100, static_cast<std::uint16_t>(random_.below(4096))};
    flow.ethernet.tag_count = 1;
  }
  flow.traffic_class = static_cast<std::uint8_t>(random_.next() & 0xfcU);
  if (random_.chance(0.1)) flow.hop_limit = static_cast<std::uint8_t>(random_.next());
  if (random_.chance(0.1)) flow.class_name = random_.chance(0.5) ? "first" : "unheard-of";
  if (random_.chance(0.3)) flow.modes = random_modes(random_);
  flow.ecn_offered = random_.chance(0.3);
  flow.options.mss =
      random_.chance(0.8) ? std::uint16_t{1460} : static_cast<std::uint16_t>(random_.below(9'000));
  if (random_.chance(0.7)) flow.options.window_scale = static_cast<std::uint8_t>(random_.below(15));
  flow.options.sack_permitted = random_.chance(0.8);
  if (random_.chance(0.7)) flow.options.timestamps = wire::TcpTimestamps{};
  return flow;
}

std::size_t FrameCrafter::write_metadata(MutableBytes out) {
  if (random_.chance(0.05)) {
    const std::size_t size = random_.below(out.size());
    random_bytes(out.first(size));
    return size;
  }
  std::size_t size = gateway::write_open_metadata(metadata(), out);
  if (random_.chance(0.05)) out[random_.below(size)] ^= static_cast<std::byte>(random_.next());
  if (random_.chance(0.03)) size = random_.below(size);
  return size;
}

void FrameCrafter::open(ByteWriter& out, const Session& session) {
  std::array<std::byte, gateway::kMaxOpenMetadata> bytes{};
  const std::size_t size = write_metadata(bytes);
  const std::uint64_t id = random_.chance(0.97) ? new_stream(session) : any_stream();
  stp::write_open(out, {id, ConstBytes(bytes).first(size)});
  if (out.ok() && (own_.empty() || own_.back().id != id)) own_.push_back({id, 0});
}

void FrameCrafter::write_data(ByteWriter& out, std::uint64_t stream, std::uint64_t offset,
                              ConstBytes bytes, bool fin) {
  out.u8(static_cast<std::uint8_t>(static_cast<unsigned>(FrameType::kData) | stp::kDataHasLength |
                                   (fin ? stp::kDataFin : 0U)));
  stp::write_varint(out, stream);
  stp::write_varint(out, std::min(offset, kMaxVarint - bytes.size()));
  out.u16(static_cast<std::uint16_t>(bytes.size()));
  out.bytes(bytes);
}

void FrameCrafter::write_block(ByteWriter& out, Own& own, std::size_t declared, std::size_t given,
                               bool fin) {
  std::array<std::byte, compress::kBlockHeaderSize + kMostData> bytes{};
  const auto kind = random_.chance(0.85) ? compress::BlockKind::kRaw
                                         : static_cast<compress::BlockKind>(random_.below(5));
  compress::write_block_header({kind, static_cast<std::uint32_t>(declared)}, bytes);
  const MutableBytes content = MutableBytes(bytes).subspan(compress::kBlockHeaderSize, given);
  random_bytes(content);
  write_data(out, own.id, own.offset, ConstBytes(bytes).first(compress::kBlockHeaderSize + given),
             fin);
  own.offset += compress::kBlockHeaderSize + given;
}

void FrameCrafter::data(ByteWriter& out) {
  Own* own = any_own();
  const std::size_t size = 1 + random_.below(kMostData);
  if (own != nullptr && random_.chance(0.6)) {
    write_block(out, *own, random_.chance(0.95) ? size : 1 + random_.below(65'536), size,
                random_.chance(0.1));
    return;
  }
  // Write a block at any offset: it may leave a gap, contradict earlier bytes, or exceed the credit
  // or the end. Or write a block at offset 0, perhaps as an answer to a client of the victim.
  std::array<std::byte, kMostData> bytes{};
  random_bytes(MutableBytes(bytes).first(size));
  const std::uint64_t stream = own != nullptr && random_.chance(0.5) ? own->id : any_stream();
  std::uint64_t offset = random_.chance(0.5) ? random_.below(20'000) : any_number();
  if (own != nullptr && random_.chance(0.5)) offset = own->offset + random_.below(100'000);
  if (random_.chance(0.3)) {
    offset = 0;
    compress::write_block_header({compress::BlockKind::kRaw, static_cast<std::uint32_t>(size)},
                                 bytes);
  }
  write_data(out, stream, offset, ConstBytes(bytes).first(size), random_.chance(0.1));
}

void FrameCrafter::early_end(ByteWriter& out) {
  Own* own = any_own();
  if (own == nullptr) return data(out);
  const std::size_t declared = 2 + random_.below(20'000);
  write_block(out, *own, declared, random_.below(std::min(declared, kMostData)), true);
}

void FrameCrafter::credit(ByteWriter& out) {
  if (random_.chance(0.2)) return stp::write_lane_credit(out, {any_number()});
  for (std::uint64_t i = random_.chance(0.1) ? 60 : 1; i > 0; --i) {
    stp::write_stream_credit(out, {any_stream(), any_number()});
  }
}

void FrameCrafter::starts(ByteWriter& out) {
  for (std::uint64_t i = random_.chance(0.3) ? 100 : 1; i > 0; --i) {
    starts_ += random_.below(3);
    stp::write_start_credit(out, {std::max<std::uint64_t>(starts_, 1), any_number()});
  }
}

void FrameCrafter::report(ByteWriter& out, const Session& session) {
  // The report may name packets that were never sent. Its ranges start at the highest number and
  // descend.
  const std::uint64_t highest =
      random_.chance(0.5) ? random_.below(session.sent * 2 + 100) : any_number() / 2;
  const std::uint64_t reach = random_.chance(0.5)
                                  ? random_.below(std::min<std::uint64_t>(highest + 1, 5'000) + 1)
                                  : random_.below(highest + 2);
  const std::uint64_t below_floor = std::min(highest + 1, reach + random_.below(50));
  if (random_.chance(0.3)) stp::write_reception(out, {any_number(), any_number()});
  write_type(out, FrameType::kFeedback);
  stp::write_varint(out, highest);
  stp::write_varint(out, any_number());  // delay
  out.u32(static_cast<std::uint32_t>(random_.next()));
  stp::write_varint(out, any_number());  // interval
  stp::write_varint(out, below_floor);
  stp::write_varint(out, reach);
  stp::write_varint(out, any_number());  // bytes received
  stp::write_varint(out, any_number());  // stored
  stp::write_varint(out, any_number());  // congestion experienced
  stp::write_varint(out, any_number());  // repaired
  stp::write_varint(out, any_number());  // late
  stp::write_varint(out, random_.below(highest + 2 - reach));
  std::uint64_t left = reach;
  if (random_.chance(0.2) && reach >= 8) {
    out.u16(stp::FeedbackFrame::kBitmap);
    const std::uint64_t bits = std::min<std::uint64_t>(reach, 8 + random_.below(800));
    stp::write_varint(out, bits);
    std::array<std::byte, 128> map{};
    random_bytes(map);
    out.bytes(ConstBytes(map).first((bits + 7) / 8));
    left -= bits;
  } else {
    const std::uint64_t ranges = std::min<std::uint64_t>(reach / 2, random_.below(40));
    out.u16(static_cast<std::uint16_t>(ranges));
    for (std::uint64_t i = 0; i < ranges; ++i) {
      const std::uint64_t room = (left - 2 * (ranges - i)) / (ranges - i) + 1;
      const std::uint64_t received = 1 + random_.below(room) / 2;
      const std::uint64_t missing = 1 + random_.below(room) / 2;
      stp::write_varint(out, received);
      stp::write_varint(out, missing);
      left -= received + missing;
    }
  }
  stp::write_varint(out, random_.chance(0.7) ? left : random_.below(left + 1));
}

void FrameCrafter::reset(ByteWriter& out) {
  // Reset all streams that the victim opened. They may be more than the victim handles in one call.
  if (random_.chance(0.05)) {
    for (const std::uint64_t stream : theirs_) {
      if (out.remaining() < stp::kMaxResetFrameSize) return;
      stp::write_reset(out, {stream, stp::ResetReason::kHostReset, 0});
    }
    return;
  }
  for (std::uint64_t i = random_.chance(0.1) ? 1 + random_.below(40) : 1; i > 0; --i) {
    stp::write_reset(out, {any_stream(), static_cast<stp::ResetReason>(random_.below(14)),
                           random_.chance(0.5) ? random_.below(5'000) : any_number()});
  }
}

void FrameCrafter::confirm(ByteWriter& out) {
  confirms_ += random_.below(3);
  stp::ConfirmFrame frame;
  frame.stream = any_stream();
  frame.sequence = std::max<std::uint64_t>(confirms_, 1);
  frame.confirmation = {.answered = random_.chance(0.5),
                        .ended = random_.chance(0.3),
                        .delivered = any_number(),
                        .window = any_number(),
                        .keep_alives = random_.chance(0.5) ? random_.below(10) : any_number(),
                        .urgent = {.after = any_number(), .mark = any_number()},
                        .word = {.question = random_.chance(0.5) ? random_.below(10) : any_number(),
                                 .silent = random_.chance(0.5)}};
  stp::write_confirm(out, frame);
}

void FrameCrafter::rate(ByteWriter& out) {
  rates_ += random_.below(3);
  stp::write_rate(out,
                  {std::max<std::uint64_t>(rates_, 1), BitRate::bits_per_second(any_number())});
}

void FrameCrafter::ping(ByteWriter& out, const Session& session) {
  const std::uint64_t settled =
      random_.chance(0.5) ? random_.below(session.sent + 2) : any_number();
  if (random_.chance(0.5)) return stp::write_ping(out, {settled});
  stp::write_settled(out, {settled});
}

void FrameCrafter::message(ByteWriter& out, const Session& session) {
  std::array<std::byte, 200> bytes{};
  ByteWriter text(bytes);
  messages_ += static_cast<std::uint32_t>(random_.below(3));
  const std::uint32_t sequence =
      random_.chance(0.95) ? messages_ : static_cast<std::uint32_t>(random_.next());
  switch (random_.below(4)) {
    case 0:
      text.u8(kAdmission);
      text.u32(sequence);
      text.u8(static_cast<std::uint8_t>(random_.below(5)));
      break;
    case 1:
      text.u8(kDoubt);
      text.u64(any_stream());
      break;
    case 2: {
      text.u8(kDictionaries);
      text.u32(sequence);
      const std::uint64_t count = random_.below(18);
      text.u8(static_cast<std::uint8_t>(count));
      for (std::uint64_t i = 0; i < count; ++i) {
        text.u8(static_cast<std::uint8_t>(random_.below(20)));
        text.u64(random_.next());
      }
      break;
    }
    default:
      text.u8(static_cast<std::uint8_t>(0xc0U + random_.below(64)));
      text.u64(random_.next());
      break;
  }
  std::size_t size = text.written();
  if (random_.chance(0.1)) size = 1 + random_.below(size);
  const std::uint64_t id = new_stream(session);
  stp::write_open(out, {id, ConstBytes(bytes).first(size)});
  if (out.ok() && random_.chance(0.3)) own_.push_back({id, 0});
}

void FrameCrafter::flow_list(ByteWriter& out, const Session& session) {
  constexpr std::array<std::byte, 1> kMessage{std::byte{kFlows}};
  Own list{new_stream(session), 0};
  stp::write_open(out, {list.id, kMessage});
  for (std::uint64_t entries = random_.below(6); entries > 0; --entries) {
    std::array<std::byte, 2 + gateway::kMaxOpenMetadata> entry{};
    const std::size_t size = write_metadata(MutableBytes(entry).subspan(2));
    entry[0] = static_cast<std::byte>(random_.chance(0.95) ? random_.below(2) : random_.below(256));
    entry[1] = static_cast<std::byte>(random_.chance(0.97) ? size : random_.below(256));
    write_data(out, list.id, list.offset, ConstBytes(entry).first(2 + size),
               entries == 1 && random_.chance(0.5));
    list.offset += 2 + size;
  }
  if (random_.chance(0.2)) own_.push_back(list);
}

void FrameCrafter::unknown(ByteWriter& out) {
  std::array<std::byte, 100> bytes{};
  const std::size_t size = random_.below(bytes.size());
  random_bytes(bytes);
  constexpr std::uint8_t kUnknown[] = {0x40, 0x41, 0x42, 0x4f, 0x80, 0xff};
  out.u8(kUnknown[random_.below(std::size(kUnknown))]);
  out.u16(static_cast<std::uint16_t>(size));
  out.bytes(ConstBytes(bytes).first(size));
}

void FrameCrafter::cover(ByteWriter& out) {
  const double kind = random_.unit();
  if (kind > 0.98) {
    covered_index_ = static_cast<std::uint16_t>(random_.next());
  } else if (kind > 0.9) {
    covered_index_ = static_cast<std::uint16_t>(covered_index_ + random_.below(9) - 4);
  }
  stp::write_coded(
      out, {random_.chance(0.95) ? stp::FecCode::kFlight : stp::FecCode::kPrompt, covered_index_});
}

void FrameCrafter::note_covered(std::uint64_t number, ConstBytes frames) {
  Covered covered;
  covered.index = covered_index_++;
  covered.symbol.resize(stp::symbol_stride(frames.size()));
  covered.size = stp::write_symbol(covered.symbol.data(), number, frames);
  covered_.push_back(std::move(covered));
  if (covered_.size() > kMostCovered) covered_.pop_front();
}

// Writes a repair symbol over some of the last covered packets, including packets that were never
// sent.
void FrameCrafter::repair(ByteWriter& out, const Session& session) {
  if (covered_.empty()) return repair_of_nothing(out, session);
  const std::size_t first = random_.below(covered_.size());
  std::size_t end = first + 1;
  const std::size_t most = random_.chance(0.4) ? first + 1 : covered_.size();
  while (end < most &&
         covered_[end].index == static_cast<std::uint16_t>(covered_[end - 1].index + 1)) {
    ++end;
  }
  stp::RepairFrame frame;
  frame.first = covered_[first].index;
  frame.count = static_cast<std::uint16_t>(end - first);
  frame.row = static_cast<std::uint16_t>(random_.below(4));
  std::size_t size = 0;
  for (std::size_t i = first; i < end; ++i) size = std::max(size, covered_[i].size);
  std::vector<std::byte> symbol(stp::FecCodec::padded(size));
  for (std::size_t i = first; i < end; ++i) {
    codec_.add(stp::FecCodec::coefficient(frame.row, covered_[i].index), covered_[i].symbol,
               symbol.data());
  }
  // Sometimes, flip a bit of the repair.
  if (random_.chance(0.1)) symbol[random_.below(size)] ^= std::byte{1};
  frame.symbol = ConstBytes(symbol).first(size);
  stp::write_repair(out, frame);
}

void FrameCrafter::repair_of_nothing(ByteWriter& out, const Session& session) {
  stp::RepairFrame frame;
  frame.code = random_.chance(0.7) ? stp::FecCode::kFlight : stp::FecCode::kPrompt;
  frame.first = static_cast<std::uint16_t>(random_.chance(0.8) ? covered_index_ - random_.below(64)
                                                               : random_.below(0x10000));
  frame.count =
      static_cast<std::uint16_t>(1 + random_.below(random_.chance(0.9) ? 8 : stp::kMaxCodedWindow));
  frame.row = static_cast<std::uint16_t>(random_.below(8));
  std::array<std::byte, 300> symbol{};
  const std::size_t header = stp::kSymbolHeaderSize;
  const std::size_t size = header + 1 + random_.below(symbol.size() - header - 1);
  random_bytes(symbol);
  if (random_.chance(0.5)) {
    // If this packet is missing, the repair restores it at once, since the repair covers no other
    // packet. The restored packet has random bytes.
    frame.count = 1;
    store_u32(symbol.data(), static_cast<std::uint32_t>(session.sent - random_.below(20)));
    store_u16(symbol.data() + 4, static_cast<std::uint16_t>(size - header));
  }
  frame.symbol = ConstBytes(symbol).first(size);
  stp::write_repair(out, frame);
}

void FrameCrafter::garbage(ByteWriter& out) {
  std::array<std::byte, 400> bytes{};
  const std::size_t size = 1 + random_.below(bytes.size() - 1);
  random_bytes(MutableBytes(bytes).first(size));
  if (random_.chance(0.7)) bytes[0] = static_cast<std::byte>(random_.below(0x50));
  out.bytes(ConstBytes(bytes).first(size));
}

}  // namespace satrelay::sim

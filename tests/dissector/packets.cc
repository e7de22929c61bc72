#include "tests/dissector/packets.h"

#include <algorithm>
#include <array>

#include "pep/wire/checksum.h"
#include "pep/wire/ethernet.h"
#include "pep/wire/ip.h"
#include "pep/wire/udp.h"
#include "relay/gateway/peers/host_arrival.h"
#include "relay/gateway/peers/host_evidence.h"
#include "relay/gateway/peers/lan_destination.h"

namespace satrelay::dissector {
namespace {

using stp::write_varint;
constexpr std::array<std::uint64_t, 8> kEdges{
    0, 63, 64, 16383, 16384, (1U << 30) - 1, std::uint64_t{1} << 30, stp::kMaxVarint};

Bytes bytes(std::initializer_list<unsigned> values) {
  Bytes out;
  for (const unsigned value : values) out.push_back(static_cast<std::byte>(value));
  return out;
}

Bytes data(std::uint8_t flags, std::uint64_t stream, std::uint64_t offset, std::size_t size) {
  return written([&](ByteWriter& out) {
    out.u8(static_cast<std::uint8_t>(0x10U | flags));
    write_varint(out, stream);
    write_varint(out, offset);
    if ((flags & stp::kDataHasLength) != 0) out.u16(static_cast<std::uint16_t>(size));
    for (std::size_t i = 0; i < size; ++i) out.u8(static_cast<std::uint8_t>(i * 7 + stream));
  });
}

struct Report {
  std::uint64_t highest = 0;
  std::uint64_t below_floor = 0;
  std::uint64_t below_begin = 0;
  std::uint64_t told = 0;
  std::vector<std::uint64_t> pairs = {};
  Bytes bitmap = {};
  std::uint64_t bits = 0;
  std::uint64_t tail = 0;
};

Bytes feedback(const Report& report) {
  return written([&](ByteWriter& out) {
    out.u8(0x03);
    write_varint(out, report.highest);
    write_varint(out, 1'500);  // delay
    out.u32(4'000'000'000U);   // arrived
    write_varint(out, 25);     // interval
    write_varint(out, report.below_floor);
    write_varint(out, report.below_begin);
    write_varint(out, 123'456'789'012);  // bytes
    write_varint(out, 65'536);           // stored
    write_varint(out, 0);                // CE
    write_varint(out, 7);                // repaired
    write_varint(out, 20'000);           // late
    write_varint(out, report.told);
    if (report.bits > 0) {
      out.u16(stp::FeedbackFrame::kBitmap);
      write_varint(out, report.bits);
      out.bytes(report.bitmap);
    } else {
      out.u16(static_cast<std::uint16_t>(report.pairs.size() / 2));
      for (const std::uint64_t length : report.pairs) write_varint(out, length);
    }
    write_varint(out, report.tail);
  });
}

Report random_report(Random& random) {
  Report report;
  report.highest = random.below(1U << random.below(31)) + 2'000;
  report.below_begin = 1 + random.below(2'000);
  report.below_floor = report.below_begin + random.below(report.highest - report.below_begin + 2);
  report.told = random.below(report.highest + 2 - report.below_begin);
  std::uint64_t room = report.below_begin;
  if (random.chance(0.5)) {
    report.bits = 1 + random.below(room);
    room -= report.bits;
    for (std::uint64_t i = 0; i < (report.bits + 7) / 8; ++i) {
      report.bitmap.push_back(static_cast<std::byte>(random.below(256)));
    }
  } else {
    while (room > 2 && random.chance(0.8)) {
      report.pairs.push_back(1 + random.below(room / 2));
      room -= report.pairs.back();
      report.pairs.push_back(1 + random.below(room));
      room -= report.pairs.back();
    }
  }
  report.tail = random.below(room + 1);
  return report;
}

Bytes coded(stp::FecCode code, std::uint16_t index) {
  return written([&](ByteWriter& out) { stp::write_coded(out, {code, index}); });
}

struct RepairNumbers {
  stp::FecCode code = stp::FecCode::kFlight;
  std::uint16_t first = 0;
  std::uint16_t count = 0;
  std::uint16_t row = 0;
};
// A repair with a symbol of `size` bytes.
Bytes repair(const RepairNumbers& numbers, std::size_t size) {
  Bytes symbol(size);
  for (std::size_t i = 0; i < size; ++i) symbol[i] = static_cast<std::byte>(i);
  return written([&](ByteWriter& out) {
    stp::write_repair(out, {numbers.code, numbers.first, numbers.count, numbers.row, symbol});
  });
}

Bytes random_repair(Random& random) {
  return repair({.code = static_cast<stp::FecCode>(random.below(stp::kFecCodes)),
                 .first = static_cast<std::uint16_t>(random.next()),
                 .count = static_cast<std::uint16_t>(1 + random.below(stp::kMaxCodedWindow)),
                 .row = static_cast<std::uint16_t>(random.next())},
                7 + random.below(60));
}

Bytes confirm(const stp::ConfirmFrame& frame) {
  return written([&](ByteWriter& out) { stp::write_confirm(out, frame); });
}

Bytes open(std::uint64_t stream, const Bytes& metadata) {
  return written([&](ByteWriter& out) { stp::write_open(out, {stream, metadata}); });
}

}  // namespace

Bytes joined(std::span<const Bytes> parts) {
  Bytes whole;
  for (const Bytes& part : parts) whole.insert(whole.end(), part.begin(), part.end());
  return whole;
}

Bytes sealed(stp::PacketHeader header, const Bytes& frames, const stp::SessionSeal& seal) {
  header.session_tag = header.type == stp::PacketType::kHello ? std::uint16_t{0} : seal.tag();
  Bytes packet(stp::kHeaderSize + frames.size() + stp::kTrailerSize);
  stp::write_header(header, packet.data());
  std::copy(frames.begin(), frames.end(), packet.begin() + stp::kHeaderSize);
  seal.close(packet);
  return packet;
}

Bytes framed(unsigned from, const Bytes& packet, const Carrier& carrier) {
  const bool is_v4 = carrier.version == IpVersion::kV4;
  const std::array<IpAddress, 2> gateways{*IpAddress::parse(is_v4 ? "192.0.2.1" : "2001:db8::1"),
                                          *IpAddress::parse(is_v4 ? "192.0.2.2" : "2001:db8::2")};
  wire::EthernetHeader ethernet;
  ethernet.destination = *MacAddress::parse("02:00:00:00:00:02");
  ethernet.source = *MacAddress::parse("02:00:00:00:00:01");
  ethernet.type = is_v4 ? wire::EtherType::kIpv4 : wire::EtherType::kIpv6;
  const auto udp_size = static_cast<std::uint16_t>(wire::kUdpHeaderSize + packet.size());
  wire::IpHeader ip;
  ip.source = gateways.at(from);
  ip.destination = gateways.at(1 - from);
  ip.protocol = wire::kProtocolUdp;
  ip.payload_size = udp_size;
  Bytes frame(ethernet.size() + (is_v4 ? 20U : 40U) + udp_size);
  wire::write_ethernet(ethernet, frame);
  wire::write_ip(ip, MutableBytes(frame).subspan(ethernet.size()));
  const MutableBytes udp = MutableBytes(frame).last(udp_size);
  const std::array<std::uint16_t, 2> ports{carrier.client_port, 7878};
  const bool is_lane = carrier.source_port != 0;
  wire::write_udp({is_lane ? carrier.source_port : ports.at(from),
                   is_lane ? ports.at(1) : ports.at(1 - from), udp_size, 0},
                  udp);
  std::copy(packet.begin(), packet.end(), udp.begin() + wire::kUdpHeaderSize);
  const std::uint16_t sum =
      wire::transport_checksum(ip.source, ip.destination, wire::kProtocolUdp, udp);
  store_u16(udp.data() + wire::kUdpChecksumOffset, sum == 0 ? std::uint16_t{0xffff} : sum);
  return frame;
}

stp::HelloFrame hello_frame(std::uint64_t epoch, std::uint64_t peer_epoch) {
  stp::HelloFrame frame;
  frame.minimum_version = frame.maximum_version = 1;
  frame.epoch = epoch;
  frame.peer_epoch = peer_epoch;
  frame.answer_wanted = peer_epoch == 0;
  frame.opens_even_streams = true;
  frame.capabilities = stp::kCapabilityRepair | stp::kCapabilityLanReports |
                       stp::kCapabilityUrgent | stp::kCapabilityDestinations |
                       stp::kCapabilityAcceptedSources | stp::kCapabilityResetMarks |
                       stp::kCapabilityHostWords | stp::kCapabilityIcmp | stp::kCapabilityArrivals |
                       stp::kCapabilityBetween;
  frame.datagram_size = 1472;
  frame.lane_credit = 64U << 20U;
  frame.stream_credit = 16U << 20U;
  return frame;
}

Bytes hello_packet(const HelloHeader& header, const stp::HelloFrame& frame,
                   const stp::HelloKeys& keys) {
  stp::PacketHeader whole;
  whole.version = header.version;
  whole.type = stp::PacketType::kHello;
  whole.lane = header.lane;
  whole.number = header.number;
  return sealed(whole, written([&](ByteWriter& out) { stp::write_hello(out, frame, keys); }), {});
}

std::vector<gateway::OpenMetadata> example_flows() {
  gateway::OpenMetadata plain;
  plain.ethernet.destination = *MacAddress::parse("02:00:5e:00:00:01");
  plain.ethernet.source = *MacAddress::parse("02:00:5e:00:00:02");
  plain.client = *IpAddress::parse("198.51.100.7");
  plain.server = *IpAddress::parse("203.0.113.9");
  plain.client_port = 40'001;
  plain.server_port = 443;
  gateway::OpenMetadata full = plain;
  full.client = *IpAddress::parse("2001:db8:a::7");
  full.server = *IpAddress::parse("2001:db8:b::9");
  full.ethernet.tag_count = 2;
  full.ethernet.tags = {{{0x88a8, 0x20c8}, {0x8100, 0x0064}}};
  full.options.mss = 1440;
  full.options.window_scale = 7;
  full.options.sack_permitted = true;
  full.options.timestamps = wire::TcpTimestamps{};
  full.traffic_class = 0xb8;
  full.hop_limit = 63;
  full.class_name = "voice-and_9";
  full.ecn_offered = true;
  full.modes = {config::HandshakeMode::kRemote, config::AckMode::kEndToEnd,
                config::CloseMode::kConfirmed, config::WindowMode::kMirror,
                config::DeliveryMode::kPrompt};
  gateway::OpenMetadata tagged = plain;
  tagged.ethernet.tag_count = 1;
  tagged.ethernet.tags[0] = {0x8100, 0x0fff};
  tagged.options.mss = 536;
  tagged.modes.close = config::CloseMode::kConfirmed;
  return {plain, full, tagged};
}

Bytes metadata_of(const gateway::OpenMetadata& flow) {
  Bytes room(gateway::kMaxOpenMetadata);
  room.resize(gateway::write_open_metadata(flow, room));
  return room;
}

std::vector<Bytes> example_frames() {
  std::vector<Bytes> frames{bytes({0}), Bytes(700)};
  for (const std::uint64_t value : kEdges) {
    const auto add = [&](auto&& write) { frames.push_back(written(write)); };
    add([&](ByteWriter& out) { stp::write_ping(out, {value}); });
    add([&](ByteWriter& out) { stp::write_settled(out, {value}); });
    add([&](ByteWriter& out) { stp::write_lane_credit(out, {value}); });
    add([&](ByteWriter& out) { stp::write_stream_credit(out, {value, value / 2}); });
    add([&](ByteWriter& out) { stp::write_start_credit(out, {value | 1U, value}); });
    add([&](ByteWriter& out) { stp::write_reception(out, {value, value / 2}); });
    add([&](ByteWriter& out) {
      stp::write_rate(out, {value | 1U, BitRate::bits_per_second(value)});
    });
    frames.push_back(data(stp::kDataHasLength, value, value / 2, 9));
    frames.push_back(feedback({.highest = value, .below_floor = 1, .below_begin = 1, .tail = 1}));
  }
  for (unsigned reason = 0; reason < 12; ++reason) {
    frames.push_back(written([&](ByteWriter& out) {
      stp::write_reset(out, {6, static_cast<stp::ResetReason>(reason), 1'000'000'000'000});
    }));
    frames.push_back(written(
        [&](ByteWriter& out) { stp::write_close(out, {static_cast<stp::ResetReason>(reason)}); }));
  }
  for (const char* sender : {"", "198.51.100.254", "2001:db8::fe"}) {
    frames.push_back(written([&](ByteWriter& out) {
      stp::write_reset(out, {6, stp::ResetReason::kIcmp, 9, {3, 13, IpAddress::parse(sender)}});
    }));
  }
  for (std::uint8_t flags = 0; flags < 4; ++flags) {
    frames.push_back(data(flags, 4, 1'200, 1'380));
  }
  frames.push_back(data(stp::kDataFin, 4, 2'580, 0));
  frames.push_back(data(stp::kDataFin | stp::kDataHasLength, 4, 2'580, 0));
  frames.push_back(feedback({.highest = 33,
                             .below_floor = 34,
                             .below_begin = 17,
                             .told = 10,
                             .pairs = {0, 1, 12, 2},
                             .tail = 2}));
  frames.push_back(feedback({.highest = 33,
                             .below_floor = 20,
                             .below_begin = 17,
                             .bitmap = bytes({0xf0, 0x07}),
                             .bits = 15,
                             .tail = 2}));
  frames.push_back(feedback({.highest = 33,
                             .below_floor = 20,
                             .below_begin = 17,
                             .bitmap = bytes({0xff, 0xff, 0x01}),
                             .bits = 17}));
  frames.push_back(feedback({.highest = 0}));
  frames.push_back(confirm({4, 1, {.answered = true}}));
  frames.push_back(confirm({4, 2, {.ended = true, .delivered = 70'000, .window = 65'535}}));
  frames.push_back(confirm({4, 3, {true, true, stp::kMaxVarint, 1, 2}}));
  frames.push_back(confirm({4, 4, {.urgent = {.after = 5, .mark = 70'000}}}));
  frames.push_back(confirm({4, 5, {.keep_alives = 2, .word = {.question = 1}}}));
  frames.push_back(confirm({4, 6, {.word = {.question = 70'000, .silent = true}}}));
  frames.push_back(coded(stp::FecCode::kFlight, 0));
  frames.push_back(coded(stp::FecCode::kPrompt, 0xffff));
  frames.push_back(repair({.first = 0, .count = 1, .row = 0}, 7));
  frames.push_back(
      repair({.code = stp::FecCode::kPrompt, .first = 65'530, .count = 7, .row = 9}, 400));
  frames.push_back(repair({.first = 0xffff, .count = stp::kMaxCodedWindow, .row = 0xffff}, 50));
  for (const gateway::OpenMetadata& flow : example_flows()) {
    frames.push_back(open(8, metadata_of(flow)));
  }
  for (const unsigned state : {0U, 1U, 2U}) {
    frames.push_back(open(10, bytes({0xc1, 0, 0, 1, 2, state})));
  }
  frames.push_back(open(12, bytes({0xc2})));
  frames.push_back(open(14, bytes({0xc3, 0, 0, 0, 0, 0, 0, 0, 8})));
  frames.push_back(open(18, bytes({0xc4, 0, 0, 0, 7, 0})));
  frames.push_back(open(20, bytes({0xc5})));
  frames.push_back(open(22, bytes({0xc6})));
  frames.push_back(open(28, bytes({0xc9, 0})));
  frames.push_back(open(28, bytes({0xc9, 1})));
  frames.push_back(open(30, bytes({0xcb, 4, 192, 168, 100, 1, 0, 7, 0, 0})));
  frames.push_back(open(
      30, bytes({0xcb, 6, 0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0})));
  for (const char* const host : {"203.0.113.5", "2001:db8::5"}) {
    const gateway::HostEvidence evidence{.near = *IpAddress::parse(host),
                                         .far = *IpAddress::parse(host),
                                         .near_port = 40'000,
                                         .far_port = 80,
                                         .sends = 0xfedcba98,
                                         .expects = 7};
    std::vector<std::byte> message(gateway::kMaxHostEvidence);
    message.resize(gateway::write_host_evidence(evidence, message));
    frames.push_back(open(24, message));
    message.pop_back();
    frames.push_back(open(24, message));
    message[1] = std::byte{5};
    frames.push_back(open(24, message));
  }
  for (const char* const host : {"203.0.113.5", "2001:db8::5"}) {
    for (std::uint8_t tags = 0; tags <= 2; ++tags) {
      gateway::LanDestination told{.stream = stp::StreamId{8},
                                   .near = *IpAddress::parse(host),
                                   .far = *IpAddress::parse(host),
                                   .ethernet = {}};
      told.ethernet.destination = {{2, 0, 0, 0xfe, 1, 2}};
      told.ethernet.tag_count = tags;
      told.ethernet.tags.fill({.tpid = 0x88a8, .tci = 0xf007});
      std::vector<std::byte> message(gateway::kMaxLanDestination);
      message.resize(gateway::write_lan_destination(told, message));
      frames.push_back(open(26, message));
      message.pop_back();
      frames.push_back(open(26, message));
    }
  }
  for (const char* const host : {"203.0.113.5", "2001:db8::5"}) {
    for (std::uint8_t tags = 0; tags <= 2; ++tags) {
      gateway::HostArrival told{.host = *IpAddress::parse(host), .ethernet = {}};
      told.ethernet.source = {{2, 0, 0, 0xfe, 1, 2}};
      told.ethernet.tag_count = tags;
      told.ethernet.tags.fill({.tpid = 0x88a8, .tci = 0xf007});
      std::vector<std::byte> message(gateway::kMaxHostArrival);
      message.resize(gateway::write_host_arrival(told, message));
      frames.push_back(open(30, message));
      message.pop_back();
      frames.push_back(open(30, message));
    }
  }
  frames.push_back(open(30, bytes({0xca, 5})));
  frames.push_back(open(30, bytes({0xca, 4, 1, 1, 1, 1, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})));
  frames.push_back(open(26, bytes({0xc8, 5})));
  frames.push_back(open(26, bytes({0xc8, 4, 0, 0, 0, 0, 0, 0, 0, 8, 1, 1, 1, 1,
                                   2,    2, 2, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0,  //
                                   0,    0, 0, 0, 0, 0, 0, 0, 0, 0, 0})));
  frames.push_back(
      open(18, bytes({0xc4, 0,    0,    0,    8,    2,    3,    1,    2,   3, 4, 5, 6, 7, 8,  //
                      63,   0xff, 0xfe, 0xfd, 0xfc, 0xfb, 0xfa, 0xf9, 0xf8})));
  return frames;
}

std::vector<Bytes> odd_frames() {
  std::vector<Bytes> frames{
      open(16, {}),                               // no metadata
      open(16, bytes({0x77, 1, 2})),              // Unknown kind.
      open(16, bytes({0xc1, 0, 0, 0, 1})),        // short
      open(16, bytes({0xc9})),                    // without flags
      open(16, bytes({0xc1, 0, 0, 0, 1, 9})),     // no such state
      open(16, Bytes(257)),                       // too long
      open(16, bytes({0xc4, 0, 0, 0, 0, 0})),     // sequence 0
      open(16, bytes({0xc4, 0, 0, 0, 1, 16})),    // more dictionaries than classes
      open(16, bytes({0xc4, 0, 0, 0, 1, 1, 9})),  // short
      bytes({0x40, 0, 3, 1, 2, 3}),               // reserved
      bytes({0x7f, 0, 0}),                        // of a later version
      bytes({0x43, 0, 4, 1, 5, 0xaa, 0xbb}),      // RATE with more behind it
      bytes({0x46, 0, 3, 1, 5, 0xaa}),            // START_CREDIT
      bytes({0x44, 0, 7, 4, 1, 3, 9, 9, 2, 1}),   // CONFIRM
      bytes({0x45, 0, 3, 7, 9, 0xaa}),            // RECEPTION
      bytes({0x45, 0, 1, 7}),                     // short
      bytes({0x43, 0, 2, 0, 5}),                  // sequence 0
      bytes({0x46, 0, 2, 0, 5}),
      bytes({0x44, 0, 5, 4, 0, 1, 0, 0}),
      bytes({0x09}),  // a HELLO in a session
      bytes({0x0a}),  // no frame
      bytes({0x3f}),
      bytes({0x12, 4, 5, 0, 0}),       // neither bytes nor an end
      bytes({0x12, 4, 5, 0, 9, 1}),    // shorter than it says
      bytes({0x43, 0, 9, 1, 5}),       // a length beyond the packet
      data(0, 4, stp::kMaxVarint, 1),  // ends too high
      feedback({.highest = 33, .below_floor = 35, .below_begin = 1, .tail = 1}),
      feedback({.highest = 33, .below_floor = 3, .below_begin = 4, .tail = 1}),
      feedback({.highest = 33, .below_floor = 3, .below_begin = 3, .told = 32, .tail = 1}),
      feedback({.highest = 33, .below_floor = 3, .below_begin = 3, .pairs = {1, 0}}),
      feedback({.highest = 33, .below_floor = 3, .below_begin = 3, .pairs = {1, 1, 0, 1}}),
      feedback({.highest = 33, .below_floor = 3, .below_begin = 3, .pairs = {3, 1}}),
      feedback({.highest = 33, .below_floor = 3, .below_begin = 3, .tail = 4}),
      feedback(
          {.highest = 33, .below_floor = 3, .below_begin = 3, .bitmap = bytes({1}), .bits = 4}),
  };
  frames.push_back(open(16, bytes({0xcb, 5})));                             // no version of IP
  frames.push_back(open(16, bytes({0xcb, 4, 192, 168, 100, 1, 0, 7, 0})));  // short
  for (gateway::OpenMetadata flow : example_flows()) {
    flow.server = *IpAddress::parse(flow.client.is_v4() ? "224.0.0.1" : "ff02::1");
    frames.push_back(open(18, metadata_of(flow)));
    Bytes longer = metadata_of(flow);
    longer.push_back(std::byte{1});
    frames.push_back(open(18, longer));
  }
  frames.push_back(coded(static_cast<stp::FecCode>(stp::kFecCodes), 1));  // no such code
  frames.push_back(bytes({0x47, 0, 2, 0, 1}));                            // short
  frames.push_back(bytes({0x47, 0, 4, 0, 1, 2, 3}));                      // more behind it
  frames.push_back(repair({.code = static_cast<stp::FecCode>(9), .count = 1}, 10));
  frames.push_back(repair({.count = 0}, 10));
  frames.push_back(repair({.count = stp::kMaxCodedWindow + 1}, 10));
  frames.push_back(repair({.count = 1}, 6));  // without frames
  return frames;
}

Bytes random_frame(Random& random) {
  const std::uint64_t value = random.below(std::uint64_t{1} << random.below(62));
  switch (random.below(9)) {
    case 0:
      return feedback(random_report(random));
    case 1:
      return random_repair(random);
    case 2:
      return data(static_cast<std::uint8_t>(2 + random.below(2)), value, random.below(1U << 31U),
                  1 + random.below(100));
    case 3:
      return confirm({value,
                      1 + random.below(9),
                      {random.chance(0.5),
                       random.chance(0.5),
                       value,
                       value / 3,
                       random.below(3),
                       {value / 5, random.below(2)}}});
    case 4:
      return Bytes(1 + random.below(30));
    case 5:
      return written([&](ByteWriter& out) { stp::write_ping(out, {value}); });
    case 6:
      return written([&](ByteWriter& out) { stp::write_stream_credit(out, {value / 5, value}); });
    case 7:
      return coded(static_cast<stp::FecCode>(random.below(stp::kFecCodes)),
                   static_cast<std::uint16_t>(value));
    default:
      return written([&](ByteWriter& out) { stp::write_settled(out, {value}); });
  }
}

}  // namespace satrelay::dissector

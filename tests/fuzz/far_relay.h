// The relay at the other gateway. It sends flows, blocks and messages, well-formed or not, as the
// input of a fuzz target says.
#pragma once

#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

#include "pep/base/bytes.h"
#include "pep/compress/block_codec.h"
#include "pep/stp/wire/varint.h"
#include "relay/gateway/frames/open_metadata.h"
#include "tests/fuzz/fuzz_peer.h"
#include "tests/fuzz/relay_configuration.h"

namespace satrelay {

class FarRelay {
 public:
  explicit FarRelay(ByteReader& in) : in_(in) {}

  void act(unsigned operation, FuzzPeer& far, Instant now) {
    switch (operation) {
      case 0:
      case 1:
        return open_from_far(far, now);
      case 2:
        return say_admission(far, now);
      case 3:
        return say_dictionaries(far, now);
      case 4:
        return open_list(far, now);
      case 5:
        return list_flow(far, now);
      case 6:
        return say_reports(far, now);
      case 7:  // Any bytes as metadata.
        far.open(in_.bytes(std::min<std::size_t>(in_.u8(), in_.remaining())), now);
        return;
      default:
        return write_from_far(far, now);
    }
  }

 private:
  gateway::OpenMetadata metadata_of_flow() {
    const unsigned which = in_.u8();
    const unsigned bits = in_.u8();
    gateway::OpenMetadata flow;
    flow.ethernet.source = kFarMac;
    flow.ethernet.destination = kHostMac;
    flow.client = far_address();
    flow.server = host_address();
    flow.client_port = static_cast<std::uint16_t>(50'000 + which / kPorts % 4);
    flow.server_port = static_cast<std::uint16_t>(kFirstServerPort + which % kPorts);
    if ((bits & 1U) != 0) {
      // A flow as the gateway's own clients have opened it.
      flow.ethernet.source = kHostMac;
      flow.ethernet.destination = kFarMac;
      flow.client = host_address();
      flow.server = far_address();
      flow.client_port = static_cast<std::uint16_t>(kFirstClientPort + which % kPorts);
      flow.server_port = static_cast<std::uint16_t>(80 + which / kPorts % 6);
    }
    if ((bits & 2U) != 0) flow.modes.handshake = config::HandshakeMode::kRemote;
    if ((bits & 4U) != 0) flow.modes.ack = config::AckMode::kEndToEnd;
    if ((bits & 8U) != 0) flow.modes.close = config::CloseMode::kConfirmed;
    if ((bits & 16U) != 0) flow.modes.window = config::WindowMode::kMirror;
    if (bits % 7U == 3) flow.modes.delivery = config::DeliveryMode::kPrompt;
    if ((bits >> 5U) != 0) flow.class_name = (bits >> 5U) > 3 ? "voice" : "unheard-of";
    flow.options.mss = 1460;
    flow.options.sack_permitted = true;
    return flow;
  }

  void open_from_far(FuzzPeer& far, Instant now) {
    std::array<std::byte, gateway::kMaxOpenMetadata> bytes{};
    const std::size_t size = gateway::write_open_metadata(metadata_of_flow(), bytes);
    far.open(ConstBytes(bytes).first(size), now);
  }

  void say_admission(FuzzPeer& far, Instant now) {
    std::array<std::byte, 6> message{};
    ByteWriter writer(message);
    const unsigned bits = in_.u8();
    writer.u8(0xc1);
    writer.u32(bits / 8);
    writer.u8(static_cast<std::uint8_t>(bits % 8 < 5 ? bits % 3 : bits));
    far.open(ConstBytes(message).first(bits == 255 ? 3 : message.size()), now);
  }

  void say_dictionaries(FuzzPeer& far, Instant now) {
    std::array<std::byte, 64> message{};
    ByteWriter writer(message);
    const unsigned bits = in_.u8();
    writer.u8(0xc4);
    writer.u32(++dictionaries_said_ - bits / 128);
    writer.u8(static_cast<std::uint8_t>(bits % 8));
    for (unsigned i = 0; i < bits % 4; ++i) {
      const unsigned which = in_.u8();
      writer.u8(static_cast<std::uint8_t>(which / 3));
      writer.u64(which % 3 == 2 ? which : dictionary(which % 3)->dictionary()->fingerprint());
    }
    far.open(ConstBytes(message).first(writer.written()), now);
  }

  // Reports on streams that exist, are over or will never be; the last report may be cut short.
  void say_reports(FuzzPeer& far, Instant now) {
    const unsigned count = in_.u8();
    constexpr std::array<std::byte, 1> kMessage{std::byte{0xc6}};
    constexpr std::array<std::byte, 1> kWish{std::byte{0xc5}};
    far.open(count % 4 == 0 ? kWish : kMessage, now);
    const auto id = far.last();
    std::array<std::byte, 24 * 32> reports{};
    ByteWriter writer(reports);
    for (unsigned i = 0; i < count % 32; ++i) {
      const unsigned which = in_.u8();
      stp::write_varint(writer, which % 64);
      stp::write_varint(writer, which);
      stp::write_varint(writer, std::uint64_t{1} << (which % 62));
    }
    if (!id) return;
    far.write(*id, ConstBytes(reports).first(writer.written() - (writer.written() > count ? 1 : 0)),
              now);
    if (count % 3 != 0) far.end(*id, false, {}, now);
  }

  void open_list(FuzzPeer& far, Instant now) {
    constexpr std::array<std::byte, 1> kMessage{std::byte{0xc2}};
    far.open(kMessage, now);
  }

  void list_flow(FuzzPeer& far, Instant now) {
    const auto id = far.stream(in_.u8());
    const unsigned flags = in_.u8();
    std::array<std::byte, 2 + gateway::kMaxOpenMetadata> entry{};
    const std::size_t size =
        gateway::write_open_metadata(metadata_of_flow(), MutableBytes(entry).subspan(2));
    entry[0] = static_cast<std::byte>(flags & 3U);
    entry[1] = static_cast<std::byte>(size + (flags > 250 ? 1 : 0));
    if (id) far.write(*id, ConstBytes(entry).first(2 + size), now);
  }

  void write_from_far(FuzzPeer& far, Instant now) {
    const auto id = far.stream(in_.u8());
    const unsigned what = in_.u8();
    const ConstBytes bytes = in_.bytes(std::min<std::size_t>(what, in_.remaining()));
    if (!id) return;
    if (what % 8 == 7) return write_with_dictionary(far, *id, bytes, now);
    if (what % 8 != 6) {
      const auto kind = static_cast<compress::BlockKind>(what % 4);
      write_header(far, *id, kind, kind == compress::BlockKind::kMarks ? 2 : bytes.size(), now);
    }
    far.write(*id, bytes, now);
  }

  static void write_header(FuzzPeer& far, stp::StreamId id, compress::BlockKind kind,
                           std::size_t size, Instant now) {
    std::array<std::byte, compress::kBlockHeaderSize> header{};
    const auto encoded = static_cast<std::uint32_t>(std::max<std::size_t>(size, 1));
    compress::write_block_header({kind, encoded}, header);
    far.write(id, header, now);
  }

  // A good block, but its dictionary number and one of its octets may be wrong.
  void write_with_dictionary(FuzzPeer& far, stp::StreamId id, ConstBytes choice, Instant now) {
    const auto chosen = [&](std::size_t i) { return i < choice.size() ? load_u8(&choice[i]) : 0U; };
    encoder_.make_room_for(*dictionary(0));
    const ConstBytes plain = answers().first(100 + 50 * chosen(0));
    std::vector<std::byte> block(1 + plain.size());
    const auto size = encoder_.compress(plain, MutableBytes(block).subspan(1), compress::Mode::kOn,
                                        dictionary(chosen(1) % 2).get());
    if (!size) std::abort();
    block.resize(1 + *size);
    block[0] = static_cast<std::byte>(chosen(2) % 4);
    if (choice.size() > 3) block[chosen(3) % block.size()] ^= std::byte{1};
    write_header(far, id, compress::BlockKind::kDictionary, block.size(), now);
    far.write(id, block, now);
  }

  ByteReader& in_;
  std::uint32_t dictionaries_said_ = 0;
  compress::BlockEncoder encoder_{1, compress::kHighestLevel};
};

}  // namespace satrelay

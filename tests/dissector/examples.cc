#include <algorithm>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "tests/dissector/capture.h"
#include "tests/dissector/packets.h"

namespace satrelay::dissector {
namespace {

constexpr std::uint64_t kEpochA = 1'700'000'000'000'000'001U, kEpochB = 1'700'000'000'000'000'002U;

// Two gateways. Their packets go into a capture.
class Conversation {
 public:
  Conversation(Capture& capture, const Carrier& carrier, std::uint8_t lane = 0)
      : capture_(&capture), carrier_(carrier), lane_(lane) {}

  void greet(std::uint64_t epoch_a, std::uint64_t epoch_b) {
    epochs_[0] = epoch_a;
    epochs_[1] = epoch_b;
    say(0, hello_packet({.lane = lane_}, hello_frame(epoch_a, 0)));
    stp::HelloFrame answer = hello_frame(epoch_b, epoch_a);
    answer.echo = 1;
    answer.opens_even_streams = false;
    say(1, hello_packet({.lane = lane_}, answer));
  }
  // As greet(), but without HELLOs in the capture.
  void agree(std::uint64_t epoch_a, std::uint64_t epoch_b) {
    epochs_[0] = epoch_a;
    epochs_[1] = epoch_b;
    for (const unsigned from : {0U, 1U}) observers_[lane_].tell(from, seal(from));
  }
  stp::SessionSeal seal(unsigned from) const { return {epochs_[from], epochs_[1 - from]}; }
  Bytes packet(unsigned from, const Bytes& frames, bool is_protected = false) {
    stp::PacketHeader header;
    header.lane = lane_;
    header.number = number_++;
    header.is_protected = is_protected;
    return sealed(header, frames, seal(from));
  }
  void say(unsigned from, const Bytes& packet) { say_cut(from, packet, packet.size()); }
  void say_cut(unsigned from, const Bytes& packet, std::size_t captured) {
    const Bytes frame = framed(from, packet, carrier_);
    // A packet that names another lane belongs to no session with a known HELLO.
    const std::uint8_t lane = packet.size() > 1 ? load_u8(&packet[1]) : lane_;
    const Expectation expectation = observers_[lane].observe(from, packet, captured);
    now_ += Duration::milliseconds(1);
    capture_->add(now_, frame, frame.size() - packet.size() + captured, expectation);
  }
  void say_frames(unsigned from, const Bytes& frames) { say(from, packet(from, frames)); }

 private:
  Capture* capture_;
  Carrier carrier_;
  std::uint8_t lane_;
  std::map<std::uint8_t, Observer> observers_;  // By lane.
  std::uint64_t epochs_[2] = {0, 0};
  std::uint32_t number_ = 0xffff'fff0U;  // The low bits wrap soon.
  Instant now_;
};

Bytes data_frame(std::uint64_t stream, std::uint64_t offset, ConstBytes bytes) {
  return written([&](ByteWriter& out) {
    out.u8(0x10);
    stp::write_varint(out, stream);
    stp::write_varint(out, offset);
    out.bytes(bytes);
  });
}

Bytes open_frame(std::uint64_t stream, const Bytes& metadata) {
  return written([&](ByteWriter& out) { stp::write_open(out, {stream, metadata}); });
}

// Sends a stream's bytes in pieces of `size`, behind its OPEN.
void say_stream(Conversation& talk, std::uint64_t stream, const Bytes& metadata,
                const Bytes& content, std::size_t size) {
  talk.say_frames(0, open_frame(stream, metadata));
  for (std::size_t at = 0; at < content.size(); at += size) {
    const ConstBytes rest = ConstBytes(content).subspan(at);
    talk.say_frames(0, data_frame(stream, at, rest.first(std::min(size, rest.size()))));
  }
}

// Blocks one after another: raw, zstd, marks, with a dictionary, urgent, and a reset. Bytes that
// are no block follow.
Bytes blocks() {
  return written([](ByteWriter& out) {
    for (const std::uint32_t size : {5U, 1U, 40U}) {
      out.u32(size);
      out.bytes(Bytes(size, std::byte{0x55}));
    }
    out.u32(0x0100'0006);
    out.bytes(Bytes(6));
    out.u32(0x0200'0002);
    out.u16(0xb83f);
    out.u32(0x0300'0009);
    out.bytes(Bytes(9, std::byte{0x21}));
    out.u32(0x0400'0004);
    out.u32(70'000);
    out.u32(0x0500'0001);
    out.u8(0);
    out.u32(0x0400'0009);
    out.bytes(Bytes(9));
  });
}

Bytes list_of_flows() {
  Bytes list;
  unsigned client = 0;
  for (const gateway::OpenMetadata& flow : example_flows()) {
    const Bytes metadata = metadata_of(flow);
    list.push_back(static_cast<std::byte>(client ^= 1U));
    list.push_back(static_cast<std::byte>(metadata.size()));
    list.insert(list.end(), metadata.begin(), metadata.end());
  }
  return list;
}

void write_hellos(Conversation& talk) {
  stp::HelloFrame hello = hello_frame(kEpochA, kEpochB);
  hello.capabilities = 0x8000'0000U;
  hello.maximum_version = 3;
  hello.lane_count = 4;
  talk.say(0, hello_packet({.number = 2}, hello));
  talk.say(0, hello_packet({.number = 3, .version = 2}, hello));  // In a packet of another version.
  hello.epoch = 0;
  talk.say(0, hello_packet({.number = 4}, hello));
  // A later version has a longer HELLO.
  Bytes longer = written([](ByteWriter& out) { stp::write_hello(out, hello_frame(kEpochA, 0)); });
  store_u16(&longer[1], 51);
  longer.resize(longer.size() + 5);
  stp::PacketHeader header;
  header.type = stp::PacketType::kHello;
  header.number = 5;
  talk.say(0, sealed(header, longer, {}));
  talk.say(0, sealed(header, Bytes(1, std::byte{0x01}), {}));  // No HELLO.
}

// A session that encrypts. From its HELLOs the dissector knows that it cannot read the packets.
void write_encrypted(Conversation& talk) {
  Random random(9);
  const auto noise = [&random](std::size_t size) {
    Bytes bytes(size);
    for (std::byte& octet : bytes) octet = static_cast<std::byte>(random.next());
    return bytes;
  };
  const Bytes offer = noise(103), acceptance = noise(103);
  stp::HelloFrame hello = hello_frame(kEpochA, 0);
  hello.encrypts = true;
  talk.say(0, hello_packet({}, hello, {offer, {}}));
  hello = hello_frame(kEpochB, kEpochA);
  hello.encrypts = true;
  talk.say(1, hello_packet({}, hello, {offer, acceptance}));
  talk.say(0, hello_packet({.number = 2}, hello, {{}, acceptance}));
  // A HELLO with a MAC, which an older build does not send, and a HELLO with more bytes before the
  // MAC.
  stp::HelloKeys keys{.offer = offer,
                      .accept = acceptance,
                      .has_mac = true,
                      .accepted = ConstBytes(offer).first(stp::kOfferNameSize)};
  for (const std::uint32_t number : {3U, 4U}) {
    Bytes frame = written([&](ByteWriter& out) { stp::write_hello(out, hello, keys); });
    const Bytes more = noise(number == 3 ? stp::kHelloMacSize : stp::kHelloMacSize + 5);
    frame.resize(frame.size() - stp::kHelloMacSize);
    frame.insert(frame.end(), more.begin(), more.end());
    store_u16(&frame[1], static_cast<std::uint16_t>(frame.size() - 3));
    stp::PacketHeader header;
    header.type = stp::PacketType::kHello;
    header.number = number;
    talk.say(0, sealed(header, frame, {}));
  }
  const auto packet_of = [&](std::size_t size, bool key_phase) {
    Bytes packet = noise(stp::kHeaderSize + size + 16);
    stp::PacketHeader header;
    header.session_tag = 0x1234;
    header.key_phase = key_phase;
    header.number = static_cast<std::uint32_t>(size);
    stp::write_header(header, packet.data());
    return packet;
  };
  for (const std::size_t size : {1U, 100U, 1'448U}) talk.say(1, packet_of(size, size == 100));
  const Bytes whole = packet_of(50, false);
  talk.say(0, Bytes(whole.begin(), whole.begin() + stp::kHeaderSize + 16));  // No frame.
  talk.say_cut(0, whole, 20);
  // The gateway restarts without encryption.
  talk.greet(kEpochA + 2, kEpochB);
  talk.say_frames(0, example_frames()[0]);
}

}  // namespace

void write_frames(const std::string& folder) {
  Capture capture(folder, "frames");
  Conversation talk(capture, {});
  talk.greet(kEpochA, kEpochB);
  unsigned from = 0;
  for (const Bytes& frame : example_frames()) talk.say_frames(from ^= 1U, frame);
  for (const Bytes& frame : odd_frames()) talk.say_frames(from ^= 1U, frame);
  write_hellos(talk);
  // Several frames in a packet.
  const std::vector<Bytes> examples = example_frames();
  Random random(1);
  for (int i = 0; i < 150; ++i) {
    std::vector<Bytes> frames;
    for (std::uint64_t n = 1 + random.below(4); n > 0; --n) frames.push_back(random_frame(random));
    from ^= 1U;
    talk.say(from, talk.packet(from, joined(frames), random.chance(0.3)));
  }
  std::uint64_t stream = 100;
  for (const std::size_t size : {1U, 3U, 7U, 1'000U}) {
    say_stream(talk, stream += 2, metadata_of(example_flows()[0]), blocks(), size);
    say_stream(talk, stream += 2, Bytes(1, std::byte{0xc2}), list_of_flows(), size);
  }
  const Bytes probe = written([](ByteWriter& out) {
    stp::write_ping(out, {17});
    out.bytes(Bytes(1'400));
  });
  talk.say_frames(0, probe);
  // A restart: the ids of streams begin anew, and a packet of the old session arrives late.
  const Bytes late = talk.packet(0, examples[2]);
  talk.greet(kEpochA + 1, kEpochB);
  talk.say(0, late);
  say_stream(talk, 102, metadata_of(example_flows()[1]), blocks(), 20);
  talk.say_cut(0, talk.packet(0, probe), 40);
  talk.say_cut(0, talk.packet(0, data_frame(4, 0, Bytes(100))), 60);

  Conversation six(capture, {IpVersion::kV6, 7878}, 1);
  six.greet(kEpochA, kEpochB);
  for (const Bytes& frame : examples) six.say_frames(1, frame);
  // A capture from the middle of a session: it has no HELLO, and the checksum must fit the tag.
  Conversation middle(capture, {IpVersion::kV4, 40'000});
  middle.agree(kEpochA, kEpochB);
  for (const Bytes& frame : examples) middle.say_frames(0, frame);
  Conversation secret(capture, {IpVersion::kV4, 40'001});
  write_encrypted(secret);
  // One of several lanes, for which both gateways send from one port to another.
  Conversation lane(capture, {.source_port = 7'881});
  lane.greet(kEpochA, kEpochB);
  lane.say_frames(0, examples[0]);
  lane.say_frames(1, examples[0]);
}

void write_damaged(const std::string& folder) {
  Capture capture(folder, "damaged");
  Conversation talk(capture, {});
  talk.greet(kEpochA, kEpochB);
  Random random(2);
  std::vector<Bytes> frames = example_frames();
  for (int i = 0; i < 20; ++i) frames.push_back(random_frame(random));
  std::vector<Bytes> packets{hello_packet({.number = 2}, hello_frame(kEpochA, kEpochB))};
  for (const Bytes& frame : frames) packets.push_back(talk.packet(0, frame));
  std::uint16_t port = 20'000;
  for (const Bytes& whole : packets) {
    // Long packets are cut at some of their bytes only.
    const std::size_t step = 1 + whole.size() / 20;
    for (std::size_t size = 1 + random.below(step); size < whole.size(); size += step) {
      talk.say(0, Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
    }
    for (int i = 0; i < 8; ++i) {
      Bytes flipped = whole;
      const std::uint64_t bit = random.below(std::min<std::size_t>(whole.size(), 120) * 8);
      flipped[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
      talk.say(0, flipped);
    }
    // Packets that a peer might send on purpose: cut off or changed, but with the right checksum.
    // Each is in a conversation of its own, as the dissector may learn something wrong from it.
    const bool is_hello = &whole == packets.data();
    const stp::SessionSeal seal = is_hello ? stp::SessionSeal() : talk.seal(0);
    for (int i = 0; i < 8; ++i) {
      Bytes changed = whole;
      if (i % 2 == 0) {
        changed.resize(stp::kHeaderSize + 1 + stp::kTrailerSize +
                       random.below(whole.size() - stp::kHeaderSize - stp::kTrailerSize));
      } else {
        const std::size_t least = std::min<std::size_t>(whole.size() - stp::kTrailerSize, 60);
        const std::uint64_t bit = random.below((least - stp::kHeaderSize) * 8);
        changed[stp::kHeaderSize + bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
      }
      seal.close(changed);
      Conversation other(capture, {IpVersion::kV4, port++});
      other.agree(kEpochA, kEpochB);
      other.say(0, changed);
    }
  }
}

}  // namespace satrelay::dissector

#include "tests/bench/world/codec_crowd.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "pep/base/random.h"
#include "pep/compress/block_codec.h"
#include "pep/stp/wire/frames.h"
#include "pep/stp/wire/repair_frame.h"

namespace satrelay::bench {
namespace {

using compress::BlockKind;
using compress::kBlockHeaderSize;

// The part of a stream that one packet carries here.
constexpr std::size_t kPart = 1400;

Octets block_of(BlockKind kind, ConstBytes encoded) {
  Octets block(kBlockHeaderSize + encoded.size());
  compress::write_block_header({kind, static_cast<std::uint32_t>(encoded.size())}, block);
  std::ranges::copy(encoded, block.begin() + kBlockHeaderSize);
  return block;
}

void write_coded_packet(ByteWriter& frames, std::uint16_t index) {
  stp::write_coded(frames, {stp::FecCode::kFlight, index});
  std::ranges::fill(frames.reserve(frames.remaining() - stp::kRepairOverhead), std::byte{0});
}

void write_repair_of(ByteWriter& frames, std::uint16_t window, std::uint16_t row) {
  const Octets symbol(frames.remaining() - stp::kRepairHeaderSize, static_cast<std::byte>(row));
  stp::write_repair(frames, {stp::FecCode::kFlight, 0, window, row, symbol});
}

}  // namespace

Octets text(std::size_t size) {
  Random random(7);
  std::string lines;
  while (lines.size() < size) {
    lines += "10.0." + std::to_string(random.below(256)) + '.' + std::to_string(random.below(256)) +
             " - - \"GET /articles/" + std::to_string(random.below(100'000)) + " HTTP/1.1\" 200 " +
             std::to_string(random.below(100'000)) + " \"Mozilla/5.0 (X11; Linux x86_64)\"\n";
  }
  const ConstBytes bytes = std::as_bytes(std::span(lines)).first(size);
  return {bytes.begin(), bytes.end()};
}

Octets zeros(std::size_t size) { return Octets(size); }

Octets compressed(ConstBytes plain) {
  compress::BlockEncoder encoder(1);
  Octets encoded(plain.size());
  const auto size = encoder.compress(plain, encoded, compress::Mode::kOn);
  if (!size) throw std::runtime_error("it does not compress");
  return block_of(BlockKind::kZstd, ConstBytes(encoded).first(*size));
}

Octets raw_octets(std::size_t count) {
  return repeated(block_of(BlockKind::kRaw, zeros(1)), count);
}

Octets marks(std::size_t count) {
  return repeated(block_of(BlockKind::kMarks, zeros(compress::kMarksSize)), count);
}

Octets repeated(const Octets& blocks, std::size_t count) {
  Octets all;
  for (std::size_t i = 0; i < count; ++i) all.insert(all.end(), blocks.begin(), blocks.end());
  return all;
}

void complete(Crowd& crowd, std::size_t streams, const Octets& blocks, std::size_t packets) {
  for (std::size_t stream = 0; stream < streams; ++stream) {
    for (std::size_t at = 1; at < blocks.size(); at += kPart) {
      const ConstBytes part = ConstBytes(blocks).subspan(at, std::min(kPart, blocks.size() - at));
      crowd.say(0, 1, [&](ByteWriter& frames, std::size_t) {
        Crowd::write_data(frames, stream, at, part);
      });
    }
  }
  crowd.settle();
  crowd.forget();
  constexpr std::size_t kRoom = 12;
  std::size_t next = 0;
  const ConstBytes first = ConstBytes(blocks).first(1);
  const auto fill = [&](ByteWriter& frames, std::size_t) {
    while (next < streams && frames.remaining() >= kRoom) {
      Crowd::write_data(frames, next++, 0, first);
    }
  };
  while (next < streams) {
    crowd.say_together(packets, fill);
    crowd.settle();
  }
}

void lose_of_window(Crowd& crowd, std::size_t each, std::uint16_t window) {
  for (std::uint16_t index = 0; index < window; ++index) {
    if (index % each == 0) continue;
    crowd.say(0, 1, [&](ByteWriter& frames, std::size_t) { write_coded_packet(frames, index); });
  }
  crowd.settle();
  crowd.forget();
}

void repair_together(Crowd& crowd, std::size_t each) {
  constexpr std::size_t kTogether = 32;
  std::uint16_t row = 0;
  const auto write = [&](ByteWriter& frames, std::size_t) {
    write_repair_of(frames, stp::kMaxCodedWindow, row++);
  };
  while (row < stp::kMaxCodedWindow / each) {
    crowd.say_together(kTogether, write);
    crowd.settle();
    crowd.pass(Duration::milliseconds(100));
  }
}

void repair_of_peers(Crowd& crowd, std::span<const std::size_t> peers, std::uint16_t row,
                     std::uint16_t count, std::uint16_t window) {
  crowd.say_together(peers.size() * count, [&](ByteWriter& frames, std::size_t i) {
    crowd.speak_as(peers[i % peers.size()]);
    write_repair_of(frames, window, static_cast<std::uint16_t>(row + i / peers.size()));
  });
}

void come_late_of_peers(Crowd& crowd, std::span<const std::size_t> peers, std::size_t each,
                        std::size_t first, std::size_t count) {
  crowd.say_together(peers.size() * count, [&](ByteWriter& frames, std::size_t i) {
    crowd.speak_as(peers[i % peers.size()]);
    const std::size_t late = first + i / peers.size();
    write_coded_packet(frames, static_cast<std::uint16_t>(late * each));
  });
}

void send_text(Crowd& crowd, std::size_t hosts, std::size_t octets) {
  constexpr std::size_t kSegment = 1460;
  const Octets all = text(octets);
  for (std::size_t host = 0; host < hosts; ++host) {
    std::vector<std::vector<std::byte>> frames;
    for (std::size_t at = 0; at < octets; at += kSegment) {
      frames.push_back(crowd.data_of_server(
          host, at, ConstBytes(all).subspan(at, std::min(kSegment, octets - at))));
    }
    crowd.from_lan(frames);
  }
  while (crowd.poll_burst() > 0) {
  }
  crowd.settle();
}

}  // namespace satrelay::bench

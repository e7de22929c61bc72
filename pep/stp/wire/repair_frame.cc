#include "pep/stp/wire/repair_frame.h"

#include "pep/stp/wire/frames.h"

namespace satrelay::stp {

//   +------+---------+-----------------+-----+----------+------------+------------
//   | 0x42 | Length  | Distance (var.) | Row | Span - 1 | Members    | Symbol ...
//   |  1   |   2     |     1 to 4      |  1  |    1     | (Span+7)/8 |
//   +------+---------+-----------------+-----+----------+------------+------------
RepairFrame parse_repair(ByteReader& body) {
  RepairFrame frame;
  frame.distance = read_varint(body);
  frame.row = body.u8();
  const std::size_t span = std::size_t{body.u8()} + 1;
  if (!body.ok() || span > BlockMembers::kMaxSpan) {
    fail(body);
    return frame;
  }
  const ConstBytes bits = body.bytes((span + 7) / 8);
  for (std::size_t at = 0; at < bits.size() * 8; ++at) {
    if ((load_u8(bits.data() + at / 8) >> (at % 8) & 1U) != 0) frame.members.insert(at);
  }
  frame.symbol = body.rest();
  // The first and the last number of the span are members, and none beyond.
  const bool sound = body.ok() && frame.row < kMaxRepairRows && frame.members.contains(0) &&
                     frame.members.span() == span && frame.members.count() <= kMaxRepairSources &&
                     frame.distance >= span && frame.distance <= kMaxRepairDistance &&
                     frame.symbol.size() > kSymbolLengthSize;
  if (!sound) fail(body);
  return frame;
}

void write_repair_header(ByteWriter& out, const RepairFrame& frame, std::size_t symbol_size) {
  const std::size_t span = frame.members.span();
  const std::size_t bitmap = (span + 7) / 8;
  out.u8(static_cast<std::uint8_t>(FrameType::kRepair));
  out.u16(static_cast<std::uint16_t>(varint_size(frame.distance) + 2 + bitmap + symbol_size));
  write_varint(out, frame.distance);
  out.u8(frame.row);
  out.u8(static_cast<std::uint8_t>(span - 1));
  for (std::size_t byte = 0; byte < bitmap; ++byte) {
    unsigned bits = 0;
    for (std::size_t bit = 0; bit < 8; ++bit) {
      const std::size_t at = byte * 8 + bit;
      if (frame.members.contains(at)) bits |= 1U << bit;
    }
    out.u8(static_cast<std::uint8_t>(bits));
  }
}

}  // namespace satrelay::stp

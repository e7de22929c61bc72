#include "pep/stp/wire/repair_frame.h"

#include "pep/stp/wire/frames.h"

namespace satrelay::stp {
namespace {

FecCode parse_code(ByteReader& body) {
  const std::uint8_t code = body.u8();
  if (code >= kFecCodes) fail(body);
  return static_cast<FecCode>(code);
}

}  // namespace

//   +------+--------+------+-------+
//   | 0x47 | Length | Code | Index |
//   |  1   |   2    |  1   |   2   |
//   +------+--------+------+-------+
CodedFrame parse_coded(ByteReader& body) {
  CodedFrame frame;
  frame.code = parse_code(body);
  frame.index = body.u16();
  if (body.remaining() > 0) fail(body);
  return frame;
}

void write_coded(ByteWriter& out, const CodedFrame& frame) {
  out.u8(static_cast<std::uint8_t>(FrameType::kCoded));
  out.u16(kCodedFrameSize - 3);
  out.u8(static_cast<std::uint8_t>(frame.code));
  out.u16(frame.index);
}

//   +------+--------+------+-------+-------+-----+------------
//   | 0x48 | Length | Code | First | Count | Row | Symbol ...
//   |  1   |   2    |  1   |   2   |   2   |  2  |
//   +------+--------+------+-------+-------+-----+------------
RepairFrame parse_repair(ByteReader& body) {
  RepairFrame frame;
  frame.code = parse_code(body);
  frame.first = body.u16();
  frame.count = body.u16();
  frame.row = body.u16();
  frame.symbol = body.rest();
  if (frame.count == 0 || frame.count > kMaxCodedWindow ||
      frame.symbol.size() <= kSymbolHeaderSize) {
    fail(body);
  }
  return frame;
}

void write_repair(ByteWriter& out, const RepairFrame& frame) {
  out.u8(static_cast<std::uint8_t>(FrameType::kRepair));
  out.u16(static_cast<std::uint16_t>(kRepairHeaderSize - 3 + frame.symbol.size()));
  out.u8(static_cast<std::uint8_t>(frame.code));
  out.u16(frame.first);
  out.u16(frame.count);
  out.u16(frame.row);
  out.bytes(frame.symbol);
}

}  // namespace satrelay::stp

#include "pep/stp/wire/feedback_frame.h"

namespace satrelay::stp {

namespace {

// Checks the pairs of a report. Returns the packet number after the last pair.
std::uint64_t check_ranges(ByteReader& in, const FeedbackFrame& frame) {
  const std::uint64_t top = frame.highest + 1;
  std::uint64_t cursor = frame.begin;
  for (unsigned i = 0; i < frame.count; ++i) {
    const std::uint64_t received = read_varint(in);
    const std::uint64_t missing = read_varint(in);
    // The ranges of a report do not touch. Only the first pair may begin with zero received
    // packets.
    const bool sound = in.ok() && (received > 0 || i == 0) && missing > 0 &&
                       received <= top - cursor && missing <= top - cursor - received;
    if (!sound) {
      fail(in);
      return cursor;
    }
    cursor += received + missing;
  }
  return cursor;
}

std::uint64_t check_bitmap(ByteReader& in, FeedbackFrame& frame) {
  frame.bits = read_varint(in);
  const std::uint64_t room = std::uint64_t{in.remaining()} * 8;
  if (!in.ok() || frame.bits == 0 || frame.bits > room ||
      frame.bits > frame.highest + 1 - frame.begin) {
    fail(in);
    return frame.begin;
  }
  frame.runs = in.bytes(static_cast<std::size_t>((frame.bits + 7) / 8));
  return frame.begin + frame.bits;
}

}  // namespace

FeedbackFrame parse_feedback(ByteReader& in) {
  FeedbackFrame frame;
  frame.highest = read_varint(in);
  frame.delay_us = read_varint(in);
  frame.arrived_us = in.u32();
  frame.interval_ms = read_varint(in);
  const std::uint64_t below_floor = read_varint(in);
  const std::uint64_t below_begin = read_varint(in);
  frame.bytes_received = read_varint(in);
  frame.stored = read_varint(in);
  frame.ce_count = read_varint(in);
  frame.repaired = read_varint(in);
  frame.late_us = read_varint(in);
  const std::uint64_t told = read_varint(in);
  frame.count = in.u16();
  const std::uint64_t top = frame.highest + 1;
  if (!in.ok() || below_floor > top || below_begin > below_floor || told > top - below_begin) {
    fail(in);
    return frame;
  }
  frame.floor = top - below_floor;
  frame.begin = top - below_begin;
  frame.first = frame.begin - told;
  std::uint64_t cursor = frame.begin;
  if (frame.count == FeedbackFrame::kBitmap) {
    cursor = check_bitmap(in, frame);
  } else {
    const ConstBytes from = in.rest();
    cursor = check_ranges(in, frame);
    frame.runs = from.first(from.size() - in.remaining());
  }
  const std::uint64_t tail = read_varint(in);
  if (!in.ok() || tail > top - cursor) {
    fail(in);
    return frame;
  }
  frame.end = cursor + tail;
  return frame;
}

}  // namespace satrelay::stp

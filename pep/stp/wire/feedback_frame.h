// FEEDBACK: a report, or one part of a long report. It tells which of the packets [begin, end) have
// arrived (docs/stp-wire.md section 7). The packet contains a list of ranges or a bitmap, whichever
// is shorter. This struct refers to the bytes of the packet and does not copy them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "pep/base/bytes.h"
#include "pep/stp/wire/varint.h"

namespace satrelay::stp {

struct FeedbackFrame {
  // Value of the count field if the report is a bitmap.
  static constexpr std::uint16_t kBitmap = 0xffff;

  std::uint64_t highest = 0;   // highest packet number seen
  std::uint64_t delay_us = 0;  // time since that packet arrived, in microseconds
  // Arrival time of that packet by the reporter's clock, in microseconds, low 32 bits.
  std::uint32_t arrived_us = 0;
  std::uint64_t interval_ms = 0;  // approximate time until the next regular report, in milliseconds
  // The reporter no longer knows which packets below this number have arrived.
  std::uint64_t floor = 0;
  std::uint64_t first = 0;  // first packet of the whole report; equal to `begin` in its first part
  std::uint64_t begin = 0;  // first packet of this part
  std::uint64_t end = 0;    // number after the last packet of this part; at most highest + 1
  std::uint64_t bytes_received = 0;  // bytes of UDP payload since the session began
  std::uint64_t stored = 0;          // stream bytes that wait for the reader
  std::uint64_t ce_count = 0;        // packets with the ECN mark "congestion experienced"
  std::uint64_t repaired = 0;        // lost packets that were recovered with REPAIR frames
  std::uint64_t late_us = 0;  // greatest recent lateness of packets out of order, in microseconds
  std::uint16_t count = 0;    // number of ranges, or kBitmap
  std::uint64_t bits = 0;     // number of bits in the bitmap
  ConstBytes runs;            // pairs (received, missing) or the bitmap, already validated

  // Calls received(begin, end) and missing(begin, end) alternately, in ascending order, so that the
  // calls cover all packets of this part.
  template <typename Received, typename Missing>
  void for_each_run(Received&& received, Missing&& missing) const {
    if (count == kBitmap) {
      for_each_bitmap_run(received, missing);
      return;
    }
    ByteReader in(runs);
    std::uint64_t cursor = begin;
    for (unsigned i = 0; i < count; ++i) {
      const std::uint64_t arrived = read_varint(in);
      if (arrived > 0) received(cursor, cursor + arrived);
      cursor += arrived;
      const std::uint64_t lost = read_varint(in);
      missing(cursor, cursor + lost);
      cursor += lost;
    }
    if (cursor < end) received(cursor, end);
  }

 private:
  // Returns the number of equal bits from `at` on. Sets `has_arrived` to their value.
  std::uint64_t run_length(std::uint64_t at, bool& has_arrived) const {
    std::uint64_t length = 0;
    bool known = false;
    while (at < bits) {
      const auto byte = load_u8(runs.data() + at / 8);
      const auto in_byte = static_cast<unsigned>(at % 8);
      const auto rest = static_cast<std::uint8_t>(byte >> in_byte);
      if (!known) {
        has_arrived = (rest & 1U) != 0;
        known = true;
      }
      const auto alike =
          static_cast<unsigned>(has_arrived ? std::countr_one(rest) : std::countr_zero(rest));
      const std::uint64_t step = std::min<std::uint64_t>(std::min(alike, 8 - in_byte), bits - at);
      length += step;
      at += step;
      if (alike < 8 - in_byte) break;
    }
    return length;
  }
  template <typename Received, typename Missing>
  void for_each_bitmap_run(Received&& received, Missing&& missing) const {
    // The packets from this number up to `begin + at` have arrived, but received() was not called
    // for them yet.
    std::uint64_t pending = begin;
    std::uint64_t at = 0;
    while (at < bits) {
      bool has_arrived = false;
      const std::uint64_t length = run_length(at, has_arrived);
      if (!has_arrived) {
        if (pending < begin + at) received(pending, begin + at);
        missing(begin + at, begin + at + length);
        pending = begin + at + length;
      }
      at += length;
    }
    if (pending < end) received(pending, end);
  }
};

// To be called after the type byte was read. The reader fails if the frame is malformed.
FeedbackFrame parse_feedback(ByteReader& in);

}  // namespace satrelay::stp

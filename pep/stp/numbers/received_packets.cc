#include "pep/stp/numbers/received_packets.h"

#include <algorithm>

#include "pep/stp/wire/frames.h"

namespace satrelay::stp {

bool ReceivedPackets::has_place(std::uint64_t number) const {
  const std::size_t gaps = missing_.range_count();
  if (number >= next_ || gaps <= 2 * kReach) return true;
  const std::size_t index = missing_.first_ending_after(number);
  if (std::min(index, gaps - index) > kReach || index == gaps) return false;
  const Range gap = missing_.ranges()[index];
  const bool splits = gap.begin < number && number + 1 < gap.end;
  return gaps < kMaxMissingRanges || !splits;
}

bool ReceivedPackets::record(std::uint64_t number, Instant now) {
  if (number < next_) {
    missing_.erase(number, number + 1);
    order_.on_late(number, now);
    return false;
  }
  const bool gap = number > next_;
  if (gap) {
    missing_.insert(next_, number);
    if (missing_.range_count() > kMaxMissingRanges) {
      // Limit the memory for any pattern of losses. The oldest quarter of the gaps is forgotten,
      // and reports say that these packets are unknown.
      floor_ = missing_.ranges()[kMaxMissingRanges / 4].begin;
      missing_.erase_below(floor_);
    }
  }
  next_ = number + 1;
  highest_at_ = now;
  order_.on_progress(next_, now);
  if (now >= sampled_at_ + kYoung && now >= sampled_at_ + order_.lateness(now) * 5 / 4) {
    young_from_ = sampled_;
    sampled_ = next_;
    sampled_at_ = now;
  }
  return gap;
}

void ReceivedPackets::settle(std::uint64_t number) {
  settled_ = std::max(settled_, std::min(number, next_));
  prune();
}

void ReceivedPackets::rewind(std::uint64_t number) {
  settle(number);
  rewind_ = std::min(rewind_, number);
  rewound_reports_ = 2;  // the first of these two reports may be lost as well
}

void ReceivedPackets::prune() {
  // The record of a packet is kept until the peer needs no more reports about it, and the last
  // report did not have to cover it.
  const std::uint64_t floor = std::min(settled_, covered_from_);
  if (floor > floor_) {
    floor_ = floor;
    missing_.erase_below(floor_);
  }
}

void ReceivedPackets::begin_report(const ReportContext& context, Instant now) {
  report_end_ = next_;
  const auto oldest =
      static_cast<std::size_t>(std::clamp(context.repeats, 1, int{kMaxRepeats})) - 1;
  covered_from_ = ends_[oldest];
  // If each packet is in one report only, begin at the first gap that was new at the last regular
  // report. Its missing packets may have arrived late or may have been recovered since then.
  if (oldest == 0) covered_from_ = open_before_;
  if (now >= regular_at_ + kRegularInterval) {
    std::copy_backward(ends_.begin(), ends_.end() - 1, ends_.end());
    regular_at_ = now;
    ends_[0] = report_end_;
    open_before_ = first_missing(young_from_, report_end_);
  }
  if (!context.dear && (context.lost_in_bursts || misses_bursts())) {
    covered_from_ = before_lost_reports(covered_from_);
  }
  report_begin_ = cursor_ = std::max(floor_, std::min(covered_from_, rewind_));
  if (rewound_reports_ > 0 && --rewound_reports_ == 0) rewind_ = kMaxVarint;
  in_report_ = true;
}

// Whether packets of the peer are lost in bursts. Our reports may then be lost in bursts, too: a
// fade of one direction mostly affects the other.
bool ReceivedPackets::misses_bursts() const {
  const auto gaps = missing_.ranges();
  const auto newest = gaps.last(std::min(gaps.size(), kOlderGaps));
  std::uint64_t packets = 0;
  for (const Range& gap : newest) packets += gap.size();
  return packets >= kBurst * std::max<std::uint64_t>(newest.size(), 1);
}

// If the path loses reports in bursts, all three reports about a packet may be lost. So a report
// also covers some older gaps that the peer has not settled.
std::uint64_t ReceivedPackets::before_lost_reports(std::uint64_t begin) const {
  const auto gaps = missing_.ranges().first(missing_.first_ending_after(begin));
  if (gaps.empty()) return begin;
  const Range& oldest = gaps[gaps.size() - std::min(gaps.size(), kOlderGaps)];
  return std::min(begin, std::max(settled_, oldest.begin));
}

bool ReceivedPackets::write_report(ByteWriter& out, const ReportContext& context, Instant now) {
  if (!in_report_) begin_report(context, now);
  cursor_ = std::max(cursor_, floor_);  // floor_ may have risen between two parts
  report_end_ = std::max(report_end_, cursor_);
  const std::int64_t delay_us = std::max<std::int64_t>(0, (now - highest_at_).to_microseconds());
  out.u8(static_cast<std::uint8_t>(FrameType::kFeedback));
  write_varint(out, next_ - 1);
  write_varint(out, static_cast<std::uint64_t>(delay_us));
  out.u32(static_cast<std::uint32_t>(highest_at_.to_nanoseconds() / 1'000));
  write_varint(out, context.interval_ms);
  write_varint(out, next_ - floor_);
  write_varint(out, next_ - cursor_);
  write_varint(out, context.bytes_received);
  write_varint(out, context.stored);
  write_varint(out, 0);  // number of ECN marks: the caller does not pass them to the session yet
  write_varint(out, context.repaired);
  write_varint(out, static_cast<std::uint64_t>(order_.lateness(now).to_microseconds()));
  write_varint(out, cursor_ - report_begin_);
  const bool complete = bitmap_is_shorter() ? write_bitmap(out) : write_ranges(out);
  if (complete) {
    in_report_ = false;
    prune();
  }
  return complete;
}

// Returns the first missing packet in [begin, end), or `end` if no packet is missing.
std::uint64_t ReceivedPackets::first_missing(std::uint64_t begin, std::uint64_t end) const {
  const std::size_t i = missing_.first_ending_after(begin);
  if (i >= missing_.range_count()) return end;
  return std::min(end, std::max(begin, missing_.ranges()[i].begin));
}

// A range usually takes two bytes. So the bitmap is shorter if more than one packet in sixteen
// begins a gap.
bool ReceivedPackets::bitmap_is_shorter() const {
  const std::size_t ranges =
      missing_.first_ending_after(report_end_) - missing_.first_ending_after(cursor_);
  return ranges * 2 > (report_end_ - cursor_) / 8 + kMaxVarintSize;
}

bool ReceivedPackets::write_ranges(ByteWriter& out) {
  const MutableBytes count = out.reserve(2);
  std::uint16_t ranges = 0;
  const auto missing = missing_.ranges();
  std::size_t i = missing_.first_ending_after(cursor_);
  for (; i < missing.size() && missing[i].begin < report_end_; ++i) {
    if (out.remaining() < 3 * kMaxVarintSize || ranges == FeedbackFrame::kBitmap - 1) break;
    const std::uint64_t begin = std::max(missing[i].begin, cursor_);
    const std::uint64_t end = std::min(missing[i].end, report_end_);
    write_varint(out, begin - cursor_);
    write_varint(out, end - begin);
    cursor_ = end;
    ++ranges;
  }
  store_u16(count.data(), ranges);
  // A part ends before the first range that does not fit.
  const bool complete = i >= missing.size() || missing[i].begin >= report_end_;
  const std::uint64_t stop = complete ? report_end_ : missing[i].begin;
  write_varint(out, stop > cursor_ ? stop - cursor_ : 0);
  cursor_ = std::max(cursor_, stop);
  return complete;
}

bool ReceivedPackets::write_bitmap(ByteWriter& out) {
  out.u16(FeedbackFrame::kBitmap);
  const std::uint64_t room = (out.remaining() - 2 * kMaxVarintSize) * 8;
  const std::uint64_t bits = std::min(report_end_ - cursor_, room);
  const std::uint64_t end = cursor_ + bits;
  write_varint(out, bits);
  const MutableBytes map = out.reserve(static_cast<std::size_t>((bits + 7) / 8));
  std::ranges::fill(map, std::byte{0xff});
  const auto missing = missing_.ranges();
  for (std::size_t i = missing_.first_ending_after(cursor_);
       i < missing.size() && missing[i].begin < end; ++i) {
    const std::uint64_t last = std::min(missing[i].end, end);
    for (std::uint64_t n = std::max(missing[i].begin, cursor_); n < last; ++n) {
      const std::uint64_t bit = n - cursor_;
      map[static_cast<std::size_t>(bit / 8)] &= ~(std::byte{1} << static_cast<unsigned>(bit % 8));
    }
  }
  write_varint(out, 0);
  cursor_ = end;
  return cursor_ == report_end_;
}

}  // namespace satrelay::stp

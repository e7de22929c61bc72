// A sender of windows and their repairs. It keeps what it has sent, so that each repair can be
// checked.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "pep/base/random.h"
#include "pep/stp/fec/fec_sender.h"
#include "pep/stp/wire/frames.h"
#include "tests/unit/pep/stp/fec/reference_code.h"

namespace satrelay::stp::test {

using Waiting = FecSender::Waiting;
inline constexpr std::size_t kDatagram = 1472;
inline constexpr Duration kRoundTrip = Duration::milliseconds(500);
inline constexpr std::size_t kPlenty = FecPolicy::kMostRepairs;
inline constexpr FecSender::Purpose kOpens{.opens = true};
inline constexpr FecSender::Purpose kEnds{.ends = true};

struct RepairCatcher : IgnoreFrames {
  std::optional<RepairFrame>& caught;
  using IgnoreFrames::operator();
  void operator()(const RepairFrame& frame) const { caught = frame; }
};

// A path on which each packet takes 100 us to leave.
class FecSending : public ::testing::Test {
 protected:
  struct Source {
    std::uint64_t number = 0;
    Bytes frames;
  };
  void send(std::size_t size = 100, const FecSender::Purpose& purpose = {},
            const FecSender::Plan& plan = {.packets = 0, .repairs = kPlenty}) {
    now += Duration::microseconds(100);
    Bytes frames(size);
    for (std::byte& b : frames) b = static_cast<std::byte>(random.below(256));
    EXPECT_EQ(out.next_frame().index, static_cast<std::uint16_t>(sources.size()));
    out.add(next, frames, purpose, plan, now);
    sources.push_back({next++, frames});
  }
  void send_all(std::size_t count, const FecSender::Purpose& purpose = {},
                const FecSender::Plan& plan = {.packets = 0, .repairs = kPlenty}) {
    for (std::size_t i = 0; i < count; ++i) send(20, purpose, plan);
  }
  bool ready(Waiting waiting, Duration later = {}) { return out.ready(waiting, next, now + later); }
  std::size_t advance(Waiting waiting, Duration later = {}) {
    now += later;
    return out.advance(waiting, next, kRoundTrip, now);
  }
  // Sends the next repair, and checks that it is as docs/stp-wire.md says.
  RepairFrame take() {
    room.assign(kDatagram - 12, {});
    ByteWriter writer(room);
    EXPECT_TRUE(out.write(writer, next++, now));
    std::optional<RepairFrame> frame;
    EXPECT_TRUE(walk_frames(ConstBytes(room).first(writer.written()), RepairCatcher{{}, frame}));
    EXPECT_TRUE(frame.has_value());
    if (!frame) return {};
    // The indexes of the last 65,536 packets are distinct.
    const std::uint64_t first =
        sources.size() - static_cast<std::uint16_t>(sources.size() - frame->first);
    Bytes sum;
    for (std::uint64_t i = first; i < first + frame->count; ++i) {
      EXPECT_LT(i, sources.size());
      if (i >= sources.size()) return *frame;
      reference_add(reference_coefficient(frame->row, static_cast<std::uint16_t>(i)),
                    reference_symbol(sources[i].number, sources[i].frames), sum);
    }
    EXPECT_TRUE(std::ranges::equal(sum, frame->symbol)) << "row " << frame->row;
    return *frame;
  }
  // Sends the repairs that may leave on an idle link within `time`.
  std::vector<RepairFrame> take_all(Duration time = Duration::milliseconds(200)) {
    std::vector<RepairFrame> all;
    for (const Instant end = now + time; now < end; now += Duration::microseconds(100)) {
      dropped += out.advance(Waiting::kNothing, next, kRoundTrip, now);
      while (out.ready(Waiting::kNothing, next, now)) all.push_back(take());
    }
    return all;
  }
  std::vector<Range> repairable(Instant then) {
    const auto ranges = out.history().repairable(then);
    return {ranges.begin(), ranges.end()};
  }

  Random random{11};
  FecCodec codec;
  FecPolicy policy;
  RepairBudget budget;
  FecSender out{codec, policy, budget.sums(), kDatagram};
  std::vector<Source> sources;
  Bytes room;
  std::uint64_t next = 1'000;
  std::size_t dropped = 0;
  Instant now = Instant::from_nanoseconds(1'000'000'000);
};

}  // namespace satrelay::stp::test

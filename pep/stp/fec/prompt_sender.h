// The sending half of the code of prompt flows: a window that slides. Several sums are in progress
// at a time, begun one after the other. Each repair is the oldest sum, and stands for all packets
// since that was begun. A new sum begins in its place. So each packet stands in that many repairs,
// and the next repair to arrive repairs a loss.
//
// A repair leaves when its packets have earned its bytes: a share of their own. After a lull, a
// repair for the last packets of a burst is paid from a small allowance.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "pep/base/bytes.h"
#include "pep/base/containers/range_set.h"
#include "pep/base/time.h"
#include "pep/stp/fec/fec_codec.h"
#include "pep/stp/fec/source_symbol.h"
#include "pep/stp/wire/repair_frame.h"

namespace satrelay::stp {

class PromptSender {
 public:
  // `codec` outlives this object. No datagram is larger than `max_datagram`.
  PromptSender(const FecCodec& codec, std::size_t max_datagram);

  CodedFrame next_frame() const { return {FecCode::kPrompt, next_index_}; }
  // A packet leaves with `frames` behind next_frame(). `share`: repair bytes for each byte of the
  // flow.
  void add(std::uint64_t number, ConstBytes frames, double share, Instant now);

  // When a repair is due; never() if none is due before another packet leaves.
  Instant due() const;
  // Writes the repair. False if it does not fit; it is dropped then.
  bool write(ByteWriter& out, Instant now);
  // The packets that a repair may still have been on its way for at `then`, when the receiver wrote
  // a report.
  std::optional<Range> repairable(Instant then) const {
    if (!any_sent_ || last_repair_ <= then) return std::nullopt;
    return Range{window_begin_, window_end_};
  }
  void clear();

 private:
  static constexpr std::size_t kSums = 16;
  static constexpr Duration kLull = Duration::milliseconds(10);
  static constexpr double kAllowance = 1000;  // bytes a second, for repairs after a lull
  static constexpr double kKept = 1500;  // bytes of the allowance that are kept for the next lull
  static constexpr double kMostEarned = 3 * 1500;  // bytes
  static constexpr std::size_t kLongest = 1024;    // packets of a sum

  struct Sum {
    std::uint16_t first = 0;  // index of its first packet
    std::size_t count = 0;    // packets
    std::size_t size = 0;     // of the longest symbol
    std::size_t begun = 0;    // written bytes
    std::uint16_t row = 0;
    std::uint64_t first_number = 0;
  };
  std::byte* bytes(std::size_t slot) const { return bytes_.get() + slot * stride_; }
  void begin(Sum& sum);
  void grow_allowance(Instant now);

  const FecCodec& codec_;
  std::size_t stride_;
  std::unique_ptr<std::byte[]> bytes_;  // allocated with the first packet
  SourceSymbol source_;
  std::array<Sum, kSums> sums_;
  std::size_t oldest_ = 0;
  std::uint16_t next_index_ = 0;
  std::uint16_t next_row_ = 0;
  double earned_ = 0;     // bytes
  double allowance_ = 0;  // bytes, as of allowed_until_
  Instant allowed_until_;
  bool is_covered_ = true;  // a repair has left since the last packet
  Instant last_added_;
  bool any_sent_ = false;
  Instant last_repair_;
  std::uint64_t window_begin_ = 0;  // packet number, as is window_end_
  std::uint64_t window_end_ = 0;
};

}  // namespace satrelay::stp

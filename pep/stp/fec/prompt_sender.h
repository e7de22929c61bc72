// The sending half of the code of prompt flows: a window that slides. Several sums are under way at
// a time, begun one after the other; each repair is the oldest of them and stands for all packets
// since its sum was begun, and a new one begins in its place. So each packet stands in that many
// repairs, and a loss is repaired by the next one that arrives.
//
// A repair leaves when its packets have earned its bytes, a share of theirs; and after a lull, for
// the last packets of a burst, from a small allowance of its own.
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
  // `codec` outlives this. No datagram is larger than `max_datagram`.
  PromptSender(const FecCodec& codec, std::size_t max_datagram);

  CodedFrame next_frame() const { return {FecCode::kPrompt, next_index_}; }
  // The next packet, with `frames` behind next_frame(). `share`: repair bytes to one of the flow's.
  void add(std::uint64_t number, ConstBytes frames, double share, Instant now);

  // When a repair is due; never: none is, before another packet leaves.
  Instant due() const;
  // Writes it; false if it does not fit, and is given up.
  bool write(ByteWriter& out, Instant now);
  // The packets that it may still repair at `then`, when the receiver wrote a report.
  std::optional<Range> repairable(Instant then) const {
    if (!any_sent_ || last_repair_ <= then) return std::nullopt;
    return Range{window_begin_, window_end_};
  }
  void clear();

 private:
  static constexpr std::size_t kSums = 16;
  static constexpr Duration kLull = Duration::milliseconds(10);
  static constexpr double kAllowance = 1000;       // bytes a second, for repairs after a lull
  static constexpr double kKept = 1500;            // bytes of the allowance, for the next lull
  static constexpr double kMostEarned = 3 * 1500;  // bytes
  static constexpr std::size_t kLongest = 1024;    // packets of a sum

  struct Sum {
    std::uint16_t first = 0;  // index
    std::size_t count = 0;    // packets
    std::size_t size = 0;     // of the longest symbol
    std::size_t begun = 0;    // bytes that were written
    std::uint16_t row = 0;
    std::uint64_t first_number = 0;
  };
  std::byte* bytes(std::size_t slot) const { return bytes_.get() + slot * stride_; }
  void begin(Sum& sum);
  void grow_allowance(Instant now);

  const FecCodec& codec_;
  std::size_t stride_;
  std::unique_ptr<std::byte[]> bytes_;  // from the first packet on
  SourceSymbol source_;
  std::array<Sum, kSums> sums_;
  std::size_t oldest_ = 0;
  std::uint16_t next_index_ = 0;
  std::uint16_t next_row_ = 0;
  double earned_ = 0;     // bytes
  double allowance_ = 0;  // bytes, until then
  Instant allowed_until_;
  bool is_covered_ = true;  // all that has left stands in a repair
  Instant last_added_;
  bool any_sent_ = false;
  Instant last_repair_;
  std::uint64_t window_begin_ = 0;  // packet numbers
  std::uint64_t window_end_ = 0;
};

}  // namespace satrelay::stp

#include "pep/tcp/input/urgent_mark.h"

#include <algorithm>

namespace satrelay::tcp {

using wire::TcpFlags;

std::optional<std::uint64_t> urgent_mark_of(const Tcb& tcb, const wire::TcpHeader& header,
                                            std::size_t payload_size) {
  if (!header.has(TcpFlags::kUrg)) return std::nullopt;
  if (header.has(TcpFlags::kSyn) || header.has(TcpFlags::kRst)) return std::nullopt;
  const bool receives = tcb.state() == State::kSynReceived || tcb.lifecycle.is_synchronised();
  if (!receives || tcb.receiver.fin_taken()) return std::nullopt;
  const auto next = static_cast<std::int64_t>(tcb.receiver.next());
  const std::int64_t begin = tcb.receive_space.to_position(header.sequence, tcb.receiver.next());
  // As in Linux, the mark of a segment that ends before RCV.NXT is ignored. This includes Linux's
  // own probes of a closed window, although they are answered. A pointer of 0 counts as 1. A mark
  // at or before RCV.NXT has no effect.
  if (begin + static_cast<std::int64_t>(payload_size) < next) return std::nullopt;
  const std::int64_t mark = begin + std::max<std::uint16_t>(header.urgent, 1);
  return mark > next ? std::optional(static_cast<std::uint64_t>(mark)) : std::nullopt;
}

}  // namespace satrelay::tcp

#include "pep/tcp/input/sack_reader.h"

namespace satrelay::tcp {

SackReports read_sack(const Tcb& tcb, const wire::TcpHeader& header, std::int64_t ack) {
  SackReports reports;
  for (std::size_t i = 0; i < header.options.sack_count; ++i) {
    const wire::TcpSackBlock& block = header.options.sack[i];
    const std::int64_t begin = tcb.send_space.to_position(block.begin, tcb.sender.una());
    const std::int64_t end = tcb.send_space.to_position(block.end, tcb.sender.una());
    if (begin < 0 || end <= begin) continue;
    const Range range{static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(end)};
    // RFC 2883 section 4: the first block reports a duplicate if it lies below the ACK or within
    // the second block.
    if (i == 0 && begin < ack) reports.duplicate = range;
    if (begin < ack) continue;
    if (i == 1 && reports.count == 1 && range.begin <= reports.blocks[0].begin &&
        reports.blocks[0].end <= range.end) {
      reports.duplicate = reports.blocks[--reports.count];
    }
    reports.blocks[reports.count++] = range;
  }
  return reports;
}

}  // namespace satrelay::tcp

// The SACK option of an arriving segment, converted to positions of our stream.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "pep/base/containers/range_set.h"
#include "pep/tcp/block/tcb.h"
#include "pep/wire/tcp.h"

namespace satrelay::tcp {

struct SackReports {
  std::array<Range, wire::kMaxSackBlocks> blocks{};
  std::size_t count = 0;
  std::optional<Range> duplicate;  // data that the peer received twice (RFC 2883)
};

// `ack` is the position that the segment acknowledges.
SackReports read_sack(const Tcb& tcb, const wire::TcpHeader& header, std::int64_t ack);

}  // namespace satrelay::tcp

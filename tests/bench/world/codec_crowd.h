// Work for the codec of a Crowd's gateway: blocks of its peer that become whole all at once, and
// hosts that send compressible data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pep/base/bytes.h"
#include "pep/stp/wire/repair_frame.h"
#include "tests/bench/world/crowd.h"

namespace satrelay::bench {

using Octets = std::vector<std::byte>;

Octets text(std::size_t size);  // Lines as in a log.
Octets zeros(std::size_t size);

// Blocks with their headers: one compressed block of those plain bytes; `count` raw blocks of one
// octet; `count` blocks that carry marks, and so no bytes.
Octets compressed(ConstBytes plain);
Octets raw_octets(std::size_t count);
Octets marks(std::size_t count);
Octets repeated(const Octets& blocks, std::size_t count);

// Each of the first `streams` streams gets `blocks` without their first octet. Then bursts of
// `packets` packets bring that octet, in each packet for as many streams as fit. The measurement
// begins with the first burst.
void complete(Crowd& crowd, std::size_t streams, const Octets& blocks, std::size_t packets);

// lose_of_window() sends a window of full packets without each `each`-th. repair_together() sends
// as many repairs of it as packets are missing, 32 together.
void lose_of_window(Crowd& crowd, std::size_t each, std::uint16_t window = stp::kMaxCodedWindow);
void repair_together(Crowd& crowd, std::size_t each);
// Both send one burst with packets of each of these peers. repair_of_peers() sends `count` repairs
// of such a window, from `row` on. come_late_of_peers() sends `count` of the missing packets, from
// number `first` of them on.
void repair_of_peers(Crowd& crowd, std::span<const std::size_t> peers, std::uint16_t row,
                     std::uint16_t count, std::uint16_t window = stp::kMaxCodedWindow);
void come_late_of_peers(Crowd& crowd, std::span<const std::size_t> peers, std::size_t each,
                        std::size_t first, std::size_t count);

// Each of the first `hosts` servers sends `octets` of text. Everything that can leave then leaves,
// in bursts.
void send_text(Crowd& crowd, std::size_t hosts, std::size_t octets);

}  // namespace satrelay::bench

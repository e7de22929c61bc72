// What makes the codec of a Crowd's gateway work: blocks of its peer that become whole all at once,
// and hosts that send what compresses.
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

Octets text(std::size_t size);  // lines as of a log
Octets zeros(std::size_t size);

// Blocks with their headers: one compressed of those plain bytes; `count` raw ones of an octet; and
// `count` that carry marks, and so nothing.
Octets compressed(ConstBytes plain);
Octets raw_octets(std::size_t count);
Octets marks(std::size_t count);
Octets repeated(const Octets& blocks, std::size_t count);

// Each of the first `streams` streams gets `blocks` but for their first octet; then `packets`
// packets that come together bring that of as many of them as fit. What came before is forgotten.
void complete(Crowd& crowd, std::size_t streams, const Octets& blocks, std::size_t packets);

// A window of full packets of which each `each`-th is missing; then as many repairs of it as are
// missing, 32 together.
void lose_of_window(Crowd& crowd, std::size_t each, std::uint16_t window = stp::kMaxCodedWindow);
void repair_together(Crowd& crowd, std::size_t each);
// Together, of each of these peers: so many repairs of such a window, from `row` on; packets that
// were missing, from number `first` of them on.
void repair_of_peers(Crowd& crowd, std::span<const std::size_t> peers, std::uint16_t row,
                     std::uint16_t count, std::uint16_t window = stp::kMaxCodedWindow);
void come_late_of_peers(Crowd& crowd, std::span<const std::size_t> peers, std::size_t each,
                        std::size_t first, std::size_t count);

// Each of the first `hosts` servers sends `octets` of text, and all that can leaves, in bursts.
void send_text(Crowd& crowd, std::size_t hosts, std::size_t octets);

}  // namespace satrelay::bench

// Counts credit, streams and memory again, and compares the results with the counters of the
// streams.
#include <string>

#include "pep/stp/streams/streams.h"

namespace satrelay::stp {
namespace {

std::string differ(const char* what, std::uint64_t account, std::uint64_t counted) {
  return std::string(what) + ": account " + std::to_string(account) + ", counted " +
         std::to_string(counted);
}

// Returns a description of the first contradiction in the state of the stream; nullptr if there is
// none.
const char* contradiction(const Stream& stream) {
  const bool idle =
      stream.phase == Stream::Phase::kFree || stream.phase == Stream::Phase::kResetting;
  if (idle) {
    return stream.send.blocks_held() + stream.receive.bytes().blocks_held() +
                       stream.reserves_held() >
                   0
               ? "a stream that is over holds memory"
               : nullptr;
  }
  const Reassembler& bytes = stream.receive.bytes();
  if (!bytes.is_stored()) return "a received byte lies nowhere";
  if (stream.receive.consumed() > stream.receive.charged()) return "more consumed than charged";
  if (bytes.highest() > stream.receive.charged()) return "more stored than charged";
  if (stream.receive.final_known() && bytes.highest() > stream.receive.final_size()) {
    return "bytes behind the end of a stream";
  }
  if (stream.hot().parked > bytes.readable()) return "more parked than readable";
  return nullptr;
}

}  // namespace

std::optional<std::string> Streams::audit() const {
  std::uint64_t stored = 0, parked = 0, open = 0, shares = 0;
  for (std::uint32_t i = 0; i < set_.slot_count(); ++i) {
    const Stream& stream = set_.at(i);
    shares += stream.lane_share.left;
    if (const char* const wrong = contradiction(stream)) {
      return std::string(wrong) + ": stream " + std::to_string(stream.id);
    }
    if (stream.phase != Stream::Phase::kOpen && stream.phase != Stream::Phase::kAwaitingOpen) {
      continue;
    }
    ++open;
    stored += stream.receive.charged() - stream.receive.consumed();
    parked += stream.hot().parked;
  }
  if (open != set_.open_count()) return differ("open streams", set_.open_count(), open);
  const ReceiveCredit& credit = receiving_.credit();
  if (stored != credit.lane().outstanding()) {
    return differ("lane credit that is used", credit.lane().outstanding(), stored);
  }
  if (shares != sending_.credit().reserved()) {
    return differ("shares of the lane", sending_.credit().reserved(), shares);
  }
  if (parked != credit.parked()) return differ("parked bytes", credit.parked(), parked);
  return std::nullopt;
}

}  // namespace satrelay::stp

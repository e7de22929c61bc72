// The accounts of a session, counted anew.
#include <string>

#include "pep/stp/session_impl.h"

namespace satrelay::stp {
namespace {

std::string differ(const char* what, std::uint64_t account, std::uint64_t counted) {
  return std::string(what) + ": account " + std::to_string(account) + ", counted " +
         std::to_string(counted);
}

// What of one stream contradicts itself; nullptr: nothing.
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
  if (stream.parked > bytes.readable()) return "more parked than readable";
  return nullptr;
}

}  // namespace

BlocksHeld Session::blocks_held() const {
  BlocksHeld held;
  for (std::uint32_t i = 0; i < impl_->streams.slot_count(); ++i) {
    const Stream& stream = impl_->streams.at(i);
    held.to_peer += stream.send.blocks_held();
    held.from_peer += stream.receive.bytes().blocks_held();
    held.reserves += stream.reserves_held();
  }
  impl_->remains.add_held(held);
  return held;
}

std::optional<std::string> Session::audit() const {
  const Impl& s = *impl_;
  std::uint64_t stored = 0, parked = 0, open = 0, shares = 0;
  for (std::uint32_t i = 0; i < s.streams.slot_count(); ++i) {
    const Stream& stream = s.streams.at(i);
    shares += stream.lane_share.left;
    if (const char* const wrong = contradiction(stream)) {
      return std::string(wrong) + ": stream " + std::to_string(stream.id);
    }
    if (stream.phase != Stream::Phase::kOpen && stream.phase != Stream::Phase::kAwaitingOpen) {
      continue;
    }
    ++open;
    stored += stream.receive.charged() - stream.receive.consumed();
    parked += stream.parked;
  }
  if (open != s.open_count) return differ("open streams", s.open_count, open);
  if (stored != s.connection->lane_receive.outstanding()) {
    return differ("lane credit that is used", s.connection->lane_receive.outstanding(), stored);
  }
  if (shares != s.lane_shares.reserved()) {
    return differ("shares of the lane", s.lane_shares.reserved(), shares);
  }
  if (parked != s.parked.noted()) return differ("parked bytes", s.parked.noted(), parked);
  return std::nullopt;
}

}  // namespace satrelay::stp

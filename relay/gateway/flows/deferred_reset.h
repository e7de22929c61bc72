// A deferred reset: a host has reset its connection, but bytes that the host sent before are still
// in flight. The bytes reach the far host first, and the RST follows them, as over a bridge. The
// stream carries the RST as a block behind the bytes (docs/stp.md section 5). If the peer does not
// know that block, or the host has sent its FIN before, the gateway sends RESET only when the
// peer's session has all bytes.
//
// The far gateway resets its host once that host has acknowledged all bytes. So the RST overtakes
// no segment that the LAN has lost, and it has the sequence number that the host expects (RFC
// 5961).
#pragma once

#include <cstdint>
#include <optional>

#include "pep/base/time.h"
#include "pep/stp/session.h"
#include "relay/gateway/flows/flow.h"

namespace satrelay::gateway {

// The RST is sent before all bytes are acknowledged in two cases: nothing more was acknowledged for
// kLastWordPatience, or the RST has waited for kLastWordLimit in all.
inline constexpr Duration kLastWordPatience = Duration::seconds(30);
inline constexpr Duration kLastWordLimit = Duration::seconds(120);

// Our host has reset its connection. Returns the first stage of the deferred reset; nullopt if the
// reset has nothing to wait for.
std::optional<DeferredReset::Stage> first_stage(const Flow& f, const stp::Session& session);

// A block behind the bytes tells the peer that our host has reset its connection.
// owes_reset_block() returns whether that block must still be written into the stream, and
// has_told_reset() whether it was written.
inline bool owes_reset_block(const Flow& f) {
  const DeferredReset* const word = f.rare().deferred_reset.get();
  return word != nullptr && word->stage == DeferredReset::Stage::kToStream;
}
inline bool has_told_reset(const Flow& f) {
  const DeferredReset* const word = f.rare().deferred_reset.get();
  return word != nullptr && word->stage == DeferredReset::Stage::kInStream;
}

// Whether something is queued for our host that our host can still acknowledge.
bool has_queued(const Flow& f);

// Returns how many bytes the reset still waits for; the end of a stream counts as one more. If the
// result is zero, the RST is due, unless the far gateway decides when to send it (kToStream,
// kInStream).
std::uint64_t left_before_reset(const Flow& f, const stp::Session& session);

// Records that the reset waits for `left` bytes. Returns true if the reset has waited too long, and
// must be sent now.
[[nodiscard]] bool is_overdue(DeferredReset& word, std::uint64_t left, Instant now);

// How long to wait until the flow is checked again for changes that no event reports.
Duration pause_of(const Flow& f, const stp::Session& session);

}  // namespace satrelay::gateway

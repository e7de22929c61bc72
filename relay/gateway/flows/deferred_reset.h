// A deferred reset: a host has reset its connection, but bytes that it sent before are still in
// flight. They reach the far host first, and the RST follows them, as over a bridge. The stream
// carries the RST as a block behind the bytes (docs/stp.md section 5). If the peer does not know
// that block, or the host had sent its FIN before, RESET waits until the peer's session has all
// bytes.
//
// The far gateway resets its host once the host has acknowledged all bytes. So the RST overtakes no
// segment that the LAN has lost, and it has the sequence number that the host expects (RFC 5961).
#pragma once

#include <cstdint>
#include <optional>

#include "pep/base/time.h"
#include "pep/stp/session.h"
#include "relay/gateway/flows/flow.h"

namespace satrelay::gateway {

// The RST leaves if nothing more was acknowledged for kLastWordPatience, or after kLastWordLimit in
// all.
inline constexpr Duration kLastWordPatience = Duration::seconds(30);
inline constexpr Duration kLastWordLimit = Duration::seconds(120);

// The first stage of the deferred reset of our host, which has reset its connection. nullopt: there
// is nothing to wait for.
std::optional<DeferredReset::Stage> first_stage(const Flow& f, const stp::Session& session);

// Whether the stream must still say, behind the bytes, that our host has reset its connection; and
// whether it has said so.
inline bool owes_reset_block(const Flow& f) {
  const DeferredReset* const word = f.rare().deferred_reset.get();
  return word != nullptr && word->stage == DeferredReset::Stage::kToStream;
}
inline bool has_told_reset(const Flow& f) {
  const DeferredReset* const word = f.rare().deferred_reset.get();
  return word != nullptr && word->stage == DeferredReset::Stage::kInStream;
}

// Something is queued for our host, and the host can still acknowledge it.
bool has_queued(const Flow& f);

// Bytes that the reset still waits for; an end counts as one more. Zero: the RST is due, unless the
// far gateway decides that (kToStream, kInStream).
std::uint64_t left_before_reset(const Flow& f, const stp::Session& session);

// Records what is left. True: the RST waits no longer.
[[nodiscard]] bool is_overdue(DeferredReset& word, std::uint64_t left, Instant now);

// How long to wait before the next look at a flow, for changes that no event reports.
Duration pause_of(const Flow& f, const stp::Session& session);

}  // namespace satrelay::gateway

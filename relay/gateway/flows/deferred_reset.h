// The last word of a host that resets its connection: what it had sent before reaches the far host
// first, and the RST follows, as it does over a bridge. The stream carries the RST as a block
// behind the bytes (docs/stp.md section 5). If the peer does not know that block, or the host had
// sent its FIN before, RESET waits until the peer's session has all bytes.
//
// The far gateway resets its host once that has acknowledged all: so no RST overtakes a segment
// that the LAN has lost, and it has the number that the host expects (RFC 5961).
#pragma once

#include <cstdint>
#include <optional>

#include "pep/base/time.h"
#include "pep/stp/session.h"
#include "relay/gateway/flows/flow.h"

namespace satrelay::gateway {

// A RST waits no longer if less is not left after so long, or in all.
inline constexpr Duration kLastWordPatience = Duration::seconds(30);
inline constexpr Duration kLastWordLimit = Duration::seconds(120);

// How the last word of our host, which has reset its connection, goes on; nullopt: it has none.
std::optional<DeferredReset::Stage> first_stage(const Flow& f, const stp::Session& session);

// The stream is to say that our host has reset its connection, once its bytes are in it; and it
// has.
inline bool owes_reset_block(const Flow& f) {
  const DeferredReset* const word = f.rare().deferred_reset.get();
  return word != nullptr && word->stage == DeferredReset::Stage::kToStream;
}
inline bool has_told_reset(const Flow& f) {
  const DeferredReset* const word = f.rare().deferred_reset.get();
  return word != nullptr && word->stage == DeferredReset::Stage::kInStream;
}

// Something is queued for our host, which can still acknowledge it.
bool has_queued(const Flow& f);

// The bytes of the last word that are left, and an end counts as one more. Zero: the RST is due,
// but where the far gateway says so (kToStream, kInStream).
std::uint64_t left_before_reset(const Flow& f, const stp::Session& session);

// Takes note of what is left. True: the RST waits no longer.
[[nodiscard]] bool is_overdue(DeferredReset& word, std::uint64_t left, Instant now);

// How long it may take until somebody should look again at what nothing tells.
Duration pause_of(const Flow& f, const stp::Session& session);

}  // namespace satrelay::gateway

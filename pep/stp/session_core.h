// The state that both directions of a session share: the connection, the association with the peer
// and its streams, and parts that outlive these. This class also begins and ends associations. All
// state that belongs to one peer is in an Association and its Streams, which are built anew for the
// next peer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "pep/base/arena.h"
#include "pep/base/time.h"
#include "pep/base/work_count.h"
#include "pep/control/pacer.h"
#include "pep/control/rate_controller.h"
#include "pep/stp/association.h"
#include "pep/stp/connection/capacity_announcement.h"
#include "pep/stp/connection/connection.h"
#include "pep/stp/connection/peer_events.h"
#include "pep/stp/counters.h"
#include "pep/stp/fec/fec.h"
#include "pep/stp/fec/repair_budget.h"
#include "pep/stp/packets/changes.h"
#include "pep/stp/path/late_sendings.h"
#include "pep/stp/path/path.h"
#include "pep/stp/path/rate_gate.h"
#include "pep/stp/recovery/recovery.h"
#include "pep/stp/session.h"
#include "pep/stp/streams/retired_streams.h"
#include "pep/stp/streams/stream_table.h"
#include "pep/stp/streams/streams.h"
#include "pep/stp/wire/frames.h"
#include "pep/stp/wire/packet.h"

namespace satrelay::stp {

struct SessionCore {
  SessionCore(const Config& settings, Arena& blocks, control::Pacer& carrier,
              control::RateController& controller, Instant start);
  SessionCore(const SessionCore&) = delete;
  SessionCore& operator=(const SessionCore&) = delete;

  Path& path() { return association->path(); }
  const Path& path() const { return association->path(); }
  // Bytes of a packet beside its frames.
  std::size_t stp_overhead() const { return kHeaderSize + connection.protection().trailer_size(); }
  std::size_t datagram_limit() const;
  bool may_repair() const { return fec != nullptr && connection.agreed().repairs(); }
  bool repairs_wait() const { return fec != nullptr && fec->work_waits(); }

  // --- a call of the session
  // To be called first in a call that may change the session. Returns the streams.
  Streams& change(Changes::Kind kind) {
    changes.note(kind);
    return *streams;
  }
  Streams& change(Changes::Kind kind, Instant at) {
    now = at;
    return change(kind);
  }
  void begin_call(Instant at, std::uint64_t most = Session::kSettledAtOnce) {
    change(Changes::Kind::kAny, at);
    enough_settled = work.total() + most;
  }

  // --- the peer
  Connection::Situation situation() const {
    return {.next = association->ledger.next(),
            .is_silent = path().probes.silent(now),
            .may_begin = !retired_streams.full(),
            .now = now};
  }
  // Reacts to what the connection has found out about the peer.
  void follow(const Connection::Heard& news);
  void heard();
  void close();
  void close_by_peer();

  // Makes the object that applies the fate of our packets, for one call.
  Recovery recovery() {
    return Recovery({association->ledger, path(), *streams, fec.get(), own_capacity, late_sendings,
                     counters, work, enough_settled, now});
  }

  Config config;
  Arena& arena;
  Instant now;  // time of the last call
  Changes changes;
  LateSendings late_sendings;
  Counters counters;
  WorkCount work;
  std::uint64_t enough_settled = 0;  // when `work` reaches this count, this call has done enough

  Connection connection;
  PeerEvents peer_events;
  CapacityAnnouncement own_capacity;  // capacity of the direction to us

  // The state for the current peer. Both objects always exist, and are built anew together for the
  // next peer (begin_anew()).
  std::optional<Association> association;
  std::optional<Streams> streams;

  // These members outlive the association:
  OwnRepairs own_repairs;
  std::unique_ptr<Fec> fec;        // keeps its memory and counters; nullptr: FEC is off
  OwnIds own_ids;                  // the relay never gets an id twice
  RetiredStreams retired_streams;  // the streams of associations that have ended

 private:
  void begin_anew();
  void begin_with(SentLedger unused, const RateGate& gate);
  void renew_promise();
  void begin_session(bool has_restarted);
};

}  // namespace satrelay::stp

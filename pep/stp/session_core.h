// The state that both directions of a session share: the connection, the association with the peer
// and its streams, and parts that outlive these. This class also begins and ends associations. All
// state that belongs to one boot epoch of the peer is in an Association and its Streams. Both are
// built anew for the next boot epoch.
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
  // Size of a packet's header and trailer in bytes.
  std::size_t stp_overhead() const { return kHeaderSize + connection.protection().trailer_size(); }
  std::size_t datagram_limit() const;
  bool may_repair() const { return fec != nullptr && connection.agreed().repairs(); }
  bool repairs_wait() const { return fec != nullptr && fec->work_waits(); }

  // --- a call of the session
  // Every call that may change the session calls this function first. Returns the streams.
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
  // Handles a change of the peer that the connection has reported.
  void follow(const Connection::Heard& news);
  void heard();
  void close();
  void close_by_peer();

  // Makes the object that processes the acknowledgment and the loss of our packets. It is valid for
  // one call.
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
  // When `work` reaches this count, the current call settles no more objects.
  std::uint64_t enough_settled = 0;

  Connection connection;
  PeerEvents peer_events;
  CapacityAnnouncement own_capacity;  // capacity of the direction from the peer

  // The state that belongs to the current boot epoch of the peer. Both objects always exist.
  // begin_anew() builds both anew.
  std::optional<Association> association;
  std::optional<Streams> streams;

  // These members outlive the association:
  OwnRepairs own_repairs;
  std::unique_ptr<Fec> fec;        // nullptr if FEC is off
  OwnIds own_ids;                  // never reset, so that the relay never gets an id twice
  RetiredStreams retired_streams;  // the streams of associations that have ended

 private:
  void begin_anew();
  void begin_with(SentLedger unused, const RateGate& gate);
  void renew_promise();
  void begin_session(bool has_restarted);
};

}  // namespace satrelay::stp

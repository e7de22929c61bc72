// Connects the parts of a session.
#pragma once

#include "pep/stp/demand.h"
#include "pep/stp/packet_receiver.h"
#include "pep/stp/packet_sender.h"
#include "pep/stp/packets/stream_writer.h"
#include "pep/stp/session.h"
#include "pep/stp/session_core.h"
#include "pep/stp/session_timers.h"

namespace satrelay::stp {

struct Session::Impl {
  Impl(const Config& settings, Arena& blocks, control::Pacer& carrier,
       control::RateController& controller, StreamSource& source, Instant start)
      : core(settings, blocks, carrier, controller, start), writer(source, core.work) {}

  // Whether there is unfinished work, which is done in parts by several calls.
  bool work_waits() const {
    return !core.retired_streams.empty() || core.streams->work_waits() ||
           !core.path().reports.empty() || core.repairs_wait();
  }
  void go_on() {
    core.retired_streams.go_on(core.work);
    core.streams->go_on();
    if (!core.path().reports.empty()) core.recovery().work_off_reports();
    receiver.work_off_repairs();
  }

  SessionCore core;
  StreamWriter writer;
  Demand demand{core, writer};
  SessionTimers timers{core, demand};
  PacketReceiver receiver{core};
  PacketSender sender{core, demand, timers, writer};
};

}  // namespace satrelay::stp

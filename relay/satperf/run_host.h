// Connects one run to a socket and the clock, and reports the run.
#pragma once

#include <optional>
#include <string>

#include "relay/satperf/machine.h"
#include "relay/satperf/output.h"
#include "relay/satperf/report.h"
#include "relay/satperf/run.h"
#include "relay/satperf/send_batch.h"
#include "relay/satperf/udp_socket.h"

namespace satrelay::satperf {

class RunHost {
 public:
  enum class Sockets : std::uint8_t { kConnected, kShared };

  // `socket`, `report` and `output` must outlive the host. If `buffer` is zero, the size is
  // computed from the rate.
  RunHost(const RunConfig& config, ByteCount buffer, UdpSocket& socket, Sockets sockets,
          const SocketAddress& peer, const Report& report, Output& output, Instant now);

  void handle_datagram(ConstBytes datagram, Instant now) { run_.handle_packet(datagram, now); }
  // Handles events, writes reports and sends packets. Call this after datagrams, and when
  // next_timeout() is due.
  void turn(Instant now);
  Instant next_timeout() const;
  bool waits_for_room() const { return blocked_; }
  void note_errors(const UdpSocket::Errors& errors) { not_sent_ += errors.not_sent; }

  // Closes the session with the peer, and writes the summary. Returns true if all payload has
  // arrived undamaged.
  bool finish(Outcome outcome, std::string why, Instant now);

  const Run& run() const { return run_; }
  const SocketAddress& peer() const { return peer_; }
  Duration silence(Instant now) const { return now - run_.last_heard(); }

 private:
  void send(Instant now);
  void begin(Instant now);
  void tick(Instant now);
  Snapshot snapshot(Instant now) const;
  BothEnds both_ends(const Span& own, const std::optional<Span>& other) const;

  RunConfig config_;
  UdpSocket& socket_;
  bool shared_;
  SocketAddress peer_;
  const Report& report_;
  Output& output_;
  Memory memory_;
  Run run_;
  SendBatch batch_;
  bool blocked_ = false;
  bool more_ = false;  // the batch was full, so there is more to send
  bool last_record_sent_ = false;
  // No packets are sent before this time, so that several packets leave in one system call.
  Instant next_turn_;
  Instant next_tick_ = Instant::never();
  CpuTime cpu_at_start_;
  std::uint64_t not_sent_ = 0;
  Snapshot reported_;        // this end's snapshot in the last interval report
  Snapshot other_reported_;  // the other end's snapshot in the last interval report
};

}  // namespace satrelay::satperf

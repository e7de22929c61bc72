// One run at one end: an STP session and its payload. Like the session, the run uses no socket and
// no clock. The host passes datagrams and the time to the run, and takes datagrams from it.
//
// The client opens stream 0. The server uses it to send a record of its snapshot at each interval,
// and a last record when all payload has arrived. Payload uses other streams, which the client
// opens even if the server sends.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pep/base/arena.h"
#include "pep/control/pacer.h"
#include "pep/control/rate_controller.h"
#include "pep/stp/session.h"
#include "relay/satperf/pattern.h"
#include "relay/satperf/plan.h"
#include "relay/satperf/snapshot.h"

namespace satrelay::satperf {

struct RunConfig {
  Plan plan;
  End end = End::kClient;
  std::uint64_t boot_epoch = 0;          // wall clock at the start, in nanoseconds
  std::uint16_t datagram_overhead = 28;  // size of the IP and UDP headers in bytes
};

class Run final : private stp::StreamSource {
 public:
  enum class State : std::uint8_t {
    kConnecting,
    kRunning,
    kComplete,  // all payload has arrived; the client also has the server's last record
    kEnded,     // the other end has stopped or cannot continue: see why()
  };

  // The run stores its payload in `memory`, which must outlive the run.
  Run(const RunConfig& config, MutableBytes memory, Instant now);

  void handle_packet(ConstBytes datagram, Instant now) { session_.handle_packet(datagram, now); }
  // Call this after any number of packets, and when next_timeout() is due.
  void handle_events(Instant now);
  // Sends a snapshot from the server to the client. Returns false if there is no room for it now.
  bool publish(const Snapshot& snapshot, Instant now);
  void close(Instant now) { session_.close(now); }

  std::size_t poll_packet(MutableBytes out, Instant now) { return session_.poll_packet(out, now); }
  // The traffic class for the IP header of the packet that was just polled (TP-S section 3): the
  // DSCP and two zero bits.
  std::uint8_t traffic_class() const {
    return static_cast<std::uint8_t>(control::dscp_of(session_.last_priority()) << 2);
  }
  Instant next_timeout() const;

  State state() const { return state_; }
  const std::string& why() const { return why_; }
  std::size_t datagram_size() const { return datagram_size_; }
  Instant began() const { return began_; }            // never() while connecting
  Instant last_heard() const { return last_heard_; }  // arrival time of the last valid packet
  // Returns the present snapshot, without the fields that only the host knows (CPU time and send
  // errors).
  Snapshot snapshot(Instant now) const;
  // The latest snapshot from the server, or nullopt before the first.
  const std::optional<Snapshot>& remote() const { return remote_; }

 private:
  struct Flow {
    stp::StreamId stream{};
    bool over = false;
    // Number of bytes to transfer; the maximum value if only the time limits the flow.
    std::uint64_t limit = 0;
    std::uint64_t moved = 0;  // number of bytes that were written or read
    bool block_damaged = false;
  };

  bool sends() const { return config_.plan.sender() == config_.end; }
  void produce(stp::StreamId stream, std::uint32_t context, Instant now) override;
  void handle(const stp::Event& event, Instant now);
  void begin(Instant now);
  void accept(stp::StreamId stream, Instant now);
  void start_sending(Flow& flow);
  void read_payload(Flow& flow, std::uint32_t index, Instant now);
  void check(Flow& flow, std::uint32_t index, ConstBytes bytes);
  void read_records(Instant now);
  void flow_over(Flow& flow);
  void stop_sending();
  void end(std::string why);
  void update_completion();

  RunConfig config_;
  std::size_t datagram_size_;
  Arena arena_;
  std::unique_ptr<control::RateController> controller_;
  control::Pacer pacer_;
  stp::Session session_;
  Pattern pattern_;
  std::array<std::byte, kBlock> block_;
  State state_ = State::kConnecting;
  std::string why_;
  Instant began_ = Instant::never();
  Instant stop_at_ = Instant::never();
  Instant last_heard_;
  std::uint64_t packets_heard_ = 0;
  std::optional<stp::StreamId> records_;
  std::uint64_t record_bytes_ = 0;  // number of bytes of records that were written or read
  std::vector<Flow> flows_;
  std::uint32_t flows_over_ = 0;
  std::optional<Snapshot> remote_;
  Snapshot counts_;  // only the fields that this class itself counts are set
};

}  // namespace satrelay::satperf

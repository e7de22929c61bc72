// Records a time series of a run: samples of the network's state at intervals of virtual time, as
// plain values for tables, CSV and plots. Sampling does not influence the run.
//
// All counters are totals since the start of the run, or since the last start of the gateway. A
// rate is the difference of two samples, divided by the time between the samples.
#pragma once

#include <cstdint>
#include <vector>

#include "pep/base/time.h"
#include "pep/base/units.h"
#include "pep/stp/session.h"
#include "relay/gateway/counters.h"
#include "relay/link/link_direction.h"
#include "relay/sim/scenarios/scenario.h"

namespace satrelay::sim {

class Network;

// One gateway, and its session with the other gateway. If there are several sessions, the values
// are from the session of the first worker.
struct GatewaySample {
  bool running = false;  // if false, all other values are zero
  stp::PeerState peer = stp::PeerState::kConnecting;
  // Counters of the session: packets sent, declared lost and repaired, and bytes stored.
  stp::Counters stp;
  gateway::Counters frames;  // frames bridged and dropped, by reason
  BitRate send_rate;         // rate that the controller allows
  Duration rtt;              // smoothed round-trip time
  // Share of lost packets among about the last 10,000 packets that this gateway sent.
  double loss_ratio = 0;
  std::uint64_t packets_in_flight = 0;
  std::uint64_t bytes_stored = 0;  // stream bytes received and not yet delivered to hosts
  std::uint64_t arena_used = 0;    // number of bytes of the arena that are in use
};

// One direction of the satellite link.
struct LinkSample {
  link::DirectionCounters counters;
  ByteCount queue;       // bytes that wait to be sent now, counted with the link's overhead
  Duration queue_delay;  // time until the last frame in the queue has been sent
  Duration queue_peak;   // maximum wait of the frames that were sent since the last sample
  std::uint64_t frames_in_flight = 0;
  BitRate rate;
};

// One flow at its two ends. `server_received` counts the bytes delivered in order to the server's
// application (upload), and `client_received` those delivered to the client's application
// (download).
struct FlowSample {
  Side client_side = Side::kA;
  std::uint64_t client_written = 0;
  std::uint64_t server_received = 0;
  std::uint64_t server_written = 0;
  std::uint64_t client_received = 0;
};

struct Sample {
  Instant when;
  GatewaySample gateways[2];      // indexed by Side
  LinkSample links[2];            // indexed by the Side that sends into the link
  std::vector<FlowSample> flows;  // same indexes as Network::flow()

  const GatewaySample& gateway(Side side) const { return gateways[static_cast<std::size_t>(side)]; }
  const LinkSample& link_from(Side side) const { return links[static_cast<std::size_t>(side)]; }
  // Unique stream bytes that the gateway at `side` has stored: the goodput of the satellite path.
  std::uint64_t stored_at(Side side) const { return gateway(side).stp.stream_bytes_in; }
  // Bytes delivered in order to applications on this side, over all flows.
  std::uint64_t delivered_to(Side side) const;
};

class Recorder {
 public:
  // Takes a sample now, and then every `interval` while the network runs. The recorder must live as
  // long as the network's loop runs.
  Recorder(Network& network, Duration interval);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  const std::vector<Sample>& samples() const { return samples_; }
  Duration interval() const { return interval_; }
  // Takes a last sample now, so that the series ends with the run. After that it takes no more
  // samples.
  void stop();

 private:
  void schedule();
  Network* network_;
  Duration interval_;
  Instant next_;
  bool stopped_ = false;
  std::vector<Sample> samples_;
};

// Returns the present state of the network. Resets the peaks of the queues.
Sample take_sample(Network& network);

}  // namespace satrelay::sim

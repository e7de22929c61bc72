// The counters of an STP session, since the session was created.
#pragma once

#include <array>
#include <cstdint>

#include "pep/base/counter_fields.h"

namespace satrelay::stp {

struct Counters {
  std::uint64_t packets_in = 0, packets_out = 0;
  std::uint64_t bytes_in = 0, bytes_out = 0;
  std::uint64_t packets_lost = 0, packets_lost_at_peer = 0, spurious_losses = 0;
  std::uint64_t retransmitted_bytes = 0, copies_out = 0;
  std::uint64_t tail_probes = 0;
  std::uint64_t repair_packets_in = 0, repair_packets_out = 0;
  std::uint64_t repair_used = 0, repair_wasted = 0, repair_dropped = 0, repair_overload = 0;
  std::uint64_t repair_starved = 0;
  std::uint64_t feedback_in = 0, feedback_dropped = 0, feedback_out = 0;
  std::uint64_t duplicate_packets_in = 0;
  std::uint64_t bad_crc = 0, not_authentic = 0;
  std::uint64_t hellos_unread = 0, hellos_repeated = 0, hellos_without_mac = 0;
  std::uint64_t hellos_delayed = 0, newcomers = 0, security_mismatch = 0, lanes_mismatch = 0;
  std::uint64_t keys_in = 0, keys_out = 0;
  std::uint64_t malformed = 0, unknown_frames = 0, stale_epoch = 0, version_mismatch = 0;
  std::uint64_t no_memory_drops = 0;
  std::uint64_t refused_packets_in = 0;
  std::uint64_t scattered_packets_in = 0, scattered_bytes_in = 0;
  std::uint64_t credit_violations = 0;
  std::uint64_t streams_opened = 0, streams_accepted = 0, streams_refused = 0;
  std::uint64_t streams_reset_in = 0, streams_reset_out = 0;
  std::uint64_t stream_bytes_in = 0, stream_bytes_out = 0;
  std::uint64_t peer_restarts = 0;
  std::uint64_t mtu_probes = 0, mtu_probes_lost = 0, mtu_black_holes = 0;
  std::uint64_t confirmations_in = 0, confirmations_out = 0;
  std::uint64_t capacities_in = 0, capacities_out = 0;
  std::uint64_t late_reports_in = 0, late_reports_out = 0;
  std::uint64_t rate_cuts_delay = 0, rate_cuts_loss = 0, rate_cuts_controller = 0;
  std::uint64_t rate_cuts_announced = 0, rate_cuts_commanded = 0, rate_cuts_configured = 0;

  static constexpr std::array<CounterField<Counters>, 64> kFields{{
      {"packets_in", &Counters::packets_in, "packets received"},
      {"packets_out", &Counters::packets_out, "packets sent"},
      {"bytes_in", &Counters::bytes_in, "UDP payload received", CounterUnit::kBytes},
      {"bytes_out", &Counters::bytes_out, "UDP payload sent", CounterUnit::kBytes},
      {"packets_lost", &Counters::packets_lost, "packets that their sender declared lost"},
      {"packets_lost_at_peer", &Counters::packets_lost_at_peer,
       "packets lost because the peer's port had no room for them"},
      {"spurious_losses", &Counters::spurious_losses,
       "packets declared lost, and received after all"},
      {"retransmitted_bytes", &Counters::retransmitted_bytes, "stream bytes retransmitted",
       CounterUnit::kBytes},
      {"copies_out", &Counters::copies_out,
       "extra copies of bytes that were lost three times or more"},
      {"tail_probes", &Counters::tail_probes, "packets sent because no reports came"},
      {"repair_packets_in", &Counters::repair_packets_in, "packets of error correction received"},
      {"repair_packets_out", &Counters::repair_packets_out, "packets of error correction sent"},
      {"repair_used", &Counters::repair_used, "lost packets that repairs recovered"},
      {"repair_wasted", &Counters::repair_wasted, "repairs received that recovered nothing"},
      {"repair_dropped", &Counters::repair_dropped,
       "repairs not sent: too late, or for a stream that became bulk"},
      {"repair_starved", &Counters::repair_starved,
       "windows with few repairs, because there was no time to compute more"},
      {"repair_overload", &Counters::repair_overload,
       "repairs dropped because there was no time to use them"},
      {"feedback_in", &Counters::feedback_in, "reports on received packets from the peer"},
      {"feedback_dropped", &Counters::feedback_dropped,
       "reports dropped, because the peer sends more than can be processed"},
      {"feedback_out", &Counters::feedback_out, "reports on received packets to the peer"},
      {"duplicate_packets_in", &Counters::duplicate_packets_in, "packets received twice"},
      {"bad_crc", &Counters::bad_crc, "packets dropped for a wrong CRC32C"},
      {"not_authentic", &Counters::not_authentic,
       "packets dropped: forged, or changed on the path"},
      {"hellos_unread", &Counters::hellos_unread, "HELLOs dropped unread: too many at a time"},
      {"hellos_repeated", &Counters::hellos_repeated, "HELLOs of the peer received again"},
      {"hellos_without_mac", &Counters::hellos_without_mac,
       "HELLOs without a MAC, though the peer sends them with one"},
      {"hellos_delayed", &Counters::hellos_delayed, "our HELLOs and CLOSEs that had to wait"},
      {"newcomers", &Counters::newcomers, "HELLOs of a new boot, not proved yet"},
      {"security_mismatch", &Counters::security_mismatch,
       "HELLOs of a peer with another security setting"},
      {"lanes_mismatch", &Counters::lanes_mismatch,
       "HELLOs of a peer with another number of lanes"},
      {"keys_in", &Counters::keys_in, "new keys of the peer"},
      {"keys_out", &Counters::keys_out, "our new keys"},
      {"malformed", &Counters::malformed, "packets dropped: not STP of this version"},
      {"unknown_frames", &Counters::unknown_frames, "frames of a later version, ignored"},
      {"stale_epoch", &Counters::stale_epoch, "packets of an old session"},
      {"version_mismatch", &Counters::version_mismatch, "packets of another version"},
      {"no_memory_drops", &Counters::no_memory_drops, "stream bytes dropped for lack of memory",
       CounterUnit::kBytes},
      {"refused_packets_in", &Counters::refused_packets_in,
       "packets not acknowledged, because there was no room for a part of them"},
      {"scattered_packets_in", &Counters::scattered_packets_in,
       "packets dropped behind too many gaps"},
      {"scattered_bytes_in", &Counters::scattered_bytes_in,
       "stream bytes dropped behind too many gaps", CounterUnit::kBytes},
      {"credit_violations", &Counters::credit_violations,
       "frames beyond the credit that was granted"},
      {"streams_opened", &Counters::streams_opened, "streams opened by us"},
      {"streams_accepted", &Counters::streams_accepted, "streams opened by the peer"},
      {"streams_refused", &Counters::streams_refused,
       "streams of the peer refused for lack of room"},
      {"streams_reset_in", &Counters::streams_reset_in, "streams ended by a reset of the peer"},
      {"streams_reset_out", &Counters::streams_reset_out, "streams ended by our reset"},
      {"stream_bytes_in", &Counters::stream_bytes_in, "unique stream bytes stored",
       CounterUnit::kBytes},
      {"stream_bytes_out", &Counters::stream_bytes_out, "stream bytes sent for the first time",
       CounterUnit::kBytes},
      {"peer_restarts", &Counters::peer_restarts, "new boot epochs of the peer"},
      {"mtu_probes", &Counters::mtu_probes, "packets that searched for the path MTU"},
      {"mtu_probes_lost", &Counters::mtu_probes_lost,
       "packets that searched for the path MTU and were lost"},
      {"mtu_black_holes", &Counters::mtu_black_holes, "times that large packets stopped arriving"},
      {"confirmations_in", &Counters::confirmations_in, "CONFIRM frames received"},
      {"confirmations_out", &Counters::confirmations_out, "CONFIRM frames sent"},
      {"capacities_in", &Counters::capacities_in, "capacities that the peer announced"},
      {"capacities_out", &Counters::capacities_out, "capacities announced to the peer"},
      {"late_reports_in", &Counters::late_reports_in,
       "reports on a packet that had waited at the peer's port"},
      {"late_reports_out", &Counters::late_reports_out,
       "reports on a packet that had waited at our port"},
      {"rate_cuts_delay", &Counters::rate_cuts_delay, "cuts of the rate: a queue grew on the path"},
      {"rate_cuts_loss", &Counters::rate_cuts_loss, "cuts of the rate: too many packets were lost"},
      {"rate_cuts_controller", &Counters::rate_cuts_controller,
       "cuts of the rate: decided by rate control"},
      {"rate_cuts_announced", &Counters::rate_cuts_announced,
       "cuts of the rate: the peer announced a lower capacity"},
      {"rate_cuts_commanded", &Counters::rate_cuts_commanded,
       "cuts of the rate: commanded by the operator"},
      {"rate_cuts_configured", &Counters::rate_cuts_configured,
       "cuts of the rate: the configuration changed"},
  }};
};
static_assert(lists_every_counter<Counters>());

}  // namespace satrelay::stp

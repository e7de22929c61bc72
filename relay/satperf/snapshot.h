// The state of one end of a run at one time: counts since the run began. The server also sends it
// to the client as a record: big-endian 64-bit integers in the order of Snapshot::kFields.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "pep/base/bytes.h"
#include "pep/base/counter_fields.h"

namespace satrelay::satperf {

struct Snapshot {
  std::uint64_t time_ns = 0;
  std::uint64_t delivered_bytes = 0;
  std::uint64_t stored_bytes = 0;
  std::uint64_t first_byte_ns = 0;
  std::uint64_t last_byte_ns = 0;
  std::uint64_t blocks_checked = 0;
  std::uint64_t blocks_damaged = 0;
  std::uint64_t sent_bytes = 0;
  std::uint64_t retransmitted_bytes = 0;
  std::uint64_t acknowledged_bytes = 0;
  std::uint64_t packets_out = 0;
  std::uint64_t packets_in = 0;
  std::uint64_t udp_bytes_out = 0;
  std::uint64_t udp_bytes_in = 0;
  std::uint64_t packets_lost = 0;
  std::uint64_t spurious_losses = 0;
  std::uint64_t tail_probes = 0;
  std::uint64_t reports_in = 0;
  std::uint64_t reports_out = 0;
  std::uint64_t duplicate_packets = 0;
  std::uint64_t bad_crc_packets = 0;
  std::uint64_t malformed_packets = 0;
  std::uint64_t no_memory_drops = 0;
  std::uint64_t send_errors = 0;
  std::uint64_t rtt_us = 0;
  std::uint64_t capacity_bps = 0;
  std::uint64_t cpu_user_us = 0;
  std::uint64_t cpu_system_us = 0;
  std::uint64_t complete = 0;

  friend bool operator==(const Snapshot&, const Snapshot&) = default;

  static constexpr std::array<CounterField<Snapshot>, 29> kFields{{
      {"time_ns", &Snapshot::time_ns, "time since the session began", CounterUnit::kNanoseconds},
      {"delivered_bytes", &Snapshot::delivered_bytes, "payload taken in order",
       CounterUnit::kBytes},
      {"stored_bytes", &Snapshot::stored_bytes, "unique payload that has arrived",
       CounterUnit::kBytes},
      {"first_byte_ns", &Snapshot::first_byte_ns, "when the first payload was taken",
       CounterUnit::kNanoseconds, CounterKind::kGauge},
      {"last_byte_ns", &Snapshot::last_byte_ns, "when the last payload was taken",
       CounterUnit::kNanoseconds, CounterKind::kGauge},
      {"blocks_checked", &Snapshot::blocks_checked,
       "blocks of payload compared with their pattern"},
      {"blocks_damaged", &Snapshot::blocks_damaged,
       "blocks of payload that differed from their pattern"},
      {"sent_bytes", &Snapshot::sent_bytes, "payload sent for the first time", CounterUnit::kBytes},
      {"retransmitted_bytes", &Snapshot::retransmitted_bytes, "payload retransmitted",
       CounterUnit::kBytes},
      {"acknowledged_bytes", &Snapshot::acknowledged_bytes,
       "payload that the other end has confirmed", CounterUnit::kBytes},
      {"packets_out", &Snapshot::packets_out, "packets sent"},
      {"packets_in", &Snapshot::packets_in, "packets received"},
      {"udp_bytes_out", &Snapshot::udp_bytes_out, "UDP payload sent", CounterUnit::kBytes},
      {"udp_bytes_in", &Snapshot::udp_bytes_in, "UDP payload received", CounterUnit::kBytes},
      {"packets_lost", &Snapshot::packets_lost, "packets declared lost"},
      {"spurious_losses", &Snapshot::spurious_losses,
       "packets declared lost, and received after all"},
      {"tail_probes", &Snapshot::tail_probes, "packets sent because no reports came"},
      {"reports_in", &Snapshot::reports_in, "reports on received packets from the other end"},
      {"reports_out", &Snapshot::reports_out, "reports on received packets to the other end"},
      {"duplicate_packets", &Snapshot::duplicate_packets, "packets received twice"},
      {"bad_crc_packets", &Snapshot::bad_crc_packets, "packets dropped for a wrong CRC32C"},
      {"malformed_packets", &Snapshot::malformed_packets,
       "packets dropped: not STP of this version"},
      {"no_memory_drops", &Snapshot::no_memory_drops, "stream bytes dropped for lack of memory",
       CounterUnit::kBytes},
      {"send_errors", &Snapshot::send_errors, "datagrams that the kernel did not accept"},
      {"rtt_us", &Snapshot::rtt_us, "smoothed round trip", CounterUnit::kMicroseconds,
       CounterKind::kGauge},
      {"capacity_bps", &Snapshot::capacity_bps,
       "capacity of the path that the sender has found; 0: none yet, or not asked for",
       CounterUnit::kNumber, CounterKind::kGauge},
      {"cpu_user_us", &Snapshot::cpu_user_us, "processor time in the program",
       CounterUnit::kMicroseconds},
      {"cpu_system_us", &Snapshot::cpu_system_us, "processor time in the kernel",
       CounterUnit::kMicroseconds},
      {"complete", &Snapshot::complete, "1 in the last record: all payload has arrived",
       CounterUnit::kNumber, CounterKind::kGauge},
  }};
};
static_assert(lists_every_counter<Snapshot>());

inline constexpr std::size_t kRecordSize = Snapshot::kFields.size() * 8;

inline std::array<std::byte, kRecordSize> write_record(const Snapshot& snapshot) {
  std::array<std::byte, kRecordSize> bytes{};
  std::size_t at = 0;
  for (const CounterField<Snapshot>& field : Snapshot::kFields) {
    store_u64(bytes.data() + at, snapshot.*field.member);
    at += 8;
  }
  return bytes;
}

inline Snapshot read_record(std::span<const std::byte, kRecordSize> bytes) {
  Snapshot snapshot;
  std::size_t at = 0;
  for (const CounterField<Snapshot>& field : Snapshot::kFields) {
    snapshot.*field.member = load_u64(bytes.data() + at);
    at += 8;
  }
  return snapshot;
}

}  // namespace satrelay::satperf

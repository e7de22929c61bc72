// All that one end of a run knows about it at a moment: counts since the run began. Also the record
// that the server sends to the client, as big-endian 64-bit integers in the order of kFields.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "pep/base/bytes.h"

namespace satrelay::satperf {

struct Snapshot {
  std::uint64_t time_ns = 0;          // since the ends knew each other
  std::uint64_t delivered_bytes = 0;  // payload taken in order
  std::uint64_t stored_bytes = 0;     // unique payload that has arrived
  std::uint64_t first_byte_ns = 0;    // when the first payload was taken, and the last
  std::uint64_t last_byte_ns = 0;
  std::uint64_t blocks_checked = 0;
  std::uint64_t blocks_damaged = 0;
  std::uint64_t sent_bytes = 0;  // payload sent for the first time
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
  std::uint64_t send_errors = 0;  // datagrams that the kernel did not take
  std::uint64_t rtt_us = 0;       // smoothed
  std::uint64_t cpu_user_us = 0;
  std::uint64_t cpu_system_us = 0;
  std::uint64_t complete = 0;  // 1 in the last record: all payload is through

  friend bool operator==(const Snapshot&, const Snapshot&) = default;
};

struct SnapshotField {
  const char* name;  // as in JSON
  std::uint64_t Snapshot::*member;
};
inline constexpr std::array<SnapshotField, 28> kFields{{
    {"time_ns", &Snapshot::time_ns},
    {"delivered_bytes", &Snapshot::delivered_bytes},
    {"stored_bytes", &Snapshot::stored_bytes},
    {"first_byte_ns", &Snapshot::first_byte_ns},
    {"last_byte_ns", &Snapshot::last_byte_ns},
    {"blocks_checked", &Snapshot::blocks_checked},
    {"blocks_damaged", &Snapshot::blocks_damaged},
    {"sent_bytes", &Snapshot::sent_bytes},
    {"retransmitted_bytes", &Snapshot::retransmitted_bytes},
    {"acknowledged_bytes", &Snapshot::acknowledged_bytes},
    {"packets_out", &Snapshot::packets_out},
    {"packets_in", &Snapshot::packets_in},
    {"udp_bytes_out", &Snapshot::udp_bytes_out},
    {"udp_bytes_in", &Snapshot::udp_bytes_in},
    {"packets_lost", &Snapshot::packets_lost},
    {"spurious_losses", &Snapshot::spurious_losses},
    {"tail_probes", &Snapshot::tail_probes},
    {"reports_in", &Snapshot::reports_in},
    {"reports_out", &Snapshot::reports_out},
    {"duplicate_packets", &Snapshot::duplicate_packets},
    {"bad_crc_packets", &Snapshot::bad_crc_packets},
    {"malformed_packets", &Snapshot::malformed_packets},
    {"no_memory_drops", &Snapshot::no_memory_drops},
    {"send_errors", &Snapshot::send_errors},
    {"rtt_us", &Snapshot::rtt_us},
    {"cpu_user_us", &Snapshot::cpu_user_us},
    {"cpu_system_us", &Snapshot::cpu_system_us},
    {"complete", &Snapshot::complete},
}};

inline constexpr std::size_t kRecordSize = kFields.size() * 8;
static_assert(sizeof(Snapshot) == kRecordSize, "every member has its field");

inline std::array<std::byte, kRecordSize> write_record(const Snapshot& snapshot) {
  std::array<std::byte, kRecordSize> bytes{};
  std::size_t at = 0;
  for (const SnapshotField& field : kFields) {
    store_u64(bytes.data() + at, snapshot.*field.member);
    at += 8;
  }
  return bytes;
}

inline Snapshot read_record(std::span<const std::byte, kRecordSize> bytes) {
  Snapshot snapshot;
  std::size_t at = 0;
  for (const SnapshotField& field : kFields) {
    snapshot.*field.member = load_u64(bytes.data() + at);
    at += 8;
  }
  return snapshot;
}

}  // namespace satrelay::satperf

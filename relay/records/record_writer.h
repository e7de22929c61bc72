// Takes the records of flows out of the workers' rings, and writes them to a file of JSON lines, an
// IPFIX collector, or both, as configured. Records that cannot be written are counted and lost:
// neither disk nor collector ever delays a worker. The writer tries an output that fails again
// after some time, even if no flow ends.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/model/schema.h"
#include "pep/base/time.h"
#include "relay/records/ipfix_exporter.h"
#include "relay/records/json_line.h"
#include "relay/records/record_ring.h"
#include "relay/records/records_report.h"
#include "relay/records/rotating_file.h"

namespace satrelay::records {

class RecordWriter {
 public:
  // After a failure the writer pauses for this long before it tries the file again. Each further
  // failure doubles the pause, up to kLongestPause. That is only a few seconds, since an attempt
  // costs one write, and the records of flows that end during a pause are lost.
  static constexpr Duration kFirstPause = Duration::seconds(1);
  static constexpr Duration kLongestPause = Duration::seconds(8);
  // A failure counts as over once the file or the collector has worked for this long.
  static constexpr Duration kSteadyAfter = CollectorSocket::kSteadyAfter;

  // `rings`: the rings of the workers, which must outlive this object. `peers`: the names of the
  // peers, in the order of the configuration. Throws std::runtime_error.
  RecordWriter(const config::Records& config, std::vector<std::string> peers,
               std::vector<RecordRing*> rings);

  // --- by the writer's thread ------------------------------------------------------------------
  // Opens the file, so that a failure shows now and not with the first record.
  void open_file(Instant now);
  // Handles all records that the rings have when it is called. `epoch`: see RecordContext. A
  // failure of one output is reported, and the other output goes on. Throws only std::bad_alloc, if
  // there is no memory for the report.
  void look(Instant now, std::uint64_t epoch);
  // Called at the end: if the file fails, tries once more to write the lines that wait for it,
  // without a pause.
  void write_rest(Instant now);
  // True if no record is in the rings or in the collector's socket. Lines for a file that fails may
  // still wait.
  bool is_idle() const;

  // --- any thread ------------------------------------------------------------------------------
  RecordsReport report() const;

 private:
  using Records = std::span<const gateway::FlowRecord>;

  void take_from(RecordRing& ring, const RecordContext& context, Instant now);
  void write(Records records, const RecordContext& context, Instant now);
  void write_lines(Instant now);
  void file_failed(const std::exception& error, Instant now);
  std::uint64_t in_rings() const;
  void hand_out(Records records, const RecordContext& context, Instant now);
  template <typename Step>
  void try_export(const Step& step, Instant now);
  void look_for_ends_of_trouble(Instant now);
  void publish();

  const std::vector<std::string> peers_;
  const std::vector<RecordRing*> rings_;
  RecordCounters counters_;
  std::optional<RotatingFile> file_;
  bool file_fails_ = false;   // the last write failed
  std::string file_trouble_;  // "": no failure
  Duration file_pause_ = kFirstPause;
  Instant file_retry_;       // next attempt, while the file fails
  Instant file_well_since_;  // when the file last began to work
  // The lines to write next. If the file fails, they stay here for the next attempt: only a write
  // shows that the disk has room again.
  fmt::memory_buffer lines_;
  std::size_t line_count_ = 0;
  std::optional<IpfixExporter> exporter_;
  std::string collector_trouble_;  // "": no failure
  Instant export_failed_at_;       // last failure other than a failure of the socket

  mutable std::mutex mutex_;  // guards `report_`; held only to copy
  RecordsReport report_;
};

}  // namespace satrelay::records

// Takes the flow records out of the workers' rings, and writes them to a file of JSON lines, to an
// IPFIX collector, or to both, as configured. Records that cannot be written are counted and lost,
// so that neither the disk nor the collector ever delays a worker. If an output fails, the writer
// tries it again after some time, even if no flow ends.
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
  // After a failure the writer waits for this long before it tries the file again. Each further
  // failure doubles the pause, up to kLongestPause. The pauses are short, since an attempt costs
  // only one write, while the records of flows that end during a pause are lost.
  static constexpr Duration kFirstPause = Duration::seconds(1);
  static constexpr Duration kLongestPause = Duration::seconds(8);
  // A failure counts as over once the file or the collector has worked for this long.
  static constexpr Duration kSteadyAfter = CollectorSocket::kSteadyAfter;

  // `rings` are the rings of the workers, which must outlive this object. `peers` are the names of
  // the peers, in the order of the configuration. Throws std::runtime_error.
  RecordWriter(const config::Records& config, std::vector<std::string> peers,
               std::vector<RecordRing*> rings);

  // --- only the writer's thread ----------------------------------------------------------------
  // Opens the file, so that an error shows at the start and not with the first record.
  void open_file(Instant now);
  // Handles all records that are in the rings at the time of the call. `epoch` is described at
  // RecordContext. If one output fails, the failure is reported, and the other output continues.
  // Throws only std::bad_alloc, if there is no memory for the report.
  void look(Instant now, std::uint64_t epoch);
  // Call this before the program exits. If lines wait for a file that fails, tries once more to
  // write them, without a pause.
  void write_rest(Instant now);
  // True if no record is in the rings or in the queue of the collector's socket. Lines may still
  // wait for a file that fails.
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
  bool file_fails_ = false;   // true if the last write to the file failed
  std::string file_trouble_;  // last error of the file; "" if there was none recently
  Duration file_pause_ = kFirstPause;
  Instant file_retry_;       // time of the next attempt, while the file fails
  Instant file_well_since_;  // time at which the last failure ended
  // The lines to write next. If the file fails, they stay here for the next attempt: only a
  // successful write shows that the disk has room again.
  fmt::memory_buffer lines_;
  std::size_t line_count_ = 0;
  std::optional<IpfixExporter> exporter_;
  std::string collector_trouble_;  // last error of the collector; "" if there was none recently
  Instant export_failed_at_;       // time of the last error, except for errors of the socket

  mutable std::mutex mutex_;  // guards `report_`; held only to copy
  RecordsReport report_;
};

}  // namespace satrelay::records

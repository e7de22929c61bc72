// Takes the records of flows out of the workers' rings, and brings them to where the configuration
// says: a file of JSON lines, an IPFIX collector, or both. What cannot be brought is counted and
// gone: neither disk nor collector ever holds up a worker. Both are tried again by the clock,
// whether flows end or not.
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
  // After it could not be written, the file is left alone for so long, then for twice as long. No
  // longer than a few seconds: a try is one write, and a pause costs the records of those that end.
  static constexpr Duration kFirstPause = Duration::seconds(1);
  static constexpr Duration kLongestPause = Duration::seconds(8);
  // What has failed is in trouble until it has been well for so long.
  static constexpr Duration kSteadyAfter = CollectorSocket::kSteadyAfter;

  // `rings`: of the workers, which outlive this. `peers`: their names, as configured. Throws
  // std::runtime_error.
  RecordWriter(const config::Records& config, std::vector<std::string> peers,
               std::vector<RecordRing*> rings);

  // --- by the writer's thread ------------------------------------------------------------------
  // Says at once what else the first record would find out.
  void open_file(Instant now);
  // All that the rings have had when it was called. `epoch`: UTC at instant 0, nanoseconds. What
  // goes wrong on one way is in the report, and the other way goes on. Throws only std::bad_alloc,
  // if there is no memory for the report.
  void look(Instant now, std::uint64_t epoch);
  // At the end, for a file that fails: one more try, without a pause.
  void write_rest(Instant now);
  // Nothing waits that a look would bring further; for a file that fails something may.
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
  bool file_fails_ = false;   // it did the last time
  std::string file_trouble_;  // "": none
  Duration file_pause_ = kFirstPause;
  Instant file_retry_;       // while it fails
  Instant file_well_since_;  // while it does not
  // To be written next. While the file fails they wait for it: only what is written shows that
  // there is room again.
  fmt::memory_buffer lines_;
  std::size_t line_count_ = 0;
  std::optional<IpfixExporter> exporter_;
  std::string collector_trouble_;  // "": none
  Instant export_failed_at_;       // the last time, of what no socket tells

  mutable std::mutex mutex_;  // guards what follows; held only to copy
  RecordsReport report_;
};

}  // namespace satrelay::records

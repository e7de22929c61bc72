// Takes the records of flows out of the workers' rings, and brings them to where the configuration
// says: a file of JSON lines, an IPFIX collector, or both. What cannot be brought is counted and
// gone: neither disk nor collector ever holds up a worker.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/schema.h"
#include "pep/base/time.h"
#include "relay/records/ipfix_exporter.h"
#include "relay/records/json_line.h"
#include "relay/records/record_ring.h"
#include "relay/records/records_report.h"
#include "relay/records/rotating_file.h"

namespace satrelay::records {

class RecordWriter {
 public:
  // After it could not be written, the file is left alone for so long.
  static constexpr Duration kFilePause = Duration::seconds(1);

  using Tell = std::function<void(const std::string&)>;
  // `rings`: of the workers, which outlive this. `peers`: their names, as configured. `warn` hears
  // when the file or the collector fails, `inform` when it does again; once each.
  RecordWriter(const config::Records& config, std::vector<std::string> peers,
               std::vector<RecordRing*> rings, Tell warn, Tell inform);

  // --- by the writer's thread ------------------------------------------------------------------
  // Says at once what else the first record would find out.
  void open_file(Instant now);
  // All that the rings have had when it was called. `epoch`: UTC at instant 0, nanoseconds.
  void look(Instant now, std::uint64_t epoch);
  // Nothing waits for the kernel to take it.
  bool is_idle() const { return !exporter_ || exporter_->socket().is_idle(); }

  // --- any thread ------------------------------------------------------------------------------
  RecordsReport report() const;

 private:
  void take_from(RecordRing& ring, const RecordContext& context, Instant now);
  void write(std::size_t lines, Instant now);
  void tell_of_collector(Instant now);
  void publish();

  const std::vector<std::string> peers_;
  const std::vector<RecordRing*> rings_;
  const Tell warn_;
  const Tell inform_;
  RecordCounters counters_;
  std::optional<RotatingFile> file_;
  std::string file_trouble_;  // "": none
  Instant file_pause_end_;
  fmt::memory_buffer lines_;
  std::optional<IpfixExporter> exporter_;
  bool was_away_ = false;

  mutable std::mutex mutex_;  // guards what follows; held only to copy
  RecordsReport report_;
};

}  // namespace satrelay::records

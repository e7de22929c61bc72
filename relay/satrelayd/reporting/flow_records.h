// Passes the records of ended flows from the workers to the file and the collector. There is a ring
// for each worker, and a thread that empties the rings.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "config/model/schema.h"
#include "pep/base/time.h"
#include "relay/dpdk/loop/control_thread.h"
#include "relay/records/record_ring.h"
#include "relay/records/record_writer.h"
#include "relay/records/records_report.h"

namespace satrelay::satrelayd {

class FlowRecords {
 public:
  static constexpr Duration kInterval = Duration::milliseconds(10);
  // The longest time that finish() waits for the collector to take the last records.
  static constexpr Duration kLastWords = Duration::seconds(1);

  // `config` must request records. `epoch` returns the UTC time, in nanoseconds, at which
  // dpdk::now() was 0. Throws std::runtime_error.
  FlowRecords(const config::Gateway& config, std::function<std::uint64_t()> epoch);

  // Returns the ring of a worker. It is valid as long as this object exists.
  records::RecordRing& ring(unsigned worker) { return *rings_[worker]; }
  // Call this once the program runs as its final user. This user then owns the file.
  void begin();
  // Call this once the workers have closed their flows. Writes the records that are still in the
  // rings. Waits at most kLastWords for the collector.
  void finish();
  records::RecordsReport report() const { return writer_->report(); }  // any thread may call this

 private:
  void look();
  template <typename Step>
  void attempt(const Step& step);

  std::function<std::uint64_t()> epoch_;
  std::vector<std::unique_ptr<records::RecordRing>> rings_;
  std::optional<records::RecordWriter> writer_;
  bool is_told_ = false;  // true once a failure of the writer was logged
  std::optional<dpdk::ControlThread> thread_;
};

}  // namespace satrelay::satrelayd

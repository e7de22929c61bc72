// The records of flows that end, from the workers to file and collector: a ring for each worker,
// and the thread that empties them.
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
  // After SIGTERM: what waits for the collector leaves within this time.
  static constexpr Duration kLastWords = Duration::seconds(1);

  // `config`: wanted. `epoch`: UTC at instant 0, nanoseconds. Throws std::runtime_error.
  FlowRecords(const config::Gateway& config, std::function<std::uint64_t()> epoch);

  // Of a worker; as long as this lives.
  records::RecordRing& ring(unsigned worker) { return *rings_[worker]; }
  // Once the program is the user that it goes on as: whose file it will be.
  void begin();
  // Once the workers have said farewell: brings what they have left, within kLastWords.
  void finish();
  records::RecordsReport report() const { return writer_->report(); }  // any thread

 private:
  void look();
  template <typename Step>
  void attempt(const Step& step);

  std::function<std::uint64_t()> epoch_;
  std::vector<std::unique_ptr<records::RecordRing>> rings_;
  std::optional<records::RecordWriter> writer_;
  bool is_told_ = false;  // that the writer could not even report
  std::optional<dpdk::ControlThread> thread_;
};

}  // namespace satrelay::satrelayd

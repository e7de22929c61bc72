#include "relay/records/record_writer.h"

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

namespace satrelay::records {
namespace {

// Lines that are written at once: some 128 KiB.
constexpr std::size_t kBatch = 256;

}  // namespace

RecordWriter::RecordWriter(const config::Records& config, std::vector<std::string> peers,
                           std::vector<RecordRing*> rings, Tell warn, Tell inform)
    : peers_(std::move(peers)),
      rings_(std::move(rings)),
      warn_(std::move(warn)),
      inform_(std::move(inform)) {
  if (!config.file.empty()) {
    file_.emplace(config.file,
                  RotatingFile::Limits{.size = config.rotate_size, .keep = config.keep});
  }
  if (config.ipfix) exporter_.emplace(*config.ipfix, counters_);
  publish();
}

void RecordWriter::open_file(Instant now) {
  if (file_) write(0, now);
  publish();
}

void RecordWriter::look(Instant now, std::uint64_t epoch) {
  const RecordContext context{.peers = peers_, .epoch = epoch};
  if (exporter_) exporter_->look(now);
  for (RecordRing* ring : rings_) take_from(*ring, context, now);
  if (exporter_) exporter_->flush(now);
  tell_of_collector(now);
  publish();
}

void RecordWriter::take_from(RecordRing& ring, const RecordContext& context, Instant now) {
  std::size_t left = ring.size();
  while (left > 0) {
    auto records = ring.readable();
    records = records.first(std::min({records.size(), left, kBatch}));
    try {
      for (const gateway::FlowRecord& record : records) {
        if (file_) append_line(lines_, record, context);
        if (exporter_) exporter_->add(record, context, now);
      }
    } catch (const std::exception&) {  // no memory; what the library does not take
      lines_.clear();
      if (file_) counters_.unwritten += records.size();
      if (exporter_) counters_.unexported += records.size();
      ring.take(records.size());
      throw;
    }
    ring.take(records.size());
    left -= records.size();
    if (file_) write(records.size(), now);
  }
}

void RecordWriter::write(std::size_t lines, Instant now) {
  const std::string_view text(lines_.data(), lines_.size());
  if (now < file_pause_end_) {
    counters_.unwritten += lines;
    lines_.clear();
    return;
  }
  try {
    file_->write(text);
    counters_.written += lines;
    counters_.written_bytes += text.size();
    if (!file_trouble_.empty()) inform_("records of flows: the file is written again");
    file_trouble_.clear();
  } catch (const std::system_error& error) {
    counters_.unwritten += lines;
    file_pause_end_ = now + kFilePause;
    if (file_trouble_.empty()) warn_(std::string("records of flows are lost: ") + error.what());
    file_trouble_ = error.what();
  }
  counters_.rotations = file_->rotations();
  lines_.clear();
}

void RecordWriter::tell_of_collector(Instant now) {
  if (!exporter_) return;
  const CollectorSocket& socket = exporter_->socket();
  if (!was_away_ && socket.state() == CollectorSocket::State::kAway) {
    was_away_ = true;
    warn_("records of flows: the IPFIX collector is away: " + socket.reason());
  } else if (was_away_ && socket.is_steady(now)) {
    was_away_ = false;
    inform_("records of flows: there is a way to the IPFIX collector");
  }
}

void RecordWriter::publish() {
  RecordsReport next;
  if (file_) next.file_state = file_trouble_.empty() ? "ok" : "failing";
  if (exporter_) {
    using State = CollectorSocket::State;
    const State state = exporter_->socket().state();
    next.ipfix_state = state == State::kOpen         ? "ok"
                       : state == State::kConnecting ? "connecting"
                                                     : "away";
  }
  next.counters = counters_;
  const std::lock_guard lock(mutex_);
  report_ = std::move(next);
}

RecordsReport RecordWriter::report() const {
  RecordsReport report;
  {
    const std::lock_guard lock(mutex_);
    report = report_;
  }
  for (const RecordRing* ring : rings_) report.waiting += ring->size();
  return report;
}

}  // namespace satrelay::records

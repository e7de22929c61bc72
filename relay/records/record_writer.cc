#include "relay/records/record_writer.h"

#include <algorithm>
#include <exception>
#include <string_view>
#include <utility>

namespace satrelay::records {
namespace {

// The largest number of lines in one write: about 128 KiB.
constexpr std::size_t kBatch = 256;

}  // namespace

RecordWriter::RecordWriter(const config::Records& config, std::vector<std::string> peers,
                           std::vector<RecordRing*> rings)
    : peers_(std::move(peers)), rings_(std::move(rings)) {
  if (!config.file.empty()) {
    file_.emplace(config.file,
                  RotatingFile::Limits{.size = config.rotate_size, .keep = config.keep});
  }
  if (config.ipfix) exporter_.emplace(*config.ipfix, counters_);
  publish();
}

void RecordWriter::open_file(Instant now) {
  if (file_) write_lines(now);
  publish();
}

void RecordWriter::write_rest(Instant now) {
  if (line_count_ > 0) write_lines(now);
  publish();
}

void RecordWriter::look(Instant now, std::uint64_t epoch) {
  const RecordContext context{.peers = peers_, .epoch = epoch};
  if (exporter_) try_export([&] { exporter_->look(now); }, now);
  if (file_fails_ && now >= file_retry_) write_lines(now);
  for (RecordRing* ring : rings_) take_from(*ring, context, now);
  if (exporter_) try_export([&] { exporter_->flush(now); }, now);
  look_for_ends_of_trouble(now);
  publish();
}

void RecordWriter::take_from(RecordRing& ring, const RecordContext& context, Instant now) {
  std::size_t left = ring.size();
  while (left > 0) {
    Records records = ring.readable();
    records = records.first(std::min({records.size(), left, kBatch}));
    if (file_) write(records, context, now);
    if (exporter_) hand_out(records, context, now);
    ring.take(records.size());
    left -= records.size();
  }
}

void RecordWriter::write(Records records, const RecordContext& context, Instant now) {
  if (line_count_ > 0) {  // earlier lines still wait, since the file fails
    counters_.unwritten += records.size();
    return;
  }
  try {
    for (const gateway::FlowRecord& record : records) append_line(lines_, record, context);
    line_count_ = records.size();
  } catch (const std::exception& error) {  // no memory
    lines_.clear();
    counters_.unwritten += records.size();
    file_failed(error, now);
  }
  if (!file_fails_) write_lines(now);
}

void RecordWriter::write_lines(Instant now) {
  const std::string_view text(lines_.data(), lines_.size());
  try {
    file_->write(text);
    counters_.written += line_count_;
    counters_.written_bytes += text.size();
    line_count_ = 0;
    lines_.clear();
    if (std::exchange(file_fails_, false)) file_well_since_ = now;
  } catch (const std::exception& error) {  // a disk error, or no memory
    file_failed(error, now);
  }
  counters_.rotations = file_->rotations();
}

void RecordWriter::file_failed(const std::exception& error, Instant now) {
  if (!file_fails_ && now >= file_well_since_ + kSteadyAfter) file_pause_ = kFirstPause;
  file_fails_ = true;
  file_trouble_ = error.what();
  file_retry_ = now + file_pause_;
  file_pause_ = std::min(file_pause_ * 2, kLongestPause);
}

void RecordWriter::hand_out(Records records, const RecordContext& context, Instant now) {
  std::size_t done = 0;
  try_export(
      [&] {
        for (; done < records.size(); ++done) exporter_->add(records[done], context, now);
      },
      now);
  counters_.unexported += records.size() - done;
}

// Runs `step`, which may throw because of a lack of memory or an error of libfixbuf.
template <typename Step>
void RecordWriter::try_export(const Step& step, Instant now) {
  try {
    step();
  } catch (const std::exception& error) {
    export_failed_at_ = now;
    collector_trouble_ = error.what();
  }
}

void RecordWriter::look_for_ends_of_trouble(Instant now) {
  if (!file_fails_ && now >= file_well_since_ + kSteadyAfter) file_trouble_.clear();
  if (!exporter_) return;
  const CollectorSocket& socket = exporter_->socket();
  if (socket.state() == CollectorSocket::State::kAway) {
    collector_trouble_ = socket.reason();
  } else if (socket.is_steady(now) && now >= export_failed_at_ + kSteadyAfter) {
    collector_trouble_.clear();
  }
}

void RecordWriter::publish() {
  RecordsReport next;
  if (file_) next.file_state = file_fails_ ? "failing" : "ok";
  next.file_trouble = file_trouble_;
  if (exporter_) {
    using State = CollectorSocket::State;
    const State state = exporter_->socket().state();
    next.ipfix_state = state == State::kOpen         ? "ok"
                       : state == State::kConnecting ? "connecting"
                                                     : "away";
  }
  next.collector_trouble = collector_trouble_;
  next.waiting = line_count_;
  next.counters = counters_;
  const std::lock_guard lock(mutex_);
  report_ = std::move(next);
}

std::uint64_t RecordWriter::in_rings() const {
  std::uint64_t records = 0;
  for (const RecordRing* ring : rings_) records += ring->size();
  return records;
}

bool RecordWriter::is_idle() const {
  return in_rings() == 0 && (!exporter_ || exporter_->socket().is_idle());
}

RecordsReport RecordWriter::report() const {
  RecordsReport report;
  {
    const std::lock_guard lock(mutex_);
    report = report_;
  }
  report.waiting += in_rings();
  return report;
}

}  // namespace satrelay::records

#include "relay/gateway/peers/lan_reports.h"

#include <algorithm>
#include <array>
#include <limits>

#include "pep/stp/wire/varint.h"

namespace satrelay::gateway {
namespace {

constexpr Duration kTryAgain = Duration::seconds(1);
// Reports are collected for this time and sent in one message. Each message needs a stream, which
// costs more than many reports.
constexpr Duration kGather = Duration::milliseconds(100);
constexpr int kReportsPerStep = 64;
constexpr std::size_t kFirstRoom = 256;

// Reads a number, and reduces it to the largest value that a record can contain.
std::uint32_t read_figure(ByteReader& in) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::min(stp::read_varint(in), kMost));
}

}  // namespace

// --- from the peer -----------------------------------------------------------------------------

void LanReports::handle_opened(stp::StreamId stream, Instant now) {
  if (in_ || !awaits()) {
    const auto reason = awaits() ? stp::ResetReason::kNoResources : stp::ResetReason::kPolicy;
    session_.streams().reset(stream, reason, now);
    return;
  }
  in_ = stream;
  session_.streams().set_context(stream, messages_.context());
}

void LanReports::read(Instant now) {
  reads_on_ = false;
  const stp::StreamId stream = *in_;
  const Reassembler* const stored = session_.streams().received(stream);
  if (stored == nullptr) return;
  for (int reports = 0; stored->readable() > 0; ++reports) {
    if (reports == kReportsPerStep) {
      reads_on_ = true;
      return;
    }
    std::array<std::byte, kLargestReport> bytes{};
    const auto there =
        static_cast<std::size_t>(std::min<std::uint64_t>(stored->readable(), kLargestReport));
    stored->copy_front(MutableBytes(bytes).first(there));
    ByteReader in(ConstBytes(bytes).first(there));
    LanReport report;
    report.stream = static_cast<stp::StreamId>(stp::read_varint(in));
    report.figures.retransmitted = read_figure(in);
    report.figures.repeated = read_figure(in);
    if (!in.ok()) break;  // the rest of the report has not arrived yet
    session_.streams().consume(stream, there - in.remaining(), now);
    reader_.handle_report(lane_, report);
  }
  if (!session_.streams().received_end(stream)) return;
  const bool whole = stored->readable() == 0;
  session_.streams().reset(stream,
                           whole ? stp::ResetReason::kNone : stp::ResetReason::kProtocolError, now);
  in_.reset();
}

// --- to the peer -------------------------------------------------------------------------------

bool LanReports::tell(const LanReport& report, Instant now) {
  if (!peer_asks_ || waiting_.size() + kLargestReport > kRoom) return false;
  if (waiting_.empty()) next_try_ = later(next_try_, now + kGather);
  std::array<std::byte, kLargestReport> bytes{};
  ByteWriter out(bytes);
  stp::write_varint(out, static_cast<std::uint64_t>(report.stream));
  stp::write_varint(out, report.figures.retransmitted);
  stp::write_varint(out, report.figures.repeated);
  if (waiting_.capacity() < waiting_.size() + kLargestReport) {
    waiting_.reserve(std::clamp(2 * waiting_.capacity(), kFirstRoom, kRoom));
  }
  const ConstBytes written = ConstBytes(bytes).first(out.written());
  waiting_.insert(waiting_.end(), written.begin(), written.end());
  return true;
}

// One message is in flight at a time. Until the peer has accepted the message, reports of further
// flows wait for the next message.
void LanReports::send(Instant now) {
  if (leaving_.empty()) leaving_.swap(waiting_);
  constexpr std::array<std::byte, 1> kMetadata{std::byte{kReportsMessage}};
  out_ = messages_.open(kMetadata, now);
  if (!out_) {
    next_try_ = now + kTryAgain;
    return;
  }
  written_ = 0;
  session_.streams().set_ready(*out_, true);
}

bool LanReports::produce(stp::StreamId stream, Instant now) {
  if (stream != out_) return false;
  const auto room = static_cast<std::size_t>(
      std::min<std::uint64_t>(session_.streams().send_room(stream), leaving_.size() - written_));
  written_ += session_.streams().write(stream, ConstBytes(leaving_).subspan(written_, room), now);
  if (written_ < leaving_.size()) return true;
  session_.streams().finish(stream);
  session_.streams().set_ready(stream, false);
  return true;
}

// --- both directions ---------------------------------------------------------------------------

bool LanReports::handle_reset(stp::StreamId stream, stp::ResetReason reason, Instant now) {
  if (stream == in_) {
    in_.reset();
    reads_on_ = false;
    return true;
  }
  if (stream != out_) return false;
  out_.reset();
  if (reason == stp::ResetReason::kNoResources) {
    next_try_ = now + kTryAgain;
  } else {
    leaving_ = std::vector<std::byte>();
  }
  return true;
}

void LanReports::forget_session() {
  in_.reset();
  reads_on_ = false;
  peer_asks_ = false;
  out_.reset();
  waiting_ = std::vector<std::byte>();
  leaving_ = std::vector<std::byte>();
  next_try_ = Instant();
}

void LanReports::handle_timeout(Instant now) {
  if (reads_on_ && in_) read(now);
  if (is_due() && now >= next_try_) send(now);
}

}  // namespace satrelay::gateway

#include "relay/satperf/run.h"

#include <algorithm>
#include <stdexcept>

#include "pep/control/capacity/capacity_finder.h"
#include "pep/control/fixed_rate.h"
#include "pep/control/hpfp.h"
#include "pep/control/marchese_stp.h"
#include "pep/control/paced_rate.h"
#include "pep/control/tps.h"

namespace satrelay::satperf {
namespace {

constexpr std::size_t kArenaBlock = 4096;
// The pacer's burst, which is the same as in the gateway.
constexpr Duration kBurst = Duration::milliseconds(4);
// Each stream has a context, which is also its metadata. It is 0 for the stream of records, and 1,
// 2, ... for the streams of payload.
constexpr std::uint32_t kRecordsContext = 0;

stp::Config session_config(const RunConfig& config, std::size_t memory) {
  const Plan& plan = config.plan;
  stp::Config stp;
  stp.boot_epoch = config.boot_epoch;
  stp.opens_even_streams = config.end == End::kClient;
  stp.datagram.size = static_cast<std::uint16_t>(plan.segment - config.datagram_overhead);
  stp.datagram.overhead = config.datagram_overhead;
  stp.streams.max_streams = plan.streams + 1;
  // The sender needs memory for payload that it sends, and the receiver for payload that it
  // receives. Records need little memory.
  constexpr std::uint64_t kForRecords = 1 << 20;
  const std::uint64_t most = memory / 4 * 3;
  const bool sends = plan.sender() == config.end;
  stp.streams.lane_receive_limit = sends ? kForRecords : most;
  stp.streams.receive_limit = stp.streams.lane_receive_limit;
  stp.streams.send_limit = sends ? most : kForRecords;
  stp.feedback.mode = plan.feedback;
  stp.feedback.budget = plan.feedback_budget;
  return stp;
}

BitRate own_rate(const RunConfig& config) {
  return config.plan.sender() == config.end ? config.plan.rate : config.plan.return_rate;
}

// Uses the default parameters of a gateway's link. The receiver sends little, at a fixed rate.
std::unique_ptr<control::RateController> make_controller(const RunConfig& config) {
  const BitRate capacity = own_rate(config);
  const config::RateControl defaults;
  const bool sends = config.plan.sender() == config.end;
  switch (sends ? config.plan.controller : config::Controller::kFixedRate) {
    case config::Controller::kFixedRate:
      return std::make_unique<control::FixedRate>(capacity);
    case config::Controller::kHpfp:
      return std::make_unique<control::Hpfp>(
          control::Hpfp::Config{capacity, defaults.target, defaults.period});
    case config::Controller::kTps:
      return std::make_unique<control::Tps>(control::Tps::Config{capacity, defaults.window});
    case config::Controller::kStp:
      return std::make_unique<control::MarcheseStp>(
          control::MarcheseStp::Config{.capacity = capacity,
                                       .initial_window = defaults.initial_window,
                                       .threshold = defaults.threshold,
                                       .growth = defaults.growth,
                                       .avoidance = defaults.avoidance_growth,
                                       .buffer = defaults.buffer});
    case config::Controller::kFind:
      return std::make_unique<control::CapacityFinder>(capacity);
  }
  throw std::invalid_argument("no such controller");
}

std::uint64_t since(Instant begin, Instant now) {
  return begin.is_never() ? 0 : static_cast<std::uint64_t>((now - begin).to_nanoseconds());
}

}  // namespace

Run::Run(const RunConfig& config, MutableBytes memory, Instant now)
    : config_(config),
      datagram_size_(config.plan.segment - std::size_t{config.datagram_overhead}),
      arena_(memory, kArenaBlock),
      controller_(make_controller(config)),
      pacer_(control::paced_rate(own_rate(config)), control::LinkOverhead{config.plan.overhead},
             kBurst),
      session_(session_config(config, memory.size()), arena_, pacer_, *controller_, *this, now),
      last_heard_(now),
      flows_(config.plan.streams) {
  const std::uint64_t share = config.plan.bytes / config.plan.streams;
  for (Flow& flow : flows_) flow.limit = share;
  flows_.front().limit += config.plan.bytes % config.plan.streams;
  if (config.plan.bytes > 0) return;
  for (Flow& flow : flows_) flow.limit = ~std::uint64_t{0};
}

void Run::handle_events(Instant now) {
  session_.handle_timeout(now);
  if (const std::uint64_t heard = session_.counters().packets_in; heard != packets_heard_) {
    packets_heard_ = heard;
    last_heard_ = now;
  }
  while (const auto event = session_.poll_event()) handle(*event, now);
  if (session_.peer_state() == stp::PeerState::kRefused) {
    end("the other end speaks another version of STP");
  }
  if (now >= stop_at_) stop_sending();
}

Instant Run::next_timeout() const { return earlier(session_.next_timeout(), stop_at_); }

void Run::handle(const stp::Event& event, Instant now) {
  using Kind = stp::Event::Kind;
  switch (event.kind) {
    case Kind::kPeerAlive:
      if (began_.is_never()) begin(now);
      return;
    case Kind::kPeerSuspect:
    case Kind::kCapacity:   // no end announces a capacity
    case Kind::kConfirmed:  // no end confirms bytes
      return;
    case Kind::kPeerRestarted:
      return end("the other end restarted");
    case Kind::kPeerClosed:
      return end("the other end has stopped");
    case Kind::kOpened:
      return accept(event.stream, now);
    case Kind::kReset:
      return end(std::string("a stream was reset: ") + to_string(event.reason));
    case Kind::kReadable:
      if (event.context == kRecordsContext) return read_records(now);
      if (!sends()) read_payload(flows_[event.context - 1], event.context - 1, now);
      return;
    case Kind::kWritable:
      if (event.context != kRecordsContext && sends())
        session_.streams().set_ready(event.stream, true);
      return;
    case Kind::kDelivered:
      if (event.context != kRecordsContext && sends()) {
        counts_.last_byte_ns = since(began_, now);
        flow_over(flows_[event.context - 1]);
      }
      return;
  }
}

void Run::begin(Instant now) {
  began_ = now;
  state_ = State::kRunning;
  if (sends() && config_.plan.duration > Duration::zero()) stop_at_ = now + config_.plan.duration;
  if (config_.end == End::kServer) return;
  std::array<std::byte, 4> metadata{};
  store_u32(metadata.data(), kRecordsContext);
  records_ = session_.streams().open(metadata, kRecordsContext, now);
  if (!records_) return end("the session accepts no streams");
  session_.streams().finish(*records_);
  std::uint32_t context = kRecordsContext;
  for (Flow& flow : flows_) {
    store_u32(metadata.data(), ++context);
    const auto stream = session_.streams().open(metadata, context, now);
    if (!stream) return end("the session accepts no more streams");
    flow.stream = *stream;
    start_sending(flow);
  }
}

// At the sending end, begins to send payload. The other end has no payload to send, so it closes
// its direction of the stream at once.
void Run::start_sending(Flow& flow) {
  if (sends()) {
    session_.streams().set_ready(flow.stream, true);
  } else {
    session_.streams().finish(flow.stream);
  }
}

void Run::accept(stp::StreamId stream, Instant now) {
  const ConstBytes metadata = session_.streams().metadata(stream);
  const std::uint32_t context =
      metadata.size() == 4 ? load_u32(metadata.data()) : std::uint32_t{0xffffffff};
  if (context > flows_.size() || config_.end == End::kClient) {
    session_.streams().reset(stream, stp::ResetReason::kPolicy, now);
    return;
  }
  session_.streams().set_context(stream, context);
  if (context == kRecordsContext) {
    records_ = stream;
    return;
  }
  Flow& flow = flows_[context - 1];
  flow.stream = stream;
  start_sending(flow);
}

void Run::produce(stp::StreamId stream, std::uint32_t context, Instant now) {
  if (context == kRecordsContext || now >= stop_at_) {
    session_.streams().set_ready(stream, false);
    return;
  }
  Flow& flow = flows_[context - 1];
  const std::uint64_t count = std::min({kBlock - flow.moved % kBlock, flow.limit - flow.moved,
                                        session_.streams().send_room(stream)});
  if (count > 0) {
    const MutableBytes bytes = MutableBytes(block_).first(static_cast<std::size_t>(count));
    pattern_.fill(context - 1, flow.moved, bytes);
    flow.moved += session_.streams().write(stream, bytes, now);
  }
  if (flow.moved == flow.limit) session_.streams().finish(stream);
}

void Run::stop_sending() {
  stop_at_ = Instant::never();
  for (Flow& flow : flows_) {
    if (flow.limit == flow.moved) continue;
    flow.limit = flow.moved;
    session_.streams().finish(flow.stream);
  }
}

void Run::read_payload(Flow& flow, std::uint32_t index, Instant now) {
  const Reassembler* const received = session_.streams().received(flow.stream);
  if (received == nullptr || flow.over) return;
  if (counts_.delivered_bytes == 0) counts_.first_byte_ns = since(began_, now);
  while (received->readable() > 0) {
    const ConstBytes front = received->front();
    const std::size_t count = static_cast<std::size_t>(
        std::min<std::uint64_t>(front.size(), kBlock - flow.moved % kBlock));
    check(flow, index, front.first(count));
    session_.streams().consume(flow.stream, count, now);
    flow.moved += count;
    counts_.delivered_bytes += count;
    counts_.last_byte_ns = since(began_, now);
  }
  if (!session_.streams().received_end(flow.stream)) return;
  if (config_.plan.bytes > 0 && flow.moved != flow.limit) return end("a stream ended too soon");
  flow_over(flow);
}

// Compares the bytes with the pattern. Counts a block once its last byte has been compared.
void Run::check(Flow& flow, std::uint32_t index, ConstBytes bytes) {
  const std::uint64_t block = flow.moved / kBlock;
  if (config_.plan.crc_interval == 0 || block % config_.plan.crc_interval != 0) return;
  if (!pattern_.matches(index, flow.moved, bytes)) flow.block_damaged = true;
  if ((flow.moved + bytes.size()) % kBlock != 0) return;
  ++counts_.blocks_checked;
  if (flow.block_damaged) ++counts_.blocks_damaged;
  flow.block_damaged = false;
}

void Run::flow_over(Flow& flow) {
  if (flow.over) return;
  flow.over = true;
  ++flows_over_;
  if (!sends() && flow.moved % kBlock != 0 && config_.plan.crc_interval > 0 &&
      flow.moved / kBlock % config_.plan.crc_interval == 0) {
    ++counts_.blocks_checked;  // the last block, if it is shorter than kBlock
    if (flow.block_damaged) ++counts_.blocks_damaged;
  }
  update_completion();
}

bool Run::publish(const Snapshot& snapshot, Instant now) {
  if (!records_ || config_.end == End::kClient) return false;
  const auto record = write_record(snapshot);
  const ConstBytes parts[] = {record};
  if (!session_.streams().write_whole(*records_, parts, now)) return false;
  record_bytes_ += record.size();
  if (snapshot.complete != 0) session_.streams().finish(*records_);
  return true;
}

void Run::read_records(Instant now) {
  if (config_.end == End::kServer) return;
  const Reassembler* const received = session_.streams().received(*records_);
  if (received == nullptr) return;
  std::array<std::byte, kRecordSize> record{};
  while (received->readable() >= record.size()) {
    received->copy_front(record);
    remote_ = read_record(record);
    session_.streams().consume(*records_, record.size(), now);
    record_bytes_ += record.size();
  }
  update_completion();
}

void Run::update_completion() {
  if (state_ != State::kRunning || flows_over_ < flows_.size()) return;
  const bool told = remote_ && remote_->complete != 0;
  if (config_.end == End::kServer || told) state_ = State::kComplete;
}

void Run::end(std::string why) {
  if (state_ == State::kEnded) return;
  // If the run is complete at the server, this is the regular end: the client closes the session
  // once it has the server's last record. So there is no reason to report.
  if (state_ == State::kComplete && config_.end == End::kServer) why.clear();
  state_ = State::kEnded;
  why_ = std::move(why);
}

Snapshot Run::snapshot(Instant now) const {
  const stp::Counters c = session_.counters();
  Snapshot s = counts_;
  s.time_ns = since(began_, now);
  // Records go from the server to the client, and do not count as payload.
  const bool client = config_.end == End::kClient;
  s.stored_bytes = c.stream_bytes_in - (client ? record_bytes_ : 0);
  if (sends()) {
    s.sent_bytes = c.stream_bytes_out - std::min(c.stream_bytes_out, client ? 0 : record_bytes_);
  }
  s.retransmitted_bytes = c.retransmitted_bytes;
  if (sends()) {
    for (const Flow& flow : flows_) {
      s.acknowledged_bytes +=
          flow.moved - (flow.over ? 0 : session_.streams().unacknowledged(flow.stream));
    }
  }
  s.packets_out = c.packets_out;
  s.packets_in = c.packets_in;
  s.udp_bytes_out = c.bytes_out;
  s.udp_bytes_in = c.bytes_in;
  s.packets_lost = c.packets_lost;
  s.spurious_losses = c.spurious_losses;
  s.tail_probes = c.tail_probes;
  s.reports_in = c.feedback_in;
  s.reports_out = c.feedback_out;
  s.duplicate_packets = c.duplicate_packets_in;
  s.bad_crc_packets = c.bad_crc;
  s.malformed_packets = c.malformed;
  s.no_memory_drops = c.no_memory_drops;
  s.rtt_us = static_cast<std::uint64_t>(session_.path().smoothed_rtt().to_microseconds());
  s.capacity_bps = controller_->capacity().to_bits_per_second();
  s.complete = flows_over_ == flows_.size() ? 1 : 0;
  return s;
}

}  // namespace satrelay::satperf

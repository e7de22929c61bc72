#include "tests/unit/pep/tcp/script.h"

#include <iostream>
#include <span>
#include <sstream>

namespace satrelay::tcp::test {
namespace {

using wire::TcpFlags;

struct FlagLetter {
  char letter;
  std::uint8_t flag;
};
constexpr FlagLetter kFlagLetters[] = {
    {'U', TcpFlags::kUrg}, {'S', TcpFlags::kSyn}, {'F', TcpFlags::kFin}, {'R', TcpFlags::kRst},
    {'P', TcpFlags::kPsh}, {'.', TcpFlags::kAck}, {'E', TcpFlags::kEce}, {'W', TcpFlags::kCwr}};

std::string time_stamp(Instant now) {
  std::ostringstream text;
  text << (now.to_nanoseconds() - 1'000'000'000) / 1'000'000 << " ms";
  return text.str();
}

}  // namespace

std::vector<std::byte> pattern_bytes(std::uint64_t offset, std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = pattern(offset + i);
  return bytes;
}

Config Script::plain_config() {
  Config config;
  config.initial_sequence = kOurIsn;
  config.receive_limit = 64'000;
  config.window_scale = 0;
  config.congestion = control::Congestion::kNewReno;
  return config;
}

Script::Script(const Setup& setup)
    : memory_(setup.arena_bytes),
      arena_(std::make_unique<Arena>(memory_, setup.block_size)),
      endpoint_(std::make_unique<Endpoint>(setup.config, *arena_)),
      our_isn_(setup.config.initial_sequence),
      peer_isn_(setup.peer_isn),
      our_scale_(setup.config.window_scale) {}

Script::~Script() {
  if (::testing::Test::HasFailure()) {
    for (const std::string& line : log_) std::cout << line << "\n";
  }
}

wire::TcpHeader Script::parse(const std::string& line, std::vector<std::byte>& payload) const {
  std::istringstream text(line);
  wire::TcpHeader header;
  header.window = 65'535;
  std::string flags;
  std::string word;
  text >> flags;
  for (const FlagLetter& f : kFlagLetters) {
    if (flags.find(f.letter) != std::string::npos) header.flags |= f.flag;
  }
  std::int64_t begin = 0;
  std::int64_t end = 0;
  char colon = 0;
  text >> begin >> colon >> end;
  header.sequence = peer_isn_ + static_cast<std::uint32_t>(begin);
  const std::int64_t first = header.has(TcpFlags::kSyn) ? begin : begin - 1;
  for (std::int64_t i = first; i < first + end - begin; ++i) {
    payload.push_back(pattern(static_cast<std::uint64_t>(i)));
  }
  while (text >> word) {
    wire::TcpOptions& options = header.options;
    std::uint32_t number = 0;
    if (word == "sackok") {
      options.sack_permitted = true;
    } else if (word == "ce" || word == "ect0") {
      // marks of the IP header, for which in() looks
    } else if (word == "ack") {
      std::int64_t ack = 0;
      text >> ack;
      header.acknowledgment = our_isn_ + static_cast<std::uint32_t>(ack);
    } else if (word == "urg") {
      text >> header.urgent;
    } else if (word == "win") {
      text >> header.window;
    } else if (word == "mss") {
      text >> number;
      options.mss = static_cast<std::uint16_t>(number);
    } else if (word == "ws") {
      text >> number;
      options.window_scale = static_cast<std::uint8_t>(number);
    } else if (word == "ts") {
      wire::TcpTimestamps timestamps;
      text >> timestamps.value >> timestamps.echo_reply;
      options.timestamps = timestamps;
    } else if (word == "sack") {
      do {
        std::uint32_t left = 0;
        std::uint32_t right = 0;
        text >> left >> colon >> right;
        options.sack[options.sack_count++] = {our_isn_ + left, our_isn_ + right};
      } while (text.peek() == ',' && text.get() != 0);
    } else {
      ADD_FAILURE() << "script word not understood: " << word << " in " << line;
    }
  }
  return header;
}

std::string Script::describe(const SegmentToSend& segment) {
  const wire::TcpHeader& header = segment.header;
  std::ostringstream text;
  for (const FlagLetter& f : kFlagLetters) {
    if (header.has(f.flag)) text << f.letter;
  }
  const auto begin = static_cast<std::int32_t>(header.sequence - our_isn_);
  text << " " << begin << ":" << begin + segment.payload_size;
  if (header.has(TcpFlags::kAck)) {
    text << " ack " << static_cast<std::int32_t>(header.acknowledgment - peer_isn_);
  }
  if (header.has(TcpFlags::kUrg)) text << " urg " << header.urgent;
  const wire::TcpOptions& options = header.options;
  if (options.mss) text << " mss " << *options.mss;
  if (options.sack_permitted) text << " sackok";
  if (options.timestamps) {
    text << " ts " << options.timestamps->value << " " << options.timestamps->echo_reply;
  }
  if (options.window_scale) text << " ws " << int{*options.window_scale};
  for (std::size_t i = 0; i < options.sack_count; ++i) {
    text << (i == 0 ? " sack " : ",") << options.sack[i].begin - peer_isn_ << ":"
         << options.sack[i].end - peer_isn_;
  }
  if (segment.ecn == EcnField::kCapable0) text << " ect0";
  return text.str();
}

void Script::accept(const std::string& syn) {
  std::vector<std::byte> payload;
  log_.push_back(time_stamp(now_) + "  > " + syn);
  const wire::TcpHeader header = parse(syn, payload);
  note_scale(header);
  endpoint_->accept(header, now_);
}

void Script::connect(const std::string& offer) {
  std::vector<std::byte> payload;
  endpoint_->connect(parse("S 0:0 " + offer, payload).options, now_);
}

void Script::note_scale(const wire::TcpHeader& header) {
  if (!header.has(TcpFlags::kSyn) || endpoint_->is_synchronised()) return;
  peer_scales_ = header.options.window_scale.has_value();
}

Acceptance Script::in(const std::string& line) {
  std::vector<std::byte> payload;
  const wire::TcpHeader header = parse(line, payload);
  log_.push_back(time_stamp(now_) + "  > " + line);
  note_scale(header);
  return endpoint_->handle_segment(
      header, payload, now_, line.ends_with(" ce") ? EcnField::kMarked : EcnField::kNotCapable);
}

std::size_t Script::in_train(const std::vector<std::string>& lines) {
  std::vector<wire::TcpHeader> headers(lines.size());
  std::vector<std::vector<std::byte>> payloads(lines.size());
  std::vector<Segment> segments;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    headers[i] = parse(lines[i], payloads[i]);
    segments.push_back({.header = &headers[i], .payload = payloads[i]});
  }
  const std::size_t first = endpoint_->handle_segments(segments, now_).count;
  std::span<const Segment> rest(segments);
  for (rest = rest.subspan(first); !rest.empty();) {
    rest = rest.subspan(endpoint_->handle_segments(rest, now_).count);
  }
  return first;
}

std::vector<std::string> Script::out_train(std::size_t most) {
  std::vector<std::string> lines;
  while (auto segments = endpoint_->poll_segments(most, now_)) {
    for (; segments->count > 0; segments->step()) lines.push_back(note(*segments));
  }
  return lines;
}

std::string Script::out() {
  const auto segment = endpoint_->poll_segment(now_);
  if (!segment) {
    log_.push_back(time_stamp(now_) + " <  -");
    return "-";
  }
  return note(*segment);
}

std::string Script::note(const SegmentToSend& segment) {
  last_ = segment.header;
  const bool unscaled = last_.has(TcpFlags::kSyn) || !peer_scales_;
  window_ = std::uint64_t{last_.window} << (unscaled ? 0 : our_scale_);
  std::vector<std::byte> payload(segment.payload_size);
  endpoint_->copy_payload(segment.payload_offset, payload);
  EXPECT_EQ(payload, pattern_bytes(segment.payload_offset, payload.size()));
  if (!payload.empty()) {
    EXPECT_EQ(last_.sequence, our_isn_ + 1 + static_cast<std::uint32_t>(segment.payload_offset));
  }
  std::string line = describe(segment);
  log_.push_back(time_stamp(now_) + " <  " + line + " win " + std::to_string(window_));
  return line;
}

std::vector<std::string> Script::out_all() {
  std::vector<std::string> lines;
  for (std::string line = out(); line != "-"; line = out()) lines.push_back(line);
  return lines;
}

void Script::establish_as_server(const std::string& options, unsigned window) {
  accept("S 0:0 win 65535 " + options);
  ASSERT_EQ(out().substr(0, 12), "S. 0:0 ack 1");
  std::vector<std::byte> payload;
  const auto timestamps = parse("S 0:0 " + options, payload).options.timestamps;
  in(". 1:1 ack 1 win " + std::to_string(window) +
     (timestamps ? " ts " + std::to_string(timestamps->value) + " " +
                       std::to_string(last_.options.timestamps->value)
                 : std::string()));
  ASSERT_EQ(endpoint_->state(), State::kEstablished);
  ASSERT_EQ(out(), "-");
}

void Script::establish_as_client(const std::string& options) {
  connect(options);
  ASSERT_EQ(out().substr(0, 5), "S 0:0");
  in("S. 0:0 ack 1 win 65535 " + options);
  ASSERT_EQ(endpoint_->state(), State::kEstablished);
  ASSERT_EQ(out().substr(0, 11), ". 1:1 ack 1");
}

void Script::write(std::size_t bytes) {
  log_.push_back(time_stamp(now_) + "    write " + std::to_string(bytes));
  ASSERT_EQ(endpoint_->write(pattern_bytes(written_, bytes)), bytes);
  written_ += bytes;
}

void Script::send_keep_alive() {
  log_.push_back(time_stamp(now_) + "    send_keep_alive");
  endpoint_->send_keep_alive(now_);
}

void Script::consume(std::size_t bytes) {
  log_.push_back(time_stamp(now_) + "    consume " + std::to_string(bytes));
  const Reassembler& stream = endpoint_->received();
  ASSERT_GE(stream.readable(), bytes);
  std::vector<std::byte> got(bytes);
  stream.copy_front(got);
  EXPECT_EQ(got, pattern_bytes(stream.consumed(), bytes));
  endpoint_->consume(bytes);
}

void Script::wait(Duration duration) {
  const Instant end = now_ + duration;
  while (endpoint_->next_timeout() <= end) {
    now_ = later(now_, endpoint_->next_timeout());
    endpoint_->handle_timeout(now_);
  }
  now_ = end;
}

Duration Script::wait_for_timer() {
  const Instant before = now_;
  const Instant next = endpoint_->next_timeout();
  if (next.is_never()) {
    ADD_FAILURE() << "no timer is armed";
    return Duration::infinite();
  }
  now_ = later(now_, next);
  endpoint_->handle_timeout(now_);
  return now_ - before;
}

}  // namespace satrelay::tcp::test

#include "tests/conformance/player.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace satrelay::conformance {
namespace {

constexpr std::uint32_t kTimestampAtZero = 1'000;
// A failed expectation still waits for this time, so that the message can say what came instead.
constexpr Duration kPatience = Duration::milliseconds(300);

// The byte at `offset` of either stream.
std::byte pattern(std::uint64_t offset) {
  return static_cast<std::byte>((offset * 131 + (offset >> 8) * 7) & 0xff);
}

std::vector<std::byte> pattern_bytes(std::uint64_t offset, std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = pattern(offset + i);
  return bytes;
}

std::uint64_t stream_offset(std::int64_t begin, bool syn) {
  return static_cast<std::uint64_t>(syn ? begin : begin - 1);
}

std::int64_t distance(std::uint32_t from, std::uint32_t to) {
  return static_cast<std::int32_t>(to - from);
}

}  // namespace

Player::Player(const Script& script, Host& host, For side)
    : script_(script),
      host_(host),
      side_(side),
      tolerance_(host.tolerance()),
      peer_isn_(script.settings.peer_isn) {}

Outcome Player::play() {
  const When& first = script_.steps.front().when;
  zero_ = host_.now() - (first.relative ? Duration::zero() : first.earliest);
  last_ = host_.now();
  try {
    for (const Step& step : script_.steps) {
      if (step.for_whom != For::kBoth && step.for_whom != side_) continue;
      step_ = &step;
      run(step);
    }
    wait_in_silence(last_);
    outcome_.passed = true;
  } catch (const ScriptError& error) {
    outcome_.message = error.what();
  } catch (const std::exception& error) {  // Thrown by the host.
    outcome_.message = ScriptError({script_.file, step_->line}, error.what()).what();
  }
  return std::move(outcome_);
}

void Player::fail(const std::string& what) const {
  throw ScriptError({script_.file, step_->line}, what);
}

std::int64_t Player::script_milliseconds(Instant at) const {
  return std::llround((at - zero_).to_seconds() * 1e3);
}

void Player::note(Instant at, const std::string& text) {
  std::array<char, 32> time{};
  std::snprintf(time.data(), time.size(), "%9.1f  ", (at - zero_).to_seconds() * 1e3);
  outcome_.ladder.push_back(time.data() + text);
}

Player::Window Player::window_of(const When& when) const {
  const Instant from = when.relative ? last_ : zero_;
  return {from + when.earliest, from + when.latest};
}

void Player::run(const Step& step) {
  const Window window = window_of(step.when);
  if (const auto* send = std::get_if<Send>(&step.what)) {
    this->send(send->segment, window.latest);
  } else if (const auto* expect = std::get_if<Expect>(&step.what)) {
    this->expect(expect->segment, window);
  } else {
    act(std::get<Act>(step.what), window.latest);
  }
}

void Player::wait_in_silence(Instant until) {
  if (const auto departure = host_.wait_for_segment(until)) {
    learn_from(*departure);
    fail("a segment that the script does not expect here: " +
         describe(departure->segment, origin_of_host()) + ", at " +
         std::to_string(script_milliseconds(departure->at)) + " ms");
  }
  last_ = until;
}

void Player::send(const SegmentText& text, Instant at) {
  wait_in_silence(at);
  for (int i = 0; i < text.repetitions; ++i) {
    Segment segment;
    segment.flags = text.flags;
    if (i + 1 < text.repetitions) segment.flags &= static_cast<std::uint8_t>(~Flags::kPsh);
    const std::int64_t begin = text.begin.value_or(0) + i * text.size;
    segment.sequence = peer_isn_ + static_cast<std::uint32_t>(begin);
    if (text.has(Flags::kAck)) {
      segment.acknowledgment = isn_.value_or(0) + static_cast<std::uint32_t>(text.ack.value_or(0));
    }
    segment.window = text.window.value_or(65'535);
    segment.urgent = text.urgent.value_or(0);
    segment.data_offset = text.data_offset;
    segment.options = options_to_send(text);
    segment.payload = pattern_bytes(stream_offset(begin, text.has(Flags::kSyn)),
                                    static_cast<std::size_t>(text.size));
    segment.ecn = text.ecn.value_or(Ecn::kNotEct);
    note(at, describe(segment, origin_of_peer()) + " -->");
    host_.deliver(encode(segment, kPeerToHost), segment.ecn);
  }
}

std::vector<Option> Player::options_to_send(const SegmentText& text) {
  const Instant now = last_;
  const std::uint32_t clock =
      peer_timestamp_ ? *peer_timestamp_ +
                            static_cast<std::uint32_t>((now - peer_timestamp_at_).to_milliseconds())
                      : 100;
  std::vector<Option> options = text.options;
  const bool agreed = host_has_timestamps_ && peer_timestamp_;
  if (text.options_stated == OptionsStated::kNo && agreed && !text.has(Flags::kSyn)) {
    options.emplace_back().kind = OptionKind::kTimestamps;
  }
  for (Option& option : options) {
    if (option.kind == OptionKind::kSack) {
      for (auto& [begin, end] : option.blocks) {
        begin += isn_.value_or(0);
        end += isn_.value_or(0);
      }
    }
    if (option.kind != OptionKind::kTimestamps) continue;
    if (!option.value) option.value = clock;
    option.echo = option.echo ? *option.echo + timestamp_base_.value_or(0) : last_timestamp_;
    // Segments that are to be rejected do not move the peer's clock.
    if (!peer_timestamp_ || distance(*peer_timestamp_, *option.value) > 0) {
      peer_timestamp_ = option.value;
      peer_timestamp_at_ = now;
    }
  }
  return options;
}

void Player::learn_from(const Departure& departure) {
  const Segment& segment = departure.segment;
  if (segment.has(Flags::kSyn) && !isn_) isn_ = segment.sequence;
  if (const Option* timestamps = segment.find(OptionKind::kTimestamps)) {
    host_has_timestamps_ = true;
    last_timestamp_ = *timestamps->value;
    if (!timestamp_base_) {
      timestamp_base_ = last_timestamp_ - kTimestampAtZero -
                        static_cast<std::uint32_t>(script_milliseconds(departure.at));
    }
  }
}

Origin Player::origin_of_host() const {
  return {isn_.value_or(0), peer_isn_, timestamp_base_.value_or(0), 0};
}

Origin Player::origin_of_peer() const {
  return {peer_isn_, isn_.value_or(0), 0, timestamp_base_.value_or(0)};
}

void Player::expect(const SegmentText& text, const Window& window) {
  SegmentText part = text;
  for (int i = 0; i < text.repetitions; ++i) {
    expect_one(part, window, i + 1 == text.repetitions);
    if (part.begin) *part.begin += part.size;
  }
}

void Player::expect_one(const SegmentText& text, const Window& window, bool last) {
  const Duration interval = window.latest - last_;
  const Duration late =
      tolerance_.late +
      (tolerance_.late_share > 0 ? interval / tolerance_.late_share : Duration::zero());
  const Instant latest = window.latest + late;
  auto departure = host_.wait_for_segment(latest);
  if (!departure) {
    departure = host_.wait_for_segment(latest + kPatience);
    if (!departure)
      fail("nothing was sent until " + std::to_string(script_milliseconds(latest)) + " ms");
  }
  learn_from(*departure);
  const std::string seen = describe(departure->segment, origin_of_host());
  note(departure->at, "    <-- " + seen);
  const std::string wrong = mismatch(text, *departure, last);
  if (!wrong.empty()) fail(wrong + "; seen: " + seen);
  if (departure->at > latest || departure->at < window.earliest - tolerance_.early) {
    fail("sent at " + std::to_string(script_milliseconds(departure->at)) + " ms, expected at " +
         std::to_string(script_milliseconds(window.earliest)) + ".." +
         std::to_string(script_milliseconds(window.latest)) + " ms: " + seen);
  }
  last_ = departure->at;
}

std::string Player::mismatch(const SegmentText& text, const Departure& departure, bool last) const {
  const Segment& seen = departure.segment;
  const std::uint8_t may_be = text.has(Flags::kPsh) && last ? 0 : Flags::kPsh;
  if ((seen.flags | may_be) != (text.flags | may_be)) return "other flags";
  if (text.begin) {
    const std::uint32_t sequence = isn_.value_or(0) + static_cast<std::uint32_t>(*text.begin);
    if (seen.sequence != sequence) return "another sequence number";
    if (seen.payload.size() != static_cast<std::size_t>(text.size)) return "another size";
    const std::uint64_t offset = stream_offset(*text.begin, text.has(Flags::kSyn));
    if (seen.payload != pattern_bytes(offset, seen.payload.size())) return "wrong bytes";
  }
  if (text.ack && seen.acknowledgment != peer_isn_ + static_cast<std::uint32_t>(*text.ack)) {
    return "another acknowledgment number";
  }
  if (text.window && seen.window != *text.window) return "another window";
  if (text.urgent && seen.urgent != *text.urgent) return "another urgent pointer";
  if (text.ecn && seen.ecn != *text.ecn) return "another ECN codepoint";
  return option_mismatch(text, departure);
}

std::string Player::option_mismatch(const SegmentText& text, const Departure& departure) const {
  const std::vector<Option>& seen = departure.segment.options;
  if (text.options_stated == OptionsStated::kAny) return {};
  if (text.options_stated == OptionsStated::kNo) {
    return departure.segment.find(OptionKind::kSack) != nullptr ? "SACK blocks not expected" : "";
  }
  if (seen.size() != text.options.size()) return "other options";
  for (const Option& wanted : text.options) {
    const bool found = std::any_of(seen.begin(), seen.end(), [&](const Option& option) {
      return options_match(wanted, option);
    });
    if (!found) return "other options";
  }
  return {};
}

bool Player::options_match(const Option& wanted, const Option& seen) const {
  if (wanted.kind != seen.kind) return false;
  switch (wanted.kind) {
    case OptionKind::kTimestamps: {
      if (wanted.echo && *wanted.echo != *seen.echo) return false;
      if (!wanted.value) return true;
      const Duration off = Duration::milliseconds(
          distance(timestamp_base_.value_or(0) + *wanted.value, *seen.value));
      return off <= tolerance_.late && Duration::zero() - off <= tolerance_.early;
    }
    case OptionKind::kSack:
      return std::equal(wanted.blocks.begin(), wanted.blocks.end(), seen.blocks.begin(),
                        seen.blocks.end(), [this](const auto& a, const auto& b) {
                          return peer_isn_ + a.first == b.first && peer_isn_ + a.second == b.second;
                        });
    case OptionKind::kRaw:
      return wanted.raw == seen.raw;
    default:
      return !wanted.value || wanted.value == seen.value;
  }
}

void Player::act(const Act& act, Instant at) {
  wait_in_silence(at);
  if (act.verb != Verb::kNothing) note(at, "        " + step_->text);
  switch (act.verb) {
    case Verb::kListen:
      return host_.listen();
    case Verb::kConnect:
      return host_.connect(act.options, act.word.empty() ? EcnOffered::kNo : EcnOffered::kYes);
    case Verb::kWrite:
    case Verb::kWriteUrgent:
      return write(act.count, act.verb);
    case Verb::kAtMark:
      if (!host_.at_mark()) fail("the next byte is not urgent");
      return;
    case Verb::kNoMark:
      if (host_.at_mark()) fail("the next byte is urgent");
      return;
    case Verb::kRead:
      return read(act.count);
    case Verb::kReadEnd:
      if (!host_.at_end()) fail("the stream is not at its end");
      return;
    case Verb::kReadable: {
      const std::size_t readable = host_.readable();
      if (readable != static_cast<std::size_t>(act.count)) {
        fail(std::to_string(readable) + " bytes are readable");
      }
      return;
    }
    case Verb::kShutdown:
      return host_.shutdown();
    case Verb::kAbort:
      return host_.abort();
    case Verb::kState: {
      const std::string state = host_.state();
      if (state != act.word) fail("the state is " + state);
      return;
    }
    case Verb::kError: {
      const std::string error = host_.error();
      if (error != act.word) fail("the application is told: " + error);
      return;
    }
    case Verb::kNothing:
      return;
    case Verb::kNewIncarnation:
      host_.forget_connection();
      isn_.reset();
      peer_isn_ += static_cast<std::uint32_t>(act.count);
      written_ = 0;
      read_ = 0;
      return;
    case Verb::kUnreachable:
      return host_.deliver_unreachable(isn_.value_or(0) + static_cast<std::uint32_t>(act.begin),
                                       static_cast<std::uint8_t>(act.count));
    case Verb::kTooBig:
      return host_.deliver_too_big(isn_.value_or(0) + static_cast<std::uint32_t>(act.begin),
                                   static_cast<std::uint16_t>(act.count));
  }
}

void Player::write(std::int64_t count, Verb verb) {
  const auto size = static_cast<std::size_t>(count);
  const auto bytes = pattern_bytes(written_, size);
  const std::size_t taken =
      verb == Verb::kWriteUrgent ? host_.write_urgent(bytes) : host_.write(bytes);
  if (taken != size) fail("only " + std::to_string(taken) + " bytes were taken");
  written_ += size;
}

void Player::read(std::int64_t count) {
  const auto size = static_cast<std::size_t>(count);
  const std::vector<std::byte> bytes = host_.read(size);
  if (bytes.size() != size) fail("only " + std::to_string(bytes.size()) + " bytes were there");
  if (bytes != pattern_bytes(read_, size)) fail("wrong bytes were read");
  read_ += size;
}

}  // namespace satrelay::conformance

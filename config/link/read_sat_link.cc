#include "config/link/read_sat_link.h"

#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "config/keys/kinds.h"
#include "config/link/link_words.h"
#include "config/link/read_link_changes.h"
#include "config/readers/read_common.h"
#include "config/text/format.h"
#include "config/text/units.h"

namespace satrelay::config {
namespace {

constexpr Bounds<BitRate> kDirectionRate{BitRate::bits_per_second(1'000),
                                         BitRate::bits_per_second(100'000'000'000)};
constexpr std::string_view kDirectionRateHint = "write a rate, like 50Mbit, or unlimited";
constexpr Bounds<Duration> kDirectionDelay{Duration::zero(), Duration::seconds(10)};
constexpr Bounds<ByteCount> kQueue{ByteCount(2'000), ByteCount(16ULL << 30)};
constexpr Bounds<Duration> kQueueTime{Duration::microseconds(1), Duration::seconds(3'600)};
constexpr Bounds<ByteCount> kLinkMemory{ByteCount(1ULL << 20), ByteCount(1ULL << 40)};

// Gilbert (1960) and Elliott (1963): a Markov chain of two states, a loss probability in each.
GilbertElliott read_gilbert_elliott(const Value& value) {
  const Keys<GilbertElliott>& keys = gilbert_elliott_keys();
  const Fields fields = keys.fields(value);
  GilbertElliott model;
  keys.must_have(fields, "good_to_bad");
  keys.must_have(fields, "bad_to_good");
  keys.read(fields, model);
  if (fields.are_sound({"good_to_bad", "bad_to_good"}) && model.good_to_bad > 0 &&
      model.bad_to_good <= 0) {
    fields.find("bad_to_good")
        ->fail("is 0, so the link would never leave its bad state; write a probability");
  }
  return model;
}

// Reads a size, or a time. A time is converted to the number of bytes that the link sends in that
// time at `rate`, the configured rate. A queue is memory, so later changes of the rate do not
// change its size.
ByteCount read_queue(const Value& value, BitRate rate) {
  const std::string text = value.text("write a size, like 625kB, or a time, like 100ms");
  if (!parse_duration(text)) {
    if (!parse_size(text)) {
      value.refuse("is neither a size nor a time", "write one, like 625kB or 100ms");
    }
    return value.size(kQueue);
  }
  const Duration time = value.duration(kQueueTime);
  if (rate.is_zero()) {
    value.refuse("is a time, and the rate is unlimited", "write a size, like 625kB");
  }
  const ByteCount size = rate.bytes_in(time);
  if (size < kQueue.least || size > kQueue.most) {
    value.refuse("at " + to_text(rate) + " is " + to_text(size),
                 "allowed: " + to_text(kQueue.least) + " to " + to_text(kQueue.most));
  }
  return size;
}

Kind<BitRate> rate_or_unlimited() {
  Kind<BitRate> kind = rate(kDirectionRate, "unlimited");
  kind.read = [read = kind.read](const Value& value) {
    return value.text(kDirectionRateHint) == "unlimited" ? BitRate() : read(value);
  };
  kind.allowed += ", or unlimited";
  return kind;
}

// The row of `queue`. read_direction() reads it after the rate, because a queue may be given as a
// time at that rate.
Key<LinkDirection> queue_key() {
  return key_of_section<LinkDirection>(
      {.name = "queue",
       .help = "The queue before the link.",
       .fallback = "100 ms at the rate and at least 64 KiB",
       .allowed = "a size, or a time like 200ms, up to 1h"},
      [](const LinkDirection& direction) { return to_text(direction.queue); }, "size");
}

LinkDirection read_direction(const Value& value) {
  const Keys<LinkDirection>& keys = direction_keys();
  const Fields fields = keys.fields(value);
  LinkDirection direction;
  keys.must_have(fields, "rate");
  keys.read(fields, direction);
  // Without the rate, a queue that is given as a time has no size.
  if (fields.are_sound({"rate"})) {
    fields.read("queue",
                [&](const Value& queue) { direction.queue = read_queue(queue, direction.rate); });
  }
  const Value* const model = fields.find("gilbert_elliott");
  if (model != nullptr && fields.find("loss") != nullptr) {
    model->tell("contradicts loss; write one of the two");
  }
  const Value* const by = fields.find("reorder_by");
  if (by != nullptr && fields.find("reorder") == nullptr && fields.are_sound({"reorder"})) {
    by->tell("has no effect without reorder; write the share of frames to reorder, like 0.1%");
  }
  return direction;
}

// A part of the file that has keys of its own.
Key<SatLink> part_of_link(std::string name, std::string help, std::string required = "") {
  return key_of_section<SatLink>(
      {.name = std::move(name), .help = std::move(help), .required = std::move(required)},
      [](const SatLink&) { return std::string(); });
}

Kind<std::string> command_socket() {
  return {.read = read_socket_path,
          .show = [](const std::string& path) { return path.empty() ? "none" : path; },
          .allowed = "an absolute path",
          .unit = ""};
}

}  // namespace

const Keys<GilbertElliott>& gilbert_elliott_keys() {
  using Model = GilbertElliott;
  static const Keys<Model> keys({
      key<Model>({.name = "good_to_bad",
                  .help = "The chance at each frame that the good state ends.",
                  .required = "write a probability a frame, like 0.1%"},
                 &Model::good_to_bad, share("a share")),
      key<Model>({.name = "bad_to_good",
                  .help = "The chance at each frame that the bad state ends.",
                  .required = "write a probability a frame, like 10%"},
                 &Model::bad_to_good, share("a share")),
      key<Model>({.name = "loss_good", .help = "The share of frames lost in the good state."},
                 &Model::loss_good, share("a share")),
      key<Model>({.name = "loss_bad", .help = "The share of frames lost in the bad state."},
                 &Model::loss_bad, share("a share")),
  });
  return keys;
}

const Keys<LinkDirection>& direction_keys() {
  using Way = LinkDirection;
  static const Keys<Way> keys({
      key<Way>({.name = "rate",
                .help = "The rate of the link.",
                .required = std::string(kDirectionRateHint)},
               &Way::rate, rate_or_unlimited()),
      key<Way>({.name = "delay", .help = "The delay of a frame, one way."}, &Way::delay,
               duration(kDirectionDelay)),
      queue_key(),
      key<Way>({.name = "mtu", .help = "The most IP bytes of a packet; longer ones are lost."},
               &Way::mtu, whole<std::uint16_t>({576, 9000}, "", "none")),
      key<Way>({.name = "loss", .help = "The share of frames lost, each by itself."}, &Way::loss,
               share("a share of frames")),
      key<Way>({.name = "gilbert_elliott",
                .help = "Bursts of loss.",
                .fallback = "none",
                .allowed = "instead of loss"},
               &Way::gilbert_elliott,
               or_none(Kind<GilbertElliott>{.read = read_gilbert_elliott,
                                            .show = [](const auto&) { return "bursts"; },
                                            .allowed = "",
                                            .unit = ""})),
      key<Way>({.name = "jitter", .help = "The most extra delay of a frame; order is kept."},
               &Way::jitter, duration(kDirectionDelay)),
      key<Way>({.name = "reorder", .help = "The share of frames that come late."}, &Way::reorder,
               share("a share of frames")),
      key<Way>({.name = "reorder_by", .help = "How late those frames come."}, &Way::reorder_by,
               duration(kDirectionDelay)),
      key<Way>({.name = "duplicate", .help = "The share of frames delivered twice."},
               &Way::duplicate, share("a share of frames")),
      key<Way>({.name = "corrupt", .help = "The share of frames with one flipped bit."},
               &Way::corrupt, share("a share of frames")),
  });
  return keys;
}

const Keys<SatLink>& sat_link_keys() {
  const SatLink standard;
  static const Keys<SatLink> keys({
      part_of_link("ports", "The devices at the two ends.",
                   "write {a: {interface: ...}, b: {interface: ...}}"),
      part_of_link("a_to_b", "The direction from port a to port b."),
      part_of_link("b_to_a", "The direction from port b to port a."),
      part_of_link("both", "Both directions."),
      key_of_section<SatLink>(
          {.name = "discipline",
           .help = "The packet that a full queue drops.",
           .allowed = word(standard.a_to_b.discipline).allowed},
          [](const SatLink& link) { return std::string(word_of(link.a_to_b.discipline)); }),
      key_of_section<SatLink>({.name = "traces",
                               .help = "Traces that were recorded elsewhere.",
                               .fallback = "none",
                               .allowed = "{a_to_b: {loss: FILE, delay: FILE}}, or both, b_to_a"},
                              [](const SatLink&) { return std::string(); }),
      key_of_section<SatLink>({.name = "changes",
                               .help = "Changes of the link over time.",
                               .fallback = "none",
                               .allowed = "a list"},
                              [](const SatLink&) { return std::string(); }),
      key<SatLink>({.name = "overhead",
                    .help = "Bytes that each packet costs on the link beyond its IP bytes."},
                   &SatLink::overhead, overhead()),
      key<SatLink>({.name = "memory", .help = "Memory for frames in flight."}, &SatLink::memory,
                   size(kLinkMemory, "from rates and delays")),
      key<SatLink>({.name = "seed",
                    .help = "The same seed gives the same faults.",
                    .allowed = "a whole number"},
                   &SatLink::seed,
                   whole<std::uint64_t>({0, std::numeric_limits<std::uint64_t>::max()})),
      part_of_link("worker", "The thread that carries traffic."),
      key<SatLink>({.name = "control_socket", .help = "The socket of commands."},
                   &SatLink::control_socket, command_socket()),
      key<SatLink>({.name = "stats_socket_prefix",
                    .help = "The name of the link on this machine, in the path of its sockets."},
                   &SatLink::stats_socket_prefix, stats_socket_prefix()),
      key<SatLink>({.name = "log", .help = "Lines of this level and worse are written."},
                   &SatLink::log_level, word(standard.log_level)),
  });
  return keys;
}

LinkDirections read_directions(const Fields& fields) {
  const Value* both = fields.find("both");
  const Value* a_to_b = fields.find("a_to_b");
  const Value* b_to_a = fields.find("b_to_a");
  if (both != nullptr) {
    for (const Value* one : {a_to_b, b_to_a}) {
      if (one != nullptr) one->tell("contradicts both; write both, or a_to_b and b_to_a");
    }
    LinkDirection direction;
    both->attempt([&] { direction = read_direction(*both); });
    return {direction, direction};
  }
  constexpr const char* kHint = "write both: {...}, or a_to_b: {...} and b_to_a: {...}";
  LinkDirections directions;
  fields.read("a_to_b", [&](const Value& way) { directions.a_to_b = read_direction(way); });
  fields.read("b_to_a", [&](const Value& way) { directions.b_to_a = read_direction(way); });
  const bool may_be_meant = !fields.are_sound({"both"});
  if (a_to_b == nullptr && b_to_a == nullptr) {
    if (fields.are_sound({"a_to_b", "b_to_a"})) fields.must_have("both", kHint);
  } else if (!may_be_meant) {
    fields.must_have("a_to_b", kHint);
    fields.must_have("b_to_a", kHint);
  }
  return directions;
}

SatLink read_sat_link(const Value& document, const std::filesystem::path& folder) {
  const Keys<SatLink>& keys = sat_link_keys();
  const Fields fields = keys.fields(document);
  SatLink config;
  keys.read_required(fields, "ports", [&](const Value& value) {
    const Fields ports = value.fields({"a", "b"});
    ports.read_required("a", "name the device of one side",
                        [&](const Value& port) { config.a = read_port(port); });
    ports.read_required("b", "name the device of the other side",
                        [&](const Value& port) { config.b = read_port(port); });
  });
  LinkDirections directions = read_directions(fields);
  read_timed_link(fields, folder, directions);
  config.a_to_b = directions.a_to_b;
  config.b_to_a = directions.b_to_a;
  fields.read("worker", [&](const Value& worker) { config.worker = read_worker(worker); });
  keys.read(fields, config);
  return config;
}

}  // namespace satrelay::config

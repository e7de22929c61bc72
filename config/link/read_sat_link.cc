#include "config/link/read_sat_link.h"

#include <limits>
#include <string>

#include "config/link/read_link_changes.h"
#include "config/readers/read_common.h"
#include "config/text/format.h"
#include "config/text/units.h"

namespace satrelay::config {
namespace {

constexpr Bounds<BitRate> kDirectionRate{BitRate::bits_per_second(1'000),
                                         BitRate::bits_per_second(100'000'000'000)};
constexpr Bounds<Duration> kDirectionDelay{Duration::zero(), Duration::seconds(10)};
constexpr Bounds<ByteCount> kQueue{ByteCount(2'000), ByteCount(16ULL << 30)};
constexpr Bounds<Duration> kQueueTime{Duration::microseconds(1), Duration::seconds(3'600)};
constexpr Bounds<ByteCount> kLinkMemory{ByteCount(1ULL << 20), ByteCount(1ULL << 40)};

// Gilbert (1960) and Elliott (1963): a Markov chain of two states, a loss probability in each.
GilbertElliott read_gilbert_elliott(const Value& value) {
  const Fields fields = value.fields({"good_to_bad", "bad_to_good", "loss_good", "loss_bad"});
  GilbertElliott model;
  model.good_to_bad =
      fields.require("good_to_bad", "write a probability a frame, like 0.1%").share();
  const Value& recovery = fields.require("bad_to_good", "write a probability a frame, like 10%");
  model.bad_to_good = recovery.share();
  if (model.good_to_bad > 0 && model.bad_to_good <= 0) {
    recovery.fail("is 0, so the link would never leave its bad state; write a probability");
  }
  if (const Value* loss = fields.find("loss_good")) model.loss_good = loss->share();
  if (const Value* loss = fields.find("loss_bad")) model.loss_bad = loss->share();
  return model;
}

// A size, or the time that the link takes to send it at `rate`, the configured rate. A queue is
// memory, so a later change of the rate does not change its size.
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

LinkDirection read_direction(const Value& value) {
  const Fields fields = value.fields({"rate", "delay", "queue", "mtu", "loss", "gilbert_elliott",
                                      "jitter", "reorder", "reorder_by", "duplicate", "corrupt"});
  LinkDirection direction;
  const Value& rate = fields.require("rate", "write a rate, like 50Mbit, or unlimited");
  if (rate.text("write a rate, like 50Mbit, or unlimited") != "unlimited") {
    direction.rate = rate.rate(kDirectionRate);
  }
  if (const Value* delay = fields.find("delay")) direction.delay = delay->duration(kDirectionDelay);
  if (const Value* queue = fields.find("queue")) {
    direction.queue = read_queue(*queue, direction.rate);
  }
  if (const Value* mtu = fields.find("mtu")) {
    direction.mtu = static_cast<std::uint16_t>(mtu->integer({576, 9000}));
  }
  if (const Value* loss = fields.find("loss")) direction.loss = loss->share();
  if (const Value* model = fields.find("gilbert_elliott")) {
    if (fields.find("loss") != nullptr) {
      model->fail("contradicts loss; write one of the two");
    }
    direction.gilbert_elliott = read_gilbert_elliott(*model);
  }
  if (const Value* jitter = fields.find("jitter"))
    direction.jitter = jitter->duration(kDirectionDelay);
  if (const Value* reorder = fields.find("reorder")) direction.reorder = reorder->share();
  if (const Value* by = fields.find("reorder_by")) {
    if (fields.find("reorder") == nullptr) {
      by->fail("has no effect without reorder; write the share of frames to reorder, like 0.1%");
    }
    direction.reorder_by = by->duration(kDirectionDelay);
  }
  if (const Value* duplicate = fields.find("duplicate")) direction.duplicate = duplicate->share();
  if (const Value* corrupt = fields.find("corrupt")) direction.corrupt = corrupt->share();
  return direction;
}

}  // namespace

LinkDirections read_directions(const Value& document, const Fields& fields) {
  const Value* both = fields.find("both");
  const Value* a_to_b = fields.find("a_to_b");
  const Value* b_to_a = fields.find("b_to_a");
  if (both != nullptr) {
    for (const Value* one : {a_to_b, b_to_a}) {
      if (one != nullptr) one->fail("contradicts both; write both, or a_to_b and b_to_a");
    }
    const LinkDirection direction = read_direction(*both);
    return {direction, direction};
  }
  constexpr const char* kHint = "is missing; write both: {...}, or a_to_b: {...} and b_to_a: {...}";
  if (a_to_b == nullptr) document.fail_at(b_to_a == nullptr ? "both" : "a_to_b", kHint);
  if (b_to_a == nullptr) document.fail_at("b_to_a", kHint);
  return {read_direction(*a_to_b), read_direction(*b_to_a)};
}

SatLink read_sat_link(const Value& document, const std::filesystem::path& folder) {
  const Fields fields = document.fields({"ports", "a_to_b", "b_to_a", "both", "discipline",
                                         "traces", "changes", "overhead", "memory", "seed",
                                         "worker", "control_socket", "stats_socket_prefix", "log"});
  SatLink config;
  const Fields ports = fields.require("ports", "write {a: {interface: ...}, b: {interface: ...}}")
                           .fields({"a", "b"});
  config.a = read_port(ports.require("a", "name the device of one side"));
  config.b = read_port(ports.require("b", "name the device of the other side"));
  LinkDirections directions = read_directions(document, fields);
  read_timed_link(fields, folder, directions);
  config.a_to_b = directions.a_to_b;
  config.b_to_a = directions.b_to_a;
  if (const Value* bytes = fields.find("overhead")) config.overhead = overhead().read(*bytes);
  if (const Value* memory = fields.find("memory")) config.memory = memory->size(kLinkMemory);
  if (const Value* seed = fields.find("seed")) {
    config.seed = seed->integer({0, std::numeric_limits<std::uint64_t>::max()});
  }
  if (const Value* worker = fields.find("worker")) config.worker = read_worker(*worker);
  if (const Value* socket = fields.find("control_socket")) {
    config.control_socket = read_socket_path(*socket);
  }
  if (const Value* prefix = fields.find("stats_socket_prefix")) {
    config.stats_socket_prefix = stats_socket_prefix().read(*prefix);
  }
  if (const Value* log = fields.find("log")) config.log_level = log->word<LogLevel>();
  return config;
}

}  // namespace satrelay::config

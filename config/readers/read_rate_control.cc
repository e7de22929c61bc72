#include "config/readers/read_rate_control.h"

#include <string>

#include "config/text/format.h"

namespace satrelay::config {
namespace {

constexpr Bounds<BitRate> kTarget{BitRate::bits_per_second(1'000),
                                  BitRate::bits_per_second(100'000'000'000)};
constexpr Bounds<Duration> kControlPeriod{Duration::milliseconds(20), Duration::seconds(10)};
constexpr Bounds<std::uint64_t> kWindow{4, 1'000'000};
constexpr Bounds<std::uint64_t> kPackets{1, 1'000'000};
constexpr Bounds<ByteCount> kBuffer{ByteCount(4096), ByteCount(16ULL << 30)};

}  // namespace

bool finds_capacity(const Fields& link) {
  const Value* const capacity = link.find("capacity");
  return capacity != nullptr && capacity->word<bool>({{"known", false}, {"find", true}});
}

RateControl read_rate_control(const Fields& link, MostRate most) {
  RateControl control;
  if (finds_capacity(link)) {
    for (const char* key : {"controller", "target", "period", "window", "initial_window",
                            "threshold", "growth", "avoidance_growth", "buffer"}) {
      const Value* const other = link.find(key);
      if (other == nullptr) continue;
      other->fail(
          "contradicts capacity: find, which chooses the rate by itself; remove one of them");
    }
    control.controller = Controller::kFind;
    return control;
  }
  if (const Value* controller = link.find("controller")) {
    control.controller = controller->word<Controller>({{"fixed_rate", Controller::kFixedRate},
                                                       {"hpfp", Controller::kHpfp},
                                                       {"tps", Controller::kTps},
                                                       {"stp", Controller::kStp}});
  }
  const auto parameter = [&](const char* key, Controller of) {
    const Value* value = link.find(key);
    if (value != nullptr && control.controller != of) {
      value->fail(std::string("is a parameter of controller ") + to_string(of) +
                  ", but this link's is " + to_string(control.controller) + "; remove it");
    }
    return value;
  };
  if (const Value* target = parameter("target", Controller::kHpfp)) {
    control.target = target->rate(kTarget);
    if (control.target > most.rate) {
      target->fail(to_text(control.target) + " exceeds " + most.name + " " + to_text(most.rate) +
                   "; write at most that");
    }
  }
  if (const Value* period = parameter("period", Controller::kHpfp)) {
    control.period = period->duration(kControlPeriod);
  }
  const auto packets = [&](const char* key, Controller of, Bounds<std::uint64_t> bounds,
                           std::uint32_t& out) {
    if (const Value* value = parameter(key, of)) {
      out = static_cast<std::uint32_t>(value->integer(bounds));
    }
  };
  packets("window", Controller::kTps, kWindow, control.window);
  packets("initial_window", Controller::kStp, kPackets, control.initial_window);
  packets("threshold", Controller::kStp, kPackets, control.threshold);
  packets("growth", Controller::kStp, kPackets, control.growth);
  packets("avoidance_growth", Controller::kStp, kPackets, control.avoidance_growth);
  if (const Value* buffer = parameter("buffer", Controller::kStp)) {
    control.buffer = buffer->size(kBuffer);
  }
  return control;
}

}  // namespace satrelay::config

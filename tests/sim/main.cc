// The simulation's test program. It takes GoogleTest's options and the options below.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "relay/sim/scenarios/random_scenario.h"
#include "relay/sim/scenarios/scenario.h"
#include "tests/sim/options.h"

namespace satrelay::sim {

Options& options() {
  static Options instance;
  return instance;
}

namespace {

constexpr const char* kUsage =
    "sim [--from N] [--seeds N] [--seed N] [--trace] [--list] [gtest options]\n"
    "  --seeds N  how many seeds the property test runs (200)\n"
    "  --from N   the first of them, and the seed of the tests beside other traffic (1)\n"
    "  --seed N   the property test with this seed alone, and nothing else\n"
    "  --short-flows N  how many flows of each kind the short flow tests measure (60)\n"
    "  --memory-rate N  bit/s at which a receiver's memory is measured (100000000)\n"
    "  --trace    prints every frame (with --seed)\n"
    "  --list     prints what the seeds stand for, and runs nothing\n";

std::uint64_t number(int argc, char** argv, int& i) {
  if (i + 1 >= argc) {
    std::fputs(kUsage, stderr);
    std::exit(2);
  }
  char* end = nullptr;
  const std::uint64_t value = std::strtoull(argv[++i], &end, 10);
  if (end == argv[i] || *end != '\0') {
    std::fprintf(stderr, "sim: %s %s: a number was expected\n", argv[i - 1], argv[i]);
    std::exit(2);
  }
  return value;
}

int list() {
  for (std::uint64_t i = 0; i < options().seeds; ++i) {
    const std::uint64_t seed = options().from + i;
    std::printf("%6llu  %s\n", static_cast<unsigned long long>(seed),
                random_scenario(seed).summary().c_str());
  }
  return 0;
}

int run(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  bool only_list = false;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--from") {
      options().from = number(argc, argv, i);
    } else if (argument == "--seeds") {
      options().seeds = number(argc, argv, i);
    } else if (argument == "--seed") {
      options().seed = number(argc, argv, i);
      if (GTEST_FLAG_GET(filter) == "*") GTEST_FLAG_SET(filter, "Property.EveryByte*");
    } else if (argument == "--short-flows") {
      options().short_flows = number(argc, argv, i);
    } else if (argument == "--memory-rate") {
      options().memory_rate = number(argc, argv, i);
    } else if (argument == "--trace") {
      options().trace = true;
    } else if (argument == "--list") {
      only_list = true;
    } else {
      std::fputs(kUsage, stderr);
      return argument == "--help" ? 0 : 2;
    }
  }
  return only_list ? list() : RUN_ALL_TESTS();
}

}  // namespace
}  // namespace satrelay::sim

int main(int argc, char** argv) { return satrelay::sim::run(argc, argv); }

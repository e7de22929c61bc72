// Runs a fuzz target without libFuzzer, over inputs that are computed from their numbers. That is
// enough to see that the target works and that no simple input breaks it. `smoke-TARGET [COUNT
// [FIRST]]`.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "pep/base/random.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

// Mostly small numbers, since formats consist of lengths and types, in runs and with repetitions.
std::vector<std::uint8_t> input(std::uint64_t number) {
  satrelay::Random random(number);
  std::vector<std::uint8_t> bytes(1 + random.below(random.chance(0.1) ? 4000 : 400));
  const unsigned most = random.chance(0.5) ? 256 : 1U + static_cast<unsigned>(random.below(80));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = i > 8 && random.chance(0.2) ? bytes[i - 1 - random.below(8)]
                                           : static_cast<std::uint8_t>(random.below(most));
  }
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 2'000;
  const std::uint64_t first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  std::uint64_t at = first;
  for (; at < first + count; ++at) {
    const std::vector<std::uint8_t> bytes = input(at);
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
  std::printf("%llu inputs, nothing found\n", static_cast<unsigned long long>(count));
  return 0;
}

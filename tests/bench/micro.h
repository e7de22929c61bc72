// The parts of a frame's way through a gateway, each measured alone.
#pragma once

#include <string>
#include <vector>

namespace satrelay::bench {

struct MicroRow {
  std::string name;
  double nanoseconds = 0;  // Per frame.
};

// `frames`: how many frames each row is averaged over.
std::vector<MicroRow> run_micro(std::size_t frames);

// One copy of 1500 bytes: within the cache, and through `working_set` bytes of memory.
double copy_hot(std::size_t frames);
double copy_through(std::size_t working_set, std::size_t frames);

}  // namespace satrelay::bench

// Writes a readable line for every frame, to examine the run of one seed. Costs nothing if it is
// not enabled.
#pragma once

#include <cstdio>
#include <string>

#include "pep/base/bytes.h"
#include "pep/base/time.h"

namespace satrelay::sim {

// Returns a line about a frame: addresses, ports, flags, sequence numbers, sizes.
std::string describe_frame(ConstBytes frame);

class Tracer {
 public:
  void enable(std::FILE* out) { out_ = out; }
  void frame(Instant now, const std::string& where, const char* what, ConstBytes frame) {
    if (out_ != nullptr) write(now, where, std::string(what) + "  " + describe_frame(frame));
  }
  void note(Instant now, const std::string& where, const std::string& text) {
    if (out_ != nullptr) write(now, where, text);
  }

 private:
  void write(Instant now, const std::string& where, const std::string& text) {
    std::fprintf(out_, "%14.6f ms  %-12s %s\n", static_cast<double>(now.to_nanoseconds()) / 1e6,
                 where.c_str(), text.c_str());
  }
  std::FILE* out_ = nullptr;
};

}  // namespace satrelay::sim

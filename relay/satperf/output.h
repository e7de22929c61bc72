// Writes reports to standard output, and to a file if there is one.
#pragma once

#include <fstream>
#include <iostream>
#include <string>

#include "relay/satperf/machine.h"

namespace satrelay::satperf {

class Output {
 public:
  // If `path` is empty, writes no file. Throws BadOption if the file cannot be written.
  explicit Output(const std::string& path) {
    if (path.empty()) return;
    file_.open(path, std::ios::trunc);
    if (!file_) throw BadOption("--output: cannot write " + path);
  }
  // Flushes after each text, so that a reader sees each line at once.
  void write(const std::string& text) {
    std::cout << text << std::flush;
    if (file_.is_open()) file_ << text << std::flush;
  }
  bool good() const { return std::cout.good() && file_.good(); }

 private:
  std::ofstream file_;
};

}  // namespace satrelay::satperf

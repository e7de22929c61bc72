// `satlab paper`.
#pragma once

#include <cstddef>
#include <string>

namespace satrelay::satlab {

struct PaperOptions {
  std::string paper;
  // --case: the case with this name, or else all cases with this text in their names.
  std::string only;
  std::size_t seeds = 3;
  std::size_t jobs = 1;
  std::string controller;  // "": run with the usual controller only
  std::string json;        // "": no file
  bool list = false;
  bool short_runs = false;
  bool quiet = false;
};

// Returns the exit status: 0 all targets met, 1 some missed, 2 no such case, 130 interrupted.
// Throws std::runtime_error.
int paper_command(const PaperOptions& options);

}  // namespace satrelay::satlab

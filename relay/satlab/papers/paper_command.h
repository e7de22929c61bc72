// `satlab paper`.
#pragma once

#include <cstddef>
#include <string>

namespace satrelay::satlab {

struct PaperOptions {
  std::string paper;
  // Value of --case: the name of a case, or a text that the names of the chosen cases contain.
  std::string only;
  std::size_t seeds = 3;
  std::size_t jobs = 1;
  std::string controller;  // a second controller to run for comparison; "" if there is none
  std::string json;        // name of the JSON file; "" if there is none
  bool list = false;
  bool short_runs = false;
  bool quiet = false;
};

// Returns the exit status: 0 if all targets were met, 1 if some were missed, 2 if there is no such
// case, 130 if interrupted. Throws std::runtime_error.
int paper_command(const PaperOptions& options);

}  // namespace satrelay::satlab

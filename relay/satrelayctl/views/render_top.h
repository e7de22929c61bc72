// Formats one screen of satrelayctl top. The function is pure: its input is two samples of the
// stats socket, and its result is text.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

namespace satrelay::ctl {

// The replies of the stats socket at one time.
struct TopSample {
  double seconds = 0;  // time of the sample, by any clock
  nlohmann::ordered_json status;
  nlohmann::ordered_json peers;
  nlohmann::ordered_json rules;
  nlohmann::ordered_json classes;
  nlohmann::ordered_json flows;  // the first flows of the listing
  std::size_t flows_in_all = 0;
};

struct ScreenSize {
  std::size_t rows = 24;
  std::size_t columns = 80;
};

// Returns at most `rows` lines of at most `columns` characters, each with a newline. They show the
// gateway, its peers, the rules and classes with the most traffic, and as many of the busiest flows
// as fit.
std::string render_top(const TopSample& before, const TopSample& now, ScreenSize size);

}  // namespace satrelay::ctl

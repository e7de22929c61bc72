// The experiments of a paper. Each has the published figures, the bound of the channel, and our
// target.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "relay/satlab/experiment.h"
#include "relay/satlab/run.h"

namespace satrelay::satlab {

enum class Better : std::uint8_t { kHigher, kLower };

// How a paper qualifies a figure.
enum class Relation : std::uint8_t {
  kEqual,
  kAbout,   // "about 200 Mbps"
  kMore,    // "more than 1 Gbps"
  kLess,    // "less than 1 Gbps"
  kAtMost,  // "not higher than 1 Kbits/s"
};

struct Published {
  std::string system;
  double figure = 0;
  Relation relation = Relation::kEqual;
  // The place in the paper, if the paper gives another figure for the same case elsewhere.
  std::string place = {};
};

struct RowSpec {
  std::string name;
  std::string unit;
  std::vector<Published> published;  // figures of the same system are adjacent
  std::optional<double> bound;
  std::optional<double> target;  // nullopt: the figure is only for information
  Better better = Better::kHigher;
};

// One experiment, which gives the figures of one or more rows.
struct Case {
  std::string name;  // for --case
  std::vector<RowSpec> rows;
  std::function<Experiment(std::uint64_t seed)> build;
  // Returns a figure for each row, in the order of `rows`; NaN: it could not be measured.
  std::function<std::vector<double>(const RunResult&)> figures;
};

struct Paper {
  std::string name;
  std::string title;
  std::vector<Case> cases;
};

enum class Length : std::uint8_t { kFull, kShort };

Paper hpfp_paper(Length length);
Paper marchese_paper();
Paper tps_paper();
Paper accelerator_paper();
Paper winds_paper();
Paper channel_paper();  // cases that are not from a paper: short flows, bursts, steps, outages

// The names that paper() knows, in order.
std::vector<std::string> paper_names();
// Throws std::invalid_argument for an unknown name.
Paper paper(std::string_view name, Length length);

}  // namespace satrelay::satlab

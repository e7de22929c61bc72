// Experiments that repeat the experiments of a paper. Each row has the published figures, the
// theoretical bound of the link, and our target.
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

// How a paper qualifies a published figure.
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
  // Where in the paper the figure is. Given only if the paper has a different figure for the same
  // case elsewhere.
  std::string place = {};
};

struct RowSpec {
  std::string name;
  std::string unit;
  std::vector<Published> published;  // figures of the same system are adjacent
  std::optional<double> bound;
  std::optional<double> target;  // nullopt means that the figure is only for information
  Better better = Better::kHigher;
};

// One experiment. Its runs give the figures of one or more rows.
struct Case {
  std::string name;  // the name to select with --case
  std::vector<RowSpec> rows;
  std::function<Experiment(std::uint64_t seed)> build;
  // Returns a figure for each row, in the order of `rows`. NaN means that the figure was not
  // measured.
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
Paper channel_paper();  // not from a paper: short flows, bursts, rate steps, outages

// Returns the names that paper() accepts, in order.
std::vector<std::string> paper_names();
// Throws std::invalid_argument for an unknown name.
Paper paper(std::string_view name, Length length);

}  // namespace satrelay::satlab

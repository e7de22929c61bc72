// The YAML tree of link.yaml turned into schema.h's values.
#pragma once

#include <filesystem>

#include "config/model/link_model.h"
#include "config/model/schema.h"
#include "config/readers/document.h"

namespace satrelay::config {

// The values of link.yaml with every default filled in. Throws ConfigError. What contradicts
// something else in the file is left to validation.h. `folder`: where the files of traces are.
SatLink read_sat_link(const Value& document, const std::filesystem::path& folder);

struct LinkDirections {
  LinkDirection a_to_b;
  LinkDirection b_to_a;
};
// Its part `both`, or `a_to_b` and `b_to_a`, out of the fields of `map`, for other files that
// describe links.
LinkDirections read_directions(const Value& document, const Fields& fields);

}  // namespace satrelay::config

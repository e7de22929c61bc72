// Turns the YAML tree of link.yaml into the values of link_model.h.
#pragma once

#include <filesystem>

#include "config/keys/key.h"
#include "config/model/link_model.h"
#include "config/model/schema.h"
#include "config/readers/document.h"

namespace satrelay::config {

const Keys<SatLink>& sat_link_keys();
const Keys<LinkDirection>& direction_keys();
const Keys<GilbertElliott>& gilbert_elliott_keys();

// Returns the values of link.yaml, with every default filled in. Throws ConfigError. validation.h
// finds most contradictions between the parts of the file. `folder` is the folder of the trace
// files.
SatLink read_sat_link(const Value& document, const std::filesystem::path& folder);

struct LinkDirections {
  LinkDirection a_to_b;
  LinkDirection b_to_a;
};
// Reads `both`, or `a_to_b` and `b_to_a`, from the fields of a document. Readers of other
// files that describe links also use this function.
LinkDirections read_directions(const Fields& fields);

}  // namespace satrelay::config

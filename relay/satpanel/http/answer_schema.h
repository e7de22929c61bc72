// JSON schemas of what the API answers, made from the shapes of the gateway's replies.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

namespace satrelay::panel {

// An answer of the API: of one shape (relay/metrics/reply_shapes.h), or a page of such. Of "" there
// is no schema: what it is docs/panel.md has.
struct Answer {
  enum class Form : std::uint8_t { kOne, kPage };
  std::string_view shape = "";
  Form form = Form::kOne;
};

// The schema of the answer, which names those of add_schemas() as OpenAPI does.
nlohmann::ordered_json schema_of(const Answer& answer);
// Of a shape, and of those within it, by name: added to `schemas` unless they are there.
void add_schemas(std::string_view shape, nlohmann::ordered_json& schemas);

}  // namespace satrelay::panel

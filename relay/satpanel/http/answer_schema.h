// JSON schemas of the API's answers, made from the shapes of the gateway's replies.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

namespace satrelay::panel {

// The form of an answer: an object of one shape (relay/metrics/reply_shapes.h), or a page of such
// objects. `shape` "": there is no schema, and docs/panel.md describes the answer.
struct AnswerSchema {
  enum class Form : std::uint8_t { kOne, kPage };
  std::string_view shape = "";
  Form form = Form::kOne;
};

// Returns the schema of the answer. The schema refers to the schemas of add_schemas() by name, as
// in OpenAPI.
nlohmann::ordered_json schema_of(const AnswerSchema& answer);
// Adds the schema of a shape, and the schemas of the shapes within it, to `schemas`, each under its
// name, unless `schemas` has them already.
void add_schemas(std::string_view shape, nlohmann::ordered_json& schemas);

}  // namespace satrelay::panel

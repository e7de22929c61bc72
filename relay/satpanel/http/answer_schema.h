// Writes JSON schemas of the API's answers, which are derived from the shapes of the gateway's
// replies.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

namespace satrelay::panel {

// The form of an answer: one object of a shape (relay/metrics/reply_shapes.h), or a page of such
// objects. If `shape` is "", there is no schema, and docs/panel.md describes the answer.
struct AnswerSchema {
  enum class Form : std::uint8_t { kOne, kPage };
  std::string_view shape = "";
  Form form = Form::kOne;
};

// Returns the schema of the answer. As in OpenAPI, it refers by name to the schemas that
// add_schemas() adds.
nlohmann::ordered_json schema_of(const AnswerSchema& answer);
// Adds to `schemas` the schema of a shape and the schemas of the shapes within it, each under its
// name. Leaves out schemas that are already there.
void add_schemas(std::string_view shape, nlohmann::ordered_json& schemas);

}  // namespace satrelay::panel

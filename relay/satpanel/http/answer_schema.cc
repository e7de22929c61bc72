#include "relay/satpanel/http/answer_schema.h"

#include <string>
#include <utility>
#include <vector>

#include "relay/metrics/reply_shapes.h"

namespace satrelay::panel {
namespace {

using Json = nlohmann::ordered_json;
using metrics::ReplyField;
using metrics::ReplyType;

Json reference_to(std::string_view shape) {
  return {{"$ref", "#/components/schemas/" + std::string(shape)}};
}

Json number() { return {{"type", "integer"}, {"minimum", 0}}; }

Json schema_of(const ReplyField& field) {
  switch (field.type) {
    case ReplyType::kText:
      return {{"type", "string"}};
    case ReplyType::kObject:
      return reference_to(field.shape);
    case ReplyType::kNumbersByName:
      return {{"type", "object"}, {"additionalProperties", number()}};
    case ReplyType::kObjectsByName:
      return {{"type", "object"}, {"additionalProperties", reference_to(field.shape)}};
    case ReplyType::kNumber:
      break;
  }
  Json schema = number();
  if (field.is_if_known) schema["type"] = {"integer", "null"};
  return schema;
}

}  // namespace

Json schema_of(const AnswerSchema& answer) {
  if (answer.form == AnswerSchema::Form::kOne) return reference_to(answer.shape);
  return {{"type", "object"},
          {"properties",
           {{"total", number()},
            {"first", number()},
            {"entries", {{"type", "array"}, {"items", reference_to(answer.shape)}}}}},
          {"required", {"total", "first", "entries"}}};
}

// The schemas require no fields, since gateways of other versions may have more fields or fewer.
void add_schemas(std::string_view shape, Json& schemas) {
  if (schemas.contains(std::string(shape))) return;
  const std::vector<ReplyField> fields = metrics::fields_of(shape);
  Json properties = Json::object();
  for (const ReplyField& field : fields) properties[std::string(field.name)] = schema_of(field);
  schemas[std::string(shape)] = {{"type", "object"}, {"properties", std::move(properties)}};
  for (const ReplyField& field : fields) {
    if (!field.shape.empty()) add_schemas(field.shape, schemas);
  }
}

}  // namespace satrelay::panel

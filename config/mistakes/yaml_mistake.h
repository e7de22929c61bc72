// Words for mistakes in the syntax of YAML. yaml-cpp often names the line behind the mistake, and
// never the cure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/text/error.h"

namespace satrelay::config {

struct YamlMistake {
  Place place;
  std::string message;
};

// Returns the place of an octet of zero, which no text has. yaml-cpp reads some of them as text.
std::optional<YamlMistake> find_octet_of_zero(const std::string& text);

// Explains why a second document begins at `place`. `is_stuck` means that it begins where the first
// document began: the parser cannot pass the character there, which is a comma.
YamlMistake explain_second_document(const std::string& text, Place place, bool is_stuck);

// Looks for the cause of an error that yaml-cpp tells at `place`. `text` is the document.
YamlMistake explain_yaml(const std::string& text, Place place, std::string_view error);

}  // namespace satrelay::config

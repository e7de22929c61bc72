// Values as text in messages.
#pragma once

#include <string>
#include <string_view>

#include "pep/base/time.h"
#include "pep/base/units.h"

namespace satrelay::config {

// Uses the largest unit in which the value is a whole number: "50Mbit", "550ms", "64MiB".
std::string to_text(BitRate rate);
std::string to_text(Duration duration);
std::string to_text(ByteCount size);

// Text that is safe for a terminal: '?' replaces each control character, and the text is cut after
// 60 bytes. A text that has 32 hexadecimal digits in a row may be a secret, and is hidden.
std::string printable(std::string_view text);
std::string in_quotes(std::string_view text);

}  // namespace satrelay::config

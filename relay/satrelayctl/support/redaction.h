// Replaces all texts in a configuration that look like secrets, so that the configuration may be
// shown to others. It is read as plain text, so that comments remain, and so that even an invalid
// configuration can be shown.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace satrelay::ctl {

inline constexpr std::string_view kLeftOut = "LEFT-OUT";

struct Redacted {
  std::string text;
  std::size_t secrets = 0;  // number of texts that were replaced by kLeftOut
};

// These are secrets: the value of a key with a name that says so ("psk", "password" or "api_token",
// but not "psk_file", which names a file), a run of at least 32 hexadecimal digits or 40 base64
// characters, the content of a PEM block, and the password in a URL. The input may have any bytes.
Redacted without_secrets(std::string_view configuration);

}  // namespace satrelay::ctl

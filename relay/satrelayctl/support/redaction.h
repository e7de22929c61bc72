// Makes a configuration that may be shown to others, by replacing all texts that look like secrets.
// The configuration is read as plain text, so that comments stay, and so that even an invalid
// configuration can be shown.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace satrelay::ctl {

inline constexpr std::string_view kLeftOut = "LEFT-OUT";

struct Redacted {
  std::string text;
  std::size_t secrets = 0;  // number of texts replaced by kLeftOut
};

// These are secrets: the value of a key with a name that says so ("psk", "password", "api_token";
// not "psk_file", which names a file), a run of 32 or more hexadecimal digits or of 40 or more
// base64 characters, the content of a PEM block, and the password of a URL. The input may have any
// bytes.
Redacted without_secrets(std::string_view configuration);

}  // namespace satrelay::ctl

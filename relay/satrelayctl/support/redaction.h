// A configuration as it may be shown to others: what looks like a secret is replaced. It is read as
// text, so that also one that no gateway would take is shown, with its comments.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace satrelay::ctl {

inline constexpr std::string_view kLeftOut = "LEFT-OUT";

struct Redacted {
  std::string text;
  std::size_t secrets = 0;  // that were replaced by kLeftOut
};

// A secret is the value of a key whose name says so ("psk", "password", "api_token"; not
// "psk_file", which names a file), a run of 32 or more hexadecimal digits or of 40 or more of
// base64, what stands in a PEM block, and the password of a URL. Any bytes are safe.
Redacted without_secrets(std::string_view configuration);

}  // namespace satrelay::ctl

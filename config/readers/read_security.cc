#include "config/readers/read_security.h"

#include <string>

#include "config/readers/psk_file.h"
#include "config/text/error.h"

namespace satrelay::config {

const Keys<Security>& security_keys() {
  static const Keys<Security> keys({
      key_of_section<Security>({.name = "psk_file",
                                .help = "The file of the secret that both gateways share.",
                                .allowed = "an absolute path",
                                .required = "name the file that `satrelayctl keygen` has made"},
                               [](const Security& security) { return security.psk_file; }),
  });
  return keys;
}

namespace {

void read_keys(const Value& file, const std::optional<std::string>& reader, Security& security) {
  security.psk_file = file.text("write an absolute path");
  if (!security.psk_file.starts_with('/')) {
    // The message does not have the text, because it may be the secret itself.
    file.fail(
        "is not an absolute path; write the path of the file that has the secret, like "
        "/etc/satrelay/psk");
  }
  if (!reader) return;
  try {
    security.keys = read_psk_file(security.psk_file, *reader);
  } catch (const FileError& error) {
    file.fail(error);
  } catch (const ConfigError& error) {
    file.fail(error.what());
  }
}

}  // namespace

Security read_security(const Value& value, const std::optional<std::string>& reader) {
  constexpr std::string_view kHint = "write {psk_file: /etc/satrelay/psk}, or none";
  Security security;
  if (!value.is_map()) {
    // The message does not have the text, because it may be the secret itself.
    if (value.text(kHint) != "none") value.fail("is not known here; " + std::string(kHint));
    return security;
  }
  const Fields fields = security_keys().fields(value);
  security_keys().read_required(fields, "psk_file",
                                [&](const Value& file) { read_keys(file, reader, security); });
  return security;
}

}  // namespace satrelay::config

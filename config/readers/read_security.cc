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

Security read_security(const Value& value, const std::string& reader) {
  constexpr std::string_view kHint = "write {psk_file: /etc/satrelay/psk}, or none";
  Security security;
  if (!value.is_map()) {
    if (value.text(kHint) != "none") value.refuse("is not known here", kHint);
    return security;
  }
  const Fields fields = security_keys().fields(value);
  const Value& file = security_keys().require(fields, "psk_file");
  security.psk_file = file.text("write an absolute path");
  if (!security.psk_file.starts_with('/'))
    file.refuse("is not an absolute path", "begin with a slash");
  try {
    security.keys = read_psk_file(security.psk_file, reader);
  } catch (const FileError& error) {
    file.fail(error);
  } catch (const ConfigError& error) {
    file.fail(error.what());
  }
  return security;
}

}  // namespace satrelay::config

#include "config/readers/read_access.h"

#include <string>

namespace satrelay::config {

const Keys<Access>& access_keys() {
  static const Keys<Access> keys({
      key_of_section<Access>({.name = "group",
                              .help = "The group of this machine that may use the socket.",
                              .fallback = "none",
                              .allowed = "the name of a group"},
                             [](const Access& access) { return access.group; }),
      key_of_section<Access>({.name = "mode",
                              .help = "The mode of the socket.",
                              .fallback = "0600, or 0660 with a group",
                              .allowed = "0600, 0660, and to read 0666"},
                             [](const Access& access) {
                               return access.mode == 0600   ? std::string("0600")
                                      : access.mode == 0660 ? std::string("0660")
                                                            : std::string("0666");
                             }),
  });
  return keys;
}

Access read_access(const Value& value, Others others) {
  const Fields fields = access_keys().fields(value);
  Access access;
  fields.read("group", [&](const Value& group) {
    access.group = group.text("write the name of a group of this machine");
    access.mode = 0660;
  });
  const Value* mode = fields.find("mode");
  if (mode == nullptr) return access;
  // To connect, a program needs the right to write. The right to execute has no meaning for a
  // socket.
  const bool public_too = others == Others::kMayRead;
  const std::string hint = public_too ? "write 0600, 0660 or 0666" : "write 0600 or 0660";
  const std::string text = mode->text(hint);
  if (text == "0600" || text == "600") {
    access.mode = 0600;
  } else if (text == "0660" || text == "660") {
    access.mode = 0660;
  } else if (public_too && (text == "0666" || text == "666")) {
    access.mode = 0666;
  } else {
    mode->refuse("is not a mode that makes sense here", hint);
  }
  if (!fields.are_sound({"group"})) return access;
  if (access.mode == 0660 && access.group.empty()) {
    mode->fail("lets a group in; write which: group: NAME");
  }
  if (access.mode == 0600 && !access.group.empty()) {
    mode->fail("contradicts group, which could not use the socket; write 0660, or remove group");
  }
  return access;
}

}  // namespace satrelay::config

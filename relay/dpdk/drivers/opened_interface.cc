#include "relay/dpdk/drivers/opened_interface.h"

#include <exception>
namespace satrelay::dpdk {

OpenedInterface::OpenedInterface(const std::string& name, std::uint16_t mtu)
    : name_(name), mtu_(mtu) {
  kernel::KernelInterface interface(name_);
  prepared_ = interface.prepare(mtu_);
  index_ = interface.index();
  mac_ = interface.mac();
}

InterfaceView OpenedInterface::view(bool is_ours,
                                    const std::vector<std::string>& objections) const {
  InterfaceView view;
  view.name = kernel::interface_name(index_);
  try {
    if (!view.name.empty() && is_ours) {
      const kernel::KernelInterface interface(view.name);
      view.is_enabled = interface.is_enabled();
      view.is_running = view.is_enabled && interface.is_running();
      view.megabits = interface.megabits();
      return view;
    }
  } catch (const std::exception&) {
    // The interface has just vanished.
  }
  view = {
      .is_there = false, .name = "", .is_enabled = false, .is_running = false, .objections = {}};
  try {
    const kernel::KernelInterface successor(name_);
    view.objections = successor.objections(mtu_);
    view.objections.insert(view.objections.end(), objections.begin(), objections.end());
    view.has_successor = true;
  } catch (const std::exception&) {
    // No interface has the configured name.
  }
  return view;
}

unsigned OpenedInterface::successor() const { return kernel::KernelInterface(name_).index(); }

}  // namespace satrelay::dpdk

#!/usr/bin/env bash
# Hands network ports to satrelay (vfio-pci, hugepages) and puts everything back again. The state before is kept until
# the next reboot, which undoes everything as well. A second run changes nothing.
set -euo pipefail
here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
# shellcheck source=deploy/progress.sh
source "$here/progress.sh"

usage() {
  cat <<END
usage: ${0##*/} [OPTION]... [status]
       ${0##*/} [OPTION]... bind PORT...
       ${0##*/} [OPTION]... restore [PORT...]

  status   shows the machine's ports: driver, NUMA node, interface, state (the default)
  bind     takes the ports from the kernel, for \`pci:\` in the configuration, and reserves hugepages
  restore  gives these ports (without PORT: all that were bound) back to the drivers that they had;
           with the last one the hugepages that were reserved too

A PORT is the name of an interface, or a PCI address: 0000:01:00.0 or 01:00.0.

  --hugepages MIB  pages of 2 MiB to have, on the NUMA nodes of the ports (default 1024; 0: none)
  --dry-run        only say what the command would do
  --force          bind a port that is in use: it has an address, a default route, something on top
                   of it, or carries the ssh connection that you type in
  --help           this text
END
}

state=/run/satrelay-bind-ports
devices=/sys/bus/pci/devices
drivers=/sys/bus/pci/drivers

# --- words ----------------------------------------------------------------------------------------

dry_run=no force=no hugepages=1024 command="" ports=()
while (($# > 0)); do
  case $1 in
  --dry-run) dry_run=yes ;;
  --force) force=yes ;;
  --hugepages)
    (($# >= 2)) || misused "--hugepages needs a number of MiB; see --help"
    hugepages=$2
    shift
    ;;
  -h | --help)
    usage
    exit 0
    ;;
  -*)
    usage >&2
    misused "unknown option: $1"
    ;;
  *)
    if [ -z "$command" ]; then command=$1; else ports+=("$1"); fi
    ;;
  esac
  shift
done
[[ $hugepages =~ ^[0-9]{1,7}$ ]] || misused "--hugepages is \"$hugepages\"; write a number of MiB, like 1024"
hugepages=$((10#$hugepages))
: "${command:=status}"
case $command in
status) ((${#ports[@]} == 0)) || misused "status takes no ports" ;;
bind) ((${#ports[@]} > 0)) || misused "bind needs at least one port; \"status\" lists them" ;;
restore) ;;
*)
  usage >&2
  misused "unknown command: $command"
  ;;
esac

# --- looking --------------------------------------------------------------------------------------

content() { if [ -r "$1" ]; then printf '%s\n' "$(<"$1")"; fi 2>/dev/null || true; }
target() {
  local path
  if [ ! -e "$1" ]; then return; fi
  path=$(readlink -- "$1")
  echo "${path##*/}"
}
driver_of() { target "$devices/$1/driver"; }
group_of() { target "$devices/$1/iommu_group"; }

# The interfaces of a device. For virtio they are one folder deeper.
interfaces_of() {
  local path
  for path in "$devices/$1"/net/* "$devices/$1"/virtio*/net/*; do
    if [ -e "$path" ]; then echo "${path##*/}"; fi
  done
}

node_of() {
  local node
  node=$(content "$devices/$1/numa_node")
  # -1 on a machine with a single node.
  if [ -z "$node" ] || ((node < 0)); then node=0; fi
  echo "$node"
}

# All network devices, Ethernet or other.
network_devices() {
  local path
  for path in "$devices"/*; do
    case $(content "$path/class") in 0x02*) echo "${path##*/}" ;; esac
  done
}

has_iommu() { [ -n "$(group_of "$1")" ]; }

# The PCI address of a port as it was typed.
resolve() {
  local name=$1 path address
  if [ -e "$devices/$name" ]; then
    address=$name
  elif [ -e "$devices/0000:$name" ]; then
    address=0000:$name
  elif [ -e "/sys/class/net/$name" ]; then
    path=$(readlink -f -- "/sys/class/net/$name/device" || true)
    # For virtio there is another device between interface and PCI device.
    while [ -n "$path" ] && [ ! -e "$devices/${path##*/}" ]; do path=${path%/*}; done
    if [ -z "$path" ]; then die "$name: no PCI device is behind this interface"; fi
    address=${path##*/}
  else
    die "$name: there is neither such an interface nor such a PCI device; \"status\" lists the ports"
  fi
  case $(content "$devices/$address/class") in
  0x02*) ;;
  *) die "$name: $address is not a network device" ;;
  esac
  echo "$address"
}

# The far address of the ssh connection in which the command was typed. sudo has removed the variable, but not from the
# shell in which sudo was typed.
ssh_client() {
  local pid=$$ found=${SSH_CONNECTION:-}
  while [ -z "$found" ] && ((pid > 1)); do
    found=$({ tr '\0' '\n' <"/proc/$pid/environ" | sed -n 's/^SSH_CONNECTION=//p'; } 2>/dev/null || true)
    pid=$(awk '/^PPid:/ {print $2}' "/proc/$pid/status" 2>/dev/null || echo 0)
  done
  echo "${found%% *}"
}

joined() { paste -sd'|' | sed 's/|/; /g'; }

# The reasons why an interface is in use, one a line.
uses_of() {
  local interface=$1 path text
  text=$(ip -o address show dev "$interface" | awk '$0 !~ /scope link/ {print $4}' | paste -sd' ')
  if [ -n "$text" ]; then echo "it has the address $text"; fi
  if [ -n "$(ip -4 route show default dev "$interface")$(ip -6 route show default dev "$interface")" ]; then
    echo "the default route leads through it"
  fi
  if [ -e "/sys/class/net/$interface/master" ]; then
    echo "it is a port of $(target "/sys/class/net/$interface/master")"
  fi
  for path in "/sys/class/net/$interface"/upper_*; do
    if [ -e "$path" ] && [ ! -e "/sys/class/net/$interface/master" ]; then
      echo "${path##*/upper_} is built on top of it"
    fi
  done
  text=$(content "/sys/class/net/$interface/device/sriov_numvfs")
  if [ -n "$text" ] && ((text > 0)); then echo "it has $text virtual functions, which go with it"; fi
  if [ -n "$ssh_from" ]; then
    text=$(ip -o route get "$ssh_from" 2>/dev/null || true)
    if [[ " $text " == *" dev $interface "* ]]; then echo "your ssh connection comes through it"; fi
  fi
}

# The programs that have a device open, by vfio or uio.
users_of() {
  local address=$1 file="" path
  case $(driver_of "$address") in
  vfio-pci) file=/dev/vfio/$(group_of "$address") ;;
  uio_pci_generic)
    for path in "$devices/$address"/uio/uio*; do
      if [ -e "$path" ]; then file=/dev/${path##*/}; fi
    done
    ;;
  esac
  if [ -z "$file" ]; then return; fi
  { find /proc/[0-9]*/fd -lname "$file" 2>/dev/null || true; } | awk -F/ '!seen[$3]++ {print $3}' | paste -sd' '
}

show_status() {
  local address interface interfaces node state_of shown=0 format='%-13s %-10s %-16s %4s  %-12s %s\n'
  # shellcheck disable=SC2059
  printf "$format" PORT DEVICE DRIVER NODE INTERFACE STATE
  for address in $(network_devices); do
    shown=$((shown + 1))
    node=$(node_of "$address")
    interfaces=$(interfaces_of "$address")
    for interface in ${interfaces:--}; do
      if [ "$interface" != - ]; then
        state_of=$(content "/sys/class/net/$interface/operstate")
        state_of+=$(uses_of "$interface" | sed 's/^/, /' | tr -d '\n')
      elif [ -n "$(users_of "$address")" ]; then
        state_of="used by process $(users_of "$address")"
      elif [[ $(driver_of "$address") =~ ^(vfio-pci|uio_pci_generic|igb_uio)$ ]]; then
        state_of="bound, free"
      else
        state_of="no interface"
      fi
      # shellcheck disable=SC2059
      printf "$format" "$address" \
        "$(content "$devices/$address/vendor" | cut -c3-):$(content "$devices/$address/device" | cut -c3-)" \
        "$(driver_of "$address" | grep . || echo -)" "$node" "$interface" "$state_of"
    done
  done
  if ((shown == 0)); then say "(no network device on the PCI bus)"; fi
  show_machine
}

show_machine() {
  local path node
  if compgen -G "/sys/kernel/iommu_groups/*" >/dev/null; then
    say "IOMMU: on"
  else
    say "IOMMU: off (intel_iommu=on or amd_iommu=on on the kernel's command line, and VT-d or AMD-Vi in the BIOS)"
  fi
  for path in /sys/devices/system/node/node*/hugepages/hugepages-2048kB; do
    if [ ! -e "$path" ]; then continue; fi
    node=${path#*/node/node}
    say "hugepages of node ${node%%/*}: $(($(content "$path/nr_hugepages") * 2)) MiB," \
      "$(($(content "$path/free_hugepages") * 2)) MiB free"
  done
}

# --- doing ----------------------------------------------------------------------------------------

# act WORDS COMMAND...: says WORDS, and runs the command unless this is a dry run.
act() {
  if [ "$dry_run" = yes ]; then
    say "would: $1"
  else
    say "$1"
    "${@:2}"
  fi
}

put() { echo "$1" >"$2"; }

load() {
  if [ -e "$drivers/$1" ]; then return; fi
  if [ "$dry_run" = yes ]; then
    say "would: load the module of $1"
    return
  fi
  modprobe -q "$1" || die "the kernel has no driver $1: is its module installed (Debian: linux-image-amd64, not a cloud kernel)?"
}

remember() {
  mkdir -p "$state"
  # The first answer is the one to put back.
  if [ ! -e "$state/$1" ]; then printf '%s\n' "$2" >"$state/$1"; fi
}

# hand_over ADDRESS DRIVER: gives the device to that driver; "": to any driver that knows it.
hand_over() {
  local address=$1 to=$2 interface
  for interface in $(interfaces_of "$address"); do ip link set dev "$interface" down || true; done
  put "$to" "$devices/$address/driver_override"
  if [ -e "$devices/$address/driver" ]; then put "$address" "$devices/$address/driver/unbind"; fi
  put "$address" /sys/bus/pci/drivers_probe
  if [ -n "$to" ] && [ "$(driver_of "$address")" != "$to" ]; then
    put "" "$devices/$address/driver_override"
    put "$address" /sys/bus/pci/drivers_probe
    die "$address: $to does not take it (see: dmesg | tail); it is with the driver $(driver_of "$address") again"
  fi
}

# Other devices of the group must not stay with the kernel, since vfio hands out whole groups.
check_group() {
  local address=$1 path other others=""
  for path in "$devices/$address"/iommu_group/devices/*; do
    other=${path##*/}
    case "$other $(content "$devices/$other/class")" in
    "$address "* | *" 0x0604"* | *" 0x0600"*) continue ;; # bridges may stay
    esac
    case $(driver_of "$other") in
    "" | vfio-pci | pci-stub) continue ;;
    esac
    if [[ " ${wanted[*]} " == *" $other "* ]]; then continue; fi
    others+=" $other ($(driver_of "$other"))"
  done
  if [ -n "$others" ]; then
    die "$address: shares its IOMMU group $(group_of "$address") with$others; bind these too, or use another slot"
  fi
}

check_free() {
  local address=$1 interface reasons
  for interface in $(interfaces_of "$address"); do
    reasons=$(uses_of "$interface")
    if [ -z "$reasons" ]; then continue; fi
    if [ "$force" = yes ]; then
      warn "$address ($interface): $(joined <<<"$reasons"); bound because of --force"
    else
      die "$address ($interface) is in use: $(joined <<<"$reasons"). Nothing was changed; --force binds it nevertheless"
    fi
  done
}

bind_one() {
  local address=$1 to=vfio-pci before
  before=$(driver_of "$address")
  if ! has_iommu "$address"; then
    to=uio_pci_generic
    warn "$address: no IOMMU guards this device: it can reach all of the machine's memory, and satrelayd must start as root. Switch VT-d or AMD-Vi on if the machine has it (docs/hardware.md)"
  fi
  if [ "$before" = "$to" ]; then
    say "$address: bound to $to already"
    return
  fi
  load "$to"
  if [ "$dry_run" = no ]; then remember "$address" "$before"; fi
  act "$address: from ${before:-no driver} to $to" hand_over "$address" "$to"
}

reserve_on() {
  local node=$1 pages=$2 have
  local control=/sys/devices/system/node/node$node/hugepages/hugepages-2048kB/nr_hugepages
  if [ ! -e "$control" ]; then control=/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages; fi
  if [ ! -e "$control" ]; then
    warn "hugepages: this kernel offers none of 2 MiB, and PCI ports do not start without"
    return
  fi
  have=$(<"$control")
  if ((have >= pages)); then
    say "hugepages of node $node: $((have * 2)) MiB already"
    return
  fi
  if [ "$dry_run" = no ]; then remember "hugepages-$node" "$have $control"; fi
  act "hugepages of node $node: $((pages * 2)) MiB, before $((have * 2)) MiB" put "$pages" "$control"
  if [ "$dry_run" = no ] && (($(<"$control") < pages)); then
    warn "hugepages of node $node: memory is short or in pieces, only $(($(<"$control") * 2)) MiB; hugepages=$pages on the kernel's command line gets them"
  fi
}

bind_ports() {
  local address nodes=()
  for address in "${wanted[@]}"; do
    check_free "$address"
    if has_iommu "$address"; then check_group "$address"; fi
  done
  for address in "${wanted[@]}"; do
    bind_one "$address"
    if [[ " ${nodes[*]-} " != *" $(node_of "$address") "* ]]; then nodes+=("$(node_of "$address")"); fi
  done
  if ((hugepages == 0)); then return; fi
  local node
  for node in "${nodes[@]}"; do reserve_on "$node" $(((hugepages + 2 * ${#nodes[@]} - 1) / (2 * ${#nodes[@]}))); done
}

restore_one() {
  local address=$1 before users
  before=$(content "$state/$address")
  if [ ! -e "$devices/$address" ]; then
    warn "$address: the device has gone"
  elif [ "$(driver_of "$address")" = "$before" ]; then
    say "$address: with ${before:-no driver} already"
  else
    users=$(users_of "$address")
    # The kernel would wait for these programs, and so would this script.
    if [ -n "$users" ]; then die "$address: process $users uses it; stop satrelayd first"; fi
    act "$address: from $(driver_of "$address") back to ${before:-no driver}" give_back "$address" "$before"
  fi
  if [ "$dry_run" = no ]; then rm -f "$state/$address"; fi
}

give_back() {
  local address=$1 before=$2
  put "" "$devices/$address/driver_override"
  if [ -e "$devices/$address/driver" ]; then put "$address" "$devices/$address/driver/unbind"; fi
  if [ -z "$before" ]; then return; fi
  modprobe -q "$before" 2>/dev/null || true
  if [ "$(driver_of "$address")" = "$before" ]; then return; fi
  if [ -e "$drivers/$before/bind" ]; then put "$address" "$drivers/$before/bind" 2>/dev/null || true; fi
  if [ "$(driver_of "$address")" != "$before" ]; then die "$address: $before does not take it back (see: dmesg | tail)"; fi
}

kept_ports() {
  local path
  for path in "$state"/*:*; do
    if [ -e "$path" ]; then echo "${path##*/}"; fi
  done
}

restore_hugepages() {
  local path have control
  for path in "$state"/hugepages-*; do
    if [ ! -e "$path" ]; then continue; fi
    read -r have control <"$path"
    act "hugepages of node ${path##*-}: back to $((have * 2)) MiB" put "$have" "$control"
    if [ "$dry_run" = no ]; then rm -f "$path"; fi
  done
}

restore_ports() {
  local address asked=("${wanted[@]}") left failed=0
  if ((${#ports[@]} == 0)); then mapfile -t asked < <(kept_ports); fi
  for address in "${asked[@]}"; do
    if [ -e "$state/$address" ]; then
      (restore_one "$address") || failed=1 # one that is in use keeps no other from going back
    else
      say "$address: was not bound by this script; nothing to put back"
    fi
  done
  if ((${#asked[@]} == 0)); then say "no port was bound by this script; nothing to put back"; fi
  left=$(kept_ports)
  if [ "$dry_run" = yes ] && ((${#ports[@]} == 0)); then left=""; fi
  if [ -z "$left" ]; then restore_hugepages; fi
  return $failed
}

# --- what was asked -------------------------------------------------------------------------------

if [ ! -d "$devices" ]; then
  if [ "$command" = bind ]; then die "this machine has no PCI bus"; fi
  say "this machine has no PCI bus, and so no port to bind"
  exit 0
fi
ssh_from=$(ssh_client)
if [ "$command" = status ]; then
  show_status
  exit 0
fi
wanted=()
for port in "${ports[@]}"; do
  address=$(resolve "$port")
  if [[ " ${wanted[*]-} " != *" $address "* ]]; then wanted+=("$address"); fi
done
if ((EUID != 0)) && [ "$dry_run" = no ]; then
  die "This needs root: drivers of devices are changed. With --dry-run it only says what it would do."
fi
case $command in
bind) bind_ports ;;
restore) restore_ports ;;
esac

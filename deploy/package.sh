#!/usr/bin/env bash
# Builds the Debian packages of a commit in a clean Debian, which mmdebstrap makes and nothing else has touched.
set -euo pipefail
here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
# shellcheck source=deploy/progress.sh
source "$here/progress.sh"

usage() {
  cat <<'END'
usage: deploy/package.sh [OPTION]... [COMMIT]

Builds the packages satrelay, satrelay-panel, satrelay-tools and satrelay-doc of COMMIT (HEAD), and
prints their SHA-256. Changes that are not committed are left out. Needs root, the network, and
mmdebstrap; takes some ten minutes.

  --suite NAME     bookworm (Debian 12, the default) or trixie (Debian 13)
  --mirror URL     where mmdebstrap fetches Debian (default: its own choice)
  --output FOLDER  where the packages go (default: packages/)
  --training FILE  build with the counts of an earlier call for this commit and suite, instead of
                   training the compiler; two builds with one FILE in one Debian are equal
  --untrained      without training: a few minutes less, and a frame takes a sixth longer
  --check          run lintian on the packages, which must find no errors
  --fresh          make the Debian anew, instead of taking that of the last seven days
  --show-version   only print the version that the packages of COMMIT have

The output has the packages, a .buildinfo with the versions of all that was used, and the counts of
the training (.training.tar). A Debian with the needed packages is kept in /var/cache/satrelay, or
where SATRELAY_PACKAGE_CACHE says, for the next call. The build takes 2 GB in /var/tmp, or where
TMPDIR says.
END
}

suite=bookworm mirror=() output=packages training="" trains=yes check=no show=no fresh=no commit=HEAD
declare -A releases=(["bookworm"]=12 ["trixie"]=13)
while (($# > 0)); do
  case $1 in
  --suite | --mirror | --output | --training)
    (($# >= 2)) || misused "$1 needs a value; see --help"
    case $1 in
    --suite) suite=$2 ;;
    --mirror) mirror=("$2") ;;
    --output) output=$2 ;;
    --training) training=$2 ;;
    esac
    shift
    ;;
  --untrained) trains=no ;;
  --check) check=yes ;;
  --fresh) fresh=yes ;;
  --show-version) show=yes ;;
  -h | --help)
    usage
    exit 0
    ;;
  -*)
    usage >&2
    misused "unknown option: $1"
    ;;
  *) commit=$1 ;;
  esac
  shift
done
release=${releases[$suite]:-}
[ -n "$release" ] || misused "--suite is \"$suite\"; known are: ${!releases[*]}"
if [ -n "$training" ]; then
  [ "$trains" = yes ] || misused "--training and --untrained do not go together"
  [ -r "$training" ] || die "$training cannot be read"
  training=$(readlink -f -- "$training")
fi
# git obeys the configuration of a clone, so it runs as the clone's owner, and never as root in another user's clone.
clone=$(readlink -f -- "$here/..")
owner=()
if ((EUID == 0)) && [ "$(stat -c %u "$clone")" != 0 ]; then
  owner=(setpriv --reuid "$(stat -c %u "$clone")" --regid "$(stat -c %g "$clone")" --clear-groups env HOME=/nonexistent)
fi
sources() { "${owner[@]}" git -C "$clone" "$@"; }
commit=$(sources rev-parse --verify --quiet "$commit^{commit}") || die "no such commit; is this a clone of satrelay?"
if [ "$(sources rev-parse --is-shallow-repository)" = true ]; then
  die "this clone is shallow, so the commits of a version cannot be counted: git fetch --unshallow --tags"
fi
project=$(sources show "$commit:meson.build" | sed -n "s/^  version: '\(.*\)',$/\1/p")
[ -n "$project" ] || die "meson.build of $commit states no version"
# A release is the commit that is tagged with its version. Later commits sort behind it, earlier ones before it.
if [ "$(sources describe --exact-match --tags --match "$project" "$commit" 2>/dev/null)" = "$project" ]; then
  version=$project
elif sources merge-base --is-ancestor "refs/tags/$project" "$commit" 2>/dev/null; then
  version="$project+$(sources rev-list --count "$project..$commit").g${commit:0:8}"
else
  version="$project~$(sources rev-list --count "$commit").g${commit:0:8}"
fi
version+="~deb$release"
if [ "$trains" = no ]; then version+="~untrained"; fi
if [ "$show" = yes ]; then
  say "$version"
  exit 0
fi

((EUID == 0)) || die "This needs root, to make a Debian: sudo deploy/package.sh"
for tool in mmdebstrap git unshare; do
  command -v "$tool" >/dev/null || die "$tool is missing; apt install mmdebstrap git util-linux"
done
mkdir -p "$output"
output=$(readlink -f -- "$output")

place=${TMPDIR:-/var/tmp}
options=$(findmnt --noheadings --output OPTIONS --target "$place")
case ,$options, in
*,nodev,* | *,noexec,*) die "$place is mounted with $options; let TMPDIR name a folder without nodev and noexec" ;;
esac
if (($(df --output=avail -m "$place" | tail -n 1) < 2048)); then
  die "$place has less than 2 GB free; let TMPDIR name a folder on another disk"
fi
work=$(mktemp -d "$place/satrelay-package.XXXXXX")
log=$(mktemp --tmpdir satrelay-package.XXXXXX.log)
partial=""
temporary+=("$work" "$log")
trap 'rm -rf -- "$work" "$partial"' EXIT

# needed FIELD: the packages of a field of the control file, of an alternative the first.
needed() {
  sources show "$commit:deploy/debian/control" | sed -n "/^$1:/,/^[^ ]/p" | sed "1s/^$1://; /^[A-Z]/d" |
    tr ',' '\n' | sed 's/(.*//; s/|.*//; s/:any//; s/ //g' | grep -v -e '^$' -e '^debhelper-compat$' -e '^dh-sequence'
}
mapfile -t packages < <(needed Build-Depends)
packages+=(build-essential debhelper fakeroot lintian)
key=$(printf '%s\n' "$suite" "${mirror[@]}" "${packages[@]}" | sha256sum | cut -c 1-12)
cache=${SATRELAY_PACKAGE_CACHE:-/var/cache/satrelay}
system=$cache/package-$suite-$key.tar
# Security updates come in with a new one.
if [ "$fresh" = yes ] || [ -z "$(find "$system" -mtime -7 2>/dev/null)" ]; then
  say "making a Debian $release with ${#packages[@]} packages and what they need: $system"
  mkdir -p "$cache"
  partial=$cache/package-$suite.$$.tar
  temporary+=("$partial")
  include=$(printf '%s,' "${packages[@]}")
  run_with_progress "$log" mmdebstrap --variant=minbase "--include=${include%,}" "$suite" "$partial" "${mirror[@]}"
  sync "$partial"
  rm -f "$cache/package-$suite"-*.tar
  mv "$partial" "$system"
fi

say "satrelay $version, from ${commit:0:8}"
root=$work/root tree=/build/satrelay-${version%%~deb*}
mkdir -p "$root"
tar -C "$root" -xpf "$system"
mkdir -p "$root$tree"
sources archive "$commit" | tar -x -C "$root$tree"
cp -r "$root$tree/deploy/debian" "$root$tree/debian"
maintainer=$(sed -n 's/^Maintainer: //p' "$root$tree/debian/control")
if [ -n "$training" ]; then cp "$training" "$root$tree/debian/training.tar"; fi
# A user of this number is nobody on the host, so that no process of the host may reach into the build.
builder=2000000000
chroot "$root" useradd --uid "$builder" --create-home --home-dir /build/home builder
chroot "$root" chown -R builder: /build

# enter COMMAND...: runs it in the tree, as a user without rights and without a network. From the first command on the
# tree is the builder's, and may have any links: the host only reads and writes in it through such commands.
enter=(unshare --mount --mount-proc="$root/proc" --pid --fork --kill-child --net
  chroot "$root" setpriv --reuid "$builder" --regid "$builder" --clear-groups --pdeathsig KILL env --chdir="$tree" -i
  PATH=/usr/sbin:/usr/bin HOME=/build/home LC_ALL=C.UTF-8 "DEB_BUILD_OPTIONS=parallel=$(nproc)")
# inside COMMAND...: the same, with progress. unshare ignores other signals than this one.
inside() {
  local signal=KILL
  run_with_progress "$log" "${enter[@]}" "$@"
}

identity="$commit $suite"
if [ -n "$training" ]; then
  trained=$("${enter[@]}" tar -xOf debian/training.tar ./commit) || die "$training is no file of counts"
  [ "$trained" = "$identity" ] || die "$training has the counts of \"$trained\", and this is \"$identity\""
elif [ "$trains" = yes ]; then
  say "training the compiler"
  inside debian/rules training "COMMIT=$identity"
fi
counts="The compiler was not trained."
if [ "$trains" = yes ]; then
  counts="The compiler was trained by counts with this SHA-256:
    $("${enter[@]}" sha256sum debian/training.tar | cut -d ' ' -f 1)"
fi
"${enter[@]}" tee debian/changelog >/dev/null <<END
satrelay ($version) $suite; urgency=medium

  * Built from commit $commit.
    docs/changelog.md has the changes for operators.
  * $counts

 -- $maintainer  $(sources log -1 --format=%aD "$commit")
END
say "building"
inside dpkg-buildpackage --build=binary --no-sign
if [ "$check" = yes ]; then
  say "lintian"
  status=0
  inside sh -c 'lintian --fail-on error --tag-display-limit 0 ../*.changes' || status=$?
  cat "$log"
  ((status == 0)) || die "lintian has found errors"
fi
mkdir "$work/results"
"${enter[@]}" sh -c 'cd .. && tar -c -- *.deb *.buildinfo *.changes' |
  tar -x --no-same-owner --directory="$work/results"
if [ "$trains" = yes ]; then
  "${enter[@]}" cat debian/training.tar >"$work/results/satrelay_$version.training.tar"
fi
mapfile -t results < <(find "$work/results" -maxdepth 1 -type f -name "*_${version}[_.]*" -printf '%f\n' | sort)
for result in "${results[@]}"; do
  install -m 644 "$work/results/$result" "$output/$result"
done
rm -f "$log"
say "the packages are in $output:"
(cd "$output" && sha256sum "${results[@]}")

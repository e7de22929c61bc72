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
  --training FILE  build with the counts of an earlier call, instead of training the compiler; two
                   builds of a commit with one FILE are equal
  --untrained      without training: a few minutes less, and a frame takes a sixth longer
  --check          run lintian on the packages, which must find no errors
  --show-version   only print the version that the packages of COMMIT have

The output has the packages, a .buildinfo with the versions of all that was used, and the counts of
the training (.training.tar). A Debian with the needed packages is kept in /var/cache/satrelay, or
where SATRELAY_PACKAGE_CACHE says, for the next call.
END
}

suite=bookworm mirror=() output=packages training="" trains=yes check=no show=no commit=HEAD
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
sources() { git -c safe.directory='*' -C "$here/.." "$@"; }
commit=$(sources rev-parse --verify --quiet "$commit^{commit}") || die "no such commit; is this a clone of satrelay?"
project=$(sources show "$commit:meson.build" | sed -n "s/^  version: '\(.*\)',$/\1/p")
# A release is the commit that is tagged with its version. Later commits sort behind it, earlier ones before it.
if [ "$(sources describe --exact-match --tags --match "$project" "$commit" 2>/dev/null)" = "$project" ]; then
  version=$project
elif sources merge-base --is-ancestor "refs/tags/$project" "$commit" 2>/dev/null; then
  version="$project+$(sources rev-list --count "$project..$commit").g${commit:0:8}"
else
  version="$project~$(sources rev-list --count "$commit").g${commit:0:8}"
fi
version+="~deb$release"
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

log=$(mktemp --tmpdir satrelay-package.XXXXXX.log)
work=$(mktemp -d --tmpdir satrelay-package.XXXXXX)
temporary+=("$log" "$work")
trap 'rm -rf -- "$work"' EXIT

# needed FIELD: the packages of a field of the control file, of an alternative the first.
needed() {
  sources show "$commit:deploy/debian/control" | sed -n "/^$1:/,/^[^ ]/p" | sed "1s/^$1://; /^[A-Z]/d" |
    tr ',' '\n' | sed 's/(.*//; s/|.*//; s/:any//; s/ //g' | grep -v -e '^$' -e '^debhelper-compat$' -e '^dh-sequence'
}
mapfile -t packages < <(needed Build-Depends)
packages+=(build-essential debhelper fakeroot)
if [ "$check" = yes ]; then packages+=(lintian); fi
key=$(printf '%s\n' "$suite" "${packages[@]}" | sha256sum | cut -c 1-12)
cache=${SATRELAY_PACKAGE_CACHE:-/var/cache/satrelay}
system=$cache/package-$suite-$key.tar
if [ ! -e "$system" ]; then
  say "making a Debian $release with ${#packages[@]} packages and what they need: $system"
  mkdir -p "$cache"
  temporary+=("$system.$$.tar")
  include=$(printf '%s,' "${packages[@]}")
  run_with_progress "$log" mmdebstrap --variant=minbase "--include=${include%,}" "$suite" "$system.$$.tar" \
    "${mirror[@]}"
  mv "$system.$$.tar" "$system"
fi

say "satrelay $version, from ${commit:0:8}"
root=$work/root tree=/build/satrelay-${version%%~deb*}
mkdir -p "$root"
tar -C "$root" -xpf "$system"
mkdir -p "$root$tree"
sources archive "$commit" | tar -x -C "$root$tree"
cp -r "$root$tree/deploy/debian" "$root$tree/debian"

# inside COMMAND...: runs it in the tree, as a user without rights and without a network.
chroot "$root" useradd --create-home --home-dir /build/home builder
chroot "$root" chown -R builder: /build
inside() {
  run_with_progress "$log" unshare --mount --mount-proc="$root/proc" --pid --fork --kill-child --net \
    chroot "$root" setpriv --reuid builder --regid builder --clear-groups env --chdir="$tree" -i \
    PATH=/usr/sbin:/usr/bin HOME=/build/home LC_ALL=C.UTF-8 "DEB_BUILD_OPTIONS=parallel=$(nproc)" "$@"
}

if [ -n "$training" ]; then
  cp "$training" "$root$tree/debian/training.tar"
elif [ "$trains" = yes ]; then
  say "training the compiler"
  inside debian/rules training
fi
counts="The compiler was not trained."
if [ -e "$root$tree/debian/training.tar" ]; then
  counts="The compiler was trained by counts with this SHA-256:
    $(sha256sum "$root$tree/debian/training.tar" | cut -d ' ' -f 1)"
fi
cat >"$root$tree/debian/changelog" <<END
satrelay ($version) $suite; urgency=medium

  * Built from commit $commit.
    docs/changelog.md has the changes for operators.
  * $counts

 -- $(sed -n 's/^Maintainer: //p' "$root$tree/debian/control")  $(sources log -1 --format=%aD "$commit")
END
say "building"
inside dpkg-buildpackage --build=binary --no-sign
if [ "$check" = yes ]; then
  say "lintian"
  status=0
  inside sh -c 'lintian --allow-root --fail-on error --no-tag-display-limit ../*.changes' || status=$?
  cat "$log"
  ((status == 0)) || die "lintian has found errors"
fi
if [ -e "$root$tree/debian/training.tar" ]; then
  cp "$root$tree/debian/training.tar" "$output/satrelay_$version.training.tar"
fi
cp "$root"/build/*.deb "$root"/build/*.buildinfo "$root"/build/*.changes "$output/"
rm -f "$log"
say "the packages are in $output:"
(cd "$output" && sha256sum ./*"_${version}"[_.]*{deb,tar})

#!/usr/bin/env bash
# Installs the Debian package in a Debian 12 without other packages, and uses it there. Run by hand,
# as root, with debootstrap: it downloads about 400 MB of packages and takes some minutes.
#   tests/package/clean_image.sh DEB [FOLDER]   FOLDER is kept, and a Debian in it is used again.
#                                               Default: a temporary folder, removed at the end
#   ORRERY_MIRROR=URL                           the Debian mirror (default: http://deb.debian.org/debian)
set -euo pipefail
if [ $# -lt 1 ] || [ "$(id -u)" -ne 0 ]; then
  sed -n '2,6s/^# \?//p' "$0" >&2
  exit 2
fi
deb="$(realpath "$1")"
unmount() { umount "$image/proc" "$image/dev/pts" 2>/dev/null || true; }
image="${2:-}"
if [ -z "$image" ]; then
  image="$(mktemp -d)"
  trap 'unmount; rm -rf --one-file-system "$image"' EXIT
else
  trap unmount EXIT
fi

inside() { chroot "$image" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
step() { printf '\n== %s\n' "$*"; }

step "A Debian 12 of its smallest set of packages"
[ -x "$image/usr/bin/apt-get" ] || debootstrap --variant=minbase bookworm "$image" \
  "${ORRERY_MIRROR:-http://deb.debian.org/debian}" >/dev/null
mountpoint -q "$image/proc" || mount -t proc proc "$image/proc"  # for /proc/self/exe: orrery finds its files by its own path
mountpoint -q "$image/dev/pts" || mount -t devpts devpts "$image/dev/pts"  # for zpty, which presses keys in zsh

step "apt-get install ./$(basename "$deb")"
cp "$deb" "$image/root/orrery.deb"
inside apt-get update -qq
inside apt-get install -qq -y /root/orrery.deb bash-completion man-db zsh </dev/null >"$image/root/install.log" 2>&1 ||
  { tail -20 "$image/root/install.log"; exit 1; }
inside dpkg-query -W -f '${Package} ${Version}, ${Installed-Size} KB installed, needs ${Depends}\n' orrery
inside orrery --version

step "Scenarios that ship, but for those that read a trace"
inside bash -ec '
  cd /usr/share/orrery/scenarios
  mapfile -t given < <(grep -L shared/traces/ *.yaml)
  orrery validate "${given[@]}" | tail -3
  echo "${#given[@]} of $(ls *.yaml | wc -l) are valid"
  for study in studies/*.yaml; do
    grep -q "^base: .*helios" "$study" || orrery study plan "$study" >/dev/null
  done'

step "A run, its figure, its page, and why a job waited"
inside bash -ec '
  mkdir -p /root/work; cd /root/work
  orrery run /usr/share/orrery/scenarios/dead-rank-timeout.yaml -q
  orrery plot dead-rank-timeout.h5
  orrery report dead-rank-timeout.h5
  orrery explain dead-rank-timeout.h5 --job train | head -5
  python3 -c "import orrery; from orrery import program; print(orrery.__file__, program.find())"'

step "A policy in Python"
inside bash -ec '
  cd /root/work
  printf "%s\n" "from orrery.policy import GPU, Policy" "class SomeGpu(Policy):" \
    "    def score(self, cycle, nodes):" "        return (nodes.free(GPU) > 0) * 100" >some.py
  orrery describe Python:some.py:SomeGpu --plugin liborrery_python.so | head -3
  orrery run /usr/share/orrery/scenarios/preemption.yaml -q -o policy.h5 --until 1h \
    --plugin liborrery_python.so \
    --set "policy.plugins=[{name: Python, args: {file: /root/work/some.py, class: SomeGpu}}]"'

step "Manual page and completion"
inside bash -c '
  man --warnings orrery 2>&1 | sed -n "3,4p"
  shopt -s extglob progcomp
  . /usr/share/bash-completion/bash_completion
  _completion_loader orrery || true
  COMP_WORDS=(orrery plot gan) COMP_CWORD=2; _orrery; echo "plot gan: ${COMPREPLY[*]}"
  COMP_WORDS=(orrery run lone) COMP_CWORD=2; _orrery; echo "run lone: ${COMPREPLY[*]}"'
inside zsh -f -c '
  zmodload zsh/zpty
  zpty shell zsh -f -i
  show() { sleep $1; while zpty -r -t shell text; do print -rn -- $text; done }
  zpty -w shell "autoload -U compinit; compinit -u"
  show 4 >/dev/null
  zpty -w -n shell "orrery valid"; zpty -w -n shell $'"'\t'"'; show 2 >/dev/null
  zpty -w -n shell " lone"; zpty -w -n shell $'"'\t'"'; show 4' | tail -1 | tr -cd '[:print:]'
echo

step "Removed again"
inside apt-get purge -qq -y orrery >/dev/null 2>&1
left="$(inside find /usr /etc -name '*orrery*')"
[ -z "$left" ] || { echo "left behind: $left"; exit 1; }
echo "Done: the package installs, works, and leaves nothing."

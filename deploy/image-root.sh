#!/usr/bin/env bash
# Copies programs, and only those files of this Debian that they need, into an empty folder: the file system of an
# image without a shell or a package manager. A missing library is an error: then the `run` packages must be extended.
set -euo pipefail

if [[ $# -lt 2 || $1 == -h || $1 == --help ]]; then
  echo "usage: deploy/image-root.sh FOLDER PROGRAM..." >&2
  exit 2
fi
root=$1
shift
user=10001

# Shared libraries by the paths that programs request; the folders /bin, /lib and /lib64 are links below /usr.
copy() {
  local file
  for file in "$@"; do
    install -D --mode "$(stat -c %a "$(readlink -f "$file")")" "$(readlink -f "$file")" \
      "$root/$(readlink -f "$(dirname "$file")")/$(basename "$file")"
  done
}

libraries() {
  local linked
  linked=$(ldd "$@")
  if grep 'not found' <<<"$linked" >&2; then
    echo "image-root.sh: add the package of it to 'run' in packages.txt" >&2
    return 1
  fi
  grep -o '/[^ ]*\.so[^ ]*' <<<"$linked" | sort -u
}

# Licences, and the package lists from which scanners learn the versions inside.
describe() {
  local package
  mkdir -p "$root/var/lib/dpkg/status.d"
  for package in $(owners "$@"); do
    install -D --mode 644 "/usr/share/doc/$package/copyright" "$root/usr/share/doc/$package/copyright"
    dpkg-query --status "$package" >"$root/var/lib/dpkg/status.d/$package"
  done
}

# A package lists its files with or without /usr, depending on whether it was built before /bin and /usr/bin were
# merged. A file of no package comes from the build.
owners() {
  local file
  for file in "$@"; do
    { dpkg-query --search "$file" || dpkg-query --search "${file#/usr}" || dpkg-query --search "/usr$file"; } 2>/dev/null
  done | cut -d: -f1 | sort -u
}

mkdir -p "$root"/{etc/echoline,usr/{bin,lib,lib64},tmp,run,var/lib}
ln -s usr/bin usr/lib usr/lib64 "$root/"
chmod 1777 "$root/tmp"
install -d -o $user -g $user "$root/run/echoline" "$root/var/lib/echoline"

found=$(libraries "$@")
mapfile -t needed <<<"$found"
copy "$@" "${needed[@]}" /etc/ssl/certs/ca-certificates.crt /etc/os-release
describe "${needed[@]}" /usr/sbin/update-ca-certificates
printf 'root:x:0:0::/:/nologin\necholine:x:%s:%s::/var/lib/echoline:/nologin\n' $user $user >"$root/etc/passwd"
printf 'root:x:0:\necholine:x:%s:\n' $user >"$root/etc/group"
echo 'hosts: files dns' >"$root/etc/nsswitch.conf"
# Fixed times: the same files make the same layer at each build.
find "$root" -exec touch --no-dereference --date="@${SOURCE_DATE_EPOCH:-0}" {} +

#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Linker of the host's programs: cc, which a bare Debian does not have. Without it not even
# `cargo xtask` could be built to say so; this names it and installs it, unless --no-install was
# given to the command that started it all.
if ! command -v cc >/dev/null 2>&1; then
    echo "missing: a C linker (Debian packages gcc and libc6-dev)" >&2
    process=$PPID
    while [ "${process:-0}" -gt 1 ]; do
        if tr '\0' ' ' <"/proc/$process/cmdline" 2>/dev/null | grep -q -e ' --no-install'; then
            echo "install them: apt-get install gcc libc6-dev" >&2
            exit 1
        fi
        process=$(awk '/^PPid:/ { print $2 }' "/proc/$process/status" 2>/dev/null)
    done
    as_root=
    [ "$(id -u)" = 0 ] || as_root=sudo
    # One at a time: cargo links several programs at once.
    (
        flock 9
        command -v cc >/dev/null 2>&1 && exit 0
        $as_root apt-get update -qq && $as_root env DEBIAN_FRONTEND=noninteractive \
            apt-get install -y -qq gcc libc6-dev
    ) 9>"${TMPDIR:-/tmp}/donjon-linker-$(id -u).lock" >&2 || {
        echo "installing them failed; as root: apt-get install gcc libc6-dev" >&2
        exit 1
    }
fi
exec cc "$@"

#!/bin/busybox sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# First process of the guest.
/bin/busybox --install -s /bin
export PATH=/bin HOME=/root TERM="${TERM:-linux}"
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev 2>/dev/null
mount -t securityfs securityfs /sys/kernel/security 2>/dev/null
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts 2>/dev/null
mount -t tmpfs tmpfs /tmp
hostname donjon
# busybox's poweroff, halt and reboot tell the first process, which is this shell.
trap 'poweroff -f' USR1 USR2 TERM
cd /root

# The virtio port of this name.
port() {
    for directory in /sys/class/virtio-ports/*; do
        if [ "$(cat "$directory/name" 2>/dev/null)" = "$1" ]; then
            echo "/dev/${directory##*/}"
            return
        fi
    done
    echo "init: no virtio port $1" >&2
    echo /dev/console
}

# The value of a word of the kernel command line.
word() {
    sed -n "s/.*\<$1=\([^ ]*\).*/\1/p" /proc/cmdline
}

ifconfig lo up
if [ -e /sys/class/net/eth0 ] && grep -q donjon.network /proc/cmdline; then
    # What QEMU's router expects.
    ifconfig eth0 10.0.2.15 netmask 255.255.255.0 up
    route add default gw 10.0.2.2
    echo "nameserver 10.0.2.3" >/etc/resolv.conf
fi

# A serial port where there is no virtio.
channel=$(word donjon.channel)
run="sh /donjon/exec"
leave() { :; }
if [ -n "$(word donjon.root)" ]; then
    . /donjon/root.sh
fi
if [ -e /donjon/exec ] && [ -n "$channel" ]; then
    donjon-channel "/dev/$channel" $run
    leave
    poweroff -f
fi
if [ -e /donjon/exec ]; then
    status_port=$(port donjon.status)
    $run </dev/null >"$(port donjon.stdout)" 2>"$(port donjon.stderr)"
    echo "$?" >"$status_port"
    leave
    poweroff -f
fi

echo
if [ -e /sys/kernel/security/donjon/status ]; then
    echo "The inner domain reports (/sys/kernel/security/donjon/status):"
    sed 's/^/  /' /sys/kernel/security/donjon/status
else
    echo "This kernel has no inner domain below it (--switch none)."
fi
echo
echo "Linux $(uname -r), $(nproc) CPUs. \`exit\` or \`poweroff\` stops QEMU, Ctrl-A X kills it."
setsid cttyhack sh &
# A trap is not run while a command is in the foreground, but it is during wait.
wait $!
poweroff -f
